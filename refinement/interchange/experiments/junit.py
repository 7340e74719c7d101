"""An experiment's gate as JUnit XML: one test case for each configuration.

Not one for each task: a single task's score is mostly noise, so among a hundred tasks some always fail by
chance, and a CI server would call a build broken that the gate lets pass. A test case fails exactly when the
gate fails for its configuration; the tasks that lost most are in its output.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from refinement.evals.reports.junit import safe
from refinement.interchange.experiments.gate import Conditions, failures
from refinement.interchange.experiments.summary import figure, verdict, worst


def results_junit(report: Mapping[str, Any], conditions: Conditions) -> str:
    root = ET.Element("testsuites", {"name": "wiggum suite run"})
    cases = [case(entry, report, conditions) for entry in report["configurations"]]
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(entry.find("failure") is not None for entry in cases)),
        "errors": str(sum(entry.find("error") is not None for entry in cases)),
    }
    suite = ET.SubElement(root, "testsuite", {"name": safe(report["suite"]), **counts})
    suite.extend(cases)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def case(entry: Mapping[str, Any], report: Mapping[str, Any], conditions: Conditions) -> ET.Element:
    seconds = (entry.get("seconds") or {}).get("value", 0) * entry["scored"]
    found = ET.Element(
        "testcase",
        {"name": safe(entry["name"]), "classname": safe(report["suite"]), "time": f"{seconds:.3f}"},
    )
    if reasons := failures(entry, conditions):
        kind = "error" if entry["composite"] is None else "failure"
        ET.SubElement(found, kind, {"message": safe(" ".join(reasons)), "type": "gate"})
    ET.SubElement(found, "system-out").text = safe("\n".join(output(entry, report["cells"])))
    return found


def output(entry: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> list[str]:
    own = [cell for cell in cells if cell["configuration"] == entry["id"]]
    lost = [f"{cell['task']}: {cell['difference']:+.2f} to {cell['value']:.2f}" for cell in worst(own)]
    return [
        f"composite {figure(entry['composite'])}, against the baseline: {verdict(entry['against_baseline'])}",
        f"{entry['scored']} of {entry['runs']} runs scored, {entry['errors']} errors",
        *lost,
    ]
