"""The loop that carries out a run step by step, in workers and in the foreground."""

from contextlib import suppress

from refinement.engine.steps import next_step
from refinement.execution.leases import Lease, LeaseLost
from refinement.execution.steps.recording import Recorder
from refinement.execution.steps.step import StepOptions, StepResult, claim_record, step_carry_out
from refinement.models import Run
from refinement.selectors.runs.history import brief_of, history_of


def run_loop(lease: Lease[Run], options: StepOptions) -> StepResult:
    """Carries out steps of the run while its lease is held; returns the last step's result.

    The engine decides each step. The loop stops when the run ends or has to wait, when the lease is lost,
    and when `options.turn_over` returns True after a step: then the run goes back into the queue.

    Each step's results are written in one transaction that also renews the lease. Expected failures are
    part of the result; database errors and bugs are raised, and the caller still holds the lease then.
    """
    brief = brief_of(lease.row)
    history = history_of(lease.row, brief.rubric)
    recorder = Recorder(lease, brief.rubric, options.actor, options.sends)
    claim_record(recorder, next_step(brief.rubric, history))
    while True:
        step = next_step(brief.rubric, history)
        options.on_step(step)
        result = step_carry_out(recorder, brief, history, step, options)
        options.on_result(result)
        if result.history is None:  # the run has ended or waits, or the lease is lost
            return result
        if not lease.row.is_finished and options.turn_over():
            with suppress(LeaseLost):  # the run has just been paused or cancelled
                recorder.requeue()
            return result
        history = result.history
