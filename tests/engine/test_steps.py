from dataclasses import replace

import pytest

from refinement.engine.scoring import assess
from refinement.engine.sentences import failure_sentence, round_name
from refinement.engine.steps import next_step
from refinement.engine.types import (
    Budget,
    Draft,
    Failure,
    FeedbackStyle,
    Finish,
    History,
    Judge,
    NextBase,
    OnPlateau,
    Outcome,
    Revise,
    Role,
    Round,
    StopReason,
    Usage,
)
from tests.engine.given import (
    UNUSED,
    D,
    checks,
    even_verdict,
    history,
    judged,
    rounds,
    rubric,
    scored,
    verdict,
)


@pytest.mark.parametrize("profile", ["wiggum", "ralph", "simmer"])
def test_a_run_without_a_seed_starts_with_a_draft(profile):
    assert next_step(rubric(profile), History()) == Draft(1)


@pytest.mark.parametrize("profile", ["wiggum", "ralph", "simmer"])
def test_a_seed_is_judged_first(profile):
    assert next_step(rubric(profile), History((Round(1, "seed"),))) == Judge(1)


def test_a_new_candidate_is_judged():
    assert next_step(rubric("wiggum"), History((*rounds("5"), Round(2, "new")))) == Judge(2)


# --- wiggum: from the previous candidate, with the issues ----------------------------------------


def test_wiggum_revises_the_previous_candidate_with_its_issues():
    of = rubric("wiggum")
    step = next_step(
        of, History((judged(of, 1, "8"), judged(of, 2, "7", issues=("No port.", "Vague."), asi="x")))
    )
    assert isinstance(step, Revise)
    assert (step.round, step.base_round) == (3, 2)
    assert (step.feedback.style, step.feedback.issues) == (FeedbackStyle.ISSUES, ("No port.", "Vague."))
    assert (step.feedback.asi, step.feedback.note, step.feedback.from_round) == ("", "", 2)


def test_wiggum_falls_back_on_the_asi_when_no_issue_is_listed():
    of = rubric("wiggum")
    assert next_step(of, History((judged(of, 1, "8", asi="Name it."),))).feedback.issues == ("Name it.",)


# --- ralph: from the original task, with what failed ----------------------------------------------


def test_ralph_starts_again_from_the_task_with_its_failures():
    of = rubric("ralph")
    results = checks(True, False)
    step = next_step(of, History((Round(1, "c", assess(of, None, results)),)))
    assert isinstance(step, Revise)
    assert (step.round, step.base_round) == (2, None)
    assert step.feedback.failures == (results[1],)
    assert step.feedback.style is FeedbackStyle.FAILURES


def test_ralph_passes_on_what_a_judge_said():
    of = replace(rubric("ralph"), criteria=rubric("simmer").criteria)
    said = even_verdict(of, "0.5", issues=("Thin.",))
    step = next_step(of, History((Round(1, "c", assess(of, said, checks(True))),)))
    assert step.feedback.issues == ("Thin.",)
    assert [failure.message for failure in step.feedback.failures] == [
        "why clarity",
        "why completeness",
        "why usefulness",
    ]


# --- simmer: the latest, after a regression the best ----------------------------------------------


def test_simmer_goes_on_from_the_latest_with_one_asi():
    of = rubric("simmer")
    step = next_step(
        of, History((judged(of, 1, "5", asi="one"), judged(of, 2, "6", asi="two", issues=("i",))))
    )
    assert (step.base_round, step.feedback.asi, step.feedback.issues) == (2, "two", ())
    assert step.feedback.note == ""


def test_simmer_goes_back_to_the_best_after_a_regression():
    of = rubric("simmer")
    seen = History((judged(of, 1, "5"), judged(of, 2, "7"), judged(of, 3, "6", asi="latest")))
    step = next_step(of, seen)
    assert (step.round, step.base_round, step.feedback.asi) == (4, 2, "latest")
    assert step.feedback.from_round == 3
    assert step.feedback.note == (
        "Round 3 was worse than round 2: Usefulness fell from 7 to 6. "
        "This revision starts again from the better one."
    )


def test_simmer_takes_a_tie_as_no_regression():
    of = rubric("simmer")
    step = next_step(of, History((judged(of, 1, "6"), judged(of, 2, "6"))))
    assert (step.base_round, step.feedback.note) == (2, "")


def test_simmer_uses_the_first_issue_where_the_judge_gave_no_asi():
    of = rubric("simmer")
    step = next_step(of, History((judged(of, 1, "6", issues=("first", "second")),)))
    assert (step.feedback.asi, step.feedback.issues) == ("", ("first",))


def test_any_profile_can_take_any_base():
    of = rubric("wiggum", next_base=NextBase.LATEST_OR_BEST)
    assert next_step(of, history("8", "7")).base_round == 1
    assert next_step(rubric("wiggum", next_base=NextBase.ORIGINAL), history("8", "7")).base_round is None


