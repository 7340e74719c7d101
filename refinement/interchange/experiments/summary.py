"""An experiment's results as Markdown, for a pull request or a report. All text is escaped."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from refinement.interchange.experiments.gate import is_unproven
from refinement.interchange.experiments.judges import judged_by
from refinement.interchange.imports.markdown_text import inline, table

MOST_REGRESSIONS = 10
HEAD = ("", "configuration", "composite", "mean r1", "criteria", "pass rate", "scored", "against baseline")
VERDICTS = {
    "better": "✅ better",
    "worse": "❌ worse",
    "no_difference": "no difference shown",
    "not_enough": "not enough tasks",
    "not_comparable": "does not compare: other judge or rubric",
}
EXPLANATION = (
    "Composite: 70 % mean first-round score and 30 % checks and criteria met, from 0 to 10. In brackets: "
    "95 % intervals over tasks. “No difference shown” does not mean that two configurations are equal."
)


def results_markdown(
    report: Mapping[str, Any], *, gate: Mapping[str, Any] | None = None, address: str = ""
) -> str:
    """The table, the gate's result and the worst regressions.

    `address` is the experiment's page, for links.
    """
    return "\n".join(part for part in parts(report, gate, address) if part)


def parts(report: Mapping[str, Any], gate: Mapping[str, Any] | None, address: str) -> Iterator[str]:
    title = inline(f"{report['suite']}: {report.get('name') or 'experiment'}")
    yield f"# {f'[{title}]({address})' if address else title}\n"
    if gate is not None:
        yield f"**{'✅ Passed' if gate['passed'] else '❌ Failed'}.** {inline(' '.join(gate['reasons']))}\n"
    else:
        yield from unproven(report)
    yield f"{inline(report['headline'])}\n"
    yield table(HEAD, [row(entry) for entry in report["configurations"]])
    yield f"{counted(report['tasks'], 'task')}, {counted(report['repeats'], 'repeat')}. {EXPLANATION}\n"
    yield from (f"{inline(words)}\n" for words in (judged_by(report), report.get("chance")) if words)
    yield from types_table(report)
    yield from regressions(report, address)


def counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def row(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        entry.get("letter", ""),
        inline(entry["name"]) + "".join(f" ({word})" for word in marks(entry)),
        figure(entry["composite"]),
        figure(entry["mean_r1"]),
        percent(entry["criteria_rate"]),
        percent(entry["pass_rate"]),
        f"{entry['scored']} of {entry['runs']}",
        verdict(entry["against_baseline"]),
    )


def marks(entry: Mapping[str, Any]) -> Iterator[str]:
    if entry.get("baseline"):
        yield "baseline"
    if is_unproven(entry):
        yield "unproven judge"


def unproven(report: Mapping[str, Any]) -> Iterator[str]:
    """Why judges are not proven; a gate's reasons say so, too."""
    reasons = [
        f"{entry['name']}: {entry['unproven_reason']}."
        for entry in report["configurations"]
        if is_unproven(entry)
    ]
    if reasons:
        yield f"**Unproven judge.** {inline(' '.join(reasons))}\n"


def figure(interval: Mapping[str, Any] | None) -> str:
    if interval is None:
        return "–"
    span = "" if interval["low"] is None else f" ({interval['low']:.2f} to {interval['high']:.2f})"
    return f"{interval['value']:.2f}{span}"


def percent(interval: Mapping[str, Any] | None) -> str:
    return "–" if interval is None else f"{interval['value'] * 100:.0f} %"


def verdict(comparison: Mapping[str, Any] | None) -> str:
    if comparison is None:
        return "–"
    words = VERDICTS[comparison["verdict"]]
    if comparison["low"] is None:
        return words
    difference, low, high = (signed(comparison[name]) for name in ("difference", "low", "high"))
    return f"{words}: {difference} ({low} to {high})"


def signed(value: float) -> str:
    """Two digits with a sign, but never -0.00."""
    return f"{round(value, 2) + 0.0:+.2f}"


def types_table(report: Mapping[str, Any]) -> Iterator[str]:
    """The task types on which a configuration differs."""
    differing = [
        (group["task_type"] or "unlabelled", entry)
        for group in report.get("task_types", ())
        for entry in group["configurations"]
        if (entry["against_baseline"] or {}).get("verdict") in ("better", "worse")
    ]
    if differing:
        yield "## By task type\n"
        yield table(
            ("task type", "configuration", "composite", "against baseline"),
            [
                (
                    inline(name),
                    inline(entry["name"]),
                    figure(entry["composite"]),
                    verdict(entry["against_baseline"]),
                )
                for name, entry in differing
            ],
        )


def regressions(report: Mapping[str, Any], address: str) -> Iterator[str]:
    """The cells that lost most against the baseline, worst first."""
    names = {entry["id"]: entry["name"] for entry in report["configurations"]}
    lost = worst(report["cells"])
    if not lost:
        return
    yield "## Worst regressions\n"
    yield table(
        ("task", "configuration", "score", "difference", ""),
        [
            (
                inline(cell["task"]),
                inline(names[cell["configuration"]]),
                f"{cell['value']:.2f}",
                f"{cell['difference']:+.2f}",
                "; ".join(
                    filter(None, (link(cell, address), "within noise" if cell["spread_is_noise"] else ""))
                ),
            )
            for cell in lost
        ],
    )


def worst(cells: Sequence[Mapping[str, Any]], most: int = MOST_REGRESSIONS) -> list[Mapping[str, Any]]:
    lost = [cell for cell in cells if cell["difference"] is not None and cell["difference"] < 0]
    return sorted(lost, key=lambda cell: cell["difference"])[:most]


def link(cell: Mapping[str, Any], address: str) -> str:
    """A link to the task's page, which shows the configurations side by side."""
    return f"[open]({address}tasks/{cell['position']}/)" if address else ""
