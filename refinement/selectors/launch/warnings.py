"""Warnings before a launch."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from refinement.engine.safeguards import Kinship, kinship
from refinement.engine.types import EvaluationMode, Information, JudgeMode
from refinement.providers.embedded import is_demo
from refinement.providers.registry import Target
from refinement.selectors.launch.available_models import Offer
from refinement.selectors.launch.contexts import judge_problem, writer_problem
from refinement.selectors.launch.model_lists import info_of, offer_of
from refinement.selectors.launch.plans import HELD_OUT, Plan
from refinement.selectors.rubrics.commands import command_refusal

EMBEDDED = "embedded"
DOWN = "down-"  # starts the code of a warning about an endpoint that is not ready
SPOKEN = {
    "producer": "The writer",
    "judge": "The judge",
    "clerk": "The clerk",
    HELD_OUT: "The held-out judge",
}


@dataclass(frozen=True, slots=True)
class Fix:
    """What solves a problem: the form field to change, and the value to set it to if there is one."""

    label: str
    field: str
    value: str = ""


WRITER, JUDGE = Fix("Choose another writer", "producer"), Fix("Choose another judge", "judge")
ONE_JUDGE = Fix("Use one judge", "judges", JudgeMode.SINGLE.value)
FIXES = {"producer": WRITER, "Judge": JUDGE}


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning. The page sends back the `code` of each warning it showed."""

    code: str
    title: str
    words: str
    blocks: bool = False  # the launch is refused
    fix: Fix | None = None


def warnings_for(plan: Plan, offers: Sequence[Offer]) -> list[Caution]:
    """All warnings for the plan, most important first."""
    return [
        *command_warning(plan),
        *budget_warning(plan),
        *limit_warning(plan),
        *too_long_warnings(plan, offers),
        *endpoint_warnings(plan, offers),
        *worker_warning(plan),
        *kinship_warning(plan, offers),
        *embedded_warning(plan),
        *length_warnings(plan, offers),
        *source_warnings(plan, offers),
    ]


def command_warning(plan: Plan) -> list[Caution]:
    """A command that is off, missing or hidden from the judge."""
    if refusal := command_refusal(plan.rubric):
        return [Caution("command", "The evaluator command is not allowed", refusal, blocks=True)]
    if plan.rubric.evaluation_mode is EvaluationMode.RUNNABLE and not plan.rubric.evaluator.command:
        words = "The rubric's evaluation needs a command, but none is set. Only the judge will score."
        return [Caution("no-command", "No evaluator command", words)]
    if plan.rubric.runs_a_command and Information.EVALUATOR_OUTPUT not in plan.rubric.context.judge:
        words = "The command runs, but the rubric's visibility table hides its output from the judge."
        return [Caution("unseen-command", "The judge does not see the evaluator output", words)]
    return []


def budget_warning(plan: Plan) -> list[Caution]:
    if plan.budget.refusal:
        return [Caution("budget", "The budget is used up", plan.budget.refusal, blocks=True)]
    if plan.budget.warning:
        return [Caution("budget-close", "The budget is nearly used up", plan.budget.warning)]
    return []


def limit_warning(plan: Plan) -> list[Caution]:
    """A limit of the run that ends it before its first round is judged."""
    estimate, limits = plan.estimate, plan.judging.rubric.policy.budget
    needs = {"tokens": (estimate.first_tokens, limits.tokens), "calls": (estimate.first_calls, limits.calls)}
    for unit, (need, limit) in needs.items():
        if limit is not None and limit < need:
            kind = "board round" if plan.judging.is_board else "round"
            about = "about " if unit == "tokens" else ""
            words = f"A {kind} needs {about}{need:,} {unit}; the limit of {limit:,} allows none."
            title = "The limit is too low for one round"
            return [Caution("low-limit", title, words, fix=Fix("Raise the limit", unit))]
    return []


