"""Results with another experiment as the baseline, in place of the experiment's own baseline."""

from collections.abc import Mapping
from typing import Any


def against_other(report: Mapping[str, Any], comparison: Mapping[str, Any]) -> dict[str, Any]:
    """The report with each configuration compared with its counterpart in the other experiment.

    Cells keep their scores; only those that lost most have a difference.
    """
    pairs = {pair["configuration"]["id"]: pair for pair in comparison["pairs"]}
    lost = {
        (key, entry["task"]): entry["difference"]
        for key, pair in pairs.items()
        for entry in pair["regressions"]
        if not pair.get("not_comparable")
    }
    return {
        **report,
        "configurations": [
            {**entry, "baseline": False, "against_baseline": compared(pairs.get(entry["id"]))}
            for entry in report["configurations"]
        ],
        "task_types": [],
        "cells": [
            {
                **cell,
                "difference": lost.get((cell["configuration"], cell["task"])),
                "spread_is_noise": False,
            }
            for cell in report["cells"]
        ],
        "headline": comparison["headline"],
    }


def compared(pair: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if pair is None or not pair.get("not_comparable"):
        return None if pair is None else pair["against_baseline"]
    return {"difference": None, "low": None, "high": None, "verdict": "not_comparable", "tasks": 0}
