"""The mean score corrected by people's labels (prediction-powered inference)."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from refinement.statistics.agreement.bootstrap import MISSED, Figure
from refinement.statistics.resampling import Floats


class Corrected(NamedTuple):
    raw: Figure
    corrected: Figure


def corrected_mean(scores: Floats, judge: Floats, people: Floats) -> Corrected | None:
    """The mean of the judge's `scores`, raw and corrected by how it scored the texts that people labelled.

    `judge` and `people` are both sides' scores of the labelled texts. None without two of them.
    """
    if not len(scores) or len(people) < 2:
        return None
    apart = people - judge
    raw_error = variance(scores) / len(scores)
    error = raw_error + variance(apart) / len(apart)
    # The labels decide how reliable the error is, because they are fewer.
    mean = float(scores.mean())
    return Corrected(
        figure(mean, raw_error, len(scores)),
        figure(mean + float(apart.mean()), error, min(len(scores), len(apart))),
    )


def variance(values: Floats) -> float:
    return float(values.var(ddof=1)) if len(values) > 1 else 0.0


def figure(value: float, error: float, count: int) -> Figure:
    if count < 2:
        return Figure(value)
    reach = float(stats.t.ppf(1 - MISSED / 2, count - 1) * np.sqrt(error))
    return Figure(value, value - reach, value + reach)
