"""A run's sources for pages: their list, one to read, and the judge's quotations from them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from refinement.engine.types import Information, Role, Rubric
from refinement.judging.context import permitted
from refinement.judging.quotations import SourcePlace, places_of, quotations
from refinement.models import Run, Source
from refinement.selectors.runs.rounds import RoundFacts

SPOKEN = {Role.PRODUCER: "writer", Role.JUDGE: "judge"}


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A source without its text, and how much of it the roles saw."""

    position: int
    name: str
    chars: int
    seen: str  # empty if both roles saw all of it


@dataclass(frozen=True, slots=True)
class OpenSource:
    """A source to read: the text before, in and after a marked passage."""

    line: SourceLine
    before: str
    marked: str
    after: str


def source_lines(run: Run, rubric: Rubric) -> list[SourceLine]:
    """The run's sources in order."""
    rows = Source.objects.filter(run=run).order_by("position").defer("text")
    return [line_of(row, rubric) for row in rows]


def line_of(row: Source, rubric: Rubric) -> SourceLine:
    return SourceLine(row.position, row.name, row.chars, seen_words(row, rubric))


def seen_words(row: Source, rubric: Rubric) -> str:
    """What writer and judge did not see of the source; empty if they saw all of it."""
    roles = [Role.PRODUCER, *([Role.JUDGE] if rubric.criteria else [])]
    blind = [role for role in roles if Information.SOURCES not in permitted(rubric, role)]
    seeing = [role for role in roles if role not in blind]
    words = []
    if seeing and row.is_cut:
        who = " and ".join(SPOKEN[role] for role in reversed(seeing))
        words.append(f"{who} saw {row.shown_chars:,} of {row.chars:,} characters")
    if blind:
        words.append(f"hidden from the {' and the '.join(SPOKEN[role] for role in reversed(blind))}")
    return "; ".join(words)


def source_open(run: Run, rubric: Rubric, position: int, start: int = 0, end: int = 0) -> OpenSource | None:
    """The source with its text; characters `start` to `end` are marked. None if it does not exist."""
    row = Source.objects.filter(run=run, position=position).first()
    if row is None:
        return None
    if not 0 <= start < end <= row.chars:
        start = end = 0
    text = row.text
    return OpenSource(line_of(row, rubric), text[:start], text[start:end], text[end:])


def quoted_places(run: Run, found: RoundFacts) -> Mapping[str, SourcePlace]:
    """Where the passages that the round's judge quotes are in the run's sources."""
    texts = list(_judge_texts(found))
    if not any(True for text in texts for _ in quotations(text)):
        return {}
    sources = Source.objects.filter(run=run).order_by("position").values_list("text", flat=True)
    return places_of(texts, list(sources))


def _judge_texts(found: RoundFacts) -> Iterator[str]:
    yield found.asi
    yield from (issue.text for issue in found.issues)
    for line in found.scores:
        yield line.reasoning
        yield line.improvement
