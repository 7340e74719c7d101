"""The judge step: checks, evaluator, penalties and the judge's verdict."""

from dataclasses import dataclass, replace

from refinement.engine.metrics import run_metrics
from refinement.engine.noise import same_text_move
from refinement.engine.safeguards import RalphSignal, penalties_for, ralph_signal
from refinement.engine.scoring import assess
from refinement.engine.types import (
    Check,
    CheckResult,
    EvaluatorOutput,
    History,
    Judge,
    Role,
    Round,
    Rubric,
    Verdict,
)
from refinement.execution.calls import Caller, Request, Speaker
from refinement.execution.commands.running import CannotEvaluate
from refinement.execution.steps.evaluator import round_evaluate
from refinement.execution.steps.measured import measured
from refinement.execution.steps.record_values import JudgedRound
from refinement.execution.steps.recording import Recorder
from refinement.execution.windows import max_reply_tokens, sources_size, window_for
from refinement.judging.checks import LOCAL, MEASURED, CannotCheck, is_local, run_checks
from refinement.judging.checks.kinds import Finding
from refinement.judging.context import Brief, judge_view
from refinement.judging.contracts import contract_violation
from refinement.judging.parsing import read_reply
from refinement.judging.prompts import Prompt, judge_prompt, retry_prompt
from refinement.judging.schema import reply_limit_tokens, reply_schema
from refinement.models import Call, CallPurpose

ASKS = 3  # one call, and two retries that quote the complaint


class JudgeGaveUp(Exception):
    """The round cannot be judged, and stays unscored."""


@dataclass(frozen=True, slots=True)
class VerdictReply:
    """A readable verdict with its call."""

    call: Call
    verdict: Verdict
    seen_chars: int | None
    attempts: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """What code finds out about a candidate before anybody judges it."""

    violation: str  # of the output contract
    output: EvaluatorOutput | None


def evidence_of(caller: Caller, recorder: Recorder, rubric: Rubric, history: History) -> Evidence | History:
    """The evidence for the newest round; the evaluator's output is reused if it was saved before.

    Returns the history instead if the step ends here: the candidate has to be repaired, or slow repeats of
    the evaluator go on in the next step. Raises JudgeGaveUp if the evaluator cannot run.
    """
    with caller.heartbeat():
        violation = contract_violation(rubric, history.rounds[-1].candidate)
    try:
        output = round_evaluate(caller, recorder, rubric, history)
    except CannotEvaluate as problem:
        raise JudgeGaveUp(str(problem)) from problem
    return output if isinstance(output, History) else Evidence(violation, output)


def round_judge(caller: Caller, recorder: Recorder, brief: Brief, history: History, step: Judge) -> History:
    """Assesses the round's candidate and records the assessment; returns the history after the step.

    A reply that cannot be read is recorded, and the next step asks again. A candidate that has to be repaired
    is not judged yet. Raises JudgeGaveUp if the round cannot be judged, and CallFailed, ProviderError,
    NoFreeSlot, Cancelled or LeaseLost.
    """
    entry, rubric = history.rounds[-1], brief.rubric
    checks = checks_of(caller, rubric, entry.number, entry.candidate)
    evidence = evidence_of(caller, recorder, rubric, history)
    if isinstance(evidence, History):
        return evidence
    reply = None
    if rubric.criteria:
        found = verdict_get(caller, recorder, brief, history, step, evidence)
        if isinstance(found, History):
            return found
        reply = found
    judged = judged_round(
        rubric,
        history,
        reply.verdict if reply else None,
        checks,
        evidence,
        seen_chars=reply.seen_chars if reply else None,
        attempts=reply.attempts if reply else 0,
    )
    after = assessed(history, judged)
    return recorder.assessment(reply.call if reply else None, judged, after=after)


def judged_round(
    rubric: Rubric,
    history: History,
    verdict: Verdict | None,
    checks: tuple[CheckResult, ...],
    evidence: Evidence,
    *,
    seen_chars: int | None,
    attempts: int,
) -> JudgedRound:
    """The newest round's assessment by this verdict, with the run's new scores."""
    entry = history.rounds[-1]
    assessment = assess(
        rubric,
        verdict,
        checks,
        penalties_for(rubric, entry.candidate),
        evidence.output,
        evidence.violation,
    )
    judged = replace(entry, assessment=assessment)
    after = replace(history, rounds=(*history.rounds[:-1], judged))
    return JudgedRound(
        number=entry.number,
        assessment=assessment,
        metrics=run_metrics(rubric, after),
        signal=signal_of(history, judged),
        seen_chars=seen_chars,
        cut=seen_chars is not None and seen_chars < len(entry.candidate),
        attempts=attempts,
        move=same_text_move(rubric, after),
    )


