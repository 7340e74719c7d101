"""The lines of a trajectory that name the best iteration, and whether its scores agree."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from refinement.engine.scoring import best_round, shown
from refinement.engine.types import Rubric
from refinement.interchange.exports.figures import history_of
from refinement.interchange.imports.document import RunDocument
from refinement.interchange.imports.foreign_runs import ForeignRun
from refinement.interchange.imports.found import listed
from refinement.interchange.imports.written_scores import agrees
from refinement.interchange.simmer.files import Folder
from refinement.interchange.simmer.names import RESULT

LINE_CHARS = 400
OPENING = re.compile(
    r"[\s>*_#🏆⭐★✅-]*(?:(?:the|overall|final|current|new)\s+)*"
    r"(?P<key>(?:best|winn(?:er|ing)|champion)\b(?P<what>[^:|—–\d]{0,60}?))[*_\s]*"
    r"(?P<sign>:|—|–|\s-\s|=|\bis\b|\bwas\b|(?=\biter)|(?=\())",
    re.IGNORECASE,
)
ALONE = re.compile(
    r"#{1,6}\s*(?:🏆\s*)?(?:overall\s+|final\s+)?(?:best|winner|winning)\b[\w\s]{0,30}\Z", re.IGNORECASE
)
ITERATIONS = re.compile(
    r"\b(?:iter(?:ation)?s?|rounds?)\b\s*[-#:]?\s*(?P<first>\d{1,4})\b"
    r"(?P<more>(?:\s*(?:,|and|&|/|\+|or)\s*(?:iter(?:ation)?s?\s*)?#?\d{1,4}\b(?![./]\d))*)",
    re.IGNORECASE,
)
TIED = re.compile(r"\bti(?:ed?|es)\s+(?:with\s+)?(?:iter(?:ation)?s?\s*)?#?(\d{1,4})\b", re.IGNORECASE)
FIRST_NUMBER = re.compile(r"[\s*_#]*(\d{1,4})\b(?!\s*[./]\s*\d)")
SEED = re.compile(r"[\s*_]*(?:the\s+)?(?:original\s+)?(?:seed|baseline)\b", re.IGNORECASE)
NAMED = re.compile(
    r"(?:best|winn(?:er|ing))(?:\s+(?:candidate|iteration|round|version|so far|overall))*\s*\Z", re.IGNORECASE
)
_NUMBER = r"(\d{1,2}(?:\.\d{1,4})?)"
SCORES = (
    re.compile(rf"composite\b\s*(?:score)?\s*[:=of]*\s*\**~?{_NUMBER}", re.IGNORECASE),
    re.compile(rf"{_NUMBER}\s*/\s*10\b"),
    re.compile(r"(?:\(|\bat\s|\bscored?\s|\bwith\s)\s*(\d{1,2}\.\d{1,4})\b", re.IGNORECASE),
)


@dataclass(frozen=True, slots=True)
class BestLine:
    """A line of the trajectory that names the best iteration; several of them if they tie."""

    line: int
    text: str
    iterations: tuple[int, ...]
    score: Decimal | None

    def stated(self, first: int) -> dict[str, Any]:
        rounds = [number - first + 1 for number in self.iterations]
        return {
            "line": self.line,
            "text": self.text,
            "round": rounds[0] if rounds else None,
            "rounds": rounds,
            "score": None if self.score is None else str(self.score),
        }


def best_lines(text: str, used: frozenset[int]) -> list[BestLine]:
    """The lines that name a best iteration or its score, without table rows and prose."""
    found: list[BestLine] = []
    heading = ""
    for number, line in enumerate(text.split("\n"), 1):
        plain = line.replace("*", "").replace("`", "").strip()[:LINE_CHARS]
        if not plain or number in used:
            continue
        entry = _best_line(number, f"{heading} {plain}".strip(), plain)
        if entry is not None:
            found.append(entry)
        heading = f"{plain.lstrip('# ')}:" if ALONE.match(plain) else ""
    return found


def _best_line(number: int, words: str, shown_line: str) -> BestLine | None:
    match = OPENING.match(words)
    if match is None:
        return None
    value = words[match.end() :]
    key = match["key"]
    iterations = _iterations(f"{key if 'iter' in key.casefold() else ''} {value}") or _iterations(words)
    if not iterations and NAMED.match(key.strip()):
        first = FIRST_NUMBER.match(value)
        iterations = (int(first[1]),) if first else ()
    if not iterations and SEED.match(value):
        iterations = (0,)
    score = next((Decimal(hit[1]) for pattern in SCORES if (hit := pattern.search(value))), None)
    if not iterations and (score is None or not NAMED.match(key.strip())):
        return None
    return BestLine(number, shown_line, iterations, score)


def _iterations(words: str) -> tuple[int, ...]:
    """The iterations in the first mention, with those it ties with."""
    match = ITERATIONS.search(words)
    if match is None:
        return ()
    more = [int(number) for number in re.findall(r"\d{1,4}", match["more"])]
    tied = [int(number) for number in TIED.findall(words)]
    return tuple(dict.fromkeys([int(match["first"]), *more, *tied]))


def best_contradictions(foreign: ForeignRun, document: RunDocument, folder: Folder, first: int) -> None:
    """Adds contradictions between the scores and the best iteration in the file or the result.

    An iteration that ties with the best one is no contradiction, whichever of them the file names.
    """
    contradictions, rubric = foreign.stated["contradictions"], foreign.rubric
    best = best_round(rubric, history_of(document, rubric).rounds)
    values = {entry.number: entry.composite for entry in document.rounds if entry.composite is not None}
    texts = {number: shown(value, rubric.policy) for number, value in values.items()}
    ties = {number for number, text in texts.items() if best and text == texts[best.number]}
    by, computed = "by the scores", "there is no best round"
    if best is not None:
        by = basis(rubric, best.number, values)
        computed = f"it is {iteration_name(best.number, first)} ({texts[best.number]})"
    for entry in foreign.stated["best"]:
        if not entry["rounds"]:
            continue
        name = _names(entry["rounds"], first)
        if not ties.intersection(entry["rounds"]):
            contradictions.append(f"Line {entry['line']} names {name} as best; {by} {computed}.")
        contradictions += _score_contradiction(entry, values, texts, first)
    contradictions += result_contradictions(folder, best.number if best else None, ties, first, by)


def basis(rubric: Rubric, best: int, composites: dict[int, Decimal]) -> str:
    """What makes this round the best, if another has a higher composite: the primary criterion."""
    if rubric.primary is None or composites[best] == max(composites.values()):
        return "by the scores"
    return f"by the primary criterion {rubric.primary.name}"


def _score_contradiction(
    entry: dict[str, Any], values: dict[int, Decimal], texts: dict[int, str], first: int
) -> list[str]:
    known = [number for number in entry["rounds"] if number in values]
    if entry["score"] is None or not known:
        return []
    if any(agrees(Decimal(entry["score"]), values[number]) for number in known):
        return []
    name = iteration_name(known[0], first)
    return [f"Line {entry['line']} states {entry['score']} for {name}; its scores give {texts[known[0]]}."]


def result_contradictions(folder: Folder, best: int | None, ties: set[int], first: int, by: str) -> list[str]:
    if folder.result is None:
        return []
    result = folder.result.strip()
    same = [
        number - first + 1 for number, text in sorted(folder.candidates.items()) if text.strip() == result
    ]
    name = folder.result_name or RESULT
    if not same:
        return [f"The text of {name} is not one of the rounds' texts."] if folder.candidates else []
    if best is None or ties.intersection(same):
        return []
    return [
        f"The text of {name} is that of {iteration_name(same[0], first)}; "
        f"{by} the best is {iteration_name(best, first)}."
    ]


def iteration_name(number: int, first: int) -> str:
    """The round's name in the folder, where `first` is the number of the first iteration."""
    return f"iteration {number - 1 + first}"


def _names(rounds: list[int], first: int) -> str:
    if len(rounds) == 1:
        return iteration_name(rounds[0], first)
    return f"iterations {listed([number - 1 + first for number in rounds])}"
