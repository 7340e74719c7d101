"""The live block of a run's page, and access to its stream. Other tests cover the stream itself."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.models import Event, LiveText, Round, Run
from refinement.selectors.runs.live.page import live_states
from refinement.services.rubrics.editing import default_rubrics_install
from refinement.services.runs.lifecycle import run_cancel
from tests.models.given import a_run
from tests.views.rubrics.given import HOSTILE
from tests.views.runs import board_guide
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(project) -> Run:
    default_rubrics_install(project=project)
    from refinement.selectors.rubrics.definitions import version_named

    return a_run(project, version_named(project, "wiggum"), status="queued", task=HOSTILE)


def address(run: Run) -> str:
    return f"/p/alpha/runs/{run.pk}/live/"


def test_a_page_of_its_own_loads_itself_again(as_viewer, run):
    page = as_viewer.get(address(run)).content.decode()
    assert "Queued." in page
    assert '<meta http-equiv="refresh" content="4">' in page


def test_it_stops_with_the_run(as_viewer, run):
    run_cancel(run=run)
    page = as_viewer.get(address(run)).content.decode()
    assert "http-equiv" not in page
    assert "<b>STOPPED</b>" in page
    assert "Stopped by command line" in page


def test_a_partial_answers_htmx(as_viewer, run):
    page = as_viewer.get(address(run), headers={"HX-Request": "true"}).content.decode()
    assert page.strip().startswith('<div id="run-live" hidden')
    assert f'data-after="{run.events.latest("id").pk}"' in page


def test_what_happens_while_a_page_is_built_reaches_it_by_the_stream(as_viewer, run, monkeypatch):
    """The page names the state it was built from: a run that ended meanwhile is news to it."""
    Run.objects.filter(pk=run.pk).update(status="running", lease_owner="a worker")
    before = run.events.latest("id").pk

    def ends_meanwhile(numbers):
        run_cancel(run=run)
        return live_states(numbers)

    monkeypatch.setattr("refinement.selectors.runs.live.progress.live_states", ends_meanwhile)
    page = as_viewer.get(f"/p/alpha/runs/{run.pk}/").content.decode()
    assert f'data-status="running" data-after="{before}"' in page


def test_a_run_at_work_offers_nothing_that_wants_a_result(as_editor, project):
    run = finished_run(project, ["7.15", "8.6"])
    for status, offered in (("passed", True), ("running", False)):
        if not offered:
            Run.objects.filter(pk=run.pk).update(status=status, outcome="", stop_reason="", finished_at=None)
        page = as_editor.get(f"/p/alpha/runs/{run.pk}/").content.decode()
        for words in ("Copy result", "Decide…", "?choose=1", 'id="run-export"'):
            assert (words in page) is offered, words
        assert ("Stop run" in page) is not offered


def test_an_open_page_is_merged_whole_with_the_round_that_its_reader_opened(as_viewer, project):
    """It looks as after a reload, and messages that were shown stay."""
    run = finished_run(project, ["7.15", "8.6", "8.3"])
    for path, opened in ((f"/p/alpha/runs/{run.pk}/", 2), (f"/p/alpha/runs/{run.pk}/rounds/3/", 3)):
        page = as_viewer.get(f"{path}?part=page", headers={"HX-Request": "true"}).content.decode()
        assert page.strip().startswith('<div id="run-page"')
        assert re.search(rf'href="/p/alpha/runs/{run.pk}/rounds/{opened}/"[^>]* aria-current="true"', page)
        assert 'id="messages"' not in page


def test_what_a_model_writes_is_text(as_viewer, run):
    Run.objects.filter(pk=run.pk).update(status="running", lease_owner="a worker", attempt=2)
    LiveText.objects.create(run=run, attempt=1, position=0, text="lost")
    LiveText.objects.create(run=run, attempt=2, position=0, text=HOSTILE)
    page = as_viewer.get(address(run)).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "lost" not in page


def test_a_page_that_asks_for_the_state_costs_little(as_viewer, run, django_assert_num_queries):
    as_viewer.get(address(run))
    with django_assert_num_queries(4):
        as_viewer.get(address(run), headers={"HX-Request": "true"})


def test_a_server_that_cannot_stream_says_so_without_a_word(as_viewer, run):
    answer = as_viewer.get(f"/p/alpha/runs/{run.pk}/events/")
    assert (answer.status_code, answer.content) == (204, b"")
    assert "data-events" not in as_viewer.get(address(run)).content.decode()


@pytest.mark.parametrize("name", ["live", "events"])
def test_only_members_watch(as_outsider, anonymous, run, name):
    path = f"/p/alpha/runs/{run.pk}/{name}/"
    assert as_outsider.get(path).status_code == 404
    assert anonymous.get(path).status_code == 302
    assert as_outsider.post(path).status_code == 405


def test_a_run_of_another_project_is_not_there(as_outsider, other_project, run):
    assert as_outsider.get(f"/p/beta/runs/{run.pk}/live/").status_code == 404


def under_way(run: Run, step: str, text: str) -> None:
    if step == "judge":
        Round.objects.create(run=run, number=1, origin="draft", candidate_chars=6, candidate="A text")
    Run.objects.filter(pk=run.pk).update(status="running", lease_owner="a worker", attempt=1)
    Event.objects.create(run=run, kind="claimed", actor="worker", data={"step": step, "round": 1})
    LiveText.objects.create(run=run, attempt=1, position=0, text=text)


VERDICT = '{"criteria": {"depth": {"reasoning": "It <b>names</b> the steps.", "score": 7'


def test_a_judge_s_reply_is_shown_as_what_it_says(as_viewer, run):
    under_way(run, "judge", VERDICT)
    page = as_viewer.get(address(run)).content.decode()
    assert '<bdi>Depth</bdi> <b class="num">7</b>' in page
    assert '<span class="text-block" dir="auto">It &lt;b&gt;names&lt;/b&gt; the steps.</span>' in page
    assert "{&quot;criteria&quot;" in page  # a click away
    assert not re.search(r'id="live-reading"[^>]* hidden>', page)


@pytest.mark.parametrize(("step", "text"), [("revise", VERDICT), ("judge", "Depth: 7/10. It is deep.")])
def test_what_a_producer_writes_and_what_is_not_json_stays_text(as_viewer, run, step, text):
    under_way(run, step, text)
    page = as_viewer.get(address(run)).content.decode()
    assert "live-entry" not in page
    assert not re.search(r'id="live-reading"[^>]*"verdict"[^>]*>', page)
    assert not re.search(r"data-live-text[^>]* hidden>", page)


# --- a board --------------------------------------------------------------------------------------
def test_the_judges_of_a_board_are_listed_with_the_scores_so_far(as_viewer, project):
    found = board_guide.under_way(project)
    page = as_viewer.get(address(found)).content.decode()
    assert "2 of 3 have answered. Waiting for Fact checker." in page
    assert page.count('class="live-judge live-judge-answered"') == 2
    assert page.count('class="live-judge live-judge-waiting"') == 1
    assert page.count('title="not final"') == 2 + 6  # of each judge, and of each criterion
    assert page.count('<svg class="lane"') == 6
    assert "lane-after" not in page  # not final
    assert "lane-median" not in page
    assert "Say what happens to uploads that are under way" in page


def test_a_judge_that_could_not_be_read_is_marked(as_viewer, project):
    found = board_guide.under_way(project)
    found.rounds.get(number=3).board.filter(seat=2).update(problem=HOSTILE, scores=[])
    page = as_viewer.get(address(found)).content.decode()
    assert page.count(">no valid scores</span>") == 1
    assert "<script>alert" not in page


def test_the_page_of_a_board_at_work_costs_a_fixed_number_of_queries(as_viewer, project):
    counts = []
    for answered in (0, 2):
        found = board_guide.under_way(project, answered=answered)
        as_viewer.get(address(found))
        with CaptureQueriesContext(connection) as queries:
            as_viewer.get(address(found))
        counts.append(len(queries))
    assert counts[0] == counts[1]
