"""Launch estimates and warnings, and the example run."""

from ninja import Field, Router, Schema

from refinement.api.core.auth import ApiRequest
from refinement.api.core.idempotency import creates, made_at
from refinement.api.core.permissions import member
from refinement.api.core.problems import Refused
from refinement.api.runs.runs import (
    Launch,
    definition_wanted,
    run_address,
    sources_of,
    target_of,
    version_wanted,
)
from refinement.api.runs.shapes import RunWhole, run_whole
from refinement.forms.rubrics.values import tidy
from refinement.providers.registry import Target
from refinement.selectors.endpoints import endpoint_specs
from refinement.selectors.launch.estimates import Range
from refinement.selectors.launch.judging import Judging
from refinement.selectors.launch.model_lists import models_for_launch
from refinement.selectors.launch.plans import Plan, plan_of
from refinement.selectors.launch.warnings import Caution, warnings_for
from refinement.selectors.rubrics.definitions import definition_of, plain
from refinement.services.runs.launching import NothingAvailable, example_choice, example_launch
from refinement.services.runs.sources import sources_validate

router = Router(tags=["Runs"])


class RangeShape(Schema):
    """From a run that stops as early as possible to one that uses every round."""

    low: int = Field(examples=[2])
    high: int = Field(examples=[9])


class WarningShape(Schema):
    """A warning. With the code command, too-long-… or budget, the launch would be refused."""

    code: str = Field(
        description="down-ENDPOINT, no-endpoint-ENDPOINT, unknown-producer, unknown-judge, unknown-clerk, "
        "unknown-held-out-judge, away-held-out-judge, "
        "unknown-NAME for a judge of a board, no-worker, same_model, same_family, embedded, long-seed, "
        "context, hidden-sources-ROLE, long-sources, producer-context, "
        "too-long-writer, too-long-judge, budget or budget-close.",
        examples=["same_model"],
    )
    title: str
    words: str


class JudgeShape(Schema):
    """A judge of the planned run."""

    name: str
    lens: str = Field(description="Empty for a single judge.")
    model: str = Field(description="endpoint/model", examples=["ollama/gemma3:12b"])


class JudgingShape(Schema):
    """Who judges, with an automatic choice resolved for this starting text."""

    mode: str = Field(description="single or board.", examples=["board"])
    words: str = Field(examples=["Automatic: a board of 3, because the text is long"])
    judges: list[JudgeShape] = Field(description="Empty if the clerk composes the panel.")
    size: int = Field(description="Judges that score a round.")
    deliberation: bool
    clerk: str | None = Field(description="endpoint/model; null if no clerk is called.")
    on_plateau: str = Field(description="What a plateau adds; empty if the run stops.")


class RoleShape(Schema):
    """The part of one role."""

    role: str = Field(description="producer, judge, clerk or held_out.")
    calls: RangeShape
    tokens: RangeShape


class CostShape(Schema):
    """In the instance's currency."""

    low: str = Field(examples=["0.17"])
    high: str = Field(examples=["0.45"])


class EstimateShape(Schema):
    """For all repeats together. Retries are not included."""

    rounds: RangeShape = Field(description="Per run.")
    calls: RangeShape
    tokens: RangeShape
    seconds: RangeShape | None = Field(
        description="Per run, from the newest calls with these models; null if there are none."
    )
    cost: CostShape | None = Field(description="Of the models with a price; null if there are none.")
    roles: list[RoleShape]
    round_calls: int = Field(description="The most calls that one round takes.")
    more_calls: int = Field(description="The most that a plateau adds; 0 if it ends the run.")
    more_tokens: int
    judging: JudgingShape
    longest_prompt: int = Field(description="Tokens of one judge call.")
    repeats: int
    warnings: list[WarningShape] = Field(description="Most important first.")


@router.post("/estimate", response=EstimateShape)
@member("editor")
def run_estimated(request: ApiRequest, body: Launch) -> EstimateShape:
    """Estimate the cost of a launch with this body. Includes warnings; nothing is launched."""
    saved = definition_of(version_wanted(request, body.rubric))
    definition = definition_wanted(saved, body)
    producer = target_of("producer", body.producer)
    plan = plan_of(
        request.project,
        definition,
        task_chars=len(tidy(body.task)),
        seed_chars=len(tidy(body.seed)),
        source_chars=[len(source.text) for source in sources_validate(sources_of(body))],
        producer=producer,
        judge=target_of("judge", body.judge) if saved.criteria else producer,
        clerk=target_of("clerk", body.clerk) if body.clerk else None,
        held_out=target_of("held_out", body.held_out) if body.held_out.strip() else None,
        repeats=body.repeats,
    )
    return estimate_shape(plan, warnings_for(plan, models_for_launch()))


@router.post("/example", response={201: RunWhole})
@member("editor")
@creates()
def run_example(request: ApiRequest) -> RunWhole:
    """Launch a small example run on the best available model. 409 if there is none."""
    try:
        choice = example_choice(endpoint_specs(), models_for_launch())
        launched = example_launch(project=request.project, user=request.user, choice=choice)
    except NothingAvailable as nothing:
        raise Refused(409, str(nothing), "no_model") from None
    made_at(request, run_address(request, launched.runs[0].pk))
    return run_whole(launched.runs[0])


def range_shape(amount: Range) -> RangeShape:
    return RangeShape(low=amount.low, high=amount.high)


def estimate_shape(plan: Plan, cautions: list[Caution]) -> EstimateShape:
    estimate, after = plan.estimate, plan.estimate.held_out
    shares = [(share.role.value, share) for share in estimate.roles]
    shares += [("held_out", after)] if after else []
    return EstimateShape(
        rounds=range_shape(estimate.rounds),
        calls=range_shape(estimate.calls),
        tokens=range_shape(estimate.tokens),
        seconds=range_shape(plan.seconds) if plan.seconds else None,
        cost=CostShape(low=plain(plan.cost.low), high=plain(plan.cost.high)) if plan.cost else None,
        roles=[
            RoleShape(role=role, calls=range_shape(share.calls), tokens=range_shape(share.tokens))
            for role, share in shares
        ],
        round_calls=estimate.round_calls,
        more_calls=estimate.more_calls,
        more_tokens=estimate.more_tokens,
        judging=judging_shape(plan.judging),
        longest_prompt=estimate.longest_prompt,
        repeats=estimate.repeats,
        warnings=[
            WarningShape(code=caution.code, title=caution.title, words=caution.words) for caution in cautions
        ],
    )


def judging_shape(judging: Judging) -> JudgingShape:
    return JudgingShape(
        mode=judging.rubric.judges.mode,
        words=judging.sentence,
        judges=[
            JudgeShape(name=judge.name, lens=judge.lens, model=model_name(judge.target))
            for judge in judging.judges
        ],
        size=judging.size,
        deliberation=judging.is_board and judging.rubric.judges.deliberation,
        clerk=model_name(judging.clerk) if judging.has_clerk or judging.may_escalate else None,
        on_plateau=judging.more,
    )


def model_name(target: Target | None) -> str:
    return f"{target.endpoint}/{target.model}" if target else ""
