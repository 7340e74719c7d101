"""What a bench's figures mean, in sentences."""

from decimal import Decimal

import pytest

from refinement.engine.codec import rubric_with
from refinement.engine.profiles import rubric_for
from refinement.models import Bench, BenchTrial, RubricVersion
from refinement.selectors.rubrics.bench_report import bench_comparison, bench_report, position, what_differs
from refinement.selectors.rubrics.bench_words import comparison_sentence, finding_of, people_sentences

WIGGUM = rubric_for("wiggum")


def trial(number: int, score: str | None, rubric=WIGGUM) -> BenchTrial:
    if score is None:
        return BenchTrial(number=number, status="failed", error="No reply.")
    keys = [criterion.key for criterion in rubric.criteria]
    said = [{"key": key, "score": score} for key in keys]
    scores = dict.fromkeys(keys, score)
    return BenchTrial(number=number, status="done", said=said, scores=scores, composite=Decimal(score))


def report(*scores: str | None, rubric=WIGGUM, people=None):
    trials = [trial(number, score, rubric) for number, score in enumerate(scores, start=1)]
    return bench_report(rubric, trials, people or {})


def told(*scores: str | None, rubric=WIGGUM, temperature: str = "0") -> str:
    found = finding_of(Bench(temperature=Decimal(temperature)), report(*scores, rubric=rubric))
    return f"{found.word}: {' '.join(found.sentences)}"


def test_nothing_is_found_in_nothing():
    assert finding_of(Bench(), report(None, None)) is None


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        (("7",), "too few trials: One trial has scores"),
        (("7", "8", None), "too few trials: 2 trials have scores"),
        (("7", "7", "7"), "identical: Every trial gave the same composite, 7.00. At temp"),
        (("7", "7.1", "7"), "steady: The composite varies by 0.06"),
        (("6", "7", "8"), "noisy: The composite varies by 1.00"),
        (("6", "7", "8"), "differ by about 2.83"),
        (("6", "7", "8"), "It varies most on Depth"),
        (("6", "7", "8"), "None of the 3 trials reaches the pass mark of 9."),
        (("9", "9.5", "10"), "Each of the 3 trials reaches the pass mark of 9."),
        (("8.9", "9", "9.2"), "2 of 3 trials reach the pass mark of 9, so whether this text passes depends"),
    ],
)  # fmt: skip
def test_what_repeats_say(scores, words):
    assert words in told(*scores)


def test_a_model_that_was_made_to_vary_and_did_not_is_not_explained_away():
    assert "temperature" not in told("7", "7", "7", temperature="0.7")


def test_the_rubrics_own_least_gain_is_what_has_to_be_told():
    strict = rubric_with(WIGGUM, {"policy.minimum_gain": "0.1"})
    assert told("7", "7.1", "7", rubric=strict).startswith("noisy")
    assert "differences of 0.1" in told("7", "7.1", "7", rubric=strict)


def test_a_failed_trial_counts_for_nothing():
    found = report("6", None, "8")
    assert (found.done, found.total.spread.mean, found.total.values[1]) == (2, 7, None)


def test_without_people_there_is_nothing_to_say_of_them():
    assert people_sentences(report("6", "7")) == []


def test_the_widest_difference_comes_first():
    words = people_sentences(
        report("7", people={"depth": "6.8", "relevance": "4", "grounded": "9", "gone": "1"})
    )
    assert words == [
        "On average the judge differs from people by 1.7.",
        "The judge scores Relevance 3.0 above people.",
        "The judge scores Grounded 2.0 below people.",
        "The judge scores Depth 0.2 above people.",
    ]


def test_small_scales_are_said_with_more_decimals():
    small = {"scale.minimum": "0", "scale.maximum": "1", "scale.step": "none"}
    ralph = rubric_with(rubric_for("simmer"), small)
    assert report("0.5", rubric=ralph).digits == 3


def test_positions_stay_on_the_plot():
    ends = [position(Decimal(value), WIGGUM.scale) for value in ("-3", "0", "5", "10", "12")]
    assert ends == ["11.0", "11.0", "100.0", "189.0", "189.0"]


def test_a_lower_mean_is_said_to_be_lower():
    compared = bench_comparison(report("8", "8"), report("7", "7"))
    assert "is 1.00 lower, which is more than the noise" in comparison_sentence(compared)


def test_what_differs_is_named():
    one, two = RubricVersion(pk=1, number=1), RubricVersion(pk=2, number=2)
    before = Bench(rubric_version=one, model="a", temperature=Decimal("0.00"), task="x", anchored=False)
    after = Bench(rubric_version=two, model="b", temperature=Decimal("0.50"), task="y", anchored=True)
    assert what_differs(before, after) == [
        "version 1 and version 2",
        "the judges a and b",
        "temperature 0 and 0.5",
        "the task",
        "whether the judge saw the calibration example",
    ]
    assert what_differs(before, before) == []
