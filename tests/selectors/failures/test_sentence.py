"""The answer names a winner only if one is clearly ahead."""

import pytest

from refinement.selectors.failures.criteria import CriterionFigures
from refinement.selectors.failures.sentence import sentence_parts
from refinement.selectors.failures.window import Window

NAMES = ("Grounded", "Completeness", "Depth", "Relevance", "Structure", "Specificity")


def said(*counts: tuple[int, int]) -> str:
    """The sentence for criteria that are lowest in so many of so many runs."""
    figures = [
        CriterionFigures(name.lower(), name, 1, runs=runs, lowest=lowest)
        for name, (lowest, runs) in zip(NAMES, counts, strict=False)
    ]
    window = Window([None] * 300, False, 300, {}, {}, {})
    return "".join(text for text, _ in sentence_parts(window, figures, [])).strip()


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        (
            [(107, 258), (106, 258), (97, 258), (96, 258), (96, 258), (95, 258)],
            "Grounded, Completeness and 4 others are about equally often the lowest criterion "
            "(37 % to 41 % of runs).",
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
