"""Reads the issues of ended runs into rows; which category they belong to is decided later.

A run that was continued is read again: its new rounds get rows, and old rows the number of the next round.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.fields.json import KeyTransform

from refinement.models import (
    Criterion,
    FailureIssue,
    FailureReading,
    IssueKind,
    Round,
    Run,
    RunSource,
    RunStatus,
    Verdict,
)
from refinement.models.failures.categories import CRITERION_CHARS, EXCERPT_CHARS
from refinement.selectors.runs.rounds import alike
from refinement.taxonomy.criteria import About, Scored, criterion_of

MOST_RUNS = 20_000  # of a project, the newest
BATCH = 100
MOST_ISSUES = 50  # of a verdict
SAID_CHARS = 2_000
TOP = 10.0  # scores are stored as parts of this, whatever the rubric's scale


class Judged(NamedTuple):
    """A judged round with its verdict, and the number of the round that was judged after its feedback."""

    number: int
    issues: list[str]
    scores: list[dict[str, Any]]
    following: int | None


def runs_to_read(project_id: int) -> QuerySet[Run]:
    """Ended runs that were not read since they ended, the newest first; only the newest MOST_RUNS count."""
    runs = ended_runs(project_id)
    oldest = runs.order_by("-pk").values_list("pk", flat=True)[MOST_RUNS - 1 : MOST_RUNS]
    for pk in oldest:
        runs = runs.filter(pk__gte=pk)
    read = FailureReading.objects.filter(run=OuterRef("pk"), finished_at=OuterRef("finished_at"))
    return runs.filter(~Exists(read)).order_by("-pk")


def ended_runs(project_id: int) -> QuerySet[Run]:
    """All ended runs of the project but the prepared example."""
    return Run.objects.filter(project=project_id, status=RunStatus.FINISHED).exclude(source=RunSource.EXAMPLE)


def read_batch(project_id: int) -> int:
    """Reads some runs in one transaction; how many there were."""
    with transaction.atomic():
        fields = ("pk", "finished_at", "rubric_version_id", "rubric_version__scale_maximum")
        runs = list(runs_to_read(project_id).values_list(*fields)[:BATCH])
        numbers = [pk for pk, *_ in runs]
        judged, criteria = judged_rounds(numbers), criteria_of({version for _, _, version, _ in runs})
        known = {
            (row.run_id, row.round_number, row.kind, row.position): row
            for row in FailureIssue.objects.filter(run__in=numbers)
        }
        new, changed = [], []
        for pk, _, version, maximum in runs:
            for row in rows_of(project_id, pk, judged[pk], criteria[version], TOP / float(maximum)):
                old = known.get((pk, row.round_number, row.kind, row.position))
                if old is None:
                    new.append(row)
                elif (old.next_round, old.again) != (row.next_round, row.again):
                    old.next_round, old.again = row.next_round, row.again
                    changed.append(old)
        FailureIssue.objects.bulk_create(new, batch_size=500, ignore_conflicts=True)
        FailureIssue.objects.bulk_update(changed, ["next_round", "again"], batch_size=200)
        FailureReading.objects.bulk_create(
            [FailureReading(run_id=pk, project_id=project_id, finished_at=ended) for pk, ended, _, _ in runs],
            update_conflicts=True,
            unique_fields=["run"],
            update_fields=["finished_at"],
        )
    return len(runs)


def judged_rounds(numbers: Sequence[int]) -> defaultdict[int, list[Judged]]:
    """The judged rounds of these runs with their verdicts, in order."""
    rounds = Round.objects.filter(run__in=numbers, judged_at__isnull=False).order_by("run_id", "number")
    rows = list(
        rounds.annotate(about=KeyTransform("from_round", "feedback")).values_list(
            "pk", "run", "number", "about"
        )
    )
    said = {
        verdict.round_id: verdict
        for verdict in Verdict.objects.filter(round__run__in=numbers).order_by("-position")
    }
    following: dict[tuple[int, int], int] = {}
    for _, run, number, about in reversed(rows):
        following[run, about if isinstance(about, int) else number - 1] = number
    found: defaultdict[int, list[Judged]] = defaultdict(list)
    for pk, run, number, _ in rows:
        if verdict := said.get(pk):
            issues = [str(issue) for issue in verdict.issues[:MOST_ISSUES]]
            found[run].append(Judged(number, issues, verdict.scores, following.get((run, number))))
    return found


def criteria_of(versions: Iterable[int]) -> defaultdict[int, dict[str, Criterion]]:
    """Each rubric version's criteria by key."""
    found: defaultdict[int, dict[str, Criterion]] = defaultdict(dict)
    for row in Criterion.objects.filter(version__in=versions).order_by("version_id", "position"):
        found[row.version_id][row.key] = row
    return found


def rows_of(
    project_id: int, run: int, judged: Sequence[Judged], criteria: dict[str, Criterion], factor: float
) -> Iterator[FailureIssue]:
    """The rows of a run's issues. Without issues, the lowest criteria's improvements count."""
    texts = {entry.number: [text for _, _, text, _ in said_in(entry, criteria)] for entry in judged}
    for entry in judged:
        scores = {each["key"]: float(each["score"]) * factor for each in entry.scores}
        later = texts.get(entry.following or 0)
        for kind, position, text, (criterion, sure) in said_in(entry, criteria):
            yield FailureIssue(
                project_id=project_id,
                run_id=run,
                round_number=entry.number,
                kind=kind,
                position=position,
                criterion=criterion[:CRITERION_CHARS],
                guessed=not sure,
                score=scores.get(criterion),
                next_round=None if later is None else entry.following,
                again=any(alike(text, other) for other in later or ()),
                excerpt=excerpt(text),
            )


def said_in(entry: Judged, criteria: dict[str, Criterion]) -> list[tuple[IssueKind, int, str, About]]:
    """What a verdict criticises: kind, position, text and criterion."""
    scored = [scored_of(each, criteria) for each in entry.scores]
    if entry.issues:
        return [
            (IssueKind.ISSUE, position, text, criterion_of(text, scored))
            for position, text in enumerate(entry.issues)
            if text.strip()
        ]
    lowest = min((each.score for each in scored), default=0)
    return [
        (IssueKind.IMPROVEMENT, position, str(each["improvement"]), About(str(each["key"]), True))
        for position, each in enumerate(entry.scores)
        if str(each.get("improvement", "")).strip() and float(each["score"]) == lowest
    ]


def scored_of(entry: dict[str, Any], criteria: dict[str, Criterion]) -> Scored:
    key, said = str(entry["key"]), f"{entry.get('reasoning', '')} {entry.get('improvement', '')}"
    row = criteria.get(key)
    return Scored(
        key,
        row.name if row else key,
        float(entry["score"]),
        said[:SAID_CHARS],
        row.description[:SAID_CHARS] if row else "",
    )


def excerpt(text: str) -> str:
    """The text on one line, cut with a mark."""
    line = " ".join(text.split())
    return line if len(line) <= EXCERPT_CHARS else f"{line[: EXCERPT_CHARS - 1]}…"
