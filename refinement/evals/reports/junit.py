"""Writes results as JUnit XML for CI servers."""

import re
from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree as ET

from refinement.evals.reports.results import AssertResult, Result, is_unproven

OUTPUT_CHARS = 20_000
# Not allowed in XML 1.0, even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(results: Sequence[Result]) -> str:
    """One suite for each eval and target, one case for each result."""
    suites = ET.Element("testsuites", {"name": "wiggum eval", **counts(results)})

    def suite_of(result: Result) -> tuple[str, str]:
        return result["eval"], result["target"]

    for (name, target), group in groupby(sorted(results, key=suite_of), key=suite_of):
        cases = list(group)
        suite = ET.SubElement(suites, "testsuite", {"name": safe(f"{name} · {target}"), **counts(cases)})
        suite.extend(case_of(result) for result in cases)
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def counts(results: Sequence[Result]) -> dict[str, str]:
    return {
        "tests": str(len(results)),
        "failures": str(sum(element_of(result) == "failure" for result in results)),
        "errors": str(sum(element_of(result) == "error" for result in results)),
        "time": f"{sum(result['seconds'] for result in results):.3f}",
    }


def case_of(result: Result) -> ET.Element:
    case = ET.Element(
        "testcase",
        name=safe(name_of(result)),
        classname=safe(result["file"]),
        file=safe(result["file"]),
        line=str(result["line"]),
        time=f"{result['seconds']:.3f}",
    )
    if kind := element_of(result):
        ET.SubElement(case, kind, message=safe(result["why"]), type=safe(kind_of(result))).text = safe(
            "\n".join(failures(result))
        )
    ET.SubElement(case, "system-out").text = safe(result["output"][:OUTPUT_CHARS])
    return case


def name_of(result: Result) -> str:
    """The case's name, with the number of the trial if it is repeated."""
    trials = result["trials"]
    return f"{result['case']} [{result['trial']}/{trials}]" if trials > 1 else result["case"]


def element_of(result: Result) -> str:
    """failure or error; empty for a case that passed."""
    if result["passed"]:
        return ""
    return "failure" if result["outcome"] == "FAIL" or is_unproven(result) else "error"


def kind_of(result: Result) -> str:
    if is_unproven(result):
        return "unproven_judge"
    return result["ralph"]["stop_reason"] or result["outcome"]


def failures(result: Result) -> list[str]:
    """The failed assertions, most severe first, and the judge's issues."""
    failed = [entry for entry in result["asserts"] if entry["passed"] is False]
    order = ("error", "warning", "info")
    ordered = sorted(failed, key=lambda entry: order.index(entry["severity"]))
    return [*map(failure_line, ordered), *(f"judge: {issue}" for issue in result["issues"])]


def failure_line(entry: AssertResult) -> str:
    """A failed assertion in one line: severity, name and reason."""
    reason = entry["message"] or f"expected {entry['expected']}"
    return f"{entry['severity']}: {entry['id']}: {reason}"


def safe(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
