"""Views: what each role sees, round by round."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.profiles import context_rules_for, rubric_for
from refinement.engine.scoring import assess
from refinement.engine.types import (
    Assessment,
    CheckResult,
    Criterion,
    CriterionScore,
    EvaluationMode,
    Evaluator,
    EvaluatorOutput,
    Feedback,
    FeedbackStyle,
    History,
    Information,
    Penalties,
    Revise,
    Round,
    Verdict,
)
from refinement.judging.context import EVALUATOR_CHARS, Brief, Calibration, judge_view, producer_view
from refinement.judging.delimiters import fence
from refinement.judging.prompts import judge_prompt
from refinement.judging.schema import example_reply

NONCE = "7f3a9c5e1b2d4860"
D = Decimal


def brief(profile="simmer", **changes):
    """A brief whose judge sees everything of its profile's preset with an evaluator."""
    rubric = replace(
        rubric_for(profile),
        criteria=(Criterion("depth", "Depth"),),
        policy=replace(rubric_for(profile).policy, judge_limit_chars=6_000, penalties=Penalties()),
        context=context_rules_for(profile, evaluator=True),
    )
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
    assert view.round_label == "round 1 (the last is 4)"
    assert Information.SEED not in view.seen
    assert Information.SEED not in view.withheld


def test_from_round_two_the_seed_comes_with_the_scores_that_counted():
    history = History((Round(1, "first", told(score="6.5")), Round(2, "second")))
    view = judge_view(brief(), history, 2)
    assert view.seed is not None
    assert view.seed.text == "first"
    assert [(entry.name, entry.score) for entry in view.seed_scores] == [("depth", D("5.5"))]


def test_the_seed_scores_of_a_complete_failure_are_those_of_the_history():
    of = brief().rubric
    failed = EvaluatorOutput("", "Traceback", 1, failure="The command failed.")
    verdict = Verdict((CriterionScore("depth", D(7)),))
    first = Round(1, "first", assess(of, verdict, evaluator=failed))
    view = judge_view(Brief("the task", of, NONCE), History((first, Round(2, "second"))), 2)
    assert view.seed_scores == view.history[0].scores
    user = judge_prompt(view).messages[1].content
    assert fence(NONCE, "SEED SCORES").around("depth 1") in user
    assert "round 1: composite 1 (depth 1); seed" in user


def test_a_calibration_example_is_there_from_round_one_beside_the_seed():
    known = replace(brief(), calibration=Calibration("an example", {"depth": D(4)}))
    first = judge_view(known, History((Round(1, "first"),)), 1)
    later = judge_view(known, History((Round(1, "first", told()), Round(2, "second"))), 2)
    for view in (first, later):
        assert view.calibration is not None
        assert view.calibration.text == "an example"
        assert [(entry.name, entry.score) for entry in view.calibration_scores] == [("depth", D(4))]
    assert first.seed is None
    assert later.seed is not None
    assert later.seed.text == "first"


@pytest.mark.parametrize(
    ("mode", "command", "shown", "seen"),
    [
        (EvaluationMode.RUNNABLE, ("x", "{file}"), True, EvaluationMode.RUNNABLE),
        (EvaluationMode.HYBRID, ("x", "{file}"), True, EvaluationMode.HYBRID),
        (EvaluationMode.HYBRID, (), True, EvaluationMode.JUDGE_ONLY),
        (EvaluationMode.JUDGE_ONLY, ("x", "{file}"), True, EvaluationMode.JUDGE_ONLY),
        (EvaluationMode.RUNNABLE, ("x", "{file}"), False, EvaluationMode.JUDGE_ONLY),
    ],
)
def test_a_judge_is_told_of_evidence_only_where_it_gets_some(mode, command, shown, seen):
    rules = context_rules_for("simmer", evaluator=shown)
    given = brief(evaluation_mode=mode, evaluator=Evaluator(command), context=rules)
    assert judge_view(given, History((Round(1, "a"),)), 1).evaluation_mode is seen


def test_an_unscored_first_round_gives_a_seed_without_scores():
    view = judge_view(brief(), History((Round(1, "first"), Round(2, "second"))), 2)
    assert view.seed is not None
    assert view.seed_scores == ()


def test_people_and_judges_count_rounds_alike():
    view = judge_view(brief("simmer"), History((Round(1, "seed"),)), 1)
    assert view.round_label == "round 1 (the last is 4)"


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
    assert (first.label, first.key_change) == ("round 1", "seed")
    assert (second.label, second.composite) == ("round 2", D(8))
    assert [(entry.name, entry.score) for entry in second.scores] == [("depth", D(7))]
    assert len(second.key_change) < 60
    if change is None:
        assert second.key_change == "Move the definition of the lease to the front and explain…"
    else:
        assert second.key_change == change


def test_history_marks_the_rounds_that_regressed():
    scores = ("6", "7", "6.5", "7", "8")
    rounds = [Round(number, "x", told(score=score)) for number, score in enumerate(scores, 1)]
    view = judge_view(brief(), History((*rounds, Round(6, "now"))), 6)
    assert [line.regressed for line in view.history] == [False, False, True, False, False]


def test_a_regression_goes_by_the_primary_criterion_first():
    main = Criterion("depth", "Depth", primary=True)
    given = brief(criteria=(main, Criterion("tone", "Tone")))

    def scored(depth, tone):
        return Assessment(D(depth + tone) / 2, {"depth": D(depth), "tone": D(tone)})

    rounds = (Round(1, "a", scored(4, 9)), Round(2, "b", scored(5, 5)), Round(3, "c", scored(4, 10)))
    view = judge_view(given, History((*rounds, Round(4, "d"))), 4)
    assert [line.regressed for line in view.history] == [False, False, True]


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
    "said", ["Only 7 out of 10 required items are there.", "Depth is only 6/10 here.", "Lift the score: 8"]
)
def test_the_judges_words_reach_the_producer_unchanged(said):
    step = Revise(2, 1, feedback(issues=(said,), asi=said, note=said))
    view = producer_view(brief(), History((Round(1, "a", told()),)), step)
    assert view.feedback is not None
    assert (view.feedback.issues, view.feedback.asi, view.feedback.note) == ((said,), said, said)
