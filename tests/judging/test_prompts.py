"""Prompts of the three profiles: their content, order and retries."""

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise, takewhile

import pytest

from refinement.engine.feedback import NOTHING_NAMED, feedback_from
from refinement.engine.profiles import PROFILES, preset_rules, rubric_for, shipped_rubrics
from refinement.engine.scoring import assess
from refinement.engine.types import (
    Assessment,
    CheckResult,
    Criterion,
    CriterionScore,
    Draft,
    EvaluationMode,
    Evaluator,
    EvaluatorOutput,
    Feedback,
    FeedbackStyle,
    History,
    Information,
    ProblemClass,
    Revise,
    Round,
    Scale,
    Severity,
    Verdict,
)
from refinement.judging.context import Brief, Calibration, judge_view, producer_view
from refinement.judging.delimiters import fence
from refinement.judging.prompts import CLOSING, judge_prompt, producer_prompt, retry_prompt
from refinement.judging.sources import SourceText

NONCE = "7f3a9c5e1b2d4860"
D = Decimal


def rubric(profile, mode=EvaluationMode.JUDGE_ONLY, **changes):
    """A profile's rubric with the preset of an evaluation mode."""
    base = rubric_for(profile)
    criteria = base.criteria or (Criterion("fit", "Fit", "Whether it fits.", "It fits."),)
    command = Evaluator(("python3", "{file}"))
    prepared = replace(base, criteria=criteria, evaluation_mode=mode, evaluator=command, **changes)
    return prepared if "context" in changes else replace(prepared, context=preset_rules(prepared))


def past(of, rounds):
    """Rounds that were all judged but the last."""

    def entry(number):
        scores = tuple(CriterionScore(criterion.key, D(number)) for criterion in of.criteria)
        verdict = Verdict(scores, (f"issue {number}",), f"direction {number}")
        given = {score.key: score.score for score in scores}
        judged = Assessment(D(number), given, (verdict,)) if number < rounds else None
        return Round(number, f"candidate number {number}\n" * number, judged)

    return History(tuple(entry(number) for number in range(1, rounds + 1)))


def keys(of):
    return [criterion.key for criterion in of.criteria]


def common_beginning(*texts):
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False))
    return "".join(letters[0] for letters in same)


def judge_messages(of, number=1, evaluator=None):
    prompt = judge_prompt(judge_view(Brief("Write a guide.", of, NONCE), past(of, number), number, evaluator))
    system, user = prompt.messages
    assert (system.role, user.role) == ("system", "user")
    return system.content, user.content


def producer_text(of, step, seed=""):
    judged = Assessment(D(0), dict.fromkeys(keys(of), of.scale.minimum))
    history = History((Round(1, "first version", judged),))
    prompt = producer_prompt(producer_view(Brief("Write a guide.", of, NONCE, seed), history, step))
    system, user = prompt.messages
    assert (system.role, user.role) == ("system", "user")
    return user.content


@pytest.mark.parametrize("slug", shipped_rubrics())
def test_the_system_message_of_a_default_rubric_is_compact(slug):
    of = shipped_rubrics()[slug]
    if of.criteria:
        system, _ = judge_messages(of)
        assert len(system) < 3_500


@pytest.mark.parametrize("mode", EvaluationMode)
@pytest.mark.parametrize("profile", PROFILES)
def test_the_rubric_is_in_the_system_message_and_the_data_in_the_users(profile, mode):
    of = rubric(profile, mode)
    system, user = judge_messages(of, 2)
    for criterion in of.criteria:
        assert f"- {criterion.key} ({criterion.name}" in system
        assert criterion.description in system
        assert criterion.ideal in system
        assert criterion.description not in user
    assert '"reasoning": "...", "score"' in system
    assert "Write a guide." in user
    assert "Write a guide." not in system
    seed = ("SEED", "SEED SCORES") if profile == "simmer" else ()
    for label in ("TASK", *seed, "CANDIDATE"):
        assert user.count(fence(NONCE, label).opening) == user.count(fence(NONCE, label).closing) == 1
    assert user.endswith(f"{fence(NONCE, 'CANDIDATE').closing}\n\n{CLOSING}")