def assessed(history: History, judged: JudgedRound) -> History:
    """The history with the assessment of its newest round."""
    entry = replace(history.rounds[-1], assessment=judged.assessment)
    return replace(history, rounds=(*history.rounds[:-1], entry))


def checks_of(caller: Caller, rubric: Rubric, number: int, candidate: str) -> tuple[CheckResult, ...]:
    """Runs the rubric's checks; raises JudgeGaveUp if one needs the machine of another person."""
    local = [
        check
        for check in rubric.checks
        if (check.kind in LOCAL or is_local(check)) and check.kind not in MEASURED
    ]
    if local and caller.local.checks is None:
        raise JudgeGaveUp(
            f"the check {local[0].key!r} is a script. Only `wiggum eval` runs scripts, on the machine where "
            "it is started. Run the evaluation again there."
        )
    try:
        with caller.heartbeat() as control:
            own = caller.local.checks(control) if caller.local.checks else None

            def run(check: Check, text: str) -> Finding:
                if check.kind in MEASURED or own is None:
                    return measured(caller.run, number, check)
                return own(check, text)

            return run_checks(rubric.checks, candidate, run)
    except CannotCheck as problem:
        raise JudgeGaveUp(str(problem)) from problem


def signal_of(history: History, judged: Round) -> RalphSignal | None:
    return ralph_signal(judged, history.rounds[-2]) if len(history.rounds) > 1 else None


def verdict_get(
    caller: Caller,
    recorder: Recorder,
    brief: Brief,
    history: History,
    step: Judge,
    evidence: Evidence,
) -> VerdictReply | History:
    """Calls the judge once. An unreadable reply is recorded, and the history is returned instead."""
    rubric = brief.rubric
    view = judge_view(brief, history, step.round, evidence.output, contract_violation=evidence.violation)
    speaker = Speaker(Role.JUDGE)
    window = window_for(caller, brief, speaker, step.round, CallPurpose.SCORE)
    with caller.heartbeat():
        first = judge_prompt(view)
    prompt, asked = conversation(caller, first, step)
    if asked >= ASKS:
        raise JudgeGaveUp(f"did not return valid scores ({asked} tries).")
    request = Request(
        speaker=speaker,
        purpose=CallPurpose.SCORE,
        round_number=step.round,
        prompt=prompt,
        max_tokens=max_reply_tokens(
            prompt,
            reply_limit_tokens(rubric),
            window,
            role=Role.JUDGE,
            sources=sources_size(brief, Role.JUDGE),
        ),
        temperature=0.0,
        schema=reply_schema(rubric),
        context_tokens=window,
        seen=[kind.value for kind in view.seen],
        withheld=[kind.value for kind in view.withheld],
    )
    call, reply = caller.ask(request)
    reading = read_reply(reply.text, rubric)
    call.rung = reading.rung.value if reading.rung else ""
    call.thinking = call.thinking or reading.thinking
    if reading.verdict is None:
        call.complaint = cut_off_complaint(reading.complaint) if reply.cut else reading.complaint
        return recorder.unfinished_call(call, after=history)
    seen_chars = view.candidate.seen_chars if view.candidate else None
    return VerdictReply(call, replace(reading.verdict, judge=call.model), seen_chars, asked + 1)


def conversation(caller: Caller, prompt: Prompt, step: Judge) -> tuple[Prompt, int]:
    """The prompt with this step's unreadable replies and what was wrong with them, and their number."""
    asked = caller.run.step_unreadable
    if not asked:
        return prompt, asked
    unreadable = Call.objects.filter(
        run=caller.run, round_number=step.round, purpose=CallPurpose.SCORE, seat=0, error_kind=""
    ).order_by("-attempt")[:asked]
    for call in reversed(unreadable):
        prompt = retry_prompt(prompt, call.reply, call.complaint)
    return prompt, asked


def cut_off_complaint(complaint: str) -> str:
    return f"The reply was cut off because it reached its length limit; answer more briefly. {complaint}"
