"""People's scores of a run's rounds, next to those of its judge or board."""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import TextField
from django.db.models.functions import Cast

from refinement.models import HumanScore

MOST_PAIRS = 2_000  # scored rounds of one run


class PersonScores(NamedTuple):
    """One person's scores of one round, with the judge's if any.

    Single scores stay JSON: few runs have enough rounds to compare them.
    """

    author: int | None
    number: int
    judged: Decimal | None
    judged_scores: str | None
    composite: Decimal
    scores: str


def scores_given(run: int) -> list[PersonScores]:
    """All scores that people gave in a run. One query."""
    judged, scores = (Cast(name, TextField()) for name in ("round__scores", "scores"))
    fields = ("author_id", "round__number", "round__composite", judged, "composite", scores)
    rows = HumanScore.objects.filter(run=run).order_by("id").values_list(*fields)[:MOST_PAIRS]
    return [PersonScores(*row) for row in rows]


def score_pairs(entry: PersonScores) -> list[tuple[Decimal, Decimal]]:
    """Judge's and person's score of each criterion that both scored."""
    judged: Mapping[str, str] = json.loads(entry.judged_scores or "null") or {}
    said: Sequence[Mapping[str, Any]] = json.loads(entry.scores)
    return [(Decimal(judged[each["key"]]), Decimal(each["score"])) for each in said if each["key"] in judged]
