"""Exports a run as a Markdown report. Model text is escaped, so that it is never markup."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from refinement.engine.noise import improvement_is_noise
from refinement.engine.scoring import shown, shown_metric
from refinement.engine.sentences import round_name
from refinement.engine.types import MetricValue, Rubric
from refinement.interchange.exports.boards_markdown import board_section, dissent_remark, judge_facts
from refinement.interchange.exports.feedback_markdown import feedback_section
from refinement.interchange.exports.people_markdown import decisions_section, human_scores_section
from refinement.interchange.imports.markdown_text import fenced, inline, table
from refinement.judging.length import excerpt

REPORTED_CHARS = 4_000  # of each of an evaluator's outputs
_ORIGINS = {
    "seed": "the starting text",
    "draft": "a first draft",
    "revision": "a revision",
    "hand": "an edit by hand",
    "absent": "a text missing from the imported file",
}
_FLAGS = {
    "contract_violation": "output contract violated",
    "penalties": "points deducted",
}
SIGNAL = "judge did not track the revision"
_SIGNALS = {"same_text": "same text, another score: judge noise"}


def run_markdown(
    run: Mapping[str, Any],
    rubric: Rubric,
    *,
    rounds: Sequence[Mapping[str, Any]],
    best: str | None,
    sources: Sequence[Mapping[str, Any]] = (),
    human_scores: Sequence[Mapping[str, Any]] = (),
    decisions: Sequence[Mapping[str, Any]] = (),
    feedback: Sequence[Mapping[str, Any]] = (),
    unproven: str = "",
    watch: Sequence[str] = (),
    imported: str = "",
) -> Iterator[str]:
    """The report in pieces: result, trajectory, rounds, best candidate, task and sources."""
    yield f"# Run {run['id']}: {inline(run['title'])}\n\n"
    yield f"{_result(run)}\n\n"
    if unproven:
        yield f"**{inline(unproven)}**\n\n"
    if imported:
        yield f"{inline(imported)}\n\n"
    yield table(["Field", "Value"], [[inline(name), inline(value)] for name, value in _facts(run, rubric)])
    yield decisions_section(rubric, decisions)
    if watch:
        yield "\n## Reward-hacking watch\n\n" + "".join(f"- {inline(words)}\n" for words in watch)
    yield "\n## Trajectory\n\n"
    yield _trajectory(rubric, rounds)
    yield "\n## Rounds\n"
    for entry in rounds:
        yield _round(rubric, entry, run["panel"])
        scores = [score for score in human_scores if score["round"] == entry["number"]]
        yield human_scores_section(rubric, scores)
        yield feedback_section([fate for fate in feedback if fate["round"] == entry["number"]])
    yield "\n## Best text\n\n"
    if best is None:
        yield "No text has been judged.\n"
    else:
        yield f"{inline(round_name(run['best_round']).capitalize())} is the result.\n\n{fenced(best)}"
    yield f"\n## Task\n\n{fenced(run['task'])}"
    if sources:
        yield f"\n## Sources\n\n{_sources(sources)}"


def _sources(sources: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [str(entry["position"]), inline(entry["name"]), f"{entry['chars']:,}", f"{entry['shown_chars']:,}"]
        for entry in sources
    ]
    return table(["Source", "Name", "Characters", "In prompts"], rows)


def _result(run: Mapping[str, Any]) -> str:
    if not run["outcome"]:
        return f"This run is {run['status']}. The report shows its state at the time of export."
    why = inline(run["why"])
    return f"**{run['outcome']}** ({inline(run['stop_reason'])}). {why}".rstrip()


def _facts(run: Mapping[str, Any], rubric: Rubric) -> Iterator[tuple[str, str]]:
    if run["task_type"]:
        yield "Task type", run["task_type"]
    yield "Rubric", f"{run['rubric']['name']}, version {run['rubric']['version']}"
    yield "Writer", f"{run['producer']['model']} at {run['producer']['endpoint']}"
    yield from judge_facts(run)
    for name in ("r1", "best", "last", "improvement"):
        value = run[name]
        yield name if name == "r1" else name.capitalize(), f"{_score(rubric, value)}{_noise(run, name)}"
    yield "Rounds judged", str(run["rounds_judged"])
    yield "Tokens", f"{run['prompt_tokens'] + run['completion_tokens']:,}"
    yield "Calls", f"{run['calls_made']:,}"
    yield "Model time", f"{run['model_seconds']:,.1f} s"
    yield "Started by", run["created_by"] or "the system"
    yield "Created", f"{run['created_at']:%Y-%m-%d %H:%M %Z}"
    if run["finished_at"]:
        yield "Finished", f"{run['finished_at']:%Y-%m-%d %H:%M %Z}"
    if run["tags"]:
        yield "Tags", ", ".join(run["tags"])


def _noise(run: Mapping[str, Any], name: str) -> str:
    """That the improvement shows no difference, if so."""
    columns = ("rounds_judged", "improvement", "smallest_difference", "same_text_moved", "escalated_after")
    noise = name == "improvement" and improvement_is_noise(*(run[column] for column in columns))
    return " (no difference shown)" if noise else ""


def _score(rubric: Rubric, value: Decimal | None) -> str:
    return "not scored" if value is None else shown(value, rubric.policy)


def _trajectory(rubric: Rubric, rounds: Sequence[Mapping[str, Any]]) -> str:
    if not rounds:
        return "No rounds yet.\n"
    names = [entry.name for entry in rubric.criteria] + [entry.name for entry in rubric.evaluator.metrics]
    changes = any(entry["key_change"] for entry in rounds)
    ends = ["Key change", "Remarks"] if changes else ["Remarks"]
    head = ["Round", "Composite", *(inline(name) for name in names), *ends]
    return table(head, (_trajectory_row(rubric, entry, changes=changes) for entry in rounds))


def _trajectory_row(rubric: Rubric, entry: Mapping[str, Any], *, changes: bool) -> list[str]:
    scores = entry["scores"] or {}
    remarks = [label for name, label in _FLAGS.items() if entry[name]]
    remarks += dict.fromkeys(_SIGNALS.get(str(found.get("kind")), SIGNAL) for found in entry["signals"])
    stored = (entry.get("evaluator") or {}).get("metrics")
    if entry["seen_chars"] is not None and entry["seen_chars"] < entry["candidate_chars"]:
        remarks.append(f"judged {entry['seen_chars']:,} of {entry['candidate_chars']:,} characters")
    if dissent := dissent_remark(rubric, entry):
        remarks.append(dissent)
    return [
        inline(round_name(entry["number"]).capitalize()),
        inline(_score(rubric, entry["composite"])),
        *(inline(scores.get(criterion.key, "")) for criterion in rubric.criteria),
        *(inline(_metric(metric.name, stored)) for metric in rubric.evaluator.metrics),
        *([inline(entry["key_change"] or "")] if changes else []),
        inline("; ".join(remarks)),
    ]


def _metric(name: str, stored: Mapping[str, Sequence[str]] | None) -> str:
    """The metric's median and spread; empty if the evaluator did not run."""
    if stored is None:
        return ""
    if not stored.get(name):
        return "not found"
    found = MetricValue(tuple(Decimal(number) for number in stored[name]))
    spread = f" ({shown_metric(found.low)} to {shown_metric(found.high)})" if len(found.values) > 1 else ""
    return f"{shown_metric(found.value)}{spread}"


