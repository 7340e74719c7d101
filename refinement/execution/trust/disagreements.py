"""Texts on which a judge and people are far apart."""

from typing import Any

import numpy as np

from refinement.selectors.trust.scores import COMPOSITE, Scores
from refinement.statistics.agreement.judges import Ratings, far_apart

FAR = 0.3  # of the scale
MOST = 200
DIGITS = 6


def far_from(size: float) -> float:
    """How far apart a judge and people disagree, on a scale of this size."""
    return round(FAR * size, DIGITS)


def disagreements(scores: Scores, ratings: dict[str, Ratings], size: float) -> dict[str, Any]:
    """By criterion, the texts on which the judge's mean is far from people's; the farthest first."""
    threshold = far_from(size)
    found: list[dict[str, Any]] = []
    counts: dict[str, int] = {}
    for key, entry in ratings.items():
        if key == COMPOSITE:
            continue
        apart = far_texts(scores, key, entry, threshold)
        counts[key] = len(apart)
        found += apart
    found.sort(key=lambda case: (-abs(case["judge"] - case["people"]), case["criterion"], case["item"]))
    return {"count": len(found), "by_criterion": counts, "threshold": threshold, "top": found[:MOST]}


def far_texts(scores: Scores, key: str, entry: Ratings, threshold: float) -> list[dict[str, Any]]:
    rows = entry.shared_rows()
    if not len(rows):
        return []
    judge, people = np.nanmean(entry.judge[rows], axis=1), np.nanmean(entry.people[rows], axis=1)
    raters = np.isfinite(entry.people[rows]).sum(axis=1)
    judgements = np.isfinite(entry.judge[rows]).sum(axis=1)
    return [
        {
            "item": scores.texts[rows[at]].key,
            "criterion": key,
            "judge": round(float(judge[at]), DIGITS),
            "people": round(float(people[at]), DIGITS),
            "raters": int(raters[at]),
            "judgements": int(judgements[at]),
        }
        for at in np.flatnonzero(far_apart(judge, people, threshold))
    ]
