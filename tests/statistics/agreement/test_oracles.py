"""Values against scikit-learn, scipy and krippendorff on random scores."""

import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from refinement.statistics.agreement.alpha import Level, alpha_measure
from refinement.statistics.agreement.bootstrap import value_of
from refinement.statistics.agreement.errors import bias_measure, mae_measure
from refinement.statistics.agreement.kappa import FEWEST_SHARED, kappa_measure, weighted_kappa
from refinement.statistics.agreement.preferences import length_measure
from refinement.statistics.agreement.ranks import rho_measure, tau_b, tau_measure
from refinement.statistics.agreement.repeats import flip_rate, retest_measure
from tests.statistics.agreement.given import column, scores

NEAR = {"abs": 1e-9, "rel": 1e-9}
WHOLE = scores(raters=(2, 2), gaps=(0.0,))


def value(measure):
    return None if measure is None else value_of(measure)


def same(found, expected):
    if found is None or expected is None or np.isnan(found) or np.isnan(expected):
        assert found is None or np.isnan(found)
        assert expected is None or np.isnan(expected)
    else:
        assert found == pytest.approx(expected, **NEAR)


def quiet(oracle, *args, **options):
    """The oracle's value; nan where it warns of a division by zero or refuses."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return float(oracle(*args, **options))
        except (ValueError, ZeroDivisionError):
            return float("nan")


@pytest.mark.parametrize("level", Level)
@given(ratings=scores())
def test_alpha_is_krippendorffs(level, ratings):
    pairable = ratings[np.isfinite(ratings).sum(axis=1) >= 2]
    kinds = len(np.unique(pairable[np.isfinite(pairable)]))
    expected = float("nan")
    if kinds > 1:
        expected = quiet(krippendorff.alpha, reliability_data=ratings.T, level_of_measurement=str(level))
    same(value(alpha_measure(ratings, level)), expected)


@given(both=WHOLE)
def test_weighted_kappa_is_scikit_learns(both):
    judge, person = both.T
    levels = np.arange(both.max() + 1)
    expected = float("nan")
    if len(np.unique(both)) > 1:
        expected = quiet(cohen_kappa_score, judge, person, labels=levels, weights="quadratic")
    same(weighted_kappa(judge, person), expected)


@given(ratings=scores(raters=(2, 5), items=(12, 60)))
def test_kappa_is_the_mean_over_people_with_enough_texts(ratings):
    judge, people = ratings[:, 0], ratings[:, 1:]
    shared = [np.isfinite(judge) & np.isfinite(person) for person in people.T]
    most = max(both.sum() for both in shared)
    kappas = []
    for person, both in zip(people.T, shared, strict=True):
        if both.sum() >= (FEWEST_SHARED if most >= FEWEST_SHARED else 2):
            given_scores = np.concatenate([judge[both], person[both]])
            if len(np.unique(given_scores)) > 1:
                levels = np.arange(given_scores.max() + 1)
                kappas.append(
                    quiet(cohen_kappa_score, judge[both], person[both], labels=levels, weights="quadratic")
                )
    same(value(kappa_measure(column(judge), people)), np.mean(kappas) if kappas else None)


@given(both=WHOLE)
def test_tau_b_and_rho_are_scipys(both):
    judge, person = both.T
    expected = quiet(lambda: stats.kendalltau(judge, person).statistic)
    same(value(tau_measure(judge, person)), expected)
    same(tau_b(judge, person), expected)
    same(value(rho_measure(judge, person)), quiet(lambda: stats.spearmanr(judge, person).statistic))


@given(ratings=scores(raters=(3, 5), gaps=(0.0, 0.4)))
def test_bias_mae_and_deviation_by_hand(ratings):
    judge, people = column(ratings[:, 0]), ratings[:, 1:]
    rows = np.isfinite(judge[:, 0]) & np.isfinite(people).any(axis=1)
    apart = [judge[at, 0] - np.nanmean(people[at]) for at in np.flatnonzero(rows)]
    same(value(bias_measure(judge[rows], people[rows])), np.mean(apart) if apart else None)
    same(value(mae_measure(judge[rows], people[rows])), np.mean(np.abs(apart)) if apart else None)
    spreads = [np.var(row[np.isfinite(row)], ddof=1) for row in ratings if np.isfinite(row).sum() >= 2]
    same(value(retest_measure(ratings)), np.sqrt(np.mean(spreads)) if spreads else None)


@given(ratings=scores())
def test_flips_are_pairs_on_both_sides_of_the_mark(ratings):
    mark, rates = 1.0, []
    for row in ratings:
        known = row[np.isfinite(row)]
        pairs = [(a >= mark) != (b >= mark) for at, a in enumerate(known) for b in known[at + 1 :]]
        rates += [np.mean(pairs)] if pairs else []
    found = flip_rate(ratings, mark)
    same(None if found is None else found.value, np.mean(rates) if rates else None)


@given(ratings=scores(raters=(3, 3), items=(6, 40), gaps=(0.0,)))
def test_the_length_slope_is_a_partial_slope(ratings):
    judge, people, length = ratings.T
    design = np.column_stack([np.ones(len(judge)), people, length])
    if np.linalg.matrix_rank(design) == 3 and np.linalg.cond(design) < 1e6:
        expected = np.linalg.lstsq(design, judge, rcond=None)[0][2] * 100
        found = value(length_measure(judge, people, length))
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_kappa_of_fractions_is_that_of_finer_whole_numbers():
    random = np.random.default_rng(4)
    judge, person = random.integers(0, 40, 50), random.integers(0, 40, 50)
    quarters = weighted_kappa(judge / 4, person / 4)
    whole = cohen_kappa_score(judge, person, labels=range(40), weights="quadratic")
    assert quarters == pytest.approx(whole)


def test_many_distinct_values_keep_the_exact_tau():
    random = np.random.default_rng(4)
    judge = random.normal(size=4_000)
    person = judge + random.normal(size=4_000)
    near = value(tau_measure(judge, person))
    assert near == pytest.approx(stats.kendalltau(judge, person).statistic, abs=1e-3)
