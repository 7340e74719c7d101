"""The loop: a run is carried out step by step while the engine says so.

Workers and the foreground use the same loop. It stops when the run ends or has to wait, when the lease is
lost, and when the turn is over.
"""

from contextlib import suppress

from refinement.engine.steps import next_step
from refinement.execution.leases import Lease, LeaseLost
from refinement.execution.recording import Recorder
from refinement.execution.step import StepOptions, StepResult, step_carry_out
from refinement.models import Run
from refinement.selectors.runs.history import brief_of, history_of


def run_loop(lease: Lease[Run], options: StepOptions) -> StepResult:
    """Carries out steps of the run under the lease; returns the last step's result.

    Each step's results are written in one transaction that also renews the lease. When `options.turn_over`
    says so after a step, the lease is given back and the run is sent for again.
    """
    brief = brief_of(lease.row)
    history = history_of(lease.row, brief.rubric)
    recorder = Recorder(lease, brief.rubric, options.actor, options.sends)
    while True:
        step = next_step(brief.rubric, history)
        options.on_step(step)
        result = step_carry_out(recorder, brief, history, step, options)
        options.on_result(result)
        if result.history is None:  # the run has ended or waits, or the lease is lost
            return result
        if not lease.row.is_finished and options.turn_over():
            with suppress(LeaseLost):  # somebody has just paused or cancelled the run
                recorder.stand_in_line()
            return result
        history = result.history
