"""Launch estimates and warnings, and the example run."""

from ninja import Field, Router, Schema

from refinement.api.core.auth import ApiRequest
from refinement.api.core.idempotency import creates, made_at
from refinement.api.core.permissions import member
from refinement.api.core.problems import Refused
from refinement.api.runs.runs import Launch, overridden, run_address, sources_of, target_of, version_wanted
from refinement.api.runs.shapes import RunWhole, run_whole
from refinement.forms.rubrics.values import tidy
from refinement.selectors.endpoints import endpoint_specs
from refinement.selectors.launch.estimates import Range, estimate_of
from refinement.selectors.launch.model_lists import models_for_launch
from refinement.selectors.launch.warnings import Plan, warnings_for
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.workers import workers_alive
from refinement.services.runs.launching import NothingAvailable, example_choice, example_launch
from refinement.services.runs.sources import sources_validate

router = Router(tags=["Runs"])


class RangeShape(Schema):
    """From a run that stops as early as possible to one that uses every round."""

    low: int = Field(examples=[2])
    high: int = Field(examples=[9])


class WarningShape(Schema):
    """A warning; it does not prevent a launch."""

    code: str = Field(
        description="down-ENDPOINT, unknown-producer, unknown-judge, no-worker, same_model, same_family, "
        "embedded, long-seed, context, hidden-sources-ROLE, long-sources, producer-context or uncalibrated.",
        examples=["same_model"],
    )
    title: str
    words: str


class EstimateShape(Schema):
    """For all repeats together. Retries are not included."""

    rounds: RangeShape = Field(description="Per run.")
    calls: RangeShape
    tokens: RangeShape
    longest_prompt: int = Field(description="Tokens of one judge call.")
    repeats: int
    warnings: list[WarningShape] = Field(description="Most important first.")


@router.post("/estimate", response=EstimateShape)
@member("editor")
def run_estimated(request: ApiRequest, body: Launch) -> EstimateShape:
    """Estimate the cost of a launch with this body. Includes warnings; nothing is launched."""
    saved = definition_of(version_wanted(request, body.rubric))
    definition = overridden(saved, body.settings)
    producer = target_of("producer", body.producer)
    seed_chars = len(tidy(body.seed))
    source_chars = [len(source.text) for source in sources_validate(sources_of(body))]
    estimate = estimate_of(
        definition,
        task_chars=len(tidy(body.task)),
        seed_chars=seed_chars,
        source_chars=source_chars,
        repeats=body.repeats,
    )
    plan = Plan(
        rubric=definition,
        seed_chars=seed_chars,
        producer=producer,
        judge=target_of("judge", body.judge) if saved.criteria else producer,
        estimate=estimate,
        workers=workers_alive(),
        source_chars=source_chars,
    )
    return EstimateShape(
        rounds=range_shape(estimate.rounds),
        calls=range_shape(estimate.calls),
        tokens=range_shape(estimate.tokens),
        longest_prompt=estimate.longest_prompt,
        repeats=estimate.repeats,
        warnings=[
            WarningShape(code=caution.code, title=caution.title, words=caution.words)
            for caution in warnings_for(plan, models_for_launch())
        ],
    )


@router.post("/example", response={201: RunWhole})
@member("editor")
@creates()
def run_example(request: ApiRequest) -> RunWhole:
    """Launch a small example run on the best available model. 409 if there is none."""
    try:
        choice = example_choice(endpoint_specs(), models_for_launch())
        launched = example_launch(project=request.project, user=request.user, target=choice.target)
    except NothingAvailable as nothing:
        raise Refused(409, str(nothing), "no_model") from None
    made_at(request, run_address(request, launched.runs[0].pk))
    return run_whole(launched.runs[0])


def range_shape(amount: Range) -> RangeShape:
    return RangeShape(low=amount.low, high=amount.high)
