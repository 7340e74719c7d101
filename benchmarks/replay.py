"""Replays all runs with the engine and compares the results with their rows.

Run inside an instance: `manage.py shell -c "from benchmarks.replay import report; report()"`.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

from benchmarks.grids import grid_problems
from refinement.engine.metrics import run_metrics
from refinement.engine.steps import next_step
from refinement.engine.types import (
    Draft,
    Escalate,
    Finish,
    History,
    Judge,
    Merge,
    Revise,
    Rubric,
    Step,
    Usage,
)
from refinement.execution.steps.record_values import feedback_values
from refinement.models import Call, Run
from refinement.selectors.runs.history import brief_of, history_of
from refinement.selectors.runs.steering import instructions_by_round

MARKER = re.compile(r"zz[0-9a-f]{8}")


def report() -> None:
    """Prints all problems and a summary of the runs as JSON."""
    runs = list(Run.objects.order_by("pk"))
    problems = [f"run {run.pk}: {problem}" for run in runs for problem in problems_of(run)]
    problems += grid_problems()
    endings = Counter(f"{run.outcome} {run.stop_reason}" for run in runs if run.is_finished)
    errors = Counter(run.why for run in runs if run.outcome == "ERROR")
    summary = {
        "problems": problems,
        "endings": dict(endings),
        "errors": dict(errors),
        "calls": Call.objects.count(),
        "failed_calls": Call.objects.exclude(error_kind="").count(),
        "rounds": sum(run.rounds_judged for run in runs),
    }
    print(json.dumps(summary))


def problems_of(run: Run) -> Iterator[str]:
    if not run.is_finished:
        yield (
            f"has not ended: {run.status} {run.waiting_for}, "
            f"lease owner {run.lease_owner or 'none'} until {run.lease_until}"
        )
        return
    if run.lease_owner or run.lease_until:
        yield "has ended but its lease is still held"
    rubric = brief_of(run).rubric
    history = history_of(run, rubric, whole=True)
    yield from round_problems(run, rubric, history)
    yield from marker_problems(run)
    yield from call_problems(run)
    yield from step_problems(run, rubric, history)
    yield from metric_problems(run, rubric, history)


def round_problems(run: Run, rubric: Rubric, history: History) -> Iterator[str]:
    numbers = [entry.number for entry in history.rounds]
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"has rounds {numbers}"
    if any(entry.assessment is None for entry in history.rounds[:-1]):
        yield "continued after a round that was not judged"
    expected = 1 if rubric.criteria else 0
    for row in run.rounds.filter(judged_at__isnull=False):
        if row.verdicts.count() != expected:
            yield f"round {row.number} has {row.verdicts.count()} verdicts"


def marker_problems(run: Run) -> Iterator[str]:
    """Every text of a run must contain the run's own marker and no other."""
    own = set(MARKER.findall(run.task))
    for row in run.rounds.all():
        text = row.candidate + "".join(verdict.asi for verdict in row.verdicts.all())
        if set(MARKER.findall(text)) != own:
            yield f"round {row.number} has text of another run"
    for call in run.calls.all():
        markers = set(MARKER.findall(json.dumps(call.messages)))
        if (call.messages and markers != own) or not set(MARKER.findall(call.reply)) <= own:
            yield f"{call} has text of another run"


def call_problems(run: Run) -> Iterator[str]:
    attempts: dict[tuple[int, str, int], list[Call]] = {}
    for call in run.calls.order_by("attempt"):
        attempts.setdefault((call.round_number, call.purpose, call.seat), []).append(call)
    for (number, purpose, seat), calls in attempts.items():
        what = f"{purpose} (seat {seat}) of round {number}"
        if [call.attempt for call in calls] != list(range(1, len(calls) + 1)):
            yield f"the attempts for {what} are {[call.attempt for call in calls]}"
        good = [call for call in calls if not call.error_kind and not call.complaint]
        if len(good) > 1:
            yield f"{what} was answered {len(good)} times"
    if run.calls_made != sum(len(calls) for calls in attempts.values()):
        yield f"counts {run.calls_made} calls but has {run.calls.count()}"


def step_problems(run: Run, rubric: Rubric, history: History) -> Iterator[str]:
    """The engine, given the history round by round, must decide the same steps."""
    rows = {row.number: row for row in run.rounds.all()}
    instructions = instructions_by_round(run)
    before = History(usage=Usage(), panel=history.panel)
    for entry in history.rounds:
        row = rows[entry.number]
        took_over = history.escalated_after and entry.number == history.escalated_after + 1
        if took_over and not isinstance(next_step(rubric, before), Escalate):
            yield f"a board took over after round {history.escalated_after} without a plateau"
        before = replace(
            before,
            extended_after=history.extended_after if entry.number > history.extended_after else 0,
            escalated_after=history.escalated_after if entry.number > history.escalated_after else 0,
            instructions=instructions.get(entry.number, ()),
        )
        # A round written by a user is not a step of the engine; the steps after it are.
        problem = "" if entry.by_hand else step_difference(next_step(rubric, before), entry.number, row)
        if problem:
            yield problem
        waiting = replace(before, rounds=(*before.rounds, replace(entry, assessment=None)))
        judging = next_step(rubric, waiting)
        if not isinstance(judging, (Judge, Merge)) or judging.round != entry.number:
            yield f"round {entry.number} should not have been judged"
        before = replace(before, rounds=(*before.rounds, entry))
    end = next_step(rubric, history)
    recorded = (run.outcome, run.stop_reason, run.why, run.best_round)
    if not isinstance(end, Finish) or (end.outcome, end.reason, end.why, end.best_round) != recorded:
        yield f"ended as {recorded}, but the engine says {end}"


def step_difference(step: Step, number: int, row: Any) -> str:
    if isinstance(step, Draft) and number == 1 and row.feedback is None:
        return ""
    if isinstance(step, Revise) and (step.round, step.base_round) == (number, row.base_round):
        return "" if feedback_values(step.feedback) == row.feedback else f"round {number} has other feedback"
    return f"round {number} has base {row.base_round}, but the engine says {step}"


def metric_problems(run: Run, rubric: Rubric, history: History) -> Iterator[str]:
    metrics = run_metrics(rubric, history)
    for name in ("r1", "best", "last", "improvement"):
        right: Decimal | None = getattr(metrics, name)
        stored: Decimal | None = getattr(run, name)
        if not same(right, stored):
            yield f"{name} is {stored}, but the engine says {right}"
    if (metrics.rounds, metrics.best_round) != (run.rounds_judged, run.best_round):
        yield f"counts {run.rounds_judged} rounds, best {run.best_round}, but the engine says {metrics}"


def same(exact: Decimal | None, stored: Decimal | None) -> bool:
    """Whether they are equal to six decimal places, the precision of the columns."""
    if exact is None or stored is None:
        return exact is stored
    return abs(exact - stored) <= Decimal("0.000001")
