"""What a launch can choose from: the models that endpoints serve now."""

from ninja import Field, Router, Schema

from refinement.api.core.auth import ApiRequest
from refinement.api.core.permissions import member
from refinement.selectors.launch.model_lists import models_for_launch

router = Router(tags=["Models"])


class ModelShape(Schema):
    """A model, as far as its endpoint tells."""

    target: str = Field(description="As a launch takes it.", examples=["ollama/qwen3:4b"])
    name: str
    family: str
    parameters: str
    size_bytes: int | None
    context_length: int | None


class OfferShape(Schema):
    """An endpoint: its models, or why there are none to choose from."""

    endpoint: str = Field(examples=["ollama"])
    problem: str = Field(description="Empty where all is well.")
    models: list[ModelShape]


class Offers(Schema):
    """Every endpoint of the instance."""

    items: list[OfferShape]


@router.get("", response=Offers)
@member()
def model_list(request: ApiRequest) -> Offers:
    """The models to choose from, by endpoint; one that does not answer quickly is said not to."""
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
