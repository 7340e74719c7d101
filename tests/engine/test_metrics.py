import pytest

from refinement.engine.metrics import RunMetrics, criteria_met, criteria_rate, run_metrics, suite_composite
from refinement.engine.scoring import assess
from refinement.engine.types import History, Round
from tests.engine.given import D, checks, even_verdict, history, rounds, rubric


def test_a_runs_figures():
    assert run_metrics(rubric("wiggum"), history("7.0", "8.7", "8.3")) == RunMetrics(
        r1=D("7.0"), best=D("8.7"), last=D("8.3"), improvement=D("1.3"), best_round=2, rounds=3
    )


def test_improvement_can_be_negative():
    assert run_metrics(rubric("ralph"), history(".9", ".4")).improvement == D("-.5")


def test_nothing_judged_means_no_figures():
    assert run_metrics(rubric("wiggum"), History((Round(1, "x"),))) == RunMetrics(
        None, None, None, None, None, 0
    )


def test_an_unread_candidate_does_not_count():
    metrics = run_metrics(rubric("wiggum"), History((*rounds("5"), Round(2, "unread"))))
    assert (metrics.last, metrics.rounds) == (D(5), 1)


@pytest.mark.parametrize(
    ("passed", "rate"), [([], "1"), ([True], "1"), ([False], "0"), ([True, True, False, False], "0.5")]
)
def test_criteria_rate(passed, rate):
    assert criteria_rate(passed) == D(rate)


@pytest.mark.parametrize(
    ("profile", "score", "passed", "met"),
    [
        ("wiggum", "9", (True,), (True, *[True] * 6)),
        ("wiggum", "8.9", (False,), (False, *[False] * 6)),
        ("simmer", "10", (), (True,) * 3),  # without a pass mark a criterion is met at the top
        ("simmer", "9", (False, True), (False, True, False, False, False)),
    ],
)
def test_checks_and_criteria_count_alike(profile, score, passed, met):
    of = rubric(profile)
    assert criteria_met(of, assess(of, even_verdict(of, score), checks(*passed))) == met


def test_ralphs_checks_count_alone():
    assert criteria_met(rubric("ralph"), assess(rubric("ralph"), None, checks(True, False))) == (True, False)


def test_the_first_pass_counts_most():
    assert suite_composite(D(9), D(1)) == D("9.3")
    assert suite_composite(D(8), D("0.5")) == D("7.1")
    assert suite_composite(D(0), D(1)) == 3


def test_the_suites_score_is_the_mean_of_its_runs():
    runs = [suite_composite(D(7), D(1)), suite_composite(D(9), D(0))]
    assert sum(runs) / 2 == suite_composite(D(8), D("0.5"))