def too_long_warnings(plan: Plan, offers: Sequence[Offer]) -> list[Caution]:
    """Texts that a model certainly cannot read; the launch is refused."""
    if found := writer_problem(plan.sizes, plan.rubric, plan.producer, offers):
        return [Caution("too-long-writer", "Too long for the writer", found[1], blocks=True, fix=WRITER)]
    judges = [target for _, target in plan.judges]
    if problem := judge_problem(plan.sizes, plan.rubric, judges, offers):
        return [Caution("too-long-judge", "Too long for the judge", problem, blocks=True, fix=JUDGE)]
    return []


def endpoint_warnings(plan: Plan, offers: Sequence[Offer]) -> list[Caution]:
    """Endpoints that are missing or not ready, and models that an endpoint does not have."""
    found: dict[str, Caution] = {}
    for role, target in plan.called:
        offer, after = offer_of(offers, target.endpoint), role == HELD_OUT
        if offer is None:
            end = "It cannot be asked." if after else "The run would fail."
            words = f"{role_words(role)} uses {target.endpoint}/{target.model}. {end}"
            title = f"There is no model server {target.endpoint}"
            code = f"no-endpoint-{target.endpoint}"
            found.setdefault(target.endpoint, Caution(code, title, words, fix=FIXES.get(role)))
        elif offer.problem:
            what = "held-out judge is asked" if after else "run will wait and continue"
            words = f"{offer.problem} The {what} when the model server responds."
            code = "away-held-out-judge" if after else f"{DOWN}{target.endpoint}"
            title = f"Model server {target.endpoint} is not available"
            found.setdefault(target.endpoint, Caution(code, title, words))
        elif info_of(offers, target) is None:
            end = "It may not answer." if after else "The run may fail."
            words = f"{target.endpoint} has no model {target.model}. {end}"
            code = f"unknown-{role.casefold().replace(' ', '-')}"
            found[code] = Caution(
                code, f"{role_words(role)} was not found on this model server", words, fix=FIXES.get(role)
            )
    return list(found.values())


def role_words(role: str) -> str:
    """A role as the subject of a sentence; a judge of a board has a name."""
    return SPOKEN.get(role.casefold()) or f"The judge {role}"


def worker_warning(plan: Plan) -> list[Caution]:
    if plan.workers:
        return []
    words = "The run stays in the queue until a worker is online. Start one: make worker"
    return [Caution("no-worker", "No worker online", words)]


def kinship_warning(plan: Plan, offers: Sequence[Offer]) -> list[Caution]:
    """Judges that are the producer's model or of its family."""
    related: dict[Kinship, list[str]] = {}
    for name, target in plan.judges if plan.producer else ():
        if is_demo(target.endpoint, target.model):
            continue  # a warning of its own: its scores mean nothing
        if kin := kinship_of(plan.producer, target, offers):
            related.setdefault(kin, []).append(name)
    words = "Models rate their own family about 0.9 of 10 points too high."
    fix = unrelated_judge(plan, offers)
    return [
        Caution(kin.value, kinship_title(kin, related[kin], board=plan.judging.is_board), words, fix=fix)
        for kin in Kinship
        if kin in related
    ]


def unrelated_judge(plan: Plan, offers: Sequence[Offer]) -> Fix:
    """The largest judge of another family, if the run's judge can be replaced by one."""
    target = None if plan.rubric.judges.panel else largest_judge(plan.producer, offers, (None,))
    if target is None:
        return JUDGE
    return Fix(f"Use {target.model}", "judge", f"{target.endpoint}/{target.model}")


def largest_judge(
    producer: Target | None, offers: Sequence[Offer], allowed: Sequence[Kinship | None]
) -> Target | None:
    """The largest model but the demo model whose kinship with the writer is allowed; the first kind first."""
    found = [
        (-allowed.index(kin), info.size_bytes or 0, target)
        for offer in offers
        if offer.endpoint != EMBEDDED
        for info in offer.models
        if (kin := kinship_of(producer, target := Target(offer.endpoint, info.name), offers)) in allowed
    ]
    return max(found, key=lambda entry: entry[:2])[2] if found else None


