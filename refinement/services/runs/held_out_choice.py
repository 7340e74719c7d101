"""The choice of a run's held-out judge at its launch."""

from collections.abc import Sequence

from django.core.exceptions import ValidationError

from refinement.models import PanelJudge
from refinement.providers.registry import Target


def held_out_validate(held_out: Target | None, judge: Target, panel: Sequence[PanelJudge]) -> None:
    """Raises ValidationError if the model judges in the loop, too: it would then not be held out."""
    if held_out is None:
        return
    judges = {judge.model, *(row.model for row in panel)}
    if held_out.model in judges:
        words = f"{held_out.model} judges in the loop. Choose another model for the held-out judge."
        raise ValidationError({"held_out": words})
