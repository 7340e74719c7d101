"""The answer at the top of a run's page: outcome, result, people, checks and doubts."""

import re
from decimal import Decimal

import pytest

from refinement.engine.profiles import rubric_for
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
    assert "Below the pass mark People chose this round; the judge passed round 2." in text
    response = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/")
    assert response.context["opened"] == 1
    assert response.content.decode().count("chosen by people") >= 2, "the strip and the table"
    assert "rounds/1/?form=text" in response.content.decode(), "this one is copied"
    assert "answer-ok" not in response.content.decode(), "what people chose did not pass"


def test_a_primary_criterion_explains_a_best_round_with_a_lower_score(as_viewer, project):
    simmer = rubric_for("simmer")
    run = finished_run(project, ["7.3", "7.7"], definition=simmer, outcome="DONE")
    Run.objects.filter(pk=run.pk).update(best_round=1, best="7.3")
    assert f"ranks first by {simmer.primary.name}, the primary criterion; round 2 has 7.7" in answer(
        as_viewer, run
    )
    higher = finished_run(project, ["7.3", "7.7"], definition=simmer, outcome="DONE")
    assert "ranks first by" not in answer(as_viewer, higher)


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


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("judge_failed", "Stopped in round 2: the judge failed. Best so far: round 1, 7.00."),
        ("producer_failed", "Stopped in round 3: the writer failed. Best so far: round 1, 7.00."),
        ("internal_error", "Stopped in round 2: an error occurred. Best so far: round 1, 7.00."),
    ],
)
def test_a_run_that_failed_says_so_before_its_best_round(as_viewer, project, reason, words):
    run = finished_run(project, ["7", "6"], outcome="ERROR", stop_reason=reason, why="It went wrong.")
    text = answer(as_viewer, run)
    assert words in text
    assert "is the result" not in text


def test_a_retry_that_fails_again_is_not_the_first_choice(as_editor, project):
    why = "The judge's prompt takes about 8,414 of its model's 8,192 context tokens, which is too much."
    run = finished_run(project, ["7"], outcome="ERROR", stop_reason="judge_failed", why=why)
    page = as_editor.get(f"/p/{project.slug}/runs/{run.pk}/").content.decode()
    assert "A retry fails the same way" in page
    assert "Edit and rerun</a>" in page
    assert 'class="button button-primary" type="submit">Retry' not in page


def test_scores_of_the_demo_model_are_not_a_result(as_viewer, project):
    run = passed(project, judge_endpoint="embedded", judge_model="smollm2-135m")
    text = answer(as_viewer, run)
    assert "Round 2 ranks first. Demo scores mean nothing." in text
    assert "9.20" not in text.partition("It passed.")[0]
    page = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/").content.decode()
    assert "run-page run-demo" in page
    trust = page.partition("Can this verdict be trusted?")[2]
    assert trust.index(">No<") < trust.index("The demo model judged.") < 500


def test_one_star_marks_the_result(as_viewer, project):
    run = finished_run(project, ["7", "9", "8"], chosen_round=1, decision="result")
    page = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/").content.decode()
    strip = page[page.index('id="run-rounds"') :]
    cards = [re.sub(r"<[^>]+>|\s+", " ", card) for card in strip[: strip.index("</nav>")].split("</li>")[:3]]
    assert ["★" in card for card in cards] == [True, False, False]
    assert "chosen by people" in cards[0]
    assert "judge’s best" in cards[1]
    assert "★ 7.00" in page


def test_an_approved_best_round_is_not_called_chosen(as_viewer, project):
    run = finished_run(project, ["7", "9"], chosen_round=2, decision="approved")
    page = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/").content.decode()
    assert "chosen by people" not in page
