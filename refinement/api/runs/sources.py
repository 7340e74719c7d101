"""Sources of a run: what its work must be grounded in."""

from django.http import Http404
from ninja import Field, Router, Schema

from refinement.access.objects import run_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.permissions import member
from refinement.models import Source

router = Router(tags=["Runs"])


class SourceShape(Schema):
    """A source without its text."""

    position: int = Field(description="From 1.", examples=[1])
    name: str = Field(examples=["notes.md"])
    chars: int = Field(examples=[4200])
    shown_chars: int = Field(description="How many of them a prompt contains.", examples=[4200])


class SourceWhole(SourceShape):
    """A source with its text."""

    text: str


@router.get("/{int:run}/sources", response=list[SourceShape])
@member()
def source_list(request: ApiRequest, run: int) -> list[Source]:
    """List a run's sources, without their texts. Also for those who score the run blind."""
    found = run_or_404(request, run, whole=False, blind=True)
    return list(Source.objects.filter(run=found).order_by("position").defer("text"))


@router.get("/{int:run}/sources/{int:position}", response=SourceWhole)
@member()
def source_read(request: ApiRequest, run: int, position: int) -> Source:
    """Get a source with its text. Also for those who score the run blind."""
    found = run_or_404(request, run, whole=False, blind=True)
    row = Source.objects.filter(run=found, position=position).first()
    if row is None:
        raise Http404("There is no such source in this run.")
    return row
