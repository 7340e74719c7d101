"""What somebody should know before they launch a run; but for a command that is off, nothing forbids it."""

from collections.abc import Sequence
from dataclasses import dataclass

from refinement.engine.safeguards import Kinship, kinship
from refinement.engine.types import EvaluationMode, Information, Rubric
from refinement.providers.registry import Target
from refinement.selectors.launch.available_models import Offer
from refinement.selectors.launch.estimates import Estimate
from refinement.selectors.launch.model_lists import info_of, offer_of
from refinement.selectors.rubrics.commands import command_refusal

EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True)
class Caution:
    """`code` tells one warning from another: a page says which it has shown."""

    code: str
    title: str
    words: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What is about to be launched, as far as it is known yet."""

    rubric: Rubric
    seed_chars: int
    producer: Target | None
    judge: Target | None
    estimate: Estimate
    workers: int


def warnings_for(plan: Plan, offers: Sequence[Offer]) -> list[Caution]:
    """All that is to be said of the plan, the weightiest first."""
    return [
        *command_warning(plan),
        *endpoint_warnings(plan, offers),
        *worker_warning(plan),
        *kinship_warning(plan, offers),
        *embedded_warning(plan),
        *length_warnings(plan, offers),
        *calibration_warning(plan),
    ]


def command_warning(plan: Plan) -> list[Caution]:
    """The one thing here that does forbid it: said before somebody presses the button in vain."""
    if refusal := command_refusal(plan.rubric):
        return [Caution("command", "The evaluator's command may not be run", refusal)]
    if plan.rubric.evaluation_mode is EvaluationMode.RUNNABLE and not plan.rubric.evaluator.command:
        words = "Its evaluation rests on a command, and it has none: the judge will be alone."
        return [Caution("no-command", "This rubric has no command", words)]
    if plan.rubric.runs_a_command and Information.EVALUATOR_OUTPUT not in plan.rubric.context.judge:
        words = "The command is run and its output kept, but the rubric's table keeps it from the judge."
        return [Caution("unseen-command", "The judge does not see the evaluator's output", words)]
    return []


def endpoint_warnings(plan: Plan, offers: Sequence[Offer]) -> list[Caution]:
    roles = {"producer": plan.producer, "judge": plan.judge if plan.rubric.criteria else None}
    found: dict[str, Caution] = {}
    for role, target in roles.items():
        if target is None:
            continue
        offer = offer_of(offers, target.endpoint)
        if offer is not None and offer.problem:
            words = f"{offer.problem} The run will wait for it and go on by itself once it answers."
            title = f"The endpoint {target.endpoint} is not ready"
            found.setdefault(target.endpoint, Caution(f"down-{target.endpoint}", title, words))
        elif offer is not None and info_of(offers, target) is None:
            words = (
                f"{target.endpoint} does not list a model named {target.model}. The run may end in an error."
            )
            found[role] = Caution(f"unknown-{role}", f"The {role} is not offered", words)
    return list(found.values())


def worker_warning(plan: Plan) -> list[Caution]:
    if plan.workers:
        return []
    words = "The run will stay in the queue until a worker is started, with: make worker"
    return [Caution("no-worker", "No worker is running", words)]


def kinship_warning(plan: Plan, offers: Sequence[Offer]) -> list[Caution]:
    if not plan.producer or not plan.judge or not plan.rubric.criteria:
        return []
    families = [
        info.family if (info := info_of(offers, target)) else "" for target in (plan.producer, plan.judge)
    ]
    kin = kinship(
        plan.producer.model, plan.judge.model, producer_family=families[0], judge_family=families[1]
    )
    if kin is None:
        return []
    same = "the same model" if kin is Kinship.SAME_MODEL else "of one family"
    words = "A model rates its own kind about 0.9 of 10 points too high. Choose a judge of another family."
    return [Caution(kin.value, f"Producer and judge are {same}", words)]


def embedded_warning(plan: Plan) -> list[Caution]:
    if plan.judge is None or plan.judge.endpoint != EMBEDDED or not plan.rubric.criteria:
        return []
    words = "It is too small to judge well: it shows how a run works, not how good a text is."
    return [Caution("embedded", "The embedded model is the judge", words)]


def length_warnings(plan: Plan, offers: Sequence[Offer]) -> list[Caution]:
    found = []
    limit = plan.rubric.policy.judge_limit_chars
    if plan.rubric.criteria and plan.seed_chars > limit:
        words = (
            f"Your text has {plan.seed_chars:,} characters, and the judge reads {limit:,} of a candidate: "
            "its beginning and its end. Every round will say so. Raise that limit, or shorten the text."
        )
        found.append(Caution("long-seed", "The judge will not see all of it", words))
    info = info_of(offers, plan.judge) if plan.judge and plan.rubric.criteria else None
    if info and info.context_length and plan.estimate.longest_prompt > info.context_length:
        words = (
            f"A prompt for the judge may grow to about {plan.estimate.longest_prompt:,} tokens, and "
            f"{info.name} holds {info.context_length:,}. Then the run ends with an error. Let the judge "
            "read less, or choose another."
        )
        found.append(Caution("context", "The judge's context may be too small", words))
    return found


def calibration_warning(plan: Plan) -> list[Caution]:
    if plan.rubric.seed_text or not plan.rubric.criteria:
        return []
    words = (
        "It has no seed: a text with known scores that the judge compares with. Its scores are good for "
        "telling one round from another, less so for comparing runs."
    )
    return [Caution("uncalibrated", "This rubric is not calibrated", words)]
