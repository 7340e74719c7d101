"""One round: its text, its verdict, and its effect."""

from dataclasses import replace

import pytest

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Check, FeedbackStyle, Severity
from refinement.models import Round
from tests.execution.wire.stage import verdict
from tests.views.runs.finished import finished_run
from tests.views.runs.guide import TEXTS, guide_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def address(run, number, rest=""):
    return f"/p/{run.project.slug}/runs/{run.pk}/rounds/{number}/{rest}"


def shown(client, run, number, rest=""):
    answer = client.get(address(run, number, rest))
    assert answer.status_code == 200
    return answer.content.decode()


def test_scores_reasoning_and_what_to_improve(as_viewer, stage):
    text = shown(as_viewer, guide_run(stage), 2)
    assert "Depth: the steps are in order" in text
    assert "Say which version this was tried with." in text
    assert "weighted mean of 6 criteria" in text
    assert 'aria-label="Depth: 8 of 10"' in text


def test_penalties_name_what_was_flagged(as_viewer, stage):
    text = shown(as_viewer, guide_run(stage), 2)
    assert "1 deducted from Depth for a call that looks invented." in text
    assert "client.generate_contextual_embedding_chain" in text
    assert "The judge said 9; penalties made it 8." in text
    assert "No invented API names were found." in shown(as_viewer, guide_run(stage), 1)


def test_the_direction_and_what_became_of_it(as_viewer, stage):
    run = guide_run(stage)
    text = shown(as_viewer, run, 2)
    assert "Show the rollback: name the previous image tag" in text
    assert "asked again" not in text
    assert "of the text changed from round 2 to 3." in text
    assert "Score −0.30" in text
    assert ">still open</span>" in text
    assert "Raised again in round 3." in text
    first = shown(as_viewer, run, 1)
    assert ">addressed</span>" in first
    assert "it was not raised again" in first
    assert "Score +1.45" in first
    assert "Suggested change</abbr> (not sent to the writer)" in first
    assert "What became of it" not in shown(as_viewer, run, 3)


def test_a_direction_that_comes_back_was_not_followed(as_viewer, stage):
    rubric = rubric_for("wiggum")
    rubric = replace(rubric, policy=replace(rubric.policy, feedback=FeedbackStyle.ASI))
    stage.says(
        judge=[verdict(rubric, score, asi="Explain the restore in three steps.") for score in (5, 6, 7)],
        producer=["One text.", "Another text.", "A third text."],
    )
    text = shown(as_viewer, stage.play(rubric), 1)
    assert ">still open</span>" in text
    assert "Raised again in round 3." in text
    assert "it was probably not made" in text
    assert "not this direction" not in text


def test_the_ralph_signal_is_explained(as_viewer, stage):
    text = shown(as_viewer, guide_run(stage), 3)
    assert "the judge&#x27;s issues by 0 %. The judge may not have read the revision" in text


def test_lines_have_numbers_and_anchors(as_viewer, stage):
    text = shown(as_viewer, guide_run(stage), 2, "?view=raw")
    assert 'id="r2-L1"' in text
    assert 'href="#r2-L14"' in text
    assert "| variable | default | meaning |" in text


def test_checks_lead_to_their_line(as_viewer, stage):
    rubric = replace(
        rubric_for("wiggum"),
        checks=(
            Check("no-todo", "not-contains", {"text": "TODO"}, Severity.WARNING, suggestion="Finish it."),
            Check("has-head", "contains", {"text": "# Head"}),
        ),
    )
    stage.says(judge=[verdict(rubric, 9.5)])
    run = stage.play(rubric, seed="# Head\n\nSome words.\nTODO: the rest.\n")
    text = shown(as_viewer, run, 1)
    assert ">failed</span>" in text
    assert ">1 passed</span>" in text
    assert "rounds/1/?view=raw#r1-L4" in text
    assert "Finish it." in text
    assert "raw-line-marked" in shown(as_viewer, run, 1, "?view=raw")


