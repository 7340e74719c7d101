"""The sentence above an experiment's figures, for comparisons in which no difference was shown."""

import pytest

from refinement.selectors.experiments.reports.headline import headline
from refinement.selectors.experiments.reports.leaderboard import axis_of, verdict_of


def entry(name, against=None):
    return {"id": name, "name": name, "baseline": against is None, "scored": 9, "against_baseline": against}


def against(difference, low, high, verdict="no_difference"):
    return {"difference": difference, "low": low, "high": high, "verdict": verdict, "tasks": 20}


@pytest.mark.parametrize(
    ("comparison", "sentence"),
    [
        (against(-1.0, -2.006, 0.042), "B may be worse than A: −1.00 (−2.01 to +0.04)."),
        (against(-1.013, -2.03, 0.004), "B may be worse than A: −1.01 (−2.03 to +0.004)."),
        (against(0.3, -0.03, 0.63), "B may be better than A: +0.30 (−0.03 to +0.63)."),
        (against(-0.6, -1.9, 0.7), "For B no difference was shown."),
        (against(0.8, -2.1, 3.6), "For B no difference was shown."),
        (against(-0.6, None, None), "For B no difference was shown."),
        (against(0.2, -0.2, 0.7), "For B no difference was shown."),
        (against(0.01, -0.04, 0.04), "For B no difference was shown."),
        (against(0.0, 0.0, 0.0), "For B no difference was shown."),
        (against(0.4, 0.02, 0.8, "better"), "B is better than A by 0.40 (0.02 to 0.80) over 20 tasks."),
    ],
)
def test_a_likely_difference_is_not_hidden_among_those_without_one(comparison, sentence):
    assert headline([entry("A"), entry("B", comparison)], []) == sentence


def test_open_cases_come_before_flat_ones_the_worst_first():
    entries = [
        entry("A"), entry("Flat", against(0.1, -0.3, 0.5)), entry("Up", against(0.7, -0.03, 1.43)),
        entry("Down", against(-1.0, -2.0, 0.04)),
    ]  # fmt: skip
    said = headline(entries, []).split(". ")
    assert [sentence.split()[0] for sentence in said] == ["Down", "Up", "For"]
    assert said[-1] == "For Flat no difference was shown."


def test_a_configuration_that_is_only_named_baseline_has_its_letter():
    named = entry("Baseline", against(-1.0, -2.006, 0.042)) | {"letter": "A"}
    assert headline([named, entry("Larger")], []) == (
        "A (named “Baseline”) may be worse than Larger: −1.00 (−2.01 to +0.04)."
    )


def test_the_leaderboard_says_the_same():
    comparison = against(-1.0, -2.006, 0.042)
    verdict = verdict_of(comparison, axis_of([comparison]))
    assert (verdict.sign, verdict.name, verdict.words) == ("?", "may be worse", "−1.00 (−2.01 to +0.04)")


def test_all_sentences_have_one_precision():
    entries = [
        entry("A"), entry("Up", against(0.68, 0.12, 1.28, "better")),
        entry("Down", against(-1.013, -2.03, 0.004)),
    ]  # fmt: skip
    assert headline(entries, []) == (
        "Up is better than A by 0.68 (0.12 to 1.28) over 20 tasks. "
        "Down may be worse than A: −1.01 (−2.03 to +0.004)."
    )


@pytest.mark.parametrize(
    ("tokens", "words"),
    [(6_800, ", and uses 32 % fewer tokens."), (13_000, "30 % more tokens."), (9_500, "tasks.")],
)
def test_a_better_configuration_says_what_it_costs(tokens, words):
    base, better = entry("A"), entry("Up", against(0.7, 0.1, 1.3, "better"))
    said = headline([base | {"tokens": {"value": 10_000}}, better | {"tokens": {"value": tokens}}], [])
    assert said.endswith(words)
