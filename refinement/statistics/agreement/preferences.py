"""What a judge prefers apart from quality: longer texts, and texts by models of its own family."""

import numpy as np

from refinement.statistics.agreement.bootstrap import TINY, Measure
from refinement.statistics.resampling import Floats, Truths

PER_WORDS = 100.0


def length_measure(judge: Floats, people: Floats, words: Floats) -> Measure | None:
    """By how much the judge's score changes per 100 words, at the same score by people.

    The slope of a least-squares fit of the judge's score on the people's score and the length.
    """
    if len(judge) < 4:
        return None
    y, h, x = (column - column.mean() for column in (judge, people, words / PER_WORDS))
    columns = [np.ones(len(y)), y, h, x, h * h, x * x, h * x, h * y, x * y]
    return Measure(np.column_stack(columns), slopes)


def slopes(sums: Floats) -> Floats:
    """The partial slope (...) on length from moments (..., 9); nan if lengths do not vary."""
    count, y, h, x, hh, xx, hx, hy, xy = np.moveaxis(sums, -1, 0)
    count = np.maximum(count, 1)
    hh, xx, hx = hh - h * h / count, xx - x * x / count, hx - h * x / count
    hy, xy = hy - h * y / count, xy - x * y / count
    # With equal scores by people, only the length is left to fit.
    flat = hh <= TINY
    square = np.where(flat, xx, hh * xx - hx * hx)
    usable = (square > TINY) & (xx > TINY)
    rise = np.where(flat, xy, hh * xy - hx * hy)
    found: Floats = np.where(usable, rise / np.where(usable, square, 1.0), np.nan)
    return found


def family_measure(judge: Floats, people: Floats, same: Truths) -> Measure | None:
    """How much higher the judge scores texts of its own family than others, against people's scores."""
    if not same.any() or same.all():
        return None
    apart = judge - people
    columns = [same, np.where(same, apart, 0), ~same, np.where(same, 0, apart)]
    return Measure(np.column_stack(columns).astype(np.float64), gaps)


def gaps(sums: Floats) -> Floats:
    ours, our_sum, others, other_sum = np.moveaxis(sums, -1, 0)
    usable = (ours > 0) & (others > 0)
    found: Floats = our_sum / np.maximum(ours, 1) - other_sum / np.maximum(others, 1)
    return np.where(usable, found, np.nan)