# --- the end ---------------------------------------------------------------------------------------


def test_a_failed_judge_ends_the_run_in_error_with_the_best_so_far():
    failed = History(
        (*rounds("5", "4"), Round(3, "new")), failure=Failure(Role.JUDGE, "no JSON after 3 attempts.")
    )
    assert next_step(rubric("wiggum"), failed) == Finish(
        Outcome.ERROR, StopReason.JUDGE_FAILED, "The judge failed: no JSON after 3 attempts.", 1
    )


def test_a_failed_producer_ends_a_run_that_has_nothing():
    step = next_step(rubric("wiggum"), History(failure=Failure(Role.PRODUCER, "an empty text.")))
    assert (step.outcome, step.reason, step.best_round) == (Outcome.ERROR, StopReason.PRODUCER_FAILED, None)
    assert step.why == "The writer failed: an empty text."


def test_a_failure_comes_before_everything():
    failed = History(rounds("9.5"), Usage(calls=9), Failure(Role.PRODUCER, "x"))
    assert next_step(rubric("wiggum", budget=Budget(calls=1)), failed).outcome is Outcome.ERROR


# --- the sentences ---------------------------------------------------------------------------------


def sentence(of, *composites, usage=UNUSED):
    step = next_step(of, history(*composites, usage=usage))
    assert isinstance(step, Finish)
    return step.why


def plain_simmer(**policy):
    return rubric("simmer", primary_first=False, **policy)


@pytest.mark.parametrize(
    ("of", "composites", "expected"),
    [
        (rubric("wiggum"), ["9.1"], "Stopped after round 1: 9.10 reaches the pass mark of 9.0."),
        (
            rubric("wiggum"),
            ["7", "8.7", "8.3"],
            "Stopped after round 3: reached the 3-round limit, below the pass mark of 9.0. "
            "Round 2 is the result.",
        ),
        (
            rubric("wiggum", stop_rules=()),
            ["9", "8", "8.3"],
            "Stopped after round 3: reached the 3-round limit, at the pass mark of 9.0. "
            "Round 1 is the result.",
        ),
        (
            rubric("ralph", max_rounds=1),
            [".5"],
            "Stopped after round 1: reached the 1-round limit, below the pass mark of 0.8.",
        ),
        (plain_simmer(max_rounds=1), ["5"], "Stopped after round 1: reached the 1-round limit."),
        (rubric("ralph"), ["1"], "Stopped after round 1: 1.00 is a perfect score."),
        (rubric("ralph"), [".85"], "Stopped after round 1: 0.85 reaches the pass mark of 0.8."),
        (
            rubric("ralph"),
            [".7", ".6"],
            "Stopped after round 2: the score fell from 0.70 to 0.60. Round 1 is the result.",
        ),
        (
            rubric("ralph"),
            [".7", ".72"],
            "Stopped after round 2: the gain of 0.02 is below the minimum of 0.05.",
        ),
        (
            rubric("ralph"),
            [".1", ".2", ".3"],
            "Stopped after round 3: reached the 3-round limit, below the pass mark of 0.8.",
        ),
        (plain_simmer(), ["5", "6", "7", "8"], "Stopped after round 4: reached the 4-round limit."),
        (
            plain_simmer(max_rounds=8, on_plateau=OnPlateau.STOP),
            ["6", "5", "6", "5"],
            "Stopped after round 4: none of the last 3 rounds is better than round 1. Round 1 is the result.",
        ),
    ],
)
def test_sentences(of, composites, expected):
    assert sentence(of, *composites) == expected


@pytest.mark.parametrize(
    ("budget", "usage", "words"),
    [
        (Budget(tokens=12000), Usage(tokens=12000), "the budget of 12,000 tokens is used up"),
        (Budget(seconds=D(90)), Usage(seconds=D(91)), "the budget of 90 seconds is used up"),
        (Budget(calls=5), Usage(calls=5), "the budget of 5 calls is used up"),
    ],
)
def test_budget_sentences(budget, usage, words):
    assert sentence(rubric("wiggum", budget=budget), "5", usage=usage) == f"Stopped after round 1: {words}."


def test_the_sentence_names_the_primary_criterion_that_fell():
    of = rubric("simmer", stop_rules=(StopReason.SCORE_REGRESSION,))
    fell = History(
        (Round(1, "a", scored("5", usefulness="7")), Round(2, "b", scored("6", usefulness="6.50")))
    )
    assert next_step(of, fell).why == (
        "Stopped after round 2: Usefulness fell from 7 to 6.5. Round 1 is the result."
    )
    level = History((Round(1, "a", scored("5", usefulness="7")), Round(2, "b", scored("4", usefulness="7"))))
    assert next_step(of, level).why.startswith("Stopped after round 2: the score fell from 5.0 to 4.0.")


