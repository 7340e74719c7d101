"""How long a planned run may take, from the newest calls with the same models."""

from collections.abc import Mapping, Sequence

from django.db.models import Avg

from refinement.engine.types import Role
from refinement.models import Call, Project, Run
from refinement.providers.registry import EndpointSpec, Target
from refinement.selectors.launch.call_counts import Calls, calls_of
from refinement.selectors.launch.estimates import Estimate, Range
from refinement.selectors.launch.judging import Judging

NEWEST_RUNS = 30
Paces = Mapping[tuple[str, Target], float]


def paces_in(project: Project) -> Paces:
    """Seconds per call by role and model, measured in the project's newest runs. One query."""
    newest = Run.objects.filter(project=project).order_by("-id").values("pk")[:NEWEST_RUNS]
    rows = (
        Call.objects.filter(run_id__in=newest, error_kind="", seconds__gt=0)
        .order_by()
        .values("role", "endpoint", "model")
        .annotate(pace=Avg("seconds"))
    )
    return {(row["role"], Target(row["endpoint"], row["model"])): float(row["pace"]) for row in rows}


def seconds_of(
    estimate: Estimate,
    judging: Judging,
    producer: Target | None,
    paces: Paces,
    specs: Sequence[EndpointSpec],
    *,
    drafts: int,
) -> Range | None:
    """The seconds of one run while nothing else runs; None if a model has not been used here yet."""
    writing = pace_of(paces, Role.PRODUCER, producer)
    judged = judges_at_once(judging, paces, specs)
    clerk = pace_of(paces, Role.CLERK, judging.clerk) or pace_of(paces, Role.JUDGE, judging.clerk)
    if writing is None or judged is None or (judging.has_clerk and clerk is None):
        return None
    found = [
        in_a_row(calls_of(judging.rubric, rounds, drafts=drafts), judging, writing, judged, clerk or 0)
        for rounds in (estimate.rounds.low, estimate.rounds.high)
    ]
    return Range(*(max(1, round(seconds)) for seconds in found))


def in_a_row(calls: Calls, judging: Judging, writing: float, judged: float, clerk: float) -> float:
    """Judges answer at once, and a board's clerk names the change while it merges."""
    size = max(1, judging.size)
    naming = 0 if judging.is_board else calls.describe
    waits = (calls.score + calls.deliberate) / size
    return calls.write * writing + waits * judged + (calls.compose + calls.merge + naming) * clerk


def judges_at_once(judging: Judging, paces: Paces, specs: Sequence[EndpointSpec]) -> float | None:
    """Seconds until all judges have answered once, within the endpoints' limits."""
    if not judging.rubric.criteria:
        return 0
    limits = {spec.name: spec.concurrency for spec in specs}
    targets = [judge.target for judge in judging.judges] or [judging.judge] * judging.size
    waits: dict[str, list[float]] = {}
    for target in targets:
        pace = pace_of(paces, Role.JUDGE, target)
        if pace is None or target is None:
            return None
        waits.setdefault(target.endpoint, []).append(pace)
    return max(
        max(found) * -(-len(found) // (limits.get(endpoint) or len(found)))
        for endpoint, found in waits.items()
    )


def pace_of(paces: Paces, role: Role, target: Target | None) -> float | None:
    return paces.get((role.value, target)) if target else None


def duration_words(seconds: Range) -> str:
    """A range of seconds, such as “6 to 12 min”."""
    if seconds.high < 90:
        return f"{seconds} s"
    low, high = (max(1, round(value / 60)) for value in (seconds.low, seconds.high))
    if high < 120:
        return f"{Range(low, high)} min"
    hours = [f"{value / 60:.1f}" for value in (low, high)]
    return f"{hours[0]} h" if hours[0] == hours[1] else f"{hours[0]} to {hours[1]} h"
