"""Intervals of agreement: coverage, odd samples, and reproducible figures."""

import time

import numpy as np
import pytest

from refinement.statistics.agreement.alpha import alpha_measure
from refinement.statistics.agreement.bootstrap import MOST_ROWS, Figure, Measure, figure_of, figures_of
from refinement.statistics.agreement.correction import corrected_mean
from refinement.statistics.agreement.errors import bias_measure, mean_measure, within
from refinement.statistics.agreement.judges import Ratings, judge_figures
from refinement.statistics.agreement.kappa import kappa_measure
from refinement.statistics.agreement.pairs import pair_figures
from refinement.statistics.agreement.preferences import family_measure, length_measure
from refinement.statistics.agreement.rates import share, wilson
from refinement.statistics.agreement.repeats import flip_rate, retest_measure

NOISE, BIAS = 0.5, 0.8


def simulated(seed: int, texts: int = 80) -> Ratings:
    """Three people with a noise of 0.8, and a judge with known noise and bias, twice a text."""
    random = np.random.default_rng(seed)
    quality = random.uniform(2, 8, (texts, 1))
    people = quality + random.normal(0, 0.8, (texts, 3))
    judge = quality + BIAS + random.normal(0, NOISE, (texts, 2))
    return Ratings(people, judge, judge)


def population() -> dict[str, float]:
    found = judge_figures([simulated(0, 200_000)], tolerance=1, pass_mark=6)[0]
    return {name: figure.value for name, figure in found.named.items() if figure}


def test_about_95_of_100_intervals_hold_the_truth():
    truth = population()
    assert truth["bias"] == pytest.approx(BIAS, abs=0.01)
    assert truth["retest_sd"] == pytest.approx(NOISE, abs=0.01)
    names = (
        "kappa",
        "alpha",
        "bias",
        "mae",
        "tau_b",
        "retest_sd",
        "flip_rate",
        "within_one",
        "against_people",
    )
    held = dict.fromkeys(names, 0)
    for seed in range(1, 201):
        found = judge_figures([simulated(seed)], tolerance=1, pass_mark=6)[0]
        for name in names:
            held[name] += found[name].low <= truth[name] <= found[name].high
    # 200 samples of a true 95 % lie within 3.1 points of it in 95 of 100 cases.
    assert all(0.905 <= count / 200 <= 0.99 for count in held.values()), held


def test_the_same_data_give_the_same_figures():
    first, second = (judge_figures([simulated(3)], tolerance=1, pass_mark=6)[0] for _ in range(2))
    assert first.named == second.named


def test_a_criterion_does_not_depend_on_others():
    alone = judge_figures([simulated(3)], tolerance=1, pass_mark=6)[0]
    among = judge_figures([simulated(4), simulated(3)], tolerance=1, pass_mark=6)[1]
    assert alone.named == among.named


def test_many_texts_are_drawn_in_groups_with_the_same_width():
    values = np.random.default_rng(1).normal(5, 2, 20 * MOST_ROWS)
    found = figure_of(mean_measure(values))
    reach = 1.96 * values.std() / np.sqrt(len(values))
    assert found.value == pytest.approx(values.mean())
    assert found.high - found.low == pytest.approx(2 * reach, rel=0.1)


def test_few_texts_have_a_value_and_no_interval():
    found = judge_figures([simulated(3, texts=4)], tolerance=1, pass_mark=6)[0]
    assert (found.items, found["bias"].low, found["alpha"].high) == (4, None, None)


def test_nothing_scored_has_no_figure():
    nothing = Ratings(np.empty((0, 0)), np.empty((0, 0)), np.empty((0, 0)))
    gaps = Ratings(*(np.full((5, 2), np.nan) for _ in range(3)))
    for entry in judge_figures([nothing, gaps], tolerance=1, pass_mark=6):
        assert (entry.items, entry.raters, entry.retest_items, entry.people_mean) == (0, 0, 0, None)
        assert set(entry.named.values()) == {None}


def test_only_people_or_only_repeats():
    ratings, nobody = simulated(3), np.full((80, 1), np.nan)
    people = judge_figures([Ratings(ratings.people, nobody, nobody)], tolerance=1, pass_mark=6)[0]
    assert (people["alpha"] is None, people["kappa"], people["retest_sd"]) == (False, None, None)
    judge = judge_figures([Ratings(nobody, ratings.judge, ratings.repeats)], tolerance=1, pass_mark=6)[0]
    assert (judge["alpha"], judge["kappa"], judge["retest_sd"] is None) == (None, None, False)
    assert (judge.retest_items, judge.retest_judgements) == (80, 160)


def test_a_judge_that_always_gives_the_same_score():
    ratings = simulated(3)
    constant = np.full((80, 2), 6.0)
    found = judge_figures([Ratings(ratings.people, constant, constant)], tolerance=1, pass_mark=6)[0]
    assert found["kappa"].value == pytest.approx(0)
    assert found["tau_b"] is None
    assert found["retest_sd"] == Figure(0, 0, 0)
    assert found["flip_rate"].value == 0 < found["flip_rate"].high


def test_perfect_agreement():
    people = np.repeat(np.arange(1.0, 41)[:, None], 3, axis=1)
    found = judge_figures([Ratings(people, people[:, :1], people[:, :1])], tolerance=1, pass_mark=6)[0]
    assert found["kappa"].value == found["alpha"].value == found["tau_b"].value == pytest.approx(1)
    assert found["against_people"].value == pytest.approx(0)


