"""Intervals of means: coverage, limits, and odd samples."""

import numpy as np
import pytest

from refinement.statistics.comparing import Verdict, compared
from refinement.statistics.experiments import Trial, experiment_statistics
from refinement.statistics.intervals import AMOUNT, RATE, SCORE, mean_intervals
from refinement.statistics.noise import noise_of


@pytest.mark.parametrize("tasks", [8, 20, 60])
@pytest.mark.parametrize("shape", ["normal", "skewed"])
def test_about_95_of_100_intervals_hold_the_true_mean(tasks, shape):
    random, samples = np.random.default_rng(3), 600
    if shape == "normal":
        values, truth = random.normal(7, 1, (tasks, samples)), 7.0
    else:
        values, truth = 10 - random.exponential(1.5, (tasks, samples)), 8.5
    found = mean_intervals(list(np.round(values, 2).T), [AMOUNT] * samples)
    held = np.mean([entry.low <= truth <= entry.high for entry in found])
    assert 0.91 <= held <= 0.99, held


def one(values, bounds=SCORE):
    return mean_intervals([np.array(values, float)], [bounds])[0]


def test_the_same_figures_give_the_same_interval():
    values = [5.0, 6.5, 7.25, 8.0, 9.0, 4.0]
    assert one(values) == one(values)


def test_a_single_task_has_no_interval_and_none_has_no_mean():
    assert (one([7]).value, one([7]).low, one([7]).high) == (7, None, None)
    assert one([np.nan, np.nan]) is None


def test_tasks_without_a_value_are_left_out():
    assert one([7, np.nan, 8, 9, 8, 7]) == one([7, 8, 9, 8, 7])


def test_an_interval_stays_within_the_scale():
    found = one([10, 10, 10, 10, 10, 2])
    assert (found.high, found.low >= 0) == (10, True)


@pytest.mark.parametrize(("value", "ends"), [(1, (0.861, 1.0)), (0, (0.0, 0.139))])
def test_all_of_twenty_is_not_always(value, ends):
    found = one([value] * 20, RATE)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-3)


def test_equal_differences_are_certain_and_four_tasks_are_not_enough():
    column = np.array([0.4] * 5)
    same, few = compared([column, np.array([0.4] * 4 + [np.nan])], 0.05)
    assert (same.verdict, same.low, same.high) == (Verdict.BETTER, 0.4, 0.4)
    assert (few.verdict, few.difference, few.low) == (Verdict.NOT_ENOUGH, pytest.approx(0.4), None)


@pytest.mark.parametrize("tasks", [6, 8, 11])
def test_few_tasks_have_intervals_that_can_be_true(tasks):
    """At the level of 21 comparisons, resampling 6 to 11 tasks gave intervals of up to ±40."""
    random = np.random.default_rng(9)
    columns = [np.round(random.normal(0.5, 0.8, tasks), 1) for _ in range(21)]
    widths = [entry.high - entry.low for entry in compared(columns, 0.02)]
    assert max(widths) < 10
    assert all(-10 <= entry.low <= entry.high <= 10 for entry in compared([10 * columns[0]] * 21, 0.02))


def test_more_comparisons_widen_each_interval():
    column = np.random.default_rng(5).normal(0.3, 0.5, 40)
    alone, among = compared([column], 0.05)[0], compared([column] * 9, 0.05)[0]
    assert among.difference == pytest.approx(alone.difference)
    assert among.high - among.low > 1.2 * (alone.high - alone.low)


def test_noise_is_the_spread_inside_cells():
    counts, squares = np.array([3.0, 3.0, 3.0, 1.0]), np.array([2.0, 2.0, 2.0, 0.0])
    noise = noise_of(counts, squares)
    assert (noise.deviation, noise.cells) == (1.0, 3)
    assert noise.smallest_difference(2, 2) == pytest.approx(1.96)
    assert noise_of(np.array([2.0, 2.0]), np.array([1.0, 1.0])) is None


def test_an_experiment_without_a_scored_run():
    found = experiment_statistics([], task_types=["a", "b"], configurations=2, baseline=0)
    assert found.overall.figures == [dict.fromkeys(found.overall.figures[0])] * 2
    assert found.overall.comparisons[1].verdict is Verdict.NOT_ENOUGH
    assert (found.noise, found.comparisons) == (None, 0)


def test_repeats_are_averaged_inside_a_task():
    """A task with three repeats counts as much as one with a single run."""
    trials = [Trial(0, 0, score, 1, True, score, 1, 1, 1.0) for score in (4, 5, 6)]
    trials += [Trial(1, 0, 9, 1, True, 9, 1, 1, 1.0)]
    found = experiment_statistics(trials, task_types=["", ""], configurations=1, baseline=0)
    assert found.overall.figures[0]["mean_r1"].value == 7
    assert (found.overall.scored, found.cells.lowest[0, 0]) == ([4], pytest.approx(0.7 * 4 + 3))
