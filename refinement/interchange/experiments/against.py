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
    }
    return {
        **report,
        "configurations": [
            {
                **entry,
                "baseline": False,
                "against_baseline": pairs[entry["id"]]["against_baseline"] if entry["id"] in pairs else None,
            }
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
        "chance": "",  # is about the experiment's own comparisons
    }


def compared_with(report: Mapping[str, Any], other: int) -> str:
    """Says what the results were compared with. `report` is that of `against_other`."""
    alone = [
        entry["name"]
        for entry in report["configurations"]
        if entry["against_baseline"] is None and entry["composite"] is not None
    ]
    note = f"Compared with experiment {other}."
    if not alone:
        return note
    return f"{note} Not compared, because they have no counterpart there: {', '.join(alone)}."
