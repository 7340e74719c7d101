"""The trust page of a judge as a whole: the stored report, its history, and what to do next."""

from dataclasses import dataclass
from typing import Any

from refinement.charts.history import HistoryChart, Point, history_chart
from refinement.models import JudgeRecord, LabelRater
from refinement.selectors.experiments.reports.stored import StoredResults
from refinement.selectors.trust.disagreements import Case, by_task_type, cases_of
from refinement.selectors.trust.figures import (
    COLUMNS,
    agreement_table,
    all_figures,
    correction_of,
    entries_of,
    most_disagreed,
    preferences,
    score_grids,
)
from refinement.selectors.trust.gate import rule_of
from refinement.selectors.trust.lists import judges_of_rubric, rounds_scored
from refinement.selectors.trust.measured import measured_page
from refinement.selectors.trust.scores import label_sets_of
from refinement.selectors.trust.stored import criteria_of
from refinement.selectors.trust.words import (
    COMPARES,
    FIRST,
    STEPS,
    Report,
    evidence_words,
    headline_parts,
    next_step,
)

MOST_SHOWN = 4  # disagreements on the page itself
LARGEST = 20  # disagreements that a pattern is looked for in
LEAST_PATTERN = 5
MOST_LINES = 6
MOST_VERSIONS = 12
MINUTES_A_LABEL = 2
LADDER = (("", "30"), ("usable", "50"), ("may gate", "100"), ("compares judges", "200"))


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the evidence ladder; `x` in percent of its width."""

    x: str
    count: str
    words: str
    reached: bool


def evidence(labels: int) -> dict[str, Any]:
    """The ladder from 0 to 200 labelled texts."""
    return {
        "labels": labels,
        "words": evidence_words(labels),
        "missing": next_step(labels),
        "minutes": next_step(labels) * MINUTES_A_LABEL,
        "share": round(100 * min(labels, COMPARES) / COMPARES, 1),
        "steps": [
            Step(f"{100 * step / COMPARES:.1f}", count, words, labels >= step)
            for step, (words, count) in zip(STEPS, LADDER, strict=True)
        ],
    }


def gate_words(record: JudgeRecord) -> str:
    """Whether the judge passes its project's gate rule, or would pass the rule on people."""
    rule = rule_of(record.project)
    if not rule:
        fails = record.labels >= FIRST and record.worse_than_people is not False
        worse = " This judge would not pass “not worse than people”." if fails else ""
        return f"No gate rule is set.{worse}"
    standing = rule.standing(record)
    return (
        "It passes the gate rule."
        if standing.proven
        else f"It does not pass the gate rule: {standing.reason}."
    )


def names_of(report: Report) -> dict[str, str]:
    """The name of each criterion, and of the composite."""
    return {entry["key"]: entry["name"] for entry in entries_of(report)} | {"composite": "Composite"}


def report_page(record: JudgeRecord, report: Report) -> dict[str, Any]:
    """All that the page shows of a report with labels; a fixed number of queries."""
    apart = report["disagreements"]
    cases = cases_of(record, apart["top"][:MOST_SHOWN], names_of(report)) if apart["top"] else []
    disagreed = most_disagreed(report)
    return {
        "report": report,
        "answer": headline_parts(report),
        "evidence": evidence(report["labels"]),
        "gate": gate_words(record),
        "gate_is_set": bool(rule_of(record.project)),
        "table": agreement_table(report),
        "columns": [heading for heading, _, _ in COLUMNS],
        "figures": all_figures(report),
        "grids": score_grids(report),
        "cases": cases,
        "disagreed": disagreed,
        "patterns": patterns(apart, disagreed),
        "apart": number_words(apart["threshold"]),
        "scale": report["scale"],
        "preferences": preferences(report),
        "correction": correction_of(report),
        "two_raters": report["items_with_two"],
        "people_agree": any(entry["standing"] != "not_measurable" for entry in entries_of(report)),
    }


def empty_page(record: JudgeRecord, report: Report | None) -> dict[str, Any]:
    """The page of a judge without labels: what to do first, and what can be measured without them."""
    return {
        "evidence": evidence(0),
        "answer": headline_parts(report) if report else [],
        "report": report,
        "rounds": rounds_scored(record),
    }


