"""How many of a judge's replies were usable, and how they had to be read."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from refinement.execution.trust.planted import value_of
from refinement.judging.parsing.ladder import Rung
from refinement.models import JudgeRecord
from refinement.selectors.trust.replies import MOST_BENCHES, MOST_RUNS, Asked, judgements_asked
from refinement.statistics.agreement.rates import wilson

ASKED_AGAIN, UNSCORED = "asked_again", "unscored"
RUNGS = (*(rung.value for rung in Rung), ASKED_AGAIN, UNSCORED)
REPAIRED = (Rung.EMBEDDED, Rung.DIRTYJSON, Rung.JSON_REPAIR, Rung.LINES)


def usable_replies(record: JudgeRecord) -> dict[str, Any] | None:
    """By rung, over the newest judgements in runs, tests and measurements; None if there are none.

    A judgement is usable if one of its replies could be read. `form` says how many first replies were exactly
    the requested JSON, with thinking and without.
    """
    asked = list(judgements_asked(record))
    if not asked:
        return None
    models = sorted({each.model for each in asked})
    return {
        **rates(asked),
        "models": [
            {"model": model, **rates([each for each in asked if each.model == model])} for model in models
        ],
        "form": {
            "thinking": form_values([each for each in asked if each.replies[0].thinks]),
            "plain": form_values([each for each in asked if not each.replies[0].thinks]),
        },
        "newest": {"runs": MOST_RUNS, "texts": MOST_BENCHES},
    }


def rates(asked: Sequence[Asked]) -> dict[str, Any]:
    counts = Counter(rung_of(each) for each in asked)
    usable = len(asked) - counts[UNSCORED]
    return {
        "n": len(asked),
        "usable": value_of(wilson(usable, len(asked))),
        "rungs": {rung: counts[rung] for rung in RUNGS},
        "repaired": sum(counts[rung.value] for rung in REPAIRED),
    }


def rung_of(asked: Asked) -> str:
    """How the judgement's reply was read."""
    if not asked.is_read:
        return UNSCORED
    return asked.replies[0].rung or ASKED_AGAIN


def form_values(asked: Sequence[Asked]) -> dict[str, Any] | None:
    """The share of first replies that kept to the form; None without any."""
    strict = sum(each.replies[0].rung == Rung.STRICT for each in asked)
    return {"n": len(asked), "hits": strict, "share": value_of(wilson(strict, len(asked)))} if asked else None
