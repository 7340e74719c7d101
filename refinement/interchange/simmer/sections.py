"""The sections of a trajectory that belong to an iteration: ASIs, evaluator details and judges' words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from refinement.interchange.imports.found import Notes
from refinement.interchange.simmer.columns import ASI_HEADS, is_iteration_head, plain_head
from refinement.interchange.simmer.table import RULER, cells_of, header_at, label_of

MOST_TEXT = 20_000
HEADING = re.compile(r"(#{1,6})\s+(.*\S)")
FENCE = re.compile(r"\s*(?:```|~~~)")
ITERATION = re.compile(r"\b(?:iter(?:ation)?|round)\b\s*[-#]?\s*(\d{1,3})\b", re.IGNORECASE)
SEED = re.compile(r"\W*(?:seed|baseline)\b", re.IGNORECASE)
ASI = re.compile(r"\bASIs?\b|\bactionable side information\b", re.IGNORECASE)
FOR_NEXT = re.compile(
    r"\b(?:for|to|into|toward)\s+(?:the\s+)?(?:iter(?:ation)?|round)\b|→\s*(?:iter|round)", re.IGNORECASE
)
LABEL = re.compile(
    r"\s*(?:[-*+]\s+)?(?:\*\*|__)(?P<label>[^*_\n]{1,160}?):?(?:\*\*|__)\s*:?\s*(?P<text>.*)"
    r"|\s*(?:[-*+]\s+)?(?P<plain>(?:[\w -]{0,30}\b)?ASIs?\b[^:]{0,60}):\s*(?P<after>.*)"
)
ENTRY = re.compile(
    r"\s*(?:[-*+]\s+|\d{1,3}[.)]\s+)?[*_\s\[]*(?:after\s+|from\s+)?"
    r"(?:(?:iter(?:ation)?|round)\s*[-#]?\s*(?P<number>\d{1,3})|(?P<seed>seed|baseline))\b"
    r"(?:\s*(?:→|->|to)\s*(?:iter(?:ation)?\s*)?\d{1,3})?(?:\s*ASI)?(?:\s*\([^)]*\))?[*_\s\]]*"
    r"(?:[:：—–]+|->|→|\s-\s)[*_\s]*(?P<text>.*)",
    re.IGNORECASE,
)
ITEM = re.compile(r"\s{0,3}(?:[-*+]|\d{1,3}[.)])\s+(?P<text>\S.*)")
LISTED = re.compile(r"\s*(?:[-*+]\s|\d{1,3}[.)]\s|\|)|\s{2,}\S")


@dataclass(slots=True)
class Sections:
    """Texts by iteration, and the lines they stand on."""

    asis: dict[int, list[str]] = field(default_factory=dict)
    details: dict[int, list[str]] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)

    def asi(self, iteration: int) -> str:
        return "\n".join(self.asis.get(iteration, ())).strip()[:MOST_TEXT]

    def detail(self, iteration: int) -> str:
        return "\n".join(self.details.get(iteration, ())).strip()[:MOST_TEXT]


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    iteration: int | None  # of the heading or one above it
    is_asi: bool


class _Reader:
    """Walks through the lines with the headings above them."""

    def __init__(self, used: frozenset[int], iterations: Sequence[int], notes: Notes) -> None:
        self.taken, self.iterations, self.notes = used, iterations, notes
        self.found = Sections()
        self.above: list[_Heading] = []
        self.general: list[tuple[int, str]] = []  # an ASI section without an iteration: lines and texts
        self.entry: int | None = None  # the iteration that a list's entry is about
        self.label: int | None = None  # the iteration of an ASI that a label in bold starts
        self.fenced = False

    def line(self, number: int, line: str) -> None:
        fence = bool(FENCE.match(line))
        heading = None if self.fenced or fence else HEADING.match(line)
        if heading:
            self.heading(number, len(heading[1]), heading[2])
        elif number not in self.taken:
            self.text(number, line)
        self.fenced ^= fence

    def heading(self, number: int, level: int, title: str) -> None:
        self.end_of_general()
        self.entry = self.label = None
        self.above = [heading for heading in self.above if heading.level < level]
        outer = self.above[-1] if self.above else _Heading(0, None, is_asi=False)
        is_asi = outer.is_asi or bool(ASI.search(title))
        own = self.named(title)
        if own is not None and outer.iteration is None and ASI.search(title) and FOR_NEXT.search(title):
            own = max(own - 1, min(self.iterations))
        iteration = outer.iteration if outer.iteration is not None else own
        if iteration is not None and iteration not in self.iterations:
            iteration, is_asi = None, False
        self.above.append(_Heading(level, iteration, is_asi))
        if iteration is not None:
            self.found.used.add(number)
            if outer.iteration is not None and not is_asi:
                self.found.details.setdefault(iteration, []).append(title)
        elif is_asi:
            self.found.used.add(number)

    def named(self, title: str) -> int | None:
        match = ITERATION.search(title)
        return int(match[1]) if match else 0 if SEED.match(title) else None

    def text(self, number: int, line: str) -> None:
        here = self.above[-1] if self.above else _Heading(0, None, is_asi=False)
        if here.is_asi and here.iteration is None:
            self.general_line(number, line)
        elif here.is_asi:
            assert here.iteration is not None
            self.add(self.found.asis, here.iteration, number, line)
        elif not self.labelled(number, line, here) and here.iteration is not None:
            self.add(self.found.details, here.iteration, number, line)

    def add(self, texts: dict[int, list[str]], iteration: int, number: int, line: str) -> None:
        texts.setdefault(iteration, []).append(line.rstrip())
        self.found.used.add(number)

    def labelled(self, number: int, line: str, here: _Heading) -> bool:
        """Reads `**ASI:** …`, `**Iteration 2 ASI:** …` and what follows up to a blank line."""
        match = None if self.fenced else LABEL.match(line)
        label = (match["label"] or match["plain"] or "") if match else ""
        if match and ASI.search(label):
            owner = here.iteration if here.iteration is not None else self.named(label)
            if here.iteration is None and owner is not None and FOR_NEXT.search(label):
                owner = max(owner - 1, min(self.iterations))
            if owner is None or owner not in self.iterations:
                return False
            self.label = owner
            self.add(self.found.asis, owner, number, match["text"] or match["after"] or "")
            return True
        if self.label is None:
            return False
        said = "".join(self.found.asis[self.label]).strip()
        ended = (match and label) or (not line.strip() and said)
        if ended and not (not line.strip() and self.found.asis[self.label][-1][:1].isspace()):
            self.label = None
            return False
        self.add(self.found.asis, self.label, number, line)
        return True

    def general_line(self, number: int, line: str) -> None:
        """A line of an ASI section that is not one iteration's: entries such as `- Iteration 1: …`."""
        match = None if self.fenced else ENTRY.match(line)
        if match:
            self.entry = int(match["number"]) if match["number"] else 0
            if self.entry in self.iterations:
                self.add(self.found.asis, self.entry, number, match["text"])
                return
            self.entry = None
        elif self.entry is not None:
            self.add(self.found.asis, self.entry, number, line)
            return
        self.general.append((number, line))

    def end_of_general(self) -> None:
        """Assigns an ASI section without iterations: a list with one entry each, or the last one's."""
        lines, self.general = [entry for entry in self.general if entry[1].strip()], []
        if not lines:
            return
        items = [(number, match["text"]) for number, line in lines if (match := ITEM.match(line))]
        judged = sorted(self.iterations)
        if len(items) == len(lines) > 1:
            owners = (
                judged if len(items) == len(judged) else judged[:-1] if len(items) == len(judged) - 1 else []
            )
            if not owners:
                why = "A list of ASIs without their iterations; imported as remarks."
                self.notes.add(lines[0][0], lines[0][1], why)
                return
            self.notes.add(lines[0][0], "", "A list of ASIs, one for each iteration, in their order.")
            for owner, (number, text) in zip(owners, items, strict=True):
                self.add(self.found.asis, owner, number, text)
            return
        why = f"An ASI without its iteration; assigned to the last, iteration {judged[-1]}."
        self.notes.add(lines[0][0], lines[0][1], why)
        for number, line in lines:
            self.add(self.found.asis, judged[-1], number, line)


