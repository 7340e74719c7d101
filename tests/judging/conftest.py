"""Prints after the reply corpus how many replies each rung read."""

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    rungs = Counter(
        str(value)
        for report in reports
        if getattr(report, "when", "") == "call"
        for name, value in report.user_properties
        if name == "rung"
    )
    if not rungs:
        return
    terminalreporter.section("which rung read how many judge replies")
    for rung, count in rungs.most_common():
        terminalreporter.line(f"{count:5d}  {rung}")
    terminalreporter.line(f"{sum(rungs.values()):5d}  in all")