def test_all_equal_scores_are_undefined():
    same = np.full((40, 2), 5.0)
    assert figures_of([kappa_measure(same[:, :1], same), alpha_measure(same)]) == [None, None]


def test_repeats_count_one_by_one_and_not_as_their_mean():
    """Averaging a judge's noise away would promise more than a run's single judgement."""
    random = np.random.default_rng(5)
    quality = random.uniform(2, 8, (400, 1))
    people, judge = quality + random.normal(0, 0.5, (400, 2)), quality + random.normal(0, 2, (400, 9))
    many = figure_of(kappa_measure(judge, people)).value
    single = figure_of(kappa_measure(judge[:, :1], people)).value
    mean = figure_of(kappa_measure(judge.mean(axis=1, keepdims=True), people)).value
    assert abs(many - single) < 0.1 < mean - many


@pytest.mark.parametrize(
    ("hits", "count", "ends"),
    [(0, 20, (0, 0.1611)), (20, 20, (0.8389, 1)), (13, 30, (0.2738, 0.6080)), (1, 1, (0.2065, 1))],
)
def test_wilson_intervals(hits, count, ends):
    found = wilson(hits, count)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-4)
    assert found.low <= found.value <= found.high


def test_wilson_without_a_case_is_nothing():
    assert wilson(0, 0) is None
    assert share(np.empty(0)) is None


def test_whole_texts_are_cases_and_fractions_say_more():
    whole, halves = share(np.array([1.0, 0.0] * 20)), share(np.array([0.5] * 20 + [0.4, 0.6] * 10))
    plain = wilson(20, 40)
    assert whole.high - whole.low == pytest.approx(plain.high - plain.low, rel=0.02)
    assert halves.high - halves.low < (whole.high - whole.low) / 2


def test_length_and_family_are_found():
    random = np.random.default_rng(8)
    people, words, same = random.uniform(2, 8, 150), random.gamma(4, 75, 150), random.random(150) < 0.4
    judge = 1 + 0.9 * people + 0.004 * words + random.normal(0, 0.4, 150)
    slope = figure_of(length_measure(judge, people, words))
    assert slope.low < 0.4 < slope.high
    assert slope.high - slope.low < 0.2
    gap = figure_of(family_measure(people + 0.9 * same + random.normal(0, 0.4, 150), people, same))
    assert gap.low < 0.9 < gap.high
    assert family_measure(people, people, np.zeros(150, bool)) is None
    assert figure_of(length_measure(judge, people, np.full(150, 300.0))) is None


def test_the_corrected_mean_removes_the_bias():
    random = np.random.default_rng(9)
    rounds = random.uniform(3, 8, 2_000)
    labelled = random.uniform(3, 8, 60)
    found = corrected_mean(rounds + 0.8, labelled + 0.8 + random.normal(0, 0.5, 60), labelled)
    assert found.raw.value == pytest.approx(rounds.mean() + 0.8)
    assert found.raw.low > rounds.mean() + 0.6
    assert found.corrected.low < rounds.mean() < found.corrected.high
    assert found.corrected.high - found.corrected.low < 0.5
    assert corrected_mean(rounds, labelled[:1], labelled[:1]) is None


def test_two_judges_on_the_same_texts_are_told_apart():
    """The difference is paired: both judges meet the same hard texts."""
    random = np.random.default_rng(11)
    quality = random.uniform(2, 8, (250, 1))
    people = quality + random.normal(0, 0.7, (250, 2))
    good, bad = (quality + random.normal(0, noise, (250, 1)) for noise in (0.5, 1.5))
    good[:5] = np.nan
    entry = pair_figures([Ratings(people, good, good)], [Ratings(people, bad, bad)])[0]
    apart = entry.differences["kappa"]
    assert entry.items == 245
    assert apart.value == pytest.approx(entry.second["kappa"].value - entry.first["kappa"].value)
    assert apart.high < 0
    own = entry.second["kappa"].high - entry.second["kappa"].low
    assert apart.high - apart.low < own * 1.3
    assert pair_figures([Ratings(people, good, good)], [Ratings(people, good, good)])[0].differences[
        "kappa"
    ] == Figure(0, 0, 0)


def test_shares_within_a_point():
    judge, people = np.array([[5.0, 6.0], [5.0, np.nan]]), np.array([[5.0, 7.0], [np.nan, 6.5]])
    # Of the first text 3 of 4 pairs, of the second none.
    assert within(judge, people, 1.0).value == pytest.approx((0.75 + 0) / 2)


def test_the_smallest_measures():
    assert bias_measure(np.empty((0, 1)), np.empty((0, 1))) is None
    assert retest_measure(np.array([[1.0], [2.0]])) is None
    assert flip_rate(np.array([[1.0], [2.0]]), 1) is None
    assert figure_of(Measure(np.empty((0, 2)), lambda sums: sums[..., 0])) is None


def test_twenty_thousand_ratings_on_six_criteria_within_ten_seconds():
    criteria = [simulated(seed, 20_000) for seed in range(7)]
    started = time.process_time()
    judge_figures(criteria, tolerance=1, pass_mark=6)
    assert time.process_time() - started < 10
