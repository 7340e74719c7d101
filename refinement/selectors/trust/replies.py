"""How a judge's replies were read, from its calls in runs, tests and measurements."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from django.db.models import BooleanField, Case, QuerySet, Value, When

from refinement.models import (
    Bench,
    BenchCall,
    BenchTrial,
    Call,
    CallPurpose,
    JudgeRecord,
    Run,
    TrialStatus,
)
from refinement.selectors.trust.judgements import runs_with_board
from refinement.selectors.trust.keys import judge_key

MOST_RUNS = 500  # the newest count
MOST_BENCHES = 4_000
MOST_CALLS = 20_000
ASKS = 3  # one call, and two retries that quote the complaint
# The order of the calls' index, so that no other calls are read.
ASKED_BY = ("round_number", "purpose", "seat")
THINKS = Case(When(thinking="", then=Value(False)), default=Value(True), output_field=BooleanField())


class Reply(NamedTuple):
    """A model's reply to one request for scores."""

    rung: str  # empty if it could not be read
    thinks: bool


class Asked(NamedTuple):
    """A judgement that was asked for, with all replies to it in order."""

    model: str
    replies: tuple[Reply, ...]

    @property
    def is_read(self) -> bool:
        return bool(self.replies[-1].rung)

    @property
    def has_ended(self) -> bool:
        """Read, or given up; not while it may be asked again."""
        return self.is_read or len(self.replies) >= ASKS


def judgements_asked(record: JudgeRecord) -> Iterator[Asked]:
    """The newest judgements that have ended. Calls without a reply do not count."""
    asked = [*asked_in_runs(record), *asked_on_benches(record)]
    return (each for each in asked if each.has_ended)


def asked_in_runs(record: JudgeRecord) -> list[Asked]:
    calls = Call.objects.filter(run__in=runs_of(record), error_kind="")
    if record.is_board:
        calls = calls.filter(purpose__in=[CallPurpose.SCORE, CallPurpose.DELIBERATE], seat__gt=0)
    else:
        calls = calls.filter(purpose=CallPurpose.SCORE, seat=0)
    rows = calls.annotate(thinks=THINKS).order_by("-run_id", *(f"-{name}" for name in ASKED_BY), "-attempt")
    columns = ("run", *ASKED_BY, "model", "rung", "thinks")
    return grouped((row[:4], *row[4:]) for row in rows.values_list(*columns)[:MOST_CALLS])


def runs_of(record: JudgeRecord) -> list[int]:
    if record.is_board:
        return sorted(runs_with_board(record), reverse=True)[:MOST_RUNS]
    runs = Run.objects.filter(rubric_version=record.rubric_version_id, judge_model=record.model)
    return list(runs.order_by("-pk").values_list("pk", flat=True)[:MOST_RUNS])


def asked_on_benches(record: JudgeRecord) -> list[Asked]:
    """Of tests and measurements of the version. Reused verdicts have no calls."""
    panels = dict(benches_of(record))
    trials = BenchTrial.objects.filter(bench__in=panels, status__in=[TrialStatus.DONE, TrialStatus.FAILED])
    calls: QuerySet[BenchCall] = BenchCall.objects.filter(trial__in=trials, error_kind="")
    rows = calls.annotate(thinks=THINKS).order_by("-trial_id", "-number")
    columns = ("trial", "trial__bench", "trial__seat", "rung", "thinks")
    found = rows.values_list(*columns)[:MOST_CALLS]
    return grouped(
        (trial, panels[bench][seat - 1]["model"] if seat else record.model, rung, thinks)
        for trial, bench, seat, rung, thinks in found
    )


def benches_of(record: JudgeRecord) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """The newest ones with their panels; without drafts, which are no judge that anybody uses."""
    rows = Bench.objects.filter(
        rubric_version=record.rubric_version_id, measured__measurement__definition__isnull=True
    ).order_by("-pk")
    for pk, model, panel in rows.values_list("pk", "model", "panel")[:MOST_BENCHES]:
        if judge_key(model, panel) == record.key:
            yield pk, panel


def grouped(rows: Iterable[tuple[Any, str, str, bool]]) -> list[Asked]:
    """The replies of each judgement, from rows with the newest first."""
    models: dict[Any, str] = {}
    replies: dict[Any, list[Reply]] = defaultdict(list)
    for key, model, rung, thinks in rows:
        models[key] = model
        replies[key].append(Reply(rung, thinks))
    return [Asked(models[key], tuple(reversed(given))) for key, given in replies.items()]
