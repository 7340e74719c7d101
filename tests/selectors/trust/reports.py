"""Trust reports as a worker stores them, made by hand."""

from typing import Any


def figure(value: float | None, reach: float = 0.1) -> dict[str, float | None] | None:
    return None if value is None else {"value": value, "low": value - reach, "high": value + reach}


def an_entry(key: str = "depth", standing: str = "as_people", **given: Any) -> dict[str, Any]:
    """A criterion's figures, or the composite's; figures can be given as plain numbers."""
    numbers = {
        "kappa": 0.68, "kappa_baseline": 0.0, "alpha": 0.7, "alpha_ordinal": 0.69, "bias": 0.05,
        "mae": 0.96, "tau_b": 0.56,
        "within_one": 0.77, "within_one_baseline": 0.67, "retest_sd": 0.28, "smallest_difference": 0.8,
        "flip_rate": 0.04,
    }  # fmt: skip
    rest = {
        "name": key.replace("_", " ").capitalize(),
        "n": 78,
        "raters": 4,
        "pairs_n": 156,
        "alpha_n": 78,
        "retest_items": 12,
        "retest_judgements": 60,
        "worse_than_people": standing != "as_people",
        "grid": [[5, 6, 4, 0], [7, 7, 20, 0], [3, 8, 2, 2], [9, 9, 6, 0]],
        "people_mean": 6.1,
        "judge_mean": 6.2,
    }
    figures = {
        name: value if isinstance(value, dict) else figure(value)
        for name, value in (numbers | {key: given.pop(key) for key in list(given) if key in numbers}).items()
    }
    return {"key": key, "standing": standing, **rest, **figures, **given}


def a_report(*criteria: dict[str, Any], labels: int = 78, **given: Any) -> dict[str, Any]:
    """A judge's figures: those criteria, and a composite with the noise of 0.9 points."""
    listed = list(criteria) or [an_entry()]
    composite = an_entry("composite", n=labels, smallest_difference=0.9)
    evidence = "none"
    for least, name in ((1, "not_enough"), (30, "usable"), (100, "may_gate"), (200, "compares")):
        evidence = name if labels >= least else evidence
    return {
        "schema": 1,
        "labels": labels,
        "raters": ["Ada", "Ben", "Cleo", "Dan"],
        "items_with_two": labels,
        "evidence": evidence,
        "scale": {"least": 0, "most": 10},
        "pass_mark": 9.0,
        "criteria": listed,
        "composite": composite,
        "length": None,
        "family": None,
        "usable": None,
        "correction": None,
        "planted": None,
        "disagreements": {"count": 0, "by_criterion": {}, "threshold": 3.0, "top": []},
        "wrong_labels": 0,
        "seconds": 0.2,
    } | given


def a_full_report(**given: Any) -> dict[str, Any]:
    """A report with five criteria of different standing and everything else that a page shows."""
    return a_report(
        an_entry("structure", kappa=0.68, alpha=0.68, bias=0.1, mae=0.96),
        an_entry("plain_words", kappa=0.79, alpha=0.75, bias=figure(0.2, 0.3), smallest_difference=0.9),
        an_entry("complete", "below_people", kappa=0.71, alpha=0.81, bias=0.5, smallest_difference=1.1),
        an_entry("upgrade_steps", "below_people", kappa=0.69, alpha=0.81, smallest_difference=1.3),
        an_entry("grounded", "not_usable", kappa=0.37, alpha=0.79, bias=1.4, smallest_difference=2.0,
                 grid=[[5, 9, 6, 6], [4, 8, 3, 3], [7, 7, 9, 0], [8, 9, 12, 0], [3, 8, 1, 1]]),
        length={"slope": figure(0.21), "n": 78},
        family={"gap": figure(0.7, 0.5), "same": 19, "others": 59, "family": "gemma"},
        correction={"raw": figure(8.31, 0.05), "corrected": figure(7.84, 0.32), "rounds": 1188, "labels": 78},
        **given,
    )  # fmt: skip
