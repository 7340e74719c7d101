"""The answer names a winner only if one is clearly ahead."""

import pytest

from refinement.models import FailureCategory
from refinement.selectors.failures.categories import CategoryFigures
from refinement.selectors.failures.criteria import CriterionFigures
from refinement.selectors.failures.sentence import sentence_parts, top_issue
from refinement.selectors.failures.window import Window

NAMES = ("Grounded", "Completeness", "Depth", "Relevance", "Structure", "Specificity")


def said(*counts: tuple[int, int], rubrics: int = 1) -> str:
    """The sentence for criteria that are lowest in so many of so many runs."""
    figures = [
        CriterionFigures(name.lower(), name, 1, runs=runs, lowest=lowest)
        for name, (lowest, runs) in zip(NAMES, counts, strict=False)
    ]
    window = Window([None] * 300, False, 300, {}, {}, {}, {}, rubrics)
    return "".join(text for text, _ in sentence_parts(window, figures, [])).strip()


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        (
            [(107, 258), (106, 258), (97, 258), (96, 258), (96, 258), (95, 258)],
            "No criterion stands out.",
        ),
        (
            [(107, 258), (40, 258), (39, 258)],
            "Grounded is the lowest criterion in 107 of 258 runs (41 %).",
        ),
        (
            [(60, 258), (58, 258), (20, 258)],
            "Grounded and Completeness are about equally often the lowest criterion (22 % to 23 % of runs).",
        ),
        ([(60, 258), (10, 12)], "Grounded is the lowest criterion in 60 of 258 runs (23 %)."),  # few runs
        ([(10, 12)], ""),
        ([(0, 258)], ""),
        (
            [(22, 290), (22, 290), (22, 290)],
            "Grounded, Completeness and Depth are about equally often the lowest criterion (8 % of runs).",
        ),
    ],
)
def test_a_winner_is_named_only_if_it_is_clearly_ahead(counts, sentence):
    assert said(*counts) == sentence


def test_criteria_of_several_rubrics_are_not_compared_silently():
    alike = [(100, 250), (99, 250), (98, 250), (97, 250)]
    assert said(*alike, rubrics=3) == (
        "No criterion stands out. These runs have 3 rubrics: filter by one to compare its criteria."
    )


def test_what_no_revision_fixes_comes_first():
    def issue(name: str, runs: int, fixed: int, followed: int) -> CategoryFigures:
        row = FailureCategory(pk=runs, name=name, criterion="clarity")
        return CategoryFigures(
            row,
            "Clarity",
            runs=set(range(runs)),
            among=set(range(33)),
            issues=runs,
            fixed=fixed,
            followed=followed,
        )

    window = Window([None] * 50, False, 300, {}, {}, {}, {})
    issues = [issue("Frequent", 30, 20, 25), issue("Stuck", 24, 0, 12), issue("Few", 9, 0, 4)]
    words = "".join(text for text, _ in sentence_parts(window, [], issues))
    assert (
        words
        == "Never fixed by a revision: “Stuck” (0 of 12 fixed; raised in 24 of 33 runs that scored Clarity). "
    )
    rare = [issue("Often", 30, 2, 12), issue("Stuck", 24, 0, 12), issue("Third", 25, 2, 12)]
    words = "".join(text for text, _ in sentence_parts(window, [], rare))
    assert words == (
        "Rarely fixed by a revision: “Stuck” (0 of 12 fixed; raised in 24 of 33 runs that scored Clarity) "
        "and “Often” (2 of 12 fixed; raised in 30 of 33 runs that scored Clarity), and 1 more. "
    )
    top = top_issue([], issues)
    assert top is not None
    assert top.name == "Stuck"
