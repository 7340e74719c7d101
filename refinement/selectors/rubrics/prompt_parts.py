"""A traced prompt as labelled, counted parts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from refinement.engine.kinds import Information
from refinement.judging.provenance import SOURCE_OF, Part, Source, TracedMessage
from refinement.judging.visibility import RolePrompt, Visibility
from refinement.providers.context import CHARS_PER_TOKEN, text_size
from refinement.selectors.rubrics.context_tables import KIND_LABELS

SHOWN_CHARS = 24_000  # per part; counts include what is cut
TAIL_CHARS = 4_000
OWN_WORDS: Mapping[Source, tuple[str, str]] = {
    Source.ARTIFACT: ("K", "Kind of work"),
    Source.LENS: ("E", "Lens"),
    Source.OPINIONS: ("D", "Judges' verdicts"),
    Source.OWN_VERDICT: ("I", "Its own verdict"),
    Source.REPLY_FORMAT: ("J", "Reply format"),
    Source.MARKS: ("M", "Data markers"),
    Source.WORDS: ("W", "Instructions"),
}
LETTERS: Mapping[Information, str] = {
    Information.TASK: "T",
    Information.CRITERIA: "C",
    Information.CANDIDATE: "V",
    Information.SEED: "S",
    Information.SEED_SCORES: "N",
    Information.CALIBRATION: "L",
    Information.CALIBRATION_SCORES: "G",
    Information.BACKGROUND: "B",
    Information.OUTPUT_CONTRACT: "O",
    Information.SEARCH_SPACE: "P",
    Information.ROUND_NUMBER: "R",
    Information.HISTORY: "H",
    Information.PREVIOUS_ASI: "A",
    Information.SOURCES: "Q",
    Information.EVALUATOR_OUTPUT: "U",
    Information.FEEDBACK: "F",
    Information.PANEL_SUMMARY: "Y",
}
NAMES: Mapping[Source, tuple[str, str]] = {
    **{source: (LETTERS[kind], KIND_LABELS[kind][0]) for kind, source in SOURCE_OF.items()},
    **OWN_WORDS,
}
FATES: Mapping[Visibility, tuple[str, str]] = {
    Visibility.SEEN: ("chip-ok", "seen"),
    Visibility.UNPRINTED: ("chip-warn", "allowed, but not in the template"),
    Visibility.NOTHING: ("", "empty"),
    Visibility.WITHHELD: ("chip-bad", "hidden"),
}


def tokens_of(text: str) -> int:
    """Approximate tokens of a text, by the conservative estimate that runs use."""
    return -(-text_size(text) // CHARS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class ShownPart:
    source: Source
    letter: str
    name: str
    head: str
    left_out: int = 0
    tail: str = ""
    anchor: str = ""  # of its source's first part in a message; the legend links to it


@dataclass(slots=True)
class Tally:
    """How much of a message comes from one source."""

    source: Source
    letter: str
    name: str
    anchor: str
    chars: int = 0
    tokens: int = 0
    share: int = 0


@dataclass(frozen=True, slots=True)
class ShownMessage:
    anchor: str
    role: str
    chars: int
    tokens: int
    parts: list[ShownPart]
    tallies: list[Tally]


@dataclass(frozen=True, slots=True)
class ShownPrompt:
    """A role's prompt as a page section."""

    key: str
    title: str
    lead: str
    template: str
    messages: list[ShownMessage]
    fates: list[tuple[str, str, str, str]]  # name, description, chip, label
    unmarked: list[str] = field(default_factory=list)

    @property
    def chars(self) -> int:
        return sum(message.chars for message in self.messages)

    @property
    def tokens(self) -> int:
        return sum(message.tokens for message in self.messages)


def shown_prompt(
    act: RolePrompt, key: str, title: str, lead: str, template: str, *, first: int = 0
) -> ShownPrompt:
    """The prompt as a section. `first` leaves out the messages before it, which are in another section."""
    return ShownPrompt(
        key=key,
        title=title,
        lead=lead,
        template=template,
        messages=[
            shown_message(message, f"{key}-{place}")
            for place, message in enumerate(act.prompt.messages[first:], first + 1)
        ],
        fates=[(*KIND_LABELS[kind], *FATES[fate]) for kind, fate in act.visibility.items()],
        unmarked=sorted(NAMES[source][1] for source in act.prompt.unmarked),
    )


def shown_message(message: TracedMessage, anchor: str) -> ShownMessage:
    tallies: dict[Source, Tally] = {}
    parts = []
    for part in message.parts:
        letter, name = NAMES[part.source]
        first = part.source not in tallies
        tally = tallies.setdefault(
            part.source, Tally(part.source, letter, name, f"{anchor}-{part.source.value}")
        )
        tally.chars += len(part.text)
        tally.tokens += tokens_of(part.text)
        parts.append(shown_part(part, tally.anchor if first else ""))
    for tally in tallies.values():
        tally.share = round(100 * tally.chars / len(message.content))
    largest_first = sorted(tallies.values(), key=lambda tally: -tally.chars)
    return ShownMessage(
        anchor=anchor,
        role=message.role,
        chars=len(message.content),
        tokens=tokens_of(message.content),
        parts=parts,
        tallies=largest_first,
    )


def shown_part(part: Part, anchor: str) -> ShownPart:
    letter, name = NAMES[part.source]
    if len(part.text) <= SHOWN_CHARS:
        return ShownPart(part.source, letter, name, part.text, anchor=anchor)
    head, tail = part.text[: SHOWN_CHARS - TAIL_CHARS], part.text[-TAIL_CHARS:]
    return ShownPart(part.source, letter, name, head, len(part.text) - SHOWN_CHARS, tail, anchor)
