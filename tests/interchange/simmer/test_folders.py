"""Simmer folders: every value of the imported run is stated and compared."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refinement.interchange.imports.found import SourceFile
from refinement.interchange.imports.reading import runs_in
from tests.interchange.simmer.expected import Case, check
from tests.interchange.simmer.irregular import IRREGULAR
from tests.interchange.simmer.real import REAL
from tests.interchange.simmer.sections import SECTIONS

CASES = REAL | IRREGULAR | SECTIONS


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_value_is_right(case: Case):
    check(case)


PIECES = st.sampled_from(
    [
        "# Simmer Trajectory: A", "## ASI", "### Iteration 1 ASI", "## Iteration 0 — seed", "## Winner", "```",
        "| Iter | A (P) | B* | Composite | Config | Key Change |", "|---|---|---|---|---|---|",
        "| 0 | 4 | ~5 | 4.5 | x | seed |", "| 1* | 4 | high | | | |", "| 5+6 | 11 | 6,5 | 9 |", "| 499 | 1 | 2 |",
        "Best: 1 and 9 (7/10)", "Winner — iteration 900", "- Iteration 1: do it", "- **A:** (7) said", "1. item",
        "A: 7/10 — reason — better", "**ASI (for iteration 0):**", "", "  more", "| Iteration | ASI |", "PRIMARY: B",
        "| # | Change |", "|", "ASI:", "PRIMARY", "CRITERIA:", "  - A (PRIMARY): text",
    ]
)  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(st.lists(PIECES, max_size=14), st.lists(PIECES, max_size=4))
def test_any_order_of_lines_is_read(lines, judgment):
    names = ("trajectory.md", "iteration-1-judgment.md", "brief.md")
    texts = ("\n".join(lines), "\n".join(judgment), "\n".join(judgment))
    files = [SourceFile(f"mail/{name}", text.encode()) for name, text in zip(names, texts, strict=True)]
    (found,) = runs_in([*files, SourceFile("mail/iteration-0-candidate.md", b"Zero")], [])
    assert found.document is not None
    assert found.document.rounds[0].candidate == "Zero" or found.document.rounds[0].number == 1


@pytest.mark.parametrize(
    "text",
    [
        "# Simmer" + " " * 200_000 + "x", "| Iter | A |\n|---|---|\n| 1" + " " * 200_000 + "x | 5 |",
        "| Iter | A" + " " * 200_000 + "x | Composite |\n|---|---|---|\n| 1 | 5" + " " * 200_000 + "x | 5 |",
        "| Iter | Change |\n|---|---|\n" * 10_000, "Best " + "best " * 50_000, "**" * 100_000, "- " * 100_000,
        "### Iteration 1 ASI\n" * 20_000, "**ASI" + " " * 100_000, "| 1 | 2 |\n" * 20_000,
    ],
    ids=range(10),
)  # fmt: skip
def test_long_lines_and_files_take_no_time(text):
    start = time.thread_time()
    candidate = SourceFile("mail/iteration-1-candidate.md", b"One")
    list(runs_in([SourceFile("mail/trajectory.md", text.encode()), candidate], []))
    assert time.thread_time() - start < 5
