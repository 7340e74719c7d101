"""Training data from runs: texts that passed, and pairs of a better and a worse round.

Runs that the reader scores blind are excluded earlier. Unscored rounds, rounds without a text and runs
without a task are never used, and two rounds with the same score are not a pair.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import QuerySet

from refinement.engine.codec import rubric_from_json
from refinement.engine.scoring import gain, rank
from refinement.engine.types import ZERO, Outcome
from refinement.interchange.exports.training_pairs import Example, Origin, Text
from refinement.models import DecisionKind, Project, Round, RoundOrigin, Run, RunSource
from refinement.selectors.runs.history import history_of

RUNS_A_PART = 100
NOT_GOOD_ENOUGH = (DecisionKind.REJECTED, DecisionKind.CHANGES)


@dataclass(frozen=True, slots=True)
class TrainingChoice:
    """The minimum score or difference, on each run's own scale, and whether to include imported runs."""

    least: Decimal | None = None
    with_imported: bool = False


def good_texts(project: Project, numbers: Sequence[int], choice: TrainingChoice) -> Iterator[Example]:
    """The result of each run that passed, was not rejected by people, and has at least the minimum score."""
    for run in _runs(project, numbers, choice):
        if run.outcome != Outcome.PASS or run.decision in NOT_GOOD_ENOUGH:
            continue
        number = run.chosen_round or run.best_round
        for row in _scored(run).filter(number=number or 0):
            found = _text(row)
            if choice.least is None or found.score >= choice.least:
                yield Example(_origin(run), found)


def better_and_worse(project: Project, numbers: Sequence[int], choice: TrainingChoice) -> Iterator[Example]:
    """Every two rounds of a run that differ by at least the minimum, the one that ranks higher first."""
    for run in _runs(project, numbers, choice):
        kept: Text | None = None
        for better, worse in _pairs(run, choice.least or ZERO):
            if kept is None or kept.round != better:
                kept = _text(_scored(run).get(number=better))
            other = _text(_scored(run).get(number=worse))
            if kept.text.strip() != other.text.strip():
                yield Example(_origin(run), kept, other)


def _pairs(run: Run, least: Decimal) -> list[tuple[int, int]]:
    """The numbers of each better and worse round."""
    rubric = rubric_from_json(run.snapshot)
    numbers = set(_scored(run).values_list("number", flat=True))
    judged = {
        entry.number: entry.assessment
        for entry in history_of(run, rubric).rounds
        if entry.assessment is not None and entry.number in numbers
    }
    return [
        (better, worse)
        for better, high in judged.items()
        for worse, low in judged.items()
        if rank(rubric, high) > rank(rubric, low) and (gap := gain(rubric, low, high)) > ZERO and gap >= least
    ]


def _runs(project: Project, numbers: Sequence[int], choice: TrainingChoice) -> Iterator[Run]:
    """The runs in order, in chunks. Runs without a task are left out."""
    rows = Run.objects.filter(project=project, rounds_judged__gt=0).exclude(source=RunSource.EXAMPLE)
    rows = rows.select_related("rubric", "rubric_version")
    if not choice.with_imported:
        rows = rows.filter(source__isnull=True)
    for start in range(0, len(numbers), RUNS_A_PART):
        part = list(numbers[start : start + RUNS_A_PART])
        found = rows.defer("calibration").in_bulk(part)
        yield from (found[number] for number in part if number in found and found[number].task.strip())


def _scored(run: Run) -> QuerySet[Round]:
    return Round.objects.filter(run=run, composite__isnull=False, candidate_chars__gt=0).order_by("number")


def _score(row: Round) -> Decimal:
    assert row.composite is not None
    return row.composite


def _text(row: Round) -> Text:
    return Text(row.number, _score(row), row.candidate, by_hand=row.origin == RoundOrigin.HAND)


def _origin(run: Run) -> Origin:
    """The prompt: the task, followed by the seed text if there was one."""
    version = run.rubric_version
    prompt = f"{run.task}\n\n{run.seed}" if run.seed.strip() else run.task
    return Origin(
        run.pk, prompt, run.rubric.slug, version.scale_minimum, version.scale_maximum, run.source or ""
    )