def sections_of(text: str, used: frozenset[int], iterations: Sequence[int], notes: Notes) -> Sections:
    """The sections of the text, without the lines that are `used` by the table and the best lines."""
    if not iterations:
        return Sections()
    lines = text.split("\n")
    taken, asis = _asi_tables(lines, used, iterations)
    reader = _Reader(used | taken, iterations, notes)
    for number, line in enumerate(lines, 1):
        reader.line(number, line)
    reader.end_of_general()
    for iteration, said in asis.items():
        reader.found.asis.setdefault(iteration, []).append(said)
    reader.found.used |= taken
    return reader.found


def _asi_tables(
    lines: list[str], used: frozenset[int], iterations: Sequence[int]
) -> tuple[set[int], dict[int, str]]:
    """The rows of tables such as `| Iteration | ASI |`."""
    taken: set[int] = set()
    asis: dict[int, str] = {}
    place: int | None = None
    for number, line in enumerate(lines, 1):
        head = [] if number in used else header_at(lines, number)
        cells = cells_of(line)
        if head:
            heads = [plain_head(cell) for cell in head]
            place = next((at for at, name in enumerate(heads) if name in ASI_HEADS), None)
            place = place if is_iteration_head(head[0]) else None
        elif not cells or number in used:
            place = None
        if place is None or place >= len(cells):
            continue
        label = None if head or RULER.match(line) else label_of(cells[0])
        if label and label.iteration in iterations:
            asis[label.iteration] = cells[place]
        taken.add(number)
    return taken, asis
