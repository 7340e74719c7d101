"""Reasoning, improvement and ASI in the line parser: split if both parts are whole, and unchanged."""

from dataclasses import replace

import pytest

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Criterion
from refinement.judging.parsing import Rung, read_reply

RUBRIC = replace(
    rubric_for("simmer"), criteria=(Criterion("clarity", "Clarity"), Criterion("brand_voice", "Brand voice"))
)


def read(line: str, *more: str):
    """The clarity entry and the whole verdict of a reply in lines."""
    reading = read_reply("\n".join([line, "Brand voice: 6/10 — Calm. — Keep it.", *more]), RUBRIC)
    assert reading.verdict is not None, reading.complaint
    assert reading.rung is Rung.LINES
    return reading.verdict.scores[0], reading.verdict


@pytest.mark.parametrize(
    ("said", "reasoning", "improvement"),
    [
        ("Names the steps. — Add a port.", "Names the steps.", "Add a port."),
        ("Clear – mostly – and calm. — Add a port.", "Clear – mostly – and calm.", "Add a port."),
        ("Clear — mostly — and calm. — Add a port.", "Clear — mostly — and calm.", "Add a port."),
        ("Covers setup - but not teardown. — Add it.", "Covers setup - but not teardown.", "Add it."),
        ("Names ports. — Say why - and when.", "Names ports.", "Say why - and when."),
        ("Covers setup - Add teardown.", "Covers setup", "Add teardown."),
        ("A well-known, step-by-step text. — Cut it.", "A well-known, step-by-step text.", "Cut it."),
        ("Fast—too fast—to follow. — Slow down.", "Fast—too fast—to follow.", "Slow down."),
        ("Clear.—Cut it.", "Clear.", "Cut it."),
        ("Uses `run --all — now` well. — Cut `a - b`.", "Uses `run --all — now` well.", "Cut `a - b`."),
        ("Clear. — Replace `a — b` with `c`.", "Clear.", "Replace `a — b` with `c`."),
        ("Clear. — Drop “a — b” from it.", "Clear.", "Drop “a — b” from it."),
        ('Clear. — Drop "a — b" from it.', "Clear.", 'Drop "a — b" from it.'),
        ("Clear (short — and calm). — Add (a — b).", "Clear (short — and calm).", "Add (a — b)."),
        ("Clear [1 — 2] text — Add one.", "Clear [1 — 2] text", "Add one."),
        ('The 5" screen is named. — Add a port.', 'The 5" screen is named.', "Add a port."),
        ("Only a :-) (really. — Add a port.", "Only a :-) (really.", "Add a port."),
        ("Doesn't name the author's tool. — Name it.", "Doesn't name the author's tool.", "Name it."),
        ("`SELECT` is unexplained. — Explain it.", "`SELECT` is unexplained.", "Explain it."),
        ("**Bold** words, __odd__ ones. — Use *one*.", "**Bold** words, __odd__ ones.", "Use *one*."),
        ('"Done" is not enough. — Say "how".', '"Done" is not enough.', 'Say "how".'),
        ("It is clear.", "It is clear.", ""),
        ("It says “a — b”", "It says “a — b”", ""),
        ("Plain `x - y` words. Improvement: Define — or drop — it.",
         "Plain `x - y` words.", "Define — or drop — it."),
        ("Plain words. **Improvement:** Define `x`.", "Plain words.", "Define `x`."),
        ("Reasoning: plain words. — Define `x`.", "plain words.", "Define `x`."),
    ],
)  # fmt: skip
def test_reasoning_and_improvement(said, reasoning, improvement):
    entry, _ = read(f"Clarity: 7/10 — {said}")
    assert (entry.reasoning, entry.improvement) == (reasoning, improvement)
    bold, _ = read(f"- **Clarity: 7/10** — {said}")
    assert (bold.reasoning, bold.improvement) == (reasoning, improvement)


@pytest.mark.parametrize(
    "line",
    [
        "Clarity: 7/10 - Uses - dashes. - Add `x`.",
        "Clarity: 7/10 – Uses - dashes. – Add `x`.",
        "Clarity: 7/10 -- Uses - dashes. -- Add `x`.",
        "`clarity`: 7/10: Uses - dashes. - Add `x`.",
        "**Clarity: 7/10 — Uses - dashes. — Add `x`.**",
        "*Clarity: 7/10 — Uses - dashes. — Add `x`.*",
        "| Clarity | 7/10 | Uses - dashes. | Add `x`. |",
    ],
)
def test_forms_of_a_line(line):
    entry, _ = read(line)
    assert (entry.score, entry.reasoning, entry.improvement) == (7, "Uses - dashes.", "Add `x`.")


def test_texts_on_lines_of_their_own_are_kept_as_they_were_said():
    entry, verdict = read(
        "## Clarity: 7/10",
        "ASI: Replace `a — b` by **one** “clear” call (see `x()`).",
        "Issues:",
        "- `client.close()` is never called - anywhere.",
        "- **No** port",
    )
    assert (entry.reasoning, entry.improvement) == ("", "")
    assert verdict.asi == "Replace `a — b` by **one** “clear” call (see `x()`)."
    assert verdict.issues == ("`client.close()` is never called - anywhere.", "**No** port")


def test_labelled_texts_are_kept_as_they_were_said():
    entry, _ = read(
        "**Clarity**: 7/10\n"
        "**Reasoning:** `x` is used — *twice* — and never set.\n"
        "Improvement: Set `x` first."
    )
    assert entry.reasoning == "`x` is used — *twice* — and never set."
    assert entry.improvement == "Set `x` first."
