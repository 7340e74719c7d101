"""The values of a run document: texts, numbers and times with their limits."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from refinement.engine.evaluating import metric_number
from refinement.engine.panels import MOST_JUDGES
from refinement.engine.rubrics import MOST_REPEATS

MOST_TEXT = 10_000_000
MOST_ENTRIES = 20_000
MOST_ROUNDS = 1_000
MOST_COUNT = 2**31 - 1
MOST_TOTAL = 2**63 - 1


def _exact(value: object) -> object:
    """The number without float rounding. Exports write decimals as strings."""
    if isinstance(value, bool) or (isinstance(value, str) and len(value) > 40):
        raise ValueError("not a number")
    return str(value) if isinstance(value, float) else value


def _metric(text: str) -> str:
    """A metric's number as text, as exact as in the file."""
    if metric_number(text) is None:
        raise ValueError("not a number")
    return text


def _aware(moment: datetime) -> datetime:
    """The time with a time zone, by default UTC. Raises ValueError for implausible years."""
    if not 1970 <= moment.year <= 2200:
        raise ValueError("not a plausible time")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


Moment = Annotated[datetime, AfterValidator(_aware)]
Text = Annotated[str, Field(max_length=MOST_TEXT)]
Line = Annotated[str, Field(max_length=400)]
Name = Annotated[str, Field(max_length=120)]
Count = Annotated[int, Field(ge=0, le=MOST_COUNT)]
Number = Annotated[int, Field(ge=1, le=MOST_COUNT)]
Seat = Annotated[int, Field(ge=1, le=MOST_JUDGES)]
Small = Annotated[int, Field(ge=0, le=32_767)]
Score = Annotated[
    Decimal,
    BeforeValidator(_exact),
    Field(allow_inf_nan=False, gt=Decimal(-(10**8)), lt=Decimal(10**8)),
]
MetricNumber = Annotated[str, AfterValidator(_metric)]
MetricNumbers = Annotated[list[MetricNumber], Field(max_length=MOST_REPEATS)]
Words = Annotated[list[Text], Field(max_length=MOST_ENTRIES)]
