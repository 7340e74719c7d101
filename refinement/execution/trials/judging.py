"""A trial's call to the judge: prompted, sent and read exactly as in a run."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial

from django.db.models import Max
from django.utils import timezone

from refinement.engine.types import PanelJudge, Role, Rubric, Verdict
from refinement.execution.calls import control_of, fill, options_of, stop_if_cancelled
from refinement.execution.cancelling import lease_checks
from refinement.execution.leases import Lease, lease_renew
from refinement.execution.steps.judging import Evidence, cut_off_complaint
from refinement.execution.steps.step import DEADLINE_SECONDS
from refinement.execution.windows import expected_sizes, max_reply_tokens
from refinement.judging.context import JudgeView
from refinement.judging.contracts import contract_violation
from refinement.judging.isolation import while_waiting
from refinement.judging.parsing import read_reply
from refinement.judging.prompts import Prompt, judge_prompt, retry_prompt
from refinement.judging.schema import reply_limit_tokens, reply_schema
from refinement.models import Bench, BenchCall, BenchTrial
from refinement.pricing import cost_of
from refinement.providers.base import (
    CallControl,
    CompletionRequest,
    ErrorKind,
    Message,
    ModelInfo,
    ProviderError,
    Reply,
)
from refinement.providers.context import context_tokens_for
from refinement.providers.registry import Target
from refinement.selectors.endpoints import provider_for
from refinement.selectors.prices import prices_for
from refinement.selectors.trust.measurements.definitions import definition_for
from refinement.selectors.trust.measurements.settings import Setting, setting_of_trial
from refinement.texts import storable

NO_EVIDENCE = Evidence("", None)


@dataclass(frozen=True, slots=True)
class TrialReply:
    """A reply and its unsaved row; if there is no verdict, the row has the complaint."""

    rubric: Rubric
    call: BenchCall
    verdict: Verdict | None
    seen_chars: int | None
    evidence: Evidence = NO_EVIDENCE


class TrialFailed(Exception):
    """A call without a reply: its unsaved row and the provider's error."""

    def __init__(self, call: BenchCall, error: ProviderError) -> None:
        super().__init__(error.message)
        self.call = call
        self.error = error


def trial_ask(lease: Lease[BenchTrial]) -> TrialReply:
    """Calls the judge once; raises TrialFailed for a call without a reply, and Cancelled."""
    trial = lease.row
    rubric = definition_for(trial.bench)
    setting = setting_of_trial(trial, rubric)
    evidence = evidence_of_trial(lease, rubric, setting)
    view = trial_view(trial, setting, evidence)
    call = BenchCall(
        trial_id=trial.pk,
        number=trial.calls_made + 1,
        messages=[],
        started_at=timezone.now(),
        seen=[kind.value for kind in view.seen],
        withheld=[kind.value for kind in view.withheld],
    )
    clock = time.monotonic()
    try:
        window = window_of(trial, setting)
        with trial_heartbeat(lease):
            first = judge_prompt(view)
        prompt = conversation(lease, first)
        request = request_for(trial, rubric, prompt, window)
        call.messages = [{"role": m.role, "content": storable(m.content)} for m in request.messages]
        call.options = options_of(request)
        with trial_control(lease) as control:
            reply = provider_for(trial.endpoint).complete(request, control)
    except ProviderError as error:
        call.error_kind, call.error_message = error.kind.value, storable(error.message)
        finish(call, time.monotonic() - clock)
        raise TrialFailed(call, error) from error
    fill(call, reply)
    prices = prices_for([Target(trial.endpoint, trial.model)])
    call.cost = cost_of(prices, trial.endpoint, trial.model, call.prompt_tokens, call.completion_tokens)
    finish(call, reply.seconds or time.monotonic() - clock)
    verdict = verdict_in(call, reply, rubric, trial.model)
    seen_chars = view.candidate.seen_chars if view.candidate else None
    return TrialReply(rubric, call, verdict, seen_chars, evidence)


@contextmanager
def trial_control(lease: Lease[BenchTrial]) -> Iterator[CallControl]:
    with lease_checks.using(lease) as is_held:
        yield control_of(DEADLINE_SECONDS, is_held, lambda: lease_renew(lease))


