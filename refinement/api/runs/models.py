"""The models available for a launch."""

from ninja import Field, Router, Schema

from refinement.api.core.auth import ApiRequest
from refinement.api.core.permissions import member
from refinement.selectors.launch.model_lists import models_for_launch

router = Router(tags=["Models"])


class ModelShape(Schema):
    """A model, with the details its endpoint provides."""

    target: str = Field(description="As used in a launch.", examples=["ollama/qwen3:4b"])
    name: str
    family: str
    parameters: str
    size_bytes: int | None
    context_length: int | None


class OfferShape(Schema):
    """An endpoint with its models, or why it has none."""

    endpoint: str = Field(examples=["ollama"])
    problem: str = Field(description="Empty if available.")
    models: list[ModelShape]


class Offers(Schema):
    """Every endpoint of the instance."""

    items: list[OfferShape]


@router.get("", response=Offers)
@member()
def model_list(request: ApiRequest) -> Offers:
    """List available models by endpoint. An endpoint that is too slow is reported as not responding."""
    return Offers(
        items=[
            OfferShape(
                endpoint=offer.endpoint,
                problem=offer.problem,
                models=[
                    ModelShape(
                        target=f"{offer.endpoint}/{info.name}",
                        name=info.name,
                        family=info.family,
                        parameters=info.parameters,
                        size_bytes=info.size_bytes,
                        context_length=info.context_length,
                    )
                    for info in offer.models
                ],
            )
            for offer in models_for_launch()
        ]
    )
