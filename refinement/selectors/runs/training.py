"""Training data from runs: texts that passed, and pairs of a better and a worse round.

Runs that the reader scores blind are excluded earlier. Unscored rounds, rounds without a text and runs
without a task are never used, and two rounds with the same score are not a pair.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import QuerySet

from refinement.engine.types import Outcome
from refinement.interchange.exports.training_pairs import Example, Origin, Text
from refinement.models import DecisionKind, Project, Round, RoundOrigin, Run

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
    """Every two rounds of a run whose scores differ by at least the minimum, better one first."""
    for run in _runs(project, numbers, choice):
        rounds = list(_scored(run).defer("candidate", "feedback"))
        pairs = [
            (better, worse)
            for better in rounds
            for worse in rounds
            if (gap := _score(better) - _score(worse)) > 0 and gap >= (choice.least or 0)
        ]
        kept: Text | None = None
        for better, worse in pairs:
            if kept is None or kept.round != better.number:
                kept = _text(_scored(run).get(number=better.number))
            other = _text(_scored(run).get(number=worse.number))
            if kept.text.strip() != other.text.strip():
                yield Example(_origin(run), kept, other)


def _runs(project: Project, numbers: Sequence[int], choice: TrainingChoice) -> Iterator[Run]:
    """The runs in order, in chunks. Runs without a task are left out."""
    rows = Run.objects.filter(project=project, rounds_judged__gt=0).select_related("rubric", "rubric_version")
    if not choice.with_imported:
        rows = rows.filter(source__isnull=True)
    for start in range(0, len(numbers), RUNS_A_PART):
        part = list(numbers[start : start + RUNS_A_PART])
        found = rows.defer("snapshot", "calibration").in_bulk(part)
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