@contextmanager
def trial_heartbeat(lease: Lease[BenchTrial]) -> Iterator[None]:
    """Renews the lease while templates and checks run in the block; raises Cancelled if it is lost."""
    with trial_control(lease) as control, while_waiting(partial(stop_if_cancelled, control)):
        yield


def evidence_of_trial(lease: Lease[BenchTrial], rubric: Rubric, setting: Setting) -> Evidence:
    """What code finds out about a measured text, as in a run. A person's test asks the judge alone."""
    if not lease.row.bench.fingerprint:
        return NO_EVIDENCE
    with trial_heartbeat(lease):
        return Evidence(contract_violation(rubric, lease.row.bench.candidate), setting.evaluator)


def trial_view(trial: BenchTrial, setting: Setting, evidence: Evidence = NO_EVIDENCE) -> JudgeView:
    """What the judge sees in this setting. A judge of a board looks through its lens."""
    judge = trial.judge
    lens = PanelJudge(judge["name"], judge["lens"]) if judge else None
    return setting.view(lens, contract_violation=evidence.violation)


def window_of(trial: BenchTrial, setting: Setting) -> int | None:
    """The context window of the trial's model, sized as in a run. A single judge's is chosen only once."""
    bench = trial.bench
    if bench.context_tokens is not None and not trial.seat:
        return bench.context_tokens
    info = model_info_get(trial)
    if info is None:
        return None
    longest = max((entry.candidate for entry in setting.history.rounds), key=len)
    brief = replace(setting.brief, seed=longest)
    wanted = context_tokens_for(*expected_sizes(brief, Role.JUDGE), None)
    if bench.fingerprint:
        wanted = max(wanted, largest_window(bench))
    window = wanted if info.context_length is None else min(wanted, info.context_length)
    if not trial.seat:
        Bench.objects.filter(pk=bench.pk, context_tokens=None).update(context_tokens=window)
    return window


def largest_window(bench: Bench) -> int:
    """The largest window of its measurement so far: a server may load the model again for each new one."""
    benches = Bench.objects.filter(measured__measurement__items__bench=bench)
    return benches.aggregate(most=Max("context_tokens"))["most"] or 0


def model_info_get(trial: BenchTrial) -> ModelInfo | None:
    """The model as the endpoint describes it; None if it does not describe its models."""
    try:
        return provider_for(trial.endpoint).model_info(trial.model)
    except ProviderError as error:
        # Without a window, the server would use its default and may cut the prompt silently.
        if error.retryable or error.kind is ErrorKind.MODEL_MISSING:
            raise
        return None


def conversation(lease: Lease[BenchTrial], prompt: Prompt) -> Prompt:
    """The prompt with the trial's unreadable replies added."""
    if not lease.row.unreadable:
        return prompt
    earlier = BenchCall.objects.filter(trial_id=lease.row.pk, error_kind="").order_by("number")
    for reply, complaint in earlier.values_list("reply", "complaint"):
        prompt = retry_prompt(prompt, reply, complaint)
    return prompt


def request_for(trial: BenchTrial, rubric: Rubric, prompt: Prompt, window: int | None) -> CompletionRequest:
    return CompletionRequest(
        model=trial.model,
        messages=[Message(m.role, m.content) for m in prompt.messages],
        temperature=float(trial.bench.temperature),
        max_tokens=max_reply_tokens(prompt, reply_limit_tokens(rubric), window, role=Role.JUDGE),
        context_tokens=window,
        schema=reply_schema(rubric),
        role=Role.JUDGE.value,
    )


def verdict_in(call: BenchCall, reply: Reply, rubric: Rubric, judge: str) -> Verdict | None:
    reading = read_reply(reply.text, rubric)
    call.rung = reading.rung.value if reading.rung else ""
    call.thinking = call.thinking or storable(reading.thinking)
    if reading.verdict is None:
        call.complaint = storable(cut_off_complaint(reading.complaint) if reply.cut else reading.complaint)
        return None
    return replace(reading.verdict, judge=judge)


def finish(call: BenchCall, seconds: float) -> None:
    call.finished_at = timezone.now()
    call.seconds = Decimal(str(round(seconds, 3)))
