"""Starts a measurement's judgements, a few at a time, and ends it when all of them have ended.

A judgement exists only once it is started, so that runs do not wait behind a thousand of them and a pause has
nothing to undo. When one ends, a message has the next ones started; `measurements_sweep` sends lost messages
again. The rows are the truth: a message may be lost, late or doubled, and a worker killed at any point.

Each call prepares the next texts without a lock, because it may ask model servers for digests and reads the
texts' runs. Then one short transaction starts them. Locks are taken in one order: measurement, rubric,
bench, trial. The lock on the rubric keeps two measurements from starting the same judgement at once.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import Error as AnyDatabaseError
from django.db import transaction
from django.utils import timezone

from refinement.engine.types import Rubric
from refinement.execution.trust.waking import measurement_wake
from refinement.execution.waking import wake
from refinement.models import (
    Bench,
    BenchStatus,
    BenchTrial,
    Measurement,
    MeasurementItem,
    MeasurementStatus,
    TrialStatus,
)
from refinement.models import Rubric as RubricRow
from refinement.providers.base import ProviderError
from refinement.selectors.projects.budgets import budget_of
from refinement.selectors.trust.measurements.definitions import definition_measured
from refinement.selectors.trust.measurements.progress import tokens_used
from refinement.selectors.trust.measurements.reuse import (
    Digests,
    answered_before,
    digests_of,
    fingerprint_of,
    targets_of,
    under_way,
)
from refinement.selectors.trust.measurements.settings import setting_of
from refinement.selectors.trust.measurements.windows import trials_under_way, window_of
from refinement.services.trust.measurements.ending import measurement_finish, measurement_pause_itself

log = logging.getLogger("wiggum.measurements")
AT_ONCE = 16  # texts per transaction, which locks SQLite's database
MOST_SWEPT = 100
UNFINISHED = (MeasurementStatus.RUNNING, MeasurementStatus.PAUSED)
COPIED = (
    "said", "scores", "composite", "issues", "asi", "penalties", "checks", "seen_chars", "parse_rung",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Prepared:
    """A text that may be started, with the fingerprint of what its verdicts depend on."""

    item: MeasurementItem
    fingerprint: str
    problem: str = ""  # why it cannot be judged


def measurement_advance(measurement_id: int) -> int:
    """Starts judgements until the window is full; ends the measurement if all have ended.

    Returns how many texts were started. Safe to call any number of times, by any number of workers.
    """
    started = 0
    while True:
        prepared = items_prepare(measurement_id)
        dealt = items_start(measurement_id, prepared)
        if not dealt:
            return started
        started += dealt


def items_prepare(measurement_id: int) -> list[Prepared]:
    """The next texts with their fingerprints; none if the limit is reached or a server is down."""
    rows = Measurement.objects.select_related("project", "rubric_version")
    measurement = rows.filter(pk=measurement_id, status=MeasurementStatus.RUNNING).first()
    if measurement is None:
        return []
    items = next_items(measurement, window_of(measurement) - trials_under_way(measurement))
    if not items:
        return []
    try:
        digests = digests_of(targets_of(measurement))
    except ProviderError as error:
        reason_set(measurement, error.message)
        return []
    reason_set(measurement, "")
    rubric = definition_measured(measurement)
    return [item_prepare(item, measurement, rubric, digests) for item in items]


def next_items(measurement: Measurement, room: int) -> list[MeasurementItem]:
    """As many texts as there is room for: mostly one, because each judgement that ends makes room for one."""
    waiting = MeasurementItem.objects.filter(measurement=measurement, started=False)
    waiting = waiting.select_related("bench", "round__run", "original__round__run")
    return list(waiting.order_by("position")[: max(0, min(room, AT_ONCE))])


def item_prepare(
    item: MeasurementItem, measurement: Measurement, rubric: Rubric, digests: Digests
) -> Prepared:
    item.measurement = measurement
    try:
        return Prepared(item, fingerprint_of(item.bench, setting_of(item, rubric), rubric, digests))
    except AnyDatabaseError:
        raise
    except Exception as error:
        log.exception("measurement=%s item=%s cannot be judged", measurement.pk, item.pk)
        words = f"Unexpected error ({type(error).__name__}). Check the worker's log."
        return Prepared(item, item.bench.candidate_sha256, words)


def reason_set(measurement: Measurement, reason: str) -> None:
    """Says on the page why nothing is started, unless the measurement has changed its state."""
    if measurement.status_reason != reason[:400]:
        running = Measurement.objects.filter(pk=measurement.pk, status=MeasurementStatus.RUNNING)
        running.update(status_reason=reason[:400])


@transaction.atomic
def items_start(measurement_id: int, prepared: Sequence[Prepared]) -> int:
    """Starts as many of these texts as the limit allows. Returns how many; 0 if none is due."""
    measurement = (
        Measurement.objects.select_for_update(of=("self",))
        .select_related("project", "rubric_version", "created_by")
        .filter(pk=measurement_id, status__in=UNFINISHED)
        .first()
    )
    if measurement is None:
        return 0
    going = trials_under_way(measurement)
    waiting = MeasurementItem.objects.filter(measurement=measurement, started=False)
    if not waiting.exists():
        if not going:
            measurement_finish(measurement)
        return 0
    if measurement.status == MeasurementStatus.PAUSED or not prepared:
        return 0
    if (room := window_of(measurement) - going) <= 0:
        return 0
    if reason := budget_reason(measurement):
        measurement_pause_itself(measurement, reason)
        return 0
    unstarted = set(waiting.filter(pk__in=[each.item.pk for each in prepared]).values_list("pk", flat=True))
    return start_in_room(measurement, [each for each in prepared if each.item.pk in unstarted], room)


def start_in_room(measurement: Measurement, prepared: Sequence[Prepared], room: int) -> int:
    """Starts texts until their calls reach the limit. Reused verdicts need no call."""
    RubricRow.objects.select_for_update(no_key=True).get(pk=measurement.rubric_version.rubric_id)
    prints = {each.fingerprint for each in prepared}
    project = measurement.project
    known = {} if measurement.ask_again else answered_before(project, prints)
    busy = set() if measurement.ask_again else under_way(project, prints)
    started = 0
    for each in prepared:
        if room <= 0:
            break
        if each.fingerprint in busy:
            continue  # it is being judged: its verdict is reused when it is there
        called = item_start(measurement, each, known)
        if called and not measurement.ask_again:
            busy.add(each.fingerprint)
        room -= called
        started += 1
    return started


def item_start(
    measurement: Measurement, prepared: Prepared, known: dict[tuple[str, int, int], BenchTrial]
) -> int:
    """Creates the trials of one text, answered ones where there are any. Returns how many need a call."""
    item, bench, now = prepared.item, prepared.item.bench, timezone.now()
    kept = {(row.number, row.seat): row for row in BenchTrial.objects.filter(bench=bench)}  # after a pause
    seats = range(1, len(bench.panel) + 1) if bench.panel else (0,)
    fresh = [
        trial_row(bench, number, seat, known.get((prepared.fingerprint, number, seat)))
        for number in range(1, measurement.repeats + 1)
        for seat in seats
        if (number, seat) not in kept
    ]
    for trial in fresh:
        if prepared.problem and trial.status != TrialStatus.DONE:
            trial.status, trial.error, trial.finished_at = TrialStatus.FAILED, prepared.problem, now
    created = BenchTrial.objects.bulk_create(fresh)
    cancelled = [row.pk for row in kept.values() if row.status == TrialStatus.CANCELLED]
    BenchTrial.objects.filter(pk__in=cancelled).update(
        status=TrialStatus.QUEUED, finished_at=None, woken_at=now, wakes=0, next_try_at=None, waiting_for=""
    )
    calls = [row.pk for row in created if row.status == TrialStatus.QUEUED] + cancelled
    ended = {} if calls else {"status": BenchStatus.FINISHED, "finished_at": now}
    Bench.objects.filter(pk=bench.pk).update(
        **{"fingerprint": prepared.fingerprint, "status": BenchStatus.RUNNING, "finished_at": None, **ended}
    )
    MeasurementItem.objects.filter(pk=item.pk).update(started=True)
    for pk in calls:
        wake(BenchTrial, pk)
    return len(calls)


def trial_row(bench: Bench, number: int, seat: int, answered: BenchTrial | None) -> BenchTrial:
    """A trial to be judged, or a copy of one that was."""
    now = timezone.now()
    trial = BenchTrial(bench=bench, number=number, seat=seat, woken_at=now)
    if answered is not None:
        trial.status, trial.reused_from = TrialStatus.DONE, answered
        trial.started_at = trial.finished_at = now
        for name in COPIED:
            setattr(trial, name, getattr(answered, name))
    return trial


def budget_reason(measurement: Measurement) -> str:
    """Why no more may be started, as its budget or the project's is used up; else empty."""
    limit = measurement.token_budget
    if limit is not None and (used := tokens_used(measurement)) >= limit:
        return f"The budget is used up: {used:,} of {limit:,} tokens."
    return budget_of(measurement.project).refusal


def measurements_sweep() -> int:
    """Sends a message for each measurement that has something to start or to end; returns how many."""
    unfinished = Measurement.objects.filter(status__in=UNFINISHED).order_by("pk")
    stuck = [measurement.pk for measurement in unfinished[:MOST_SWEPT] if is_stuck(measurement)]
    for pk in stuck:
        measurement_wake(pk)
    return len(stuck)


def is_stuck(measurement: Measurement) -> bool:
    """Whether a judgement could be started now, or the measurement ended."""
    if MeasurementItem.objects.filter(measurement=measurement, started=False).exists():
        is_running = measurement.status == MeasurementStatus.RUNNING
        return is_running and trials_under_way(measurement) < window_of(measurement)
    return not trials_under_way(measurement)
