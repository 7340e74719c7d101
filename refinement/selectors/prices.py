"""The prices of models."""

from collections.abc import Iterable

from refinement.models import ModelPrice
from refinement.pricing import Prices
from refinement.providers.registry import Target


def prices_for(targets: Iterable[Target]) -> Prices:
    """The prices of these models, in one query; models without a price are left out."""
    names = {f"{target.endpoint}/{target.model}" for target in targets}
    models = {target.model for target in targets}
    rows = ModelPrice.objects.filter(model__in=models)
    return {str(row): [str(row.prompt), str(row.completion)] for row in rows if str(row) in names}
