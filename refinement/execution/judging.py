"""The judge's part of a step: checks, penalties, and a verdict that was really said."""

from dataclasses import dataclass, replace

from refinement.engine.metrics import run_metrics
from refinement.engine.safeguards import RalphSignal, penalties_for, ralph_signal
from refinement.engine.scoring import assess
from refinement.engine.types import (
    CheckResult,
    EvaluatorOutput,
    History,
    Judge,
    Role,
    Round,
    Rubric,
    Verdict,
)
from refinement.execution.calls import Caller, Request
from refinement.execution.evaluator import CannotEvaluate, evaluator_output
from refinement.execution.record_values import Judged
from refinement.execution.recording import Recorder
from refinement.execution.windows import reply_room, window_for
from refinement.judging.checks import COMMAND, CannotCheck, run_checks
from refinement.judging.context import Brief, judge_view
from refinement.judging.parsing import read_reply
from refinement.judging.prompts import Prompt, judge_prompt, retry_prompt
from refinement.judging.schema import reply_limit_tokens, reply_schema
from refinement.models import Call

ASKS = 3  # once, and twice again with the complaint


class JudgeGaveUp(Exception):
    """No reply could be read as a verdict; the round stays unscored."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict that could be read, the call that brought it, and what the judge saw."""

    call: Call
    verdict: Verdict
    seen_chars: int | None
    attempts: int


def round_judge(caller: Caller, recorder: Recorder, brief: Brief, history: History, step: Judge) -> History:
    """Assesses the round's candidate; a reply that cannot be read is kept, and the next step asks again."""
    entry, rubric = history.rounds[-1], brief.rubric
    checks = checks_of(caller, rubric, entry.candidate)
    try:
        output = evaluator_output(caller, recorder, rubric, step.round, entry.candidate)
    except CannotEvaluate as problem:
        raise JudgeGaveUp(str(problem)) from problem
    ruling = None
    if rubric.criteria:
        found = verdict_get(caller, recorder, brief, history, step, output)
        if not isinstance(found, Ruling):
            return found
        ruling = found
    assessment = assess(
        rubric,
        ruling.verdict if ruling else None,
        checks,
        penalties_for(entry.candidate, rubric.policy.penalties),
        output,
    )
    assessed = replace(entry, assessment=assessment)
    after = replace(history, rounds=(*history.rounds[:-1], assessed))
    seen = ruling.seen_chars if ruling else None
    judged = Judged(
        number=step.round,
        assessment=assessment,
        metrics=run_metrics(rubric, after),
        signal=signal_of(history, assessed),
        seen_chars=seen,
        cut=seen is not None and seen < len(entry.candidate),
        attempts=ruling.attempts if ruling else 0,
    )
    return recorder.assessment(ruling.call if ruling else None, judged, after=after)


def checks_of(caller: Caller, rubric: Rubric, candidate: str) -> tuple[CheckResult, ...]:
    """What the checks say; a script that cannot be run says nothing, and the round stays unscored."""
    scripts = [check.key for check in rubric.checks if check.kind == COMMAND]
    if not scripts:
        with caller.heartbeat():
            return run_checks(rubric.checks, candidate)
    if caller.local.scripts is None:
        raise JudgeGaveUp(
            f"the check {scripts[0]!r} is a script, which only `wiggum eval` runs, on the machine it is "
            "started on. Run the evaluation again there."
        )
    try:
        with caller.heartbeat() as control:
            return run_checks(rubric.checks, candidate, caller.local.scripts(control))
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
    evaluator: EvaluatorOutput | None,
) -> Ruling | History:
    """Asks once; where the reply could not be read, it is recorded and the next step asks again."""
    rubric = brief.rubric
    view = judge_view(brief, history, step.round, evaluator)
    window = window_for(caller, brief, Role.JUDGE)
    with caller.heartbeat():
        first = judge_prompt(view)
    prompt, asked, complaint = conversation(caller, first, step)
    if asked >= ASKS:
        raise JudgeGaveUp(f"its reply could not be read after {asked} attempts. {complaint}")
    request = Request(
        role=Role.JUDGE,
        round_number=step.round,
        prompt=prompt,
        max_tokens=reply_room(prompt, reply_limit_tokens(rubric), window),
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
        call.complaint = cut_words(reading.complaint) if reply.cut else reading.complaint
        return recorder.unfinished_call(call, after=history)
    seen_chars = view.candidate.seen_chars if view.candidate else None
    return Ruling(call, replace(reading.verdict, judge=call.model), seen_chars, asked + 1)


def conversation(caller: Caller, prompt: Prompt, step: Judge) -> tuple[Prompt, int, str]:
    """The prompt as it stands after the replies that this step already got and could not use."""
    asked, complaint = caller.run.step_unreadable, ""
    if not asked:
        return prompt, asked, complaint
    unreadable = Call.objects.filter(
        run=caller.run, round_number=step.round, role=Role.JUDGE.value, error_kind=""
    ).order_by("-attempt")[:asked]
    for call in reversed(unreadable):
        complaint = call.complaint
        prompt = retry_prompt(prompt, call.reply, complaint)
    return prompt, asked, complaint


def cut_words(complaint: str) -> str:
    return f"The reply was cut off because it reached its length limit; answer more briefly. {complaint}"
