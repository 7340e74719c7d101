"""Formatting of scores on pages.

Composites use their rubric's decimals: 8.60, or 8.6 under Simmer. Scores given by a judge or a person show
the decimals given, at most two: 7, 7.5. Differences follow the values they compare.
"""

from collections.abc import Iterable
from decimal import Decimal

from django.db.models import F

from refinement.engine.scoring import shown_to
from refinement.models import RubricVersion, Run

USUAL_DECIMALS = 2  # if a rubric does not say, as in the engine
DECIMALS_OF_RUN = F("rubric_version__policy__composite_decimals")
GIVEN_DECIMALS = 2


def composite_text(value: Decimal, decimals: int | None) -> str:
    """A composite, with its rubric's decimals."""
    return shown_to(value, USUAL_DECIMALS if decimals is None else decimals)


def score_text(value: Decimal) -> str:
    """A score as given by a judge or a person."""
    return f"{round(value, GIVEN_DECIMALS).normalize():f}"


def composite_change(now: Decimal, before: Decimal, decimals: int) -> str:
    """A composite's change with its sign, between the values as they are shown; empty if these are equal."""
    gap = round(now, decimals) - round(before, decimals)
    return "" if gap == 0 else f"{_sign(gap)}{abs(gap):.{decimals}f}"


def score_change(now: Decimal, before: Decimal) -> str:
    """A given score's change with its sign; empty if it rounds to zero."""
    gap = round(now - before, GIVEN_DECIMALS)
    return "" if gap == 0 else f"{_sign(gap)}{score_text(abs(gap))}"


def mean_decimals(minimum: Decimal, maximum: Decimal) -> int:
    """Decimals needed to tell a rubric test's means apart on such a scale."""
    return 2 if maximum - minimum >= 5 else 3


def _sign(gap: Decimal) -> str:
    return "+" if gap > 0 else "−"


def decimals_of(runs: Iterable[Run]) -> dict[int, int]:
    """Decimals of these runs' composites by rubric version. One query."""
    versions = {run.rubric_version_id for run in runs if run.best is not None}
    return dict(_decimals(tuple(sorted(versions)))) if versions else {}


def _decimals(versions: tuple[int, ...]) -> list[tuple[int, int]]:
    rows = RubricVersion.objects.filter(pk__in=versions).order_by()
    return list(rows.values_list("pk", "policy__composite_decimals"))