def kinship_of(producer: Target | None, judge: Target, offers: Sequence[Offer]) -> Kinship | None:
    if producer is None:
        return None
    families = [info.family if (info := info_of(offers, target)) else "" for target in (producer, judge)]
    return kinship(producer.model, judge.model, producer_family=families[0], judge_family=families[1])


def kinship_title(kin: Kinship, names: Sequence[str], *, board: bool) -> str:
    same = "the same model" if kin is Kinship.SAME_MODEL else "of the same family"
    if not board or names == ["Judge"]:
        return f"Writer and {'judges' if board else 'judge'} are {same}"
    return f"{', '.join(['Writer', *names[:-1]])} and {names[-1]} are {same}"


def embedded_warning(plan: Plan) -> list[Caution]:
    if not any(target.endpoint == EMBEDDED for _, target in plan.judges):
        return []
    words = "It is too small to judge well: its scores mean nothing."
    if not plan.judging.is_board:
        return [Caution("embedded", "The demo model is the judge", words, fix=JUDGE)]
    words = f"{words} Its context may be too small for a board's verdicts, and the run would then fail."
    return [Caution("embedded", "The demo model is a judge", words, fix=ONE_JUDGE)]


def length_warnings(plan: Plan, offers: Sequence[Offer]) -> list[Caution]:
    found = []
    limit = plan.rubric.policy.judge_limit_chars
    if plan.rubric.criteria and plan.seed_chars > limit:
        words = (
            f"The starting text has {plan.seed_chars:,} characters. The judge reads its start and its end, "
            f"{limit:,} characters in total."
        )
        demo = any(is_demo(target.endpoint, target.model) for _, target in plan.judges)
        fix = JUDGE if demo else Fix("Raise the limit", "judge_limit")
        found.append(Caution("long-seed", "The judge sees only a part", words, fix=fix))
    infos = [info for _, target in plan.judges if (info := info_of(offers, target))]
    info = min(infos, key=lambda entry: entry.context_length or sys.maxsize, default=None)
    if info and info.context_length and plan.estimate.longest_prompt > info.context_length:
        words = (
            f"A judge prompt may grow to about {plan.estimate.longest_prompt:,} tokens, but "
            f"{info.name} reads {info.context_length:,}. The run would then fail."
        )
        found.append(Caution("context", "The judge's context may be too small", words, fix=JUDGE))
    return found


def source_warnings(plan: Plan, offers: Sequence[Offer]) -> list[Caution]:
    """What becomes of the sources: hidden by a rule, cut, or too long for the writer's model."""
    if not plan.source_chars:
        return []
    found = []
    context = plan.rubric.context
    roles = {"producer": context.producer, "judge": context.judge if plan.rubric.criteria else None}
    for role, seen in roles.items():
        if seen is not None and Information.SOURCES not in seen:
            title = f"{role_words(role)} does not see the sources"
            words = "The rubric's visibility table hides them."
            found.append(Caution(f"hidden-sources-{role}", title, words))
    total, limit = sum(plan.source_chars), plan.rubric.policy.source_limit_chars
    if total > limit:
        words = (
            f"The sources have {total:,} characters, but a prompt contains at most {limit:,} of them: the "
            "start and the end of the longer ones."
        )
        demo = plan.producer is not None and is_demo(plan.producer.endpoint, plan.producer.model)
        fix = WRITER if demo else Fix("Raise the limit", "source_limit")
        found.append(Caution("long-sources", "Sources will be cut", words, fix=fix))
    info = info_of(offers, plan.producer) if plan.producer else None
    if info and info.context_length and plan.estimate.longest_writing > info.context_length:
        words = (
            f"With the sources, the writer's prompt and reply may take about "
            f"{plan.estimate.longest_writing:,} tokens, but {info.name} reads {info.context_length:,}."
        )
        found.append(Caution("producer-context", "The writer's context may be too small", words, fix=WRITER))
    return found
