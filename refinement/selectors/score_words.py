"""How scores are written on pages, everywhere by the same rule.

A composite is computed, and has as many decimals as its rubric shows: 8.60, or 8.6 under Simmer. A score
that a judge or a person gave has those that were given, two at most: 7, 7.5. Differences follow what they
are between.
"""

from collections.abc import Iterable
from decimal import Decimal

from django.db.models import F

from refinement.engine.scoring import shown_to
from refinement.models import RubricVersion, Run

USUAL_DECIMALS = 2  # where a rubric does not say, as the engine has it
DECIMALS_OF_RUN = F("rubric_version__policy__composite_decimals")
GIVEN_DECIMALS = 2


def composite_words(value: Decimal, decimals: int | None) -> str:
    """A composite, with its rubric's decimals."""
    return shown_to(value, USUAL_DECIMALS if decimals is None else decimals)


def given_words(value: Decimal) -> str:
    """A score as it was given."""
    return f"{round(value, GIVEN_DECIMALS).normalize():f}"


def composite_change(now: Decimal, before: Decimal, decimals: int) -> str:
    """A change of a composite with its sign; empty where there is none to see."""
    gap = round(now - before, decimals)
    return "" if gap == 0 else f"{_sign(gap)}{abs(gap):.{decimals}f}"


def given_change(now: Decimal, before: Decimal) -> str:
    """A change of a score that was given, with its sign; empty where there is none to see."""
    gap = round(now - before, GIVEN_DECIMALS)
    return "" if gap == 0 else f"{_sign(gap)}{given_words(abs(gap))}"


def mean_decimals(minimum: Decimal, maximum: Decimal) -> int:
    """How many decimals tell the test bench's means apart on such a scale."""
    return 2 if maximum - minimum >= 5 else 3


def _sign(gap: Decimal) -> str:
    return "+" if gap > 0 else "−"


def decimals_of(runs: Iterable[Run]) -> dict[int, int]:
    """The decimals of these runs' composites by their rubric version; one query."""
    versions = {run.rubric_version_id for run in runs if run.best is not None}
    return dict(_decimals(tuple(sorted(versions)))) if versions else {}


def _decimals(versions: tuple[int, ...]) -> list[tuple[int, int]]:
    rows = RubricVersion.objects.filter(pk__in=versions).order_by()
    return list(rows.values_list("pk", "policy__composite_decimals"))
