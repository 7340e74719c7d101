"""The answer at the top of a run's page: outcome, result, people, checks and doubts."""

import re
from decimal import Decimal

import pytest

from refinement.models import CheckResult, HumanScore, Run
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db


def answer(client, run):
    page = client.get(f"/p/{run.project.slug}/runs/{run.pk}/").content.decode()
    bar = page[page.index('class="card answer"') :]
    return " ".join(re.sub(r"<[^>]+>", " ", bar[: bar.index("</section>")]).split())


def passed(project, **fields):
    run = finished_run(
        project, ["7", "9.2"], outcome="PASS", stop_reason="passed", why="It passed.", **fields
    )
    run.rounds.update(penalties=[], signals=[])
    return run


def score(run, user, value, number=2):
    row = run.rounds.get(number=number)
    HumanScore.objects.create(
        run=run, round=row, author=user, author_name=user.name, composite=Decimal(value), scores=[]
    )


def test_a_plain_pass_has_neither_doubts_nor_empty_cells(as_viewer, project):
    text = answer(as_viewer, passed(project))
    assert "PASS Round 2 is the result: 7.00 → to 9.20 It passed." in text
    for words in ("doubt", "People", "noise"):
        assert words not in text


def test_people_far_from_the_judge_are_a_doubt_and_near_ones_are_not(as_viewer, project, owner, editor):
    run = passed(project)
    score(run, owner, "9.0")
    assert "People 9.00 0.20 below the judge" in answer(as_viewer, run)
    assert "doubt" not in answer(as_viewer, run)
    score(run, editor, "5.0")
    text = answer(as_viewer, run)
    assert "People 7.00 below the pass mark , 2.20 below the judge" in text
    assert "1 doubt People disagree" in text


def test_scores_of_another_round_are_not_of_the_result(as_viewer, project, owner):
    run = passed(project)
    score(run, owner, "3", number=1)
    assert "People" not in answer(as_viewer, run)


@pytest.mark.parametrize(
    ("change", "title"),
    [
        ({"signals": [{"candidate_change": "0.5", "verdict_change": "0", "about": "issues"}]}, "Judge check"),
        ({"penalties": [{"criterion": "depth", "points": "1", "names": ["x.y"]}]}, "Penalty"),
        ({"seen_chars": 3}, "Judged in part"),
        ({"candidate_cut": True}, "Cut off"),
        ({"judge_attempts": 2}, "Invalid replies"),
        ({"parse_rung": "lines"}, "Repaired reply"),
        ({"contract_violation": "No JSON."}, "Output contract"),
    ],
)
def test_what_qualifies_a_result(as_viewer, project, change, title):
    run = passed(project)
    run.rounds.filter(number=2).update(**change)
    assert f"1 doubt {title}" in answer(as_viewer, run)
    run.rounds.update(**{"seen_chars": None, **change})
    Run.objects.filter(pk=run.pk).update(kinship="same_family")
    assert "2 doubts" in answer(as_viewer, run)


def test_failed_checks_are_counted_and_a_doubt(as_viewer, project):
    run = passed(project)
    row = run.rounds.get(number=2)
    CheckResult.objects.filter(round=row).delete()
    for position, good in enumerate((True, False)):
        CheckResult.objects.create(
            round=row, position=position, key=f"check-{position}", passed=good, severity="warning", weight=1
        )
    text = answer(as_viewer, run)
    assert "1 check failed 1 of 2 passed" in text
    assert "1 doubt Failed checks" in text


def test_the_result_is_named_once(as_viewer, project):
    run = finished_run(project, ["9", "8"], why="Stopped after round 2: the limit. Round 1 is the result.")
    text = answer(as_viewer, run)
    assert "Round 1 is the result: 9.00 Stopped after round 2: the limit." in text
    assert text.count("is the result") == 1


def test_a_chosen_round_is_the_result(as_viewer, project):
    run = passed(project, chosen_round=1)
    text = answer(as_viewer, run)
    assert "PASS by the judge; people chose round 1 (7.00" in text
    assert "Round 1 is the result: 7.00" in text
    response = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/")
    assert response.context["opened"] == 1
    assert response.content.decode().count("chosen by people") >= 2, "the strip and the table"
    assert "rounds/1/?form=text" in response.content.decode(), "this one is copied"


def test_a_budget_that_ended_it_first_can_be_raised(as_editor, as_viewer, project):
    run = passed(project)
    Run.objects.filter(pk=run.pk).update(stop_reason="budget_calls", outcome="FAIL", rounds_judged=0)
    assert "Raise the limit and run again. Edit and rerun" in answer(as_editor, run)
    assert "Edit and rerun" not in answer(as_viewer, run)


def test_a_revision_without_a_change_is_flagged(as_viewer, project):
    run = finished_run(project, ["5", "6", "7"], candidates=["Same text.", "Same text.", "Other one."])
    page = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/rounds/2/").content.decode()
    assert page.count("no change") == 4, "the strip twice, the table, and beside the verdict"
    assert "The text is the same as in round 1, yet the score moved by +1.00: judge noise." in page
