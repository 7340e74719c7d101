"""Experiments whose configurations are equal: "better" or "worse" must be rare."""

import numpy as np
import pytest

from refinement.statistics.comparing import Verdict
from refinement.statistics.experiments import Table, Trial, experiment_comparisons, experiment_statistics

SEED = 7
TASK_TYPES = ("how-to", "research", "extraction")
DIFFERING = (Verdict.BETTER, Verdict.WORSE)


def normal(random, tasks, configurations):
    """Scores with one decimal: tasks differ more than runs."""
    return np.round(7 + random.normal(0, 1, (tasks, 1)) + random.normal(0, 0.6, (tasks, configurations)), 1)


def whole_points(random, tasks, configurations):
    return np.round(7 + random.normal(0, 1, (tasks, 1)) + random.normal(0, 0.7, (tasks, configurations)))


def mostly_ties(random, tasks, configurations):
    noise = random.normal(0, 1, (tasks, configurations)) * (random.random((tasks, configurations)) < 0.15)
    return np.round(7 + random.normal(0, 1, (tasks, 1)) + noise, 1)


def skewed(random, tasks, configurations):
    """Near the top of the scale with a long tail of bad results."""
    lost = random.exponential(1, (tasks, 1)) + random.exponential(0.8, (tasks, configurations))
    return np.round(10 - lost, 1)


def skewed_apart(random, tasks, configurations):
    """Equal means, but only the baseline's noise is symmetric: each difference is skewed."""
    noise = 0.6 - random.exponential(0.6, (tasks, configurations))
    noise[:, 0] = random.normal(0, 0.6, tasks)
    return np.round(7 + random.normal(0, 1, (tasks, 1)) + noise, 1)


SHAPES = (normal, whole_points, mostly_ties, skewed, skewed_apart)


def simulated(random, shape, tasks, *, task_types=TASK_TYPES):
    """Whether any comparison of a random experiment says "better" or "worse", by task type included."""
    configurations = int(random.integers(3, 6))
    scores = np.clip(shape(random, tasks, configurations), 0, 10)
    rates = np.round(scores * 6 / 10) / 6  # checks and criteria are met with the score
    trials = [
        Trial(task, at, scores[task, at], rates[task, at], True, scores[task, at], 1, 1, 1.0)
        for task in range(tasks)
        for at in range(configurations)
    ]
    labels = [task_types[at % len(task_types)] for at in range(tasks)]
    found = experiment_comparisons(Table(trials, tasks, configurations), labels, 0)
    return any(entry.verdict in DIFFERING for group in found.values() for entry in group if entry)


def test_at_most_7_percent_of_200_experiments_without_a_difference_show_one():
    random = np.random.default_rng(SEED)
    misleading = sum(
        simulated(random, shape, tasks) for tasks in (30, 45, 60, 100) for shape in SHAPES for _ in range(10)
    )
    assert misleading / 200 <= 0.07, f"{misleading / 200:.1%}"


@pytest.mark.parametrize("effect", [0.4, -0.4])
def test_a_true_difference_is_found(effect):
    random = np.random.default_rng(SEED)
    scores = normal(random, 100, 4)
    trials = [
        Trial(task, at, scores[task, at] + (effect if at == 1 else 0), 0.5, True, 7, 1, 1, 1.0)
        for task in range(100)
        for at in range(4)
    ]
    found = experiment_statistics(trials, task_types=[""] * 100, configurations=4, baseline=0)
    verdicts = [entry.verdict if entry else None for entry in found.overall.comparisons]
    expected = Verdict.BETTER if effect > 0 else Verdict.WORSE
    assert verdicts == [None, expected, Verdict.NO_DIFFERENCE, Verdict.NO_DIFFERENCE]
