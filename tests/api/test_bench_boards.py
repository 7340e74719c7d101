"""Boards on the test bench through the API."""

import pytest

from refinement.models import Bench
from tests.execution.trials.conftest import ollama_server, table
from tests.execution.trials.given import TEXT, Table
from tests.execution.trials.test_boards import PANEL, board
from tests.views.rubrics.test_bench_boards import judged

__all__ = ["ollama_server", "table"]
pytestmark = pytest.mark.django_db
HERE = "/projects/alpha/rubrics/guides/benches"


def test_a_board_is_started_and_read(table: Table, api_editor):
    table.rubric(board())
    body = {"candidate": TEXT, "judge": "ollama/loopback:8b", "repeats": 1}
    made = api_editor.post(HERE, body)
    assert made.status_code == 201
    assert made.json()["panel"] == [
        {"seat": 1, "name": "Reader", "lens": PANEL[0].lens, "model": "ollama/loopback:8b"},
        {"seat": 2, "name": "Expert", "lens": PANEL[1].lens, "model": "ollama/loopback:1b"},
    ]
    assert [(trial["number"], trial["seat"]) for trial in made.json()["trials"]] == [(1, 1), (1, 2)]


def test_one_judge_can_be_chosen(table: Table, api_editor):
    table.rubric(board())
    body = {"candidate": TEXT, "judge": "ollama/loopback:8b", "repeats": 1, "judges": "single"}
    assert api_editor.post(HERE, body).json()["panel"] == []
    assert api_editor.post(HERE, body | {"judges": "jury"}).status_code == 422


def test_figures_of_the_board_and_of_each_judge(table: Table, api_viewer):
    bench = judged(table, 6, 9, 6, 7)
    figures = api_viewer.get(f"{HERE}/{bench.pk}").json()["figures"]
    composite = {entry["seat"]: entry for entry in figures if entry["key"] == ""}
    assert (composite[0]["mean"], composite[0]["spread"], composite[0]["apart"]) == ("6", "0", "2")
    assert (composite[1]["mean"], composite[2]["mean"], composite[2]["spread"]) == ("6", "8", "1.414214")
    assert composite[2]["apart"] is None
    assert len(figures) == 3 * 7


def test_calls_are_found_by_seat(table: Table, api_viewer):
    bench = judged(table, 6, 9)
    calls = api_viewer.get(f"{HERE}/{bench.pk}/trials/1/calls?seat=2").json()["items"]
    assert PANEL[1].lens in calls[0]["messages"][-1]["content"]
    assert api_viewer.get(f"{HERE}/{bench.pk}/trials/1/calls").status_code == 404
    assert api_viewer.get(f"{HERE}/{bench.pk}/trials/1/calls?seat=9").status_code == 422


def test_who_may(table: Table, api_viewer, api_outsider):
    table.rubric(board())
    body = {"candidate": TEXT, "judge": "ollama/loopback:8b", "judges": "board"}
    assert api_viewer.post(HERE, body).status_code == 403
    assert api_outsider.post(HERE, body).status_code == 404
    assert not Bench.objects.exists()