@pytest.mark.parametrize("mode", EvaluationMode)
@pytest.mark.parametrize("profile", PROFILES)
def test_later_rounds_share_everything_up_to_what_changes(profile, mode):
    of = rubric(profile, mode, output_contract="One file.", search_space="Two models.")
    prompts = [judge_messages(of, number, EvaluatorOutput(f"run {number}")) for number in (2, 3, 4)]
    assert len({system for system, _ in prompts}) == 1
    shared = common_beginning(*(user for _, user in prompts))
    seed = ("SEED", "SEED SCORES") if profile == "simmer" else ()
    for label in ("TASK", "OUTPUT CONTRACT", *seed):
        assert fence(NONCE, label).closing in shared
    seen = mode is not EvaluationMode.JUDGE_ONLY
    assert (fence(NONCE, "SEARCH SPACE").closing in shared) == seen
    first_change = "HISTORY" if seen else "This is "
    assert all(user.index(first_change) <= len(shared) for _, user in prompts)


def test_round_one_shares_its_beginning_with_the_rounds_after_it():
    of = rubric("simmer", EvaluationMode.HYBRID, search_space="Two models.")
    (system_one, one), (system_two, two) = judge_messages(of, 1), judge_messages(of, 2)
    assert system_one == system_two
    assert fence(NONCE, "SEARCH SPACE").closing in common_beginning(one, two)


@pytest.mark.parametrize("mode", EvaluationMode)
@pytest.mark.parametrize("profile", PROFILES)
def test_most_of_a_prompt_is_shared_from_round_to_round(profile, mode):
    """A server's prefix cache then serves most of each later round."""
    example = "An example of how scores are given. " * 100
    of = rubric(profile, mode, background="A fact about the readers. " * 100, search_space="Two models.")
    rules = replace(of.context, judge=of.context.judge | {Information.BACKGROUND})
    scores = {criterion.key: of.scale.minimum for criterion in of.criteria}
    brief = Brief(
        "Write a guide.",
        replace(of, context=rules),
        NONCE,
        calibration=Calibration(example, scores),
        sources=(SourceText("Manual", "Backups are made at night. " * 100),),
    )

    def prompt(number):
        view = judge_view(brief, past(of, number), number, EvaluatorOutput(f"run {number}"))
        return "\n".join(message.content for message in judge_prompt(view).messages)

    prompts = [prompt(number) for number in range(1, 5)]
    for earlier, later in pairwise(prompts):
        assert len(common_beginning(earlier, later)) >= 0.85 * len(later)


def test_what_changes_stands_in_order_before_the_candidate():
    scores = {"clarity": D(4)}
    of = rubric("simmer", EvaluationMode.HYBRID, search_space="s")
    brief = Brief("t", of, NONCE, calibration=Calibration("c", scores), sources=(SourceText("n", "x"),))
    view = judge_view(brief, past(of, 3), 3, EvaluatorOutput("", "warning", 2))
    user = judge_prompt(view).messages[1].content
    labels = ["TASK", "SEARCH SPACE", "CALIBRATION EXAMPLE", "CALIBRATION SCORES", "SOURCE 1", "SEED",
              "SEED SCORES", "HISTORY", "PREVIOUS ASI", "EVALUATOR OUTPUT", "CANDIDATE"]  # fmt: skip
    places = [user.index(fence(NONCE, label).opening) for label in labels]
    assert places == sorted(places)
    assert "exit code 2\nstdout: empty\nstderr:\nwarning" in user
    assert "round 1: composite 1 (clarity 1, completeness 1, usefulness 1); seed" in user
    assert "round 2: composite 2 (clarity 2, completeness 2, usefulness 2); direction 1" in user
    assert "This is round 3 (the last is 4)." in user


def test_a_history_of_checks_alone_names_no_scores():
    of = rubric("ralph", EvaluationMode.HYBRID)
    rounds = (Round(1, "a", Assessment(D("0.5"), {})), Round(2, "b"))
    user = judge_prompt(judge_view(Brief("t", of, NONCE), History(rounds), 2)).messages[1].content
    assert "round 1: composite 0.5; seed" in user


