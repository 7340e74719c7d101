"""A board's round on the run's page: scores, concessions with reasons, and the clerk's merge."""

import re
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.html import escape

from refinement.engine.types import JudgeMode
from refinement.models import BlindReading, BoardVerdict, PanelJudge, Round, Run
from tests.conftest import member, signed_in
from tests.views.rubrics.given import HOSTILE
from tests.views.runs.board_guide import MERGED, STANCES, SUGGESTIONS, board_rows, board_rubric, board_run
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def address(run, rest=""):
    return f"/p/{run.project.slug}/runs/{run.pk}/{rest}"


def page(client, run, rest="", **more):
    answer = client.get(address(run, rest), **more)
    assert answer.status_code == 200
    return answer.content.decode()


def words(text: str) -> str:
    """The text of a page, without its tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


@pytest.mark.django_db(transaction=True)
def test_a_run_on_the_loopback_server_comes_out_as_it_was_said(as_viewer, stage):
    run = board_run(stage)
    assert (run.calls_made, run.rounds_judged) == (25, 3)
    text = page(as_viewer, run)
    for said in (MERGED["asi"], MERGED["direction"], *MERGED["working"], *SUGGESTIONS.values()):
        assert escape(said) in text, said
    assert "Splits limits by plan, adds going back" in text
    assert "Operator conceded Completeness 9 → 8.5" in words(text)


def test_each_criterion_has_a_lane_with_its_median_and_spread(as_viewer, project):
    text = page(as_viewer, board_rows(project))
    assert text.count('<svg class="lane"') == 6
    assert 'aria-label="Completeness: Operator 9, then 8.5; Newcomer 6, then 8; Fact checker 8;' in text
    assert "median 8; spread 0.5" in text
    assert text.count("lane-arrow") == 3  # the others moved by too little for an arrow
    assert text.count('class="lane-median"') == 6


def test_dissent_is_marked_in_words(as_viewer, project):
    text = page(as_viewer, board_rows(project))
    assert text.count('<li class="board-split">') == 2  # the criterion, and what is said about it
    assert "15 % of the score · split" in words(text)


def test_the_same_is_a_table(as_viewer, project):
    rows = words(page(as_viewer, board_rows(project)))
    assert "Criterion Operator Newcomer Fact checker Median Spread" in rows
    assert "Completeness 9 → 8.5 6 → 8 8 8 0.5" in rows
    assert "Grounded 8 → 7.5 8 5 7.5 3 split" in rows


def test_who_conceded_and_who_challenged_in_their_words(as_viewer, project):
    text = words(page(as_viewer, board_rows(project)))
    assert "3 scores moved" in text
    assert "Newcomer conceded Completeness 6 → 8" in text
    assert "Fact checker challenged Grounded , stays at 5, 2.5 below the median" in text
    for judge in STANCES.values():
        for _, _, said in judge.values():
            assert said in text
    assert "3 scores moved, 14 agreed" in text


def test_a_criterion_opens_to_what_each_judge_says(as_viewer, project):
    text = page(as_viewer, board_rows(project))
    assert text.count('class="opinion-head"') == 6 * 3 + 3  # and the suggestions
    assert "In the deliberation:" in text


def test_a_judge_that_could_not_be_read_is_named_with_the_reason(as_viewer, project):
    text = words(page(as_viewer, board_rows(project, unreadable="Newcomer")))
    assert "Newcomer could not be read and does not count. No valid reply after 3 tries." in text
    assert "Merged by the clerk from 2 suggestions" in text


def test_an_answer_in_the_deliberation_that_could_not_be_read(as_viewer, project):
    run = board_rows(project)
    BoardVerdict.objects.filter(round__run=run, seat=1).update(stances=[], stances_problem="It is not JSON.")
    text = words(page(as_viewer, run))
    assert "Operator ’s answer could not be read. Its own scores count. It is not JSON." in text


def test_a_clerk_that_could_not_be_read_leaves_a_judge_s_suggestion(as_viewer, project):
    run = board_rows(project)
    problem = "The suggestions could not be merged, so Operator's is used."
    Round.objects.filter(run=run).update(
        summary={"working": [], "not_working": [], "direction": "", "problem": problem}
    )
    text = page(as_viewer, run)
    assert escape(problem) in text
    assert "All 3 suggestions" in words(text)


def test_without_a_deliberation_there_is_no_card_about_it(as_viewer, project):
    run = board_rows(project, definition=board_rubric(deliberation=False))
    BoardVerdict.objects.filter(round__run=run).update(stances=None)
    text = page(as_viewer, run)
    assert "moves-head" not in text
    assert "○ before" not in text
    assert text.count('<svg class="lane"') == 6


def test_a_round_without_a_quorum_shows_what_is_known_and_no_median(as_viewer, project):
    run = board_rows(project, unreadable="Newcomer")
    last = run.rounds.get(number=3)
    BoardVerdict.objects.filter(round=last, seat=3).update(
        problem="Timed out.", scores=[], stances=None, asi=""
    )
    BoardVerdict.objects.filter(round=last).update(stances=None)
    last.verdicts.all().delete()
    none = {"judged_at": None, "composite": None, "scores": None, "spread": None, "summary": None}
    Round.objects.filter(pk=last.pk).update(**none)
    text = page(as_viewer, run, "rounds/3/")
    assert "Unscored." in text
    assert "Timed out." in text
    assert "lane-median" not in text
    assert text.count('<svg class="lane"') == 6
    assert "lane-after" not in text


def test_a_single_judge_s_run_has_no_trace_of_a_board(as_viewer, project):
    text = page(as_viewer, finished_run(project))
    for trace in ('class="board', "moves-head", "judge-mark", "Distilled"):
        assert trace not in text, trace
    assert "Suggested change" in text
    assert 'title="ASI, actionable side information"' in text


def test_what_models_write_is_text(as_viewer, project):
    run = board_rows(project, spoil=HOSTILE)
    PanelJudge.objects.filter(run=run).update(name="<b>Judge</b>", lens=HOSTILE[:500])
    BoardVerdict.objects.filter(round__run=run, seat=2).update(problem=HOSTILE, scores=[], stances=None)
    BoardVerdict.objects.filter(round__run=run, seat=1).update(stances_problem=HOSTILE)
    Run.objects.filter(pk=run.pk).update(escalated_after=1)
    for rest in ("", "rounds/2/", "calls/", "live/"):
        text = page(as_viewer, run, rest, headers=HTMX if "part" in rest else {})
        assert "<script>alert" not in text, rest
        assert "<img" not in text, rest
        assert "<b>Judge" not in text, rest
        assert " style=" not in text, rest


def test_long_texts_are_folded(as_viewer, project):
    run = board_rows(project, spoil=" and more" * 400)
    text = page(as_viewer, run)
    assert len(text) < 1_000_000
    assert text.count('<details class="fold"') > 20


# --- the run as a whole ---------------------------------------------------------------------------
def test_the_head_names_the_board_and_its_clerk(as_viewer, project):
    text = words(page(as_viewer, board_rows(project)))
    assert "Board Operator , Newcomer , Fact checker" in text
    assert "Clerk gemma3:27b" in text


def test_the_trajectory_marks_dissent_and_names_changes(as_viewer, project):
    text = page(as_viewer, board_rows(project))
    assert text.count("chart-mark-split") == 6  # three rounds, for a wide page and for a phone
    assert "Judges split on Grounded" in text
    table = words(text)
    assert "Change Key change Depth" in table
    assert "Adds fixes and upgrade steps" in table
    assert "judges split on Grounded" in table


def test_a_board_that_took_over_is_marked_in_the_chart_and_the_table(as_viewer, project):
    single = replace(board_rubric(), judges=replace(board_rubric().judges, mode=JudgeMode.SINGLE))
    run = board_rows(project, definition=single, escalated_after=2)
    text = page(as_viewer, run)
    assert text.count("chart-mark-board") == 2
    assert "a board took over" in words(text)
    assert "judge gemma3:27b , then board of 3 judges" in words(text)


def test_without_a_clerk_the_feedback_names_the_change(as_viewer, project):
    run = finished_run(project, ["5", "6", "7"])
    run.rounds.filter(number=2).update(
        feedback={"from_round": 1, "asi": "Name the port. " * 20, "issues": []}
    )
    run.rounds.filter(number=3).update(feedback={"from_round": 2, "asi": "", "issues": ["The rollback."]})
    text = page(as_viewer, run)
    cells = re.findall(r'<td class="key-change"><bdi>([^<]*)</bdi>', text)
    assert cells[0] == "first draft"
    assert cells[1].startswith("Name the port. Name the port.")
    assert len(cells[1]) < 60
    assert cells[2] == "The rollback."


# --- who may see it, and what it costs ------------------------------------------------------------
def test_who_scores_blind_sees_nothing_of_a_board(project):
    run = board_rows(project, spoil=" Zboard")
    reader = member(project, "editor", "zoe@example.org", "Zoe Reader")
    BlindReading.objects.create(run=run, reader=reader, round_number=2)
    client = signed_in(reader)
    for rest in ("", "live/", "rounds/2/", "rounds/2/?part=page", "calls/", "trajectory.svg"):
        for headers in ({}, HTMX):
            answer = client.get(address(run, rest), headers=headers)
            assert answer.status_code in (302, 403) or "HX-Redirect" in answer.headers, rest
            assert b"Zboard" not in answer.content, rest


@pytest.mark.parametrize("rest", ["", "rounds/1/", "calls/?round=2"])
def test_a_board_adds_a_fixed_number_of_queries(as_viewer, project, rest):
    single, board = finished_run(project), board_rows(project)
    big = board_rows(project)
    for number in range(4, 12):
        row = Round.objects.get(run=big, number=3)
        answers = list(row.board.all())
        row.pk, row.number = None, number
        row.save()
        for answer in answers:
            answer.pk, answer.round = None, row
            answer.save()
    counts = []
    for run in (single, board, big) * 2:
        with CaptureQueriesContext(connection) as queries:
            assert as_viewer.get(address(run, rest)).status_code == 200
        counts.append(len(queries))
    # The board's answers, which of them are missing, its panel, the checks that rank rounds, and sources
    # that a judge may quote.
    assert counts[4] == counts[5] <= counts[3] + 5
