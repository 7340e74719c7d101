"""Views: what each role is handed, round by round."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.profiles import context_rules_for, rubric_for
from refinement.engine.types import (
    Assessment,
    CheckResult,
    CriterionScore,
    EvaluatorOutput,
    Feedback,
    FeedbackStyle,
    History,
    Information,
    ProblemClass,
    Revise,
    Round,
    Verdict,
)
from refinement.judging.context import EVALUATOR_CHARS, Brief, judge_view, producer_view
from refinement.judging.schema import example_reply

NONCE = "7f3a9c5e1b2d4860"
D = Decimal


def brief(profile="wiggum", problem_class=ProblemClass.CODE, **changes):
    base = rubric_for(profile)
    rubric = replace(base, problem_class=problem_class, context=context_rules_for(problem_class))
    return Brief("the task", replace(rubric, **changes), NONCE)


def told(asi="", issues=(), score="7", checks=()):
    verdict = Verdict((CriterionScore("depth", D(score)),), tuple(issues), asi)
    return Assessment(D(score), {"depth": D(score) - 1}, (verdict,), tuple(checks))


def feedback(**words):
    return Feedback(FeedbackStyle.ISSUES, 1, **words)


def test_round_one_has_no_seed_no_history_and_no_previous_asi():
    view = judge_view(brief(), History((Round(1, "first"),)), 1)
    assert view.candidate is not None
    assert view.candidate.text == "first"
    assert (view.seed, view.seed_scores, view.history, view.previous_asi) == (None, (), (), None)
    assert view.round_label == "round 1 (the last is 3)"
    assert Information.SEED not in view.seen
    assert Information.SEED not in view.withheld


def test_from_round_two_the_seed_comes_with_what_the_judge_said_of_it():
    history = History((Round(1, "first", told(score="6.5")), Round(2, "second")))
    view = judge_view(brief(), history, 2)
    assert view.seed is not None
    assert view.seed.text == "first"
    assert [(entry.name, entry.score) for entry in view.seed_scores] == [("depth", D("6.5"))]


def test_where_several_judged_the_seed_its_scores_are_what_came_of_it():
    both = replace(told(score="8"), verdicts=told().verdicts * 2)
    view = judge_view(brief(), History((Round(1, "first", both), Round(2, "second"))), 2)
    assert [entry.score for entry in view.seed_scores] == [D(7)]


def test_an_unscored_first_round_gives_a_seed_without_scores():
    view = judge_view(brief(), History((Round(1, "first"), Round(2, "second"))), 2)
    assert view.seed is not None
    assert view.seed_scores == ()


def test_people_and_judges_count_rounds_alike():
    view = judge_view(brief("simmer"), History((Round(1, "seed"),)), 1)
    assert view.round_label == "iteration 0 (the last is 3)"


def test_a_long_candidate_and_a_long_seed_are_cut_at_the_judges_limit():
    long = "line of text\n" * 1_000
    history = History((Round(1, long, told()), Round(2, long)))
    view = judge_view(brief(), history, 2)
    for part in (view.candidate, view.seed):
        assert part is not None
        assert part.seen_chars <= 6_000 < part.total_chars
        assert part.sentence == f"judged {part.seen_chars:,} of 13,000 characters"


@pytest.mark.parametrize(
    ("driver", "change"),
    [
        (told("Do this."), "Do this."),
        (told(issues=["First issue.", "Second."]), "First issue."),
        (told(checks=[CheckResult("a", True), CheckResult("b", False, "No title.")]), "No title."),
        (told(), "not stated"),
        (told("Move the definition of the lease to the front and explain the fence"), None),
    ],
)
def test_history_says_in_a_line_what_each_round_set_out_to_change(driver, change):
    rounds = (Round(1, "a", driver), Round(2, "b", told(score="8")), Round(3, "c"))
    first, second = judge_view(brief(), History(rounds), 3).history
    assert (first.label, first.key_change) == ("round 1", "first version")
    assert (second.label, second.composite) == ("round 2", D(8))
    assert [(entry.name, entry.score) for entry in second.scores] == [("depth", D(7))]
    assert len(second.key_change) < 60
    if change is None:
        assert second.key_change == "Move the definition of the lease to the front and explain…"
    else:
        assert second.key_change == change


def test_the_previous_asi_is_the_last_rounds_alone():
    rounds = (Round(1, "a", told("one")), Round(2, "b", told("two")), Round(3, "c"))
    assert judge_view(brief(), History(rounds), 3).previous_asi == "two"


def test_evaluator_output_is_bounded_and_says_so():
    output = EvaluatorOutput("x" * 20_000, "", 3)
    view = judge_view(brief(), History((Round(1, "a"),)), 1, output)
    assert view.evaluator is not None
    assert len(view.evaluator.stdout) < EVALUATOR_CHARS + 100
    assert "14,000 characters left out here" in view.evaluator.stdout
    assert view.evaluator.exit_code == 3


def test_the_view_carries_the_shape_of_the_reply_and_an_editors_template():
    own = brief(templates={"judge": "mine", "draft": "theirs"})
    view = judge_view(own, History((Round(1, "a"),)), 1)
    assert view.reply_example == example_reply(own.rubric)
    assert view.template == "mine"
    step = Revise(2, 1, feedback())
    assert producer_view(own, History((Round(1, "a", told()),)), step).templates == {"draft": "theirs"}


def test_a_revision_starts_from_the_round_it_is_told():
    history = History((Round(1, "first", told()), Round(2, "second", told())))
    assert producer_view(brief(), history, Revise(3, 1, feedback())).candidate == "first"
    assert producer_view(brief(), history, Revise(3, 2, feedback())).candidate == "second"


@pytest.mark.parametrize(("seed", "candidate"), [("", None), ("the seed", "the seed")])
def test_a_revision_from_the_original_has_the_seed_or_nothing(seed, candidate):
    history = History((Round(1, "first", told()),))
    view = producer_view(replace(brief("ralph"), seed=seed), history, Revise(2, None, feedback()))
    assert view.candidate == candidate
    assert view.appends_feedback


def test_a_round_that_is_not_there_is_an_error():
    with pytest.raises(LookupError, match="no round 4"):
        judge_view(brief(), History((Round(1, "a"),)), 4)
    with pytest.raises(LookupError, match="no round 9"):
        producer_view(brief(), History((Round(1, "a", told()),)), Revise(2, 9, feedback()))


@pytest.mark.parametrize(
    ("said", "passed_on"),
    [
        ("Depth is only 6/10 here.", "Depth is only [score withheld] here."),
        ("I gave 7.5 out of 10 for this.", "I gave [score withheld] for this."),
        ("It scored 6 because of gaps.", "It [score withheld] because of gaps."),
        ("A rating of 4,5 is fair", "A [score withheld] is fair"),
        ("Lift the score: 8", "Lift the [score withheld]"),
        ("On 12/10/2024 there were 3 of 10 steps.", "On 12/10/2024 there were 3 of 10 steps."),
        ("Use 7/100 and version 2.5/10.1.", "Use 7/100 and version 2.5/10.1."),
        ("Score sheets need 3 columns.", "Score sheets need 3 columns."),
    ],
)
def test_scores_in_a_judges_words_do_not_reach_the_producer(said, passed_on):
    step = Revise(2, 1, feedback(issues=(said,), asi=said, note=said))
    view = producer_view(brief(), History((Round(1, "a", told()),)), step)
    assert view.feedback is not None
    assert (view.feedback.issues, view.feedback.asi, view.feedback.note) == (
        (passed_on,),
        passed_on,
        passed_on,
    )