def test_a_cut_candidate_is_announced():
    of = rubric("wiggum")
    history = History((Round(1, "word " * 5_000),))
    view = judge_view(Brief("t", of, NONCE), history, 1)
    user = judge_prompt(view).messages[1].content
    assert view.candidate is not None
    assert f"you see {view.candidate.seen_chars:,} of its 25,000 characters" in user
    assert "characters left out here ...]" in user


def test_the_profiles_judge_in_their_own_ways():
    wiggum, _ = judge_messages(rubric("wiggum"))
    ralph, _ = judge_messages(rubric("ralph"))
    simmer, _ = judge_messages(rubric("simmer"))
    assert "numbers from 0 to 10, decimals such as 7.5 included" in wiggum
    assert "written from your issues alone" in wiggum
    assert "numbers from 0 to 1: 1 is fully met" in ralph
    assert "whole numbers from 1 to 10, with nothing in between" in simmer
    assert "9-10 outstanding" in simmer
    assert "Two anchors hold your scale" in simmer
    assert "puts every criterion at 1;" in simmer
    assert len({wiggum, ralph, simmer}) == 3


def test_a_round_that_regressed_is_marked_in_the_history():
    of = rubric("simmer", EvaluationMode.HYBRID)
    worse = [Round(number, "x", Assessment(D(10 - number), dict.fromkeys(keys(of), D(10 - number))))
             for number in (1, 2)]  # fmt: skip
    view = judge_view(Brief("t", of, NONCE), History((*worse, Round(3, "now"))), 3)
    user = judge_prompt(view).messages[1].content
    assert "usefulness 9); seed\n" in user
    assert "usefulness 8); not stated (regressed)\n" in user


def test_simmer_asks_for_one_edit_of_a_text_and_one_direction_for_a_workspace():
    text, _ = judge_messages(rubric("simmer"))
    code, _ = judge_messages(rubric("simmer", problem_class=ProblemClass.CODE))
    assert "The asi is one edit: single" in text
    assert "one strategic direction" in code


@pytest.mark.parametrize("profile", PROFILES)
def test_runnable_scores_by_the_output_and_hybrid_beside_it(profile):
    alone, runnable, hybrid = (judge_messages(rubric(profile, mode))[0] for mode in EvaluationMode)
    assert "EVALUATOR OUTPUT" not in alone
    assert "it is what you score by" in runnable
    assert "evidence beside your own reading" in hybrid
    assert "evidence beside your own reading" not in runnable
    assert "it is what you score by" not in hybrid
    for system in (runnable, hybrid):
        assert "raw figures" in system


@pytest.mark.parametrize("profile", PROFILES)
def test_with_an_evaluator_a_judge_looks_for_the_cause_first(profile):
    of = rubric(profile, EvaluationMode.RUNNABLE, search_space="Two models.")
    system, _ = judge_messages(of)
    for words in (
        "Look beneath the headline figure",
        "two rounds pulled the same lever and nothing moved",
        "Past half the rounds, pick an option of the SEARCH SPACE that no round has tried",
        "Cite the figures or lines",
        "name the files, functions or components",
    ):
        assert words in system
    without_space, _ = judge_messages(replace(of, search_space=""))
    assert "SEARCH SPACE" not in without_space
    alone, _ = judge_messages(rubric(profile, search_space="Two models."))
    assert "headline figure" not in alone


@pytest.mark.parametrize("template", [None, "Judge {{ artifact }}."])
def test_the_two_reference_texts_have_names_and_a_sentence_each(template):
    of = rubric("simmer", templates={"judge": template} if template else {})
    brief = Brief("t", of, NONCE, calibration=Calibration("Known.", {"clarity": D(4)}))
    systems = [
        judge_prompt(judge_view(brief, past(of, number), number)).messages[0].content for number in (1, 2)
    ]
    assert systems[0] == systems[1]
    assert "CALIBRATION EXAMPLE is another text, not a version of this one." in systems[0]
    assert "SEED is the first version of this very work" in systems[0]