def test_the_plateau_sentence_names_the_best_round_before_the_window():
    assert sentence(
        rubric("simmer", max_rounds=9, on_plateau=OnPlateau.STOP), "4", "5", "6", "7", "6", "6", "7"
    ) == ("Stopped after round 7: none of the last 3 rounds is better than round 4. Round 4 is the result.")


def test_a_pass_that_scored_lower_is_a_regression_of_the_score():
    of = rubric("wiggum", max_rounds=9, stop_rules=(StopReason.SCORE_REGRESSION,))
    assert sentence(of, "9.5", "9.2").startswith("Stopped after round 2: the score fell from 9.50 to 9.20.")


def test_a_run_without_a_pass_mark_passed_in_no_round():
    step = next_step(rubric("ralph", pass_threshold=None, stop_rules=(), max_rounds=1), history("1"))
    assert (step.outcome, step.passed_in_round) == (Outcome.DONE, None)


def test_the_sentence_compares_only_the_rounds_that_the_rule_did():
    of = rubric("simmer", max_rounds=12, on_plateau=OnPlateau.STOP)
    seen = replace(history("9", "5", "5", "5", "4", "4", "4"), extended_after=4)
    assert next_step(of, seen).why == (
        "Stopped after round 7: none of the last 3 rounds is better than round 4. Round 1 is the result."
    )


@pytest.mark.parametrize(
    ("scores", "base", "added"),
    [
        (("7", "8", "5", "6"), 2, "extended_after"),  # the first extra round is worse than the best
        (("7", "8", "5", "6"), 2, "escalated_after"),
        (("7", "8", "5", "8"), 4, "extended_after"),  # a tie is not worse
        (("7", "8", "5", "8.5"), 4, "escalated_after"),
        (("7", "8", "5", "8.5", "6"), 4, "extended_after"),  # the best may be an extra round
    ],
)
def test_extra_rounds_never_start_from_a_worse_round_than_the_best(scores, base, added):
    of = rubric("wiggum", max_rounds=9, stop_rules=())
    named = tuple(replace(entry, key_change="x") for entry in rounds(*scores))
    step = next_step(of, History(named, **{added: 3}))
    assert isinstance(step, Revise)
    assert step.base_round == base
    assert bool(step.feedback.note) == (base != len(scores))
    assert step.feedback.from_round == len(scores)


def test_extra_rounds_follow_the_policy_otherwise():
    after_three = replace(history("7", "8", "5", "6"), extended_after=3)
    assert next_step(rubric("ralph", max_rounds=9, stop_rules=()), after_three).base_round is None
    edited = replace(after_three.rounds[3], by_hand=True)
    later = Round(5, "later", scored("5"))
    by_hand = replace(after_three, rounds=(*after_three.rounds[:3], edited, later))
    assert next_step(rubric("wiggum", max_rounds=9, stop_rules=()), by_hand).base_round == 5


def test_round_names():
    assert round_name(1) == "round 1"


def test_failure_sentence():
    assert failure_sentence(Failure(Role.PRODUCER, "gone.")) == "The writer failed: gone."
    assert failure_sentence(Failure(Role.JUDGE, "did not answer.")) == "The judge did not answer."


def test_verdicts_of_a_later_judge_fill_in_a_missing_asi():
    of = rubric("simmer")
    first, second = even_verdict(of, "5"), even_verdict(of, "5", asi="from the second")
    both = replace(assess(of, first), verdicts=(first, second))
    assert next_step(of, History((Round(1, "c", both),))).feedback.asi == "from the second"
    assert verdict().asi == ""


def test_feedback_is_the_same_in_every_style_but_for_what_it_tells():
    simmer = rubric("simmer")
    feedback = next_step(simmer, History((judged(simmer, 1, "5", asi="go"),))).feedback
    assert (feedback.style, feedback.from_round) == (FeedbackStyle.ASI, 1)
    ralph = rubric("ralph")
    feedback = next_step(ralph, History((Round(1, "c", assess(ralph, None, checks(False))),))).feedback
    assert (feedback.from_round, feedback.note) == (1, "")


def test_a_note_reaches_the_producer_in_every_style():
    for style in FeedbackStyle:
        of = rubric("wiggum", next_base=NextBase.LATEST_OR_BEST, feedback=style)
        seen = History((judged(of, 1, "8"), judged(of, 2, "7", asi="x")))
        assert next_step(of, seen).feedback.note.startswith("Round 2 was worse than round 1")


def test_a_reached_threshold_passes_through_next_step():
    step = next_step(rubric("wiggum"), history("9"))
    assert step.outcome is Outcome.PASS
    of = rubric("ralph", pass_threshold=None)
    assert next_step(of, history("1")).outcome is Outcome.PASS
