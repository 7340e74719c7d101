"""The pages of a board's bench: how it is started, and what its report shows."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.models import Bench
from refinement.services.rubrics.bench import bench_scores_set
from tests.execution.trials.conftest import ollama_server, table
from tests.execution.trials.given import Table, advance, definition, trials
from tests.execution.trials.test_boards import PANEL, board, started
from tests.execution.wire.stage import verdict
from tests.loopback.replies import from_lists
from tests.views.rubrics.test_bench import address, filled
from tests.views.rubrics.test_bench_results import HTMX, page_of, shown

__all__ = ["ollama_server", "table"]
pytestmark = pytest.mark.django_db


def judged(table: Table, *scores: float, rubric=None) -> Bench:
    """A board of two whose judges give these scores in turn."""
    bench = started(table, rubric or board(), repeats=len(scores) // 2)
    said = [verdict(definition(), score) for score in scores]
    table.server.replies = from_lists({"judge": said})
    table.server._asked.clear()
    advance(bench)
    return bench


def test_a_board_is_started_from_the_form(table: Table, as_editor):
    table.rubric(definition())
    page = as_editor.get(address(table)).content.decode()
    assert "There is no deliberation here" in page
    answer = as_editor.post(address(table), filled(judges="board"))
    assert answer.status_code == 302
    assert len(Bench.objects.get().panel) == 3
    page = shown(as_editor, answer.url)
    assert "The rubric names no judges, so the gallery's is used." in page
    assert "0 of 9 trials have ended." in page


def test_an_unknown_choice_is_refused_beside_its_field(table: Table, as_editor):
    answer = as_editor.post(address(table), filled(judges="jury"))
    assert answer.status_code == 422
    assert "judges" in answer.context["form"].errors
    assert not Bench.objects.exists()


def test_the_report_shows_the_board_and_each_judge(table: Table, as_viewer):
    bench = judged(table, 6, 9, 6, 7)
    page = shown(as_viewer, page_of(table, bench))
    assert "Board of 2: Reader, Expert " in page
    assert "Can this board be relied on here?" in page
    assert "Scores of the board" in page
    # Reader, Expert, board, between judges: the composite of both repeats.
    assert "Composite 6.00 ± 0.00 8.00 ± 1.41 6.00 ± 0.00 2.00 dissent" in page.replace("&nbsp;", " ")
    assert "Each judge scores alone: there is no deliberation on the test bench." in page
    assert "the gallery's is used" not in page
    assert "Expert repeat 2" in page


def test_people_are_compared_with_each_judge(table: Table, as_viewer):
    bench = judged(table, 6, 9)
    bench_scores_set(bench=bench, scores={"depth": 6})
    page = shown(as_viewer, page_of(table, bench))
    assert "Distance from people 0.00 3.00 0.00" in page


def test_a_running_board_answers_polls(table: Table, as_viewer):
    bench = started(table, repeats=1)
    answer = as_viewer.get(page_of(table, bench), headers=HTMX)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "<html" not in page
    assert "0 of 2 trials have ended." in page
    assert 'id="trial-1-2-open"' in page


def test_what_a_judge_was_asked_is_found_by_its_seat(table: Table, as_viewer):
    bench = judged(table, 6, 9)
    path = page_of(table, bench, "rubric_bench_said", number=1)
    second = as_viewer.get(path, {"seat": 2}, headers=HTMX).content.decode()
    assert PANEL[1].lens in second
    assert PANEL[0].lens not in second
    assert as_viewer.get(path).status_code == 404
    assert as_viewer.get(path, {"seat": 3}).status_code == 404
    assert "Expert" in as_viewer.get(path, {"seat": 2}).content.decode()


def test_a_judges_name_is_data(table: Table, as_viewer):
    hostile = (replace(PANEL[0], name="<b>Reader</b>"), PANEL[1])
    page = as_viewer.get(page_of(table, judged(table, 6, 9, rubric=board(panel=hostile)))).content.decode()
    assert "<b>Reader" not in page
    assert "&lt;b&gt;Reader" in page


def test_a_board_is_compared_with_a_single_judge(table: Table, as_viewer):
    first = judged(table, 6, 9)
    table.says(8)
    second = table.bench(repeats=1, judges="single")
    advance(second)
    page = shown(as_viewer, f"{address(table, 'rubric_bench_compare')}?a={first.pk}&b={second.pk}")
    assert "a board of 2 and the judge loopback:8b" in page
    assert "mean composite is 2.00 higher" in page


def test_the_list_says_that_it_was_a_board(table: Table, as_viewer):
    judged(table, 6, 9, 7, 8)
    page = shown(as_viewer, address(table))
    assert "Board of 2 1 6.50 6.00 – 7.00 4 judged" in page, "the board's medians, not all judges"


def test_more_boards_cost_no_more_queries(table: Table, as_viewer):
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            as_viewer.get(address(table))
        return len(captured)

    judged(table, 6, 9)
    as_viewer.get(address(table))
    one = queries()
    judged(table, 6, 9)
    judged(table, 7, 9)
    assert queries() == one


def test_judge_it_again_keeps_the_board(table: Table, as_editor):
    bench = judged(table, 6, 9)
    form = as_editor.get(address(table), {"from": bench.pk}).context["form"]
    assert form["judges"].value() == "board"


def test_who_may(table: Table, as_viewer, as_outsider, as_editor):
    bench = judged(table, 6, 9)
    assert as_viewer.post(address(table), filled(judges="board")).status_code == 403
    assert as_outsider.get(page_of(table, bench)).status_code == 404
    assert as_editor.post(page_of(table, bench)).status_code == 405
    assert len(trials(bench)) == 2