def test_a_reference_text_that_a_judge_does_not_get_is_not_mentioned():
    system, _ = judge_messages(rubric("wiggum"))
    assert "SEED" not in system
    assert "CALIBRATION" not in system


def test_words_follow_the_rubric_where_an_editor_changed_it():
    fine = Scale(D(0), D(100), D(5))
    system, _ = judge_messages(replace(rubric("simmer", scale=fine), profile="an editor's own"))
    assert "whole numbers from 0 to 100 in steps of 5" in system
    assert "9-10" not in system
    system, _ = judge_messages(rubric("simmer", scale=fine))
    assert "9-10" not in system
    assert "puts every criterion at 0;" in system


def test_an_editors_judge_template_replaces_the_instructions():
    own = {"judge": "Judge {{ artifact }} on {{ criteria | join(', ', attribute='name') }}."}
    system, _ = judge_messages(rubric("wiggum", templates=own))
    assert system.startswith("Judge document on Depth, Relevance, Completeness")
    assert "strict, fair evaluator" not in system


def test_a_draft_has_the_task_and_all_that_belongs_to_it():
    of = rubric("simmer", background="For nurses.", output_contract="One page.", search_space="Two tones.")
    text = producer_text(of, Draft())
    assert text.startswith("Write a guide.\n\nBackground:\nFor nurses.\n")
    assert "contract:\nOne page." in text
    assert "- Clarity: How easily" in text
    assert "What may be tried:\nTwo tones." in text


def test_a_wiggum_revision_takes_every_issue_and_returns_the_whole():
    step = Revise(2, 1, Feedback(FeedbackStyle.ISSUES, 1, issues=("No steps.", "No versions.")))
    text = producer_text(rubric("wiggum"), step)
    assert fence(NONCE, "VERSION").around("first version") in text
    assert "Put right every one of these problems:\n- No steps.\n- No versions." in text
    assert "Return the complete revised version and nothing else." in text
    assert "do not mention this feedback" in text


def test_a_ralph_revision_is_the_original_prompt_with_feedback_appended():
    of = rubric("ralph", background="For nurses.")
    failures = (
        CheckResult("b", False, "No headings.", Severity.WARNING, suggestion="Add two."),
        CheckResult("a", False, "Too short.", Severity.ERROR, suggestion="Write more."),
        CheckResult("c", False, "", Severity.INFO),
    )
    step = Revise(2, None, Feedback(FeedbackStyle.FAILURES, 1, issues=("Too vague.",), failures=failures))
    original = producer_text(of, Draft())
    text = producer_text(of, step)
    assert text.startswith(f"{original}\n\n")
    assert "first version" not in text
    appended = text.removeprefix(original)
    assert "Errors:\n- Too short. Suggestion: Write more.\n\nWarnings:\n- No headings. Suggestion: Add two.\n\nHints:\n- c\n" in appended  # fmt: skip  # noqa: E501
    assert appended.endswith("Remarks of the judge:\n- Too vague.")
    assert "the seed" in producer_text(of, step, seed="the seed")


def test_a_simmer_revision_takes_one_direction_and_a_note():
    step = Revise(3, 1, Feedback(FeedbackStyle.ASI, 2, asi="Define the lease first.", note="Starts again."))
    text = producer_text(rubric("simmer"), step)
    assert "Starts again.\n\nMake this one improvement, thoroughly:\nDefine the lease first." in text


FAILED = CheckResult("heading", False, "It has no heading.", suggestion="Add one.")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            {"issues": ("Too vague.",)},
            "Put right every one of these problems:\n- Too vague.\n\n"
            "A program checked it as well. Put this right, too:\n\n"
            "Errors:\n- It has no heading. Suggestion: Add one.",
        ),
        (
            {"asi": "Define the lease."},
            "Make this one improvement, thoroughly:\nDefine the lease.\n\n"
            "A program checked it as well. Put this right, too:\n\n"
            "Errors:\n- It has no heading. Suggestion: Add one.",
        ),
        (
            {},
            "A program checked it. Put this right:\n\nErrors:\n- It has no heading. Suggestion: Add one.",
        ),
    ],
)
def test_failed_checks_reach_the_producer_in_every_style(words, expected):
    style = FeedbackStyle.ASI if "asi" in words else FeedbackStyle.ISSUES
    text = producer_text(rubric("wiggum"), Revise(2, 1, Feedback(style, 1, failures=(FAILED,), **words)))
    assert f"\n\n{expected}\n\nReturn the complete" in text