def _round(rubric: Rubric, entry: Mapping[str, Any], panel: Sequence[Mapping[str, Any]]) -> str:
    name = inline(round_name(entry["number"]).capitalize())
    origin = _ORIGINS.get(entry["origin"], entry["origin"])
    if entry.get("author_name"):
        origin = f"an edit by {inline(entry['author_name'])}"
    parts = [f"\n### {name}\n\nThe text is {origin} of {entry['candidate_chars']:,} characters"]
    if entry["base_round"]:
        parts.append(f", made from {inline(round_name(entry['base_round']))}")
    judged = "" if entry["composite"] is None else f"; composite {inline(_score(rubric, entry['composite']))}"
    parts.append(f"{judged or '; not judged'}.\n")
    if entry["contract_violation"]:
        parts.append(
            f"\nOutput contract violated: {inline(entry['contract_violation'])} "
            "Every criterion gets the lowest score.\n"
        )
    parts += [_verdict(rubric, verdict) for verdict in entry["verdicts"]]
    parts.append(board_section(rubric, panel, entry))
    parts += [_penalty(penalty) for penalty in entry["penalties"]]
    kinds = {str(found.get("kind")) for found in entry["signals"]}
    if kinds & _SIGNALS.keys():
        parts.append("\nThe text is the same as in an earlier round, but the score moved: judge noise.\n")
    if kinds - _SIGNALS.keys():
        parts.append("\nThe text changed, but the verdict is nearly the same as in the previous round.\n")
    parts.append(_checks(entry["checks"]))
    parts.append(_evaluator(entry.get("evaluator")))
    return "".join(parts)


def _verdict(rubric: Rubric, verdict: Mapping[str, Any]) -> str:
    names = {entry.key: entry.name for entry in rubric.criteria}
    rows = [
        [
            inline(names.get(score["key"], score["key"])),
            inline(score["score"]),
            inline(score.get("reasoning", "")),
            inline(score.get("improvement", "")),
        ]
        for score in verdict["scores"]
    ]
    parts = [f"\nThe verdict of {inline(verdict['judge'])}:\n\n"]
    parts.append(table(["Criterion", "Score", "Reasoning", "Improvement"], rows))
    if verdict["issues"]:
        parts.append("\nIssues:\n\n" + "".join(f"- {inline(issue)}\n" for issue in verdict["issues"]))
    if verdict["asi"]:
        parts.append(f"\nDirection for the next revision: {inline(verdict['asi'])}\n")
    return "".join(parts)


def _penalty(penalty: Mapping[str, Any]) -> str:
    names = ", ".join(inline(name) for name in penalty["names"])
    points = f"{inline(penalty['points'])} from {inline(penalty['criterion'])}"
    return f"\nDeducted {points} for invented names: {names}\n"


def _evaluator(output: Mapping[str, Any] | None) -> str:
    if output is None:
        return ""
    command = inline(" ".join(output["command"]))
    ended = output["stopped"] or f"ended with exit code {output['exit_code']}"
    parts = [f"\nThe evaluator's command {command} {inline(ended)}.\n"]
    if output["failure"]:
        parts.append(f"\n{inline(output['failure'])} Every criterion gets the lowest score.\n")
    for label, name in (("Output", "stdout"), ("Error output", "stderr")):
        if output[name]:
            missing = output[f"{name}_missing"]
            cut = f" ({missing:,} bytes were not stored)" if missing else ""
            parts.append(f"\n{label}{cut}:\n\n{fenced(excerpt(output[name], REPORTED_CHARS).text)}")
    return "".join(parts)


def _checks(checks: Sequence[Mapping[str, Any]]) -> str:
    if not checks:
        return ""
    rows = [
        [
            inline(check["key"]),
            "passed" if check["passed"] else f"failed ({inline(check['severity'])})",
            inline(check["message"]),
            inline(check["suggestion"]),
        ]
        for check in checks
    ]
    return "\nChecks:\n\n" + table(["Check", "Result", "Message", "Suggestion"], rows)
