"""Builders of rounds for the ledger's tests."""

from decimal import Decimal

from refinement.ledger.types import IMPROVEMENT, ISSUE, SUGGESTION, Item, Step


def step(
    number,
    text,
    score="5",
    *,
    issues=(),
    asi="",
    improvements=None,
    scores=None,
    base=0,
    asked_by=0,
    told=None,
    other_judge=False,
):
    """Round `number`. By default, it revises the round before it and follows its feedback."""
    items = [Item(number, ISSUE, place, words) for place, words in enumerate(issues)]
    items += [Item(number, SUGGESTION, 0, asi)] if asi else []
    items += [
        Item(number, IMPROVEMENT, place, words, key, key.title())
        for place, (key, words) in enumerate((improvements or {}).items())
    ]
    before = number - 1 or None
    return Step(
        number=number,
        text=text,
        base=before if base == 0 else base,
        asked_by=before if asked_by == 0 else asked_by,
        told=EVERYTHING if told is None else frozenset(told),
        composite=None if score is None else Decimal(score),
        scores={key: Decimal(value) for key, value in (scores or {}).items()},
        items=tuple(items),
        other_judge=other_judge,
    )


class _Everything(frozenset):
    def __contains__(self, text):
        return True


EVERYTHING = _Everything()