def test_a_round_that_a_check_holds_back_says_so(as_viewer, stage):
    rubric = rubric_for("wiggum")
    rubric = replace(rubric, policy=replace(rubric.policy, max_rounds=2))
    stage.says(judge=[verdict(rubric, 9.5), verdict(rubric, 9.3)], producer=["# A heading\n\nWords."])
    run = stage.play(rubric, seed="Words without a heading.")
    words = "Score 9.50 reached the pass mark, but the check “starts-with-heading” failed."
    assert (run.outcome, run.best_round) == ("PASS", 2)
    assert words in shown(as_viewer, run, 1)
    assert "reached the pass mark, but" not in shown(as_viewer, run, 2)

    stage.says(judge=[verdict(rubric, 9.5)] * 2, producer=["Still without one."])
    failed = stage.play(rubric, seed="Words without a heading.")
    assert (failed.outcome, failed.stop_reason) == ("FAIL", "max_rounds")
    assert words in shown(as_viewer, failed, 2)
    assert words in as_viewer.get(f"/p/{failed.project.slug}/runs/{failed.pk}/").content.decode()


def test_what_the_judge_did_not_see(as_viewer, stage):
    rubric = rubric_for("wiggum")
    rubric = replace(rubric, policy=replace(rubric.policy, judge_limit_chars=200))
    stage.says(judge=[verdict(rubric, 9.5)])
    run = stage.play(rubric, seed="# A line of words\n" * 60)
    text = shown(as_viewer, run, 1)
    seen = Round.objects.get(run=run).seen_chars
    assert f"judged {seen:,} of 1,080 characters" in text
    assert "The part between was not judged" in text
    assert "judged in part" in text


def test_who_saw_what(as_viewer, stage):
    text = shown(as_viewer, guide_run(stage), 2)
    table = text[text.index("Who saw what") :]
    assert "✓ Seen" in table
    assert "– Hidden" in table


def test_how_the_reply_was_read(as_viewer, stage):
    rubric = rubric_for("wiggum")
    stage.says(judge=["no verdict at all", "Here it is:\n```json\n" + verdict(rubric, 9.5) + "\n```"])
    text = shown(as_viewer, stage.play(rubric, seed="# A text."), 1)
    assert "Reply inside other text after 2 attempts." in text


def test_the_whole_text_is_plain_text(as_viewer, stage):
    answer = as_viewer.get(address(guide_run(stage), 1, "?form=text"))
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.content.decode() == TEXTS[0]


def test_htmx_gets_the_round_and_the_strip(as_viewer, stage):
    text = as_viewer.get(address(guide_run(stage), 1), headers=HTMX).content.decode()
    assert "<html" not in text
    assert text.count('id="round"') == 1
    assert 'id="run-rounds"' in text


def test_there_is_no_such_round(as_viewer, as_outsider, project):
    run = finished_run(project)
    for rest in ("", "?form=text"):
        assert as_viewer.get(address(run, 9, rest)).status_code == 404
        assert as_outsider.get(address(run, 1, rest)).status_code == 404
    assert as_viewer.get(address(run, 9), headers=HTMX).status_code == 404
    assert as_viewer.post(address(run, 1)).status_code == 405


def test_a_judge_of_many_words_is_folded(as_viewer, project):
    short = finished_run(project, ["7"])
    wordy = finished_run(project, ["7"], said="It names every step and says why. " * 70)
    page = as_viewer.get(f"/p/{project.slug}/runs/{short.pk}/rounds/1/").content.decode()
    assert "fold-start" not in page
    page = as_viewer.get(f"/p/{project.slug}/runs/{wordy.pk}/rounds/1/").content.decode()
    # Reasoning and improvement of six criteria, two issues and the ASI.
    assert page.count("Show all 2,380 characters") == 6 * 2 + 2 + 1
