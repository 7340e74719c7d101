"""What a run has learned so far, on its page."""

import re
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.engine.profiles import rubric_for
from refinement.models import Round
from tests.views.runs.board_guide import MERGED, board_rows
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def card(client, run) -> str:
    page = client.get(f"/p/{run.project.slug}/runs/{run.pk}/", headers=HTMX).content.decode()
    found = re.search(r'<section id="run-so-far".*?</section>', page, re.DOTALL)
    assert found
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split())


def named(run, **changes: str) -> None:
    for number, change in changes.items():
        Round.objects.filter(run=run, number=int(number[1:])).update(key_change=change)


def test_changes_that_lasted_and_changes_that_failed(as_viewer, project):
    run = finished_run(project, ["5", "7", "6", "7.5", "7.5"])
    named(run, r2="Adds the port", r3="Cuts the table", r4="Adds the rollback", r5="Shortens the intro")
    run.rounds.filter(number=4).update(base_round=2)
    text = card(as_viewer, run)
    assert "Kept since Adds the port round 2 Adds the rollback round 4" in text
    assert "Did not work Cuts the table round 3" in text
    assert "2 changes kept, 1 did not work" in text


def test_where_the_board_points(as_viewer, project):
    text = card(as_viewer, board_rows(project))
    assert f"Direction {MERGED['direction']} The board after round 3" in text


def test_options_of_the_search_space(as_viewer, project):
    space = "- Name the port in the first line\n- Show the rollback command\n- Add a diagram of the queue"
    run = finished_run(project, ["5", "6"], definition=replace(rubric_for("wiggum"), search_space=space))
    named(run, r2="Names the port in the first line")
    text = card(as_viewer, run)
    assert "1 of 3 tried" in text
    assert "✓ Name the port in the first line , tried" in text
    assert "○ Add a diagram of the queue , not tried" in text


def test_it_is_absent_while_there_is_nothing_to_say(as_viewer, project):
    run = finished_run(project)
    page = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/").content.decode()
    assert re.search(r'id="run-so-far"[^>]* hidden>', page)
    assert "What worked so far" not in page


def test_it_costs_a_fixed_number_of_queries(as_viewer, project):
    rubric = replace(rubric_for("wiggum"), search_space="one; two")
    counts = []
    for rounds in (2, 30):
        run = finished_run(project, [str(5 + n / 10) for n in range(rounds)], definition=rubric)
        run.rounds.update(key_change="Changes it")
        for _ in range(2):
            with CaptureQueriesContext(connection) as queries:
                as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/", headers=HTMX)
        counts.append(len(queries))
    assert counts[0] == counts[1]