def test_a_judge_that_said_nothing_still_gives_the_producer_something_to_do():
    of = rubric("simmer")
    silent = Verdict(tuple(CriterionScore(criterion.key, Decimal(5)) for criterion in of.criteria))
    feedback = feedback_from(of, 1, assess(of, silent), "")
    assert NOTHING_NAMED in producer_text(of, Revise(2, 1, feedback))


def test_the_judge_is_told_to_leave_scores_out_of_what_the_producer_reads():
    of = rubric("wiggum")
    system = judge_prompt(judge_view(Brief("t", of, NONCE), past(of, 1), 1)).messages[0].content
    assert "Leave scores and ratings out of issues, improvements and asi" in system


def test_an_editors_producer_templates_replace_ours():
    own = {
        "draft": "WRITE {{ task }}",
        "feedback": "{% for issue in issues %}* {{ issue }}\n{% endfor %}.",
        "revision": "{{ original_prompt }}\n{{ candidate }}\n{{ feedback }}\nAGAIN",
    }
    of = rubric("ralph", templates=own)
    step = Revise(2, None, Feedback(FeedbackStyle.FAILURES, 1, issues=("one", "two")))
    assert producer_text(of, Draft()) == "WRITE Write a guide."
    assert producer_text(of, step) == "WRITE Write a guide.\n\n* one\n* two\n.\nAGAIN"


def test_asking_again_quotes_the_reply_and_says_what_was_wrong():
    of = rubric("wiggum")
    prompt = judge_prompt(judge_view(Brief("t", of, NONCE), past(of, 1), 1))
    again = retry_prompt(prompt, "I think it is good.", "There is no JSON object in the reply.")
    assert again.messages[:2] == prompt.messages
    assert [message.role for message in again.messages[2:]] == ["assistant", "user"]
    assert again.messages[2].content == "I think it is good."
    assert "There is no JSON object in the reply." in again.messages[3].content
    assert prompt.shape in again.messages[3].content
    twice = retry_prompt(again, "", "Empty.")
    assert len(twice.messages) == 6
    assert twice.messages[4].content == "(an empty reply)"


def test_asking_again_stays_bounded():
    of = rubric("wiggum")
    prompt = judge_prompt(judge_view(Brief("t", of, NONCE), past(of, 1), 1))
    again = retry_prompt(prompt, "x" * 100_000, "y" * 100_000)
    assert len(again.messages[2].content) < 4_100
    assert len(again.messages[3].content) < 2_500


def test_a_producer_can_be_asked_again_without_a_shape():
    of = rubric("wiggum")
    prompt = producer_prompt(producer_view(Brief("t", of, NONCE), History(), Draft()))
    assert "JSON" not in retry_prompt(prompt, "", "The reply was empty.").messages[-1].content


def test_the_judge_reads_the_task_type_after_the_task_and_the_producer_does_not():
    of = rubric_for("wiggum")
    brief = Brief("Write a guide.", of, NONCE, task_type="how-to")
    user = judge_prompt(judge_view(brief, past(of, 1), 1)).messages[1].content
    assert f"<<<END TASK {NONCE}>>>\n\n<<<TASK TYPE {NONCE}>>>\nhow-to\n<<<END TASK TYPE {NONCE}>>>" in user
    assert "how-to" not in producer_prompt(producer_view(brief, History(), Draft())).messages[1].content
    without = judge_prompt(judge_view(replace(brief, task_type=""), past(of, 1), 1))
    assert "TASK TYPE" not in without.messages[1].content
