"""A run's page: the header, the trajectory and the open round."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.models import Run, Verdict
from refinement.services.runs.creating import tags_set
from tests.views.runs.finished import finished_run
from tests.views.runs.guide import TASK, guide_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def address(run, rest=""):
    return f"/p/{run.project.slug}/runs/{run.pk}/{rest}"


def page(client, run, rest=""):
    answer = client.get(address(run, rest))
    assert answer.status_code == 200
    return answer.content.decode()


def test_it_says_why_it_stopped_and_what_it_cost(as_viewer, stage):
    run = guide_run(stage)
    text = page(as_viewer, run)
    for words in (
        "Stopped after round 3: reached the 3-round limit, 0.40 below the pass mark of 9.0.",
        "round limit reached",
        TASK,
        "qwen3:14b",
        "gemma3:27b",
        "Wiggum six dimensions",
        "@ v1",
        f"{run.tokens:,}",
        "7.15",
        "8.60",
        "Round 2 is the result:",
    ):
        assert words in text, words


def test_the_best_round_is_open_and_the_others_are_a_link_away(as_viewer, stage):
    text = page(as_viewer, guide_run(stage))
    assert 'aria-labelledby="round-head"' in text
    assert "without it the service starts" in text  # round 2
    assert "Messages that came in" not in text  # round 3 is not loaded
    for number in (1, 2, 3):
        assert f"rounds/{number}/" in text


def test_the_trajectory_has_lines_marks_and_a_table(as_viewer, stage):
    text = page(as_viewer, guide_run(stage))
    assert text.count("chart-line ") == 14  # seven lines for a wide page and for a phone
    for words in ("chart-threshold", "★ 8.60", "chart-mark-signal", "chart-mark-penalty", "series-toggle-6"):
        assert words in text, words
    assert '<td class="number">8.60</td>' in text


def test_a_viewer_sees_no_actions_and_an_editor_does(as_viewer, as_editor, stage):
    run = guide_run(stage)
    assert "More rounds" not in page(as_viewer, run)
    assert "More rounds" in page(as_editor, run)
    assert "Run again, unchanged" in page(as_editor, run)


def test_htmx_gets_the_inside(as_viewer, stage):
    run = guide_run(stage)
    inside = as_viewer.get(address(run), headers=HTMX).content.decode()
    assert "<html" not in inside
    assert 'id="run-page"' in inside
    whole = as_viewer.get(address(run), headers={**HTMX, "HX-Boosted": "true"}).content.decode()
    assert "<html" in whole


def test_budgets_tags_and_the_whole_task(as_viewer, project):
    run = finished_run(project, task="word " * 20_000)
    run.snapshot["policy"]["budget"]["tokens"] = 50_000
    run.save(update_fields=["snapshot"])
    tags_set(run=run, names=["<b>bold</b>"])
    text = page(as_viewer, run)
    assert "18,420 of 50,000 tokens" in text
    assert "&lt;b&gt;bold&lt;/b&gt;" in text
    assert text.count("word word") < 10_000
    whole = as_viewer.get(address(run, "?form=task"))
    assert whole.headers["Content-Type"].startswith("text/plain")
    assert whole.content.decode() == run.task


def test_another_project_s_run_is_not_there(as_viewer, as_outsider, anonymous, other_project, project):
    run = finished_run(project)
    assert as_outsider.get(address(run)).status_code == 404
    assert as_viewer.get(f"/p/{project.slug}/runs/{run.pk + 999}/").status_code == 404
    assert anonymous.get(address(run)).status_code == 302
    elsewhere = finished_run(other_project)
    assert as_viewer.get(f"/p/{project.slug}/runs/{elsewhere.pk}/").status_code == 404


def test_posting_is_refused(as_owner, project):
    assert as_owner.post(address(finished_run(project))).status_code == 405


@pytest.mark.parametrize("rest", ["", "rounds/1/", "rounds/2/?view=changes", "calls/", "trajectory.svg"])
def test_the_number_of_queries_does_not_grow_with_the_rounds(as_viewer, project, rest):
    few, many = finished_run(project, ["5", "6"]), finished_run(project, [str(n % 10) for n in range(40)])
    counts = []
    for run in (few, many, few, many):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert as_viewer.get(address(run, rest)).status_code == 200
        counts.append(len(queries))
    assert counts[2] == counts[3] <= 31


def test_lists_never_load_a_candidate(as_viewer, project):
    run = finished_run(project, ["5", "6", "7"], candidates=["first text", "second text", "third text"])
    with CaptureQueriesContext(connection) as queries:
        as_viewer.get(address(run))
    whole = [query["sql"] for query in queries if '"refinement_round"."candidate" FROM' in query["sql"]]
    assert len(whole) == 1


def test_a_run_without_rounds_says_so(as_viewer, project):
    run = finished_run(project)
    run.rounds.all().delete()
    Run.objects.filter(pk=run.pk).update(
        rounds_judged=0, best_round=None, r1=None, best=None, outcome="ERROR"
    )
    text = page(as_viewer, run)
    assert "No round was judged" in text
    assert "There is no round" in text


def test_a_reason_that_the_outcome_says_already_is_not_said_again(as_viewer, project):
    run = finished_run(project, ["9.5"], outcome="PASS", stop_reason="passed")
    assert "<dt>Stopped</dt>" not in as_viewer.get(address(run)).content.decode()
    Run.objects.filter(pk=run.pk).update(outcome="FAIL", stop_reason="max_rounds")
    assert "<dd>round limit reached</dd>" in as_viewer.get(address(run)).content.decode()


def test_where_there_is_no_round_there_is_nothing_to_decide(as_editor, project):
    run = finished_run(project, ["7"])
    assert 'id="decide"' in as_editor.get(address(run)).content.decode()
    run.rounds.all().delete()
    assert 'id="decide"' not in as_editor.get(address(run)).content.decode()


def test_what_was_never_judged_does_not_wait_to_be(as_viewer, project):
    run = finished_run(project, ["7", "8"])
    unjudged = {"judged_at": None, "composite": None, "scores": None}
    run.rounds.filter(number=2).update(**unjudged, feedback={"from_round": 1})
    Verdict.objects.filter(round__run=run, round__number=2).delete()
    page = as_viewer.get(address(run, "rounds/1/")).content.decode()
    assert "Round 2: not judged" in page
    assert "not judged yet" not in page


@pytest.mark.django_db(transaction=True)
def test_reading_it_again_begins_no_transaction(as_viewer, stage):
    run = guide_run(stage)
    page(as_viewer, run)  # records that the viewer has seen the scores
    with CaptureQueriesContext(connection) as queries:
        page(as_viewer, run)
    assert not [query["sql"] for query in queries if query["sql"].startswith("BEGIN")]
