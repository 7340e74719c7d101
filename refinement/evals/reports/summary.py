"""Writes results as Markdown for a pull request comment. All text is escaped."""

from collections.abc import Iterator, Sequence

from refinement.evals.reports.junit import failures, name_of
from refinement.evals.reports.results import Result, is_unproven, passed_of
from refinement.evals.reports.trials import trials_of
from refinement.interchange.imports.markdown_text import fenced, inline, table

MOST_ROWS = 200
MOST_FAILURES = 30
MOST_REASONS = 10
OUTPUT_CHARS = 600
LINE_CHARS = 300
HEAD = ("", "case", "target", "score", "iterations", "stop reason", "run")
SIGNS = {"PASS": "✅", "FAIL": "❌"}


def summary_markdown(results: Sequence[Result]) -> str:
    """The totals, a row per case and the failures. The length is limited."""
    return "\n".join(part for part in parts(results) if part)


def parts(results: Sequence[Result]) -> Iterator[str]:
    passed = passed_of(results)
    yield "# Evaluation\n"
    word = "case" if len(results) == 1 else "cases"
    yield f"**{passed} of {len(results)} {word} passed.** {account(results)}\n"
    # Failed cases first.
    ordered = sorted(results, key=lambda result: result["passed"])
    yield from repeats(results)
    yield table(HEAD, [row(result) for result in ordered[:MOST_ROWS]])
    yield left_out(len(ordered) - MOST_ROWS, "cases")
    failed = [result for result in ordered if not result["passed"]]
    for result in failed[:MOST_FAILURES]:
        yield from failed_case(result)
    yield left_out(len(failed) - MOST_FAILURES, "failed cases")


def repeats(results: Sequence[Result]) -> Iterator[str]:
    """A table of the cases that were repeated."""
    found = trials_of(results)
    if not found:
        return
    yield "## Trials\n"
    rows = [
        (
            inline(brief(entry["case"])),
            inline(brief(entry["target"])),
            f"{entry['passed']} of {entry['trials']}",
            "–" if entry["mean"] is None else f"{entry['mean']:.2f}",
            "–" if entry["spread"] is None else f"{entry['spread']:.2f}",
        )
        for entry in found[:MOST_ROWS]
    ]
    yield table(("case", "target", "passed", "mean", "spread"), rows)
    yield left_out(len(found) - MOST_ROWS, "repeated cases")
    yield "## Cases\n"


def account(results: Sequence[Result]) -> str:
    repeated = sum(result["ralph"]["iterations"] > 1 for result in results)
    tokens = sum(result["tokens"] for result in results)
    return f"{repeated} with more than one iteration, {tokens:,} tokens."


def row(result: Result) -> tuple[str, ...]:
    ralph = result["ralph"]
    scores = " → ".join(f"{score:.2f}" for score in ralph["scores"])
    return (
        "⚠️" if is_unproven(result) else SIGNS.get(result["outcome"], "⚠️"),
        inline(brief(f"{result['eval']}: {name_of(result)}")),
        inline(brief(result["target"])),
        scores or "–",
        str(ralph["iterations"]),
        inline("unproven judge" if is_unproven(result) else ralph["stop_reason"] or result["outcome"]),
        str(result["run"] or "–"),
    )


def failed_case(result: Result) -> Iterator[str]:
    yield f"## {inline(brief(name_of(result)))}\n"
    yield f"{inline(brief(result['why']))}\n"
    reasons = failures(result)
    yield "".join(f"- {inline(brief(reason))}\n" for reason in reasons[:MOST_REASONS])
    yield left_out(len(reasons) - MOST_REASONS, "reasons")
    output = result["output"]
    if output:
        cut = output if len(output) <= OUTPUT_CHARS else f"{output[:OUTPUT_CHARS]}…"
        yield (
            f"Start of the best answer:\n\n{fenced(cut)}"
            if cut is not output
            else f"Best answer:\n\n{fenced(cut)}"
        )


def left_out(count: int, what: str) -> str:
    return f"… and {count:,} more {what} in results.jsonl.\n" if count > 0 else ""


def brief(text: str) -> str:
    return text if len(text) <= LINE_CHARS else f"{text[: LINE_CHARS - 1]}…"