def page_of(record: JudgeRecord, stored: StoredResults) -> dict[str, Any]:
    report = stored.result
    page = {"judge": record, "stored": stored, "label_versions": label_versions(record)}
    page |= history_page(record) | measured_page(report)
    if report and report["labels"]:
        return page | report_page(record, report)
    return page | empty_page(record, report)


def label_versions(record: JudgeRecord) -> str:
    """The versions whose labels count, as in “v1 and v2”; empty if they are only its own. Two queries."""
    sets = label_sets_of(record, None)
    labelled = LabelRater.objects.filter(label_set__in=sets, judge_model="")
    versions = labelled.values_list("label_set__rubric_version__number", flat=True).distinct()
    numbers = sorted(set(versions))
    if numbers in ([], [record.rubric_version.number]):
        return ""
    return " and ".join(filter(None, (", ".join(f"v{n}" for n in numbers[:-1]), f"v{numbers[-1]}")))


def history_page(record: JudgeRecord) -> dict[str, Any]:
    """The rubric's judges over versions and models, and κ of this judge's criteria over versions."""
    judges = judges_of_rubric(record.rubric_version.rubric)
    same = [row for row in reversed(judges) if row.key == record.key][-MOST_VERSIONS:]
    found = criteria_of([row.pk for row in same]) if len(same) > 1 else {}
    drawn = [row for row in same if found.get(row.pk, (0, []))[1]]
    names: dict[str, str] = {}
    for row in reversed(drawn):  # the newest names count
        for entry in found[row.pk][1]:
            names.setdefault(entry["key"], entry["name"])
    slots = {name: number for number, name in enumerate(list(names.values())[:MOST_LINES], start=1)}
    points = [
        point
        for column, row in enumerate(drawn)
        for entry in found[row.pk][1]
        if (point := history_point(column, row, entry, names, slots))
    ]
    columns = [f"v{row.rubric_version.number} · n {found[row.pk][0]}" for row in drawn]
    return {
        "versions": judges,
        "lines": list(slots.items()),
        "history": chart(points, columns, slots) if len(drawn) > 1 else None,
    }


def history_point(
    column: int, row: JudgeRecord, entry: dict[str, Any], names: dict[str, str], slots: dict[str, int]
) -> Point | None:
    figure, name = entry["kappa"], names[entry["key"]]
    if not figure or figure["value"] is None or name not in slots:
        return None
    low = figure["value"] if figure["low"] is None else figure["low"]
    high = figure["value"] if figure["high"] is None else figure["high"]
    words = f"{name}, version {row.rubric_version.number}: κ {figure['value']:.2f} ({low:.2f} to {high:.2f})"
    return Point(column, name, figure["value"], low, high, words)


def chart(points: list[Point], columns: list[str], slots: dict[str, int]) -> HistoryChart | None:
    return history_chart(points, columns, slots, width=420, height=210)


def patterns(apart: dict[str, Any], counts: list[tuple[str, str, int]]) -> list[str]:
    """What most disagreements have in common, where something is."""
    found, total = [], apart["count"]
    if counts and total >= LEAST_PATTERN and counts[0][2] * 2 >= total and len(counts) > 1:
        found.append(f"{counts[0][2]} of {total} are about {counts[0][1]}.")
    largest = apart["top"][:LARGEST]
    higher = sum(1 for entry in largest if entry["judge"] > entry["people"])
    for count, side in ((higher, "higher"), (len(largest) - higher, "lower")):
        if len(largest) >= LEAST_PATTERN and count >= 0.8 * len(largest):
            where = f"all {total}" if count == total else f"{count} of the {len(largest)} largest"
            found.append(f"In {where}, the judge is {side} than people.")
    return found


def task_patterns(cases: list[Case]) -> list[str]:
    """The task type of most of these disagreements, where they have several."""
    types = by_task_type(cases)
    if len(types) > 1 and types[0][1] >= 0.5 * len(cases) and len(cases) >= LEAST_PATTERN:
        return [f"{types[0][1]} of the {len(cases)} largest are {types[0][0]} texts."]
    return []


def number_words(value: float) -> str:
    return f"{value:g}"
