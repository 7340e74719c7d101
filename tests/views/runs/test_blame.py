"""Who wrote each passage, in the pane of a run's page."""

import re
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.engine.profiles import rubric_for
from refinement.models import Round
from tests.execution.wire.stage import verdict
from tests.views.runs.finished import finished_run
from tests.views.runs.guide import guide_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true", "HX-Target": "round-text"}
HOSTILE = "<script>alert(1)</script> the restore of the database"


def address(run, number, rest="?view=blame"):
    return f"/p/{run.project.slug}/runs/{run.pk}/rounds/{number}/{rest}"


def shown(client, run, number, **more):
    answer = client.get(address(run, number), **more)
    assert answer.status_code == 200
    return answer.content.decode()


def rows(text):
    """Each passage's round, and its words."""
    found = re.findall(
        r'blame-by small">\s*<p><a href="[^"]*">([^<]*)</a>.*?blame-text" dir="auto">(.*?)</div>', text, re.S
    )
    return [(name, words) for name, words in found]


def test_each_passage_has_its_round_and_what_asked_for_it(as_viewer, stage):
    text = shown(as_viewer, guide_run(stage), 3)
    found = {words.split("\n")[0]: name for name, words in rows(text)}
    assert found["# Deploying the ingest service"] == "Round 1"
    assert found["## Upgrade and roll back"] == "Round 3"
    assert "issue 1 of round 1" in text
    assert 'view=blame" hx-get' in text


def test_htmx_gets_the_pane_alone(as_viewer, stage):
    text = shown(as_viewer, guide_run(stage), 2, headers=HTMX)
    assert 'class="blame"' in text
    assert "<html" not in text


def test_people_are_named(as_viewer, stage, editor):
    rubric = rubric_for("wiggum")
    rubric = replace(rubric, policy=replace(rubric.policy, max_rounds=2))
    stage.says(
        judge=[verdict(rubric, 5), verdict(rubric, 6)],
        producer=["# One\n\nCall the warehouse before deploying."],
    )
    run = stage.play(rubric, seed="# One")
    said = {"author": editor.display_name, "text": "Warehouse staff want a call before deploying."}
    row = Round.objects.get(run=run, number=2)
    row.feedback = {**row.feedback, "instructions": [said], "issues": []}
    row.save(update_fields=["feedback"])
    assert f"instruction by {editor.display_name}" in shown(as_viewer, run, 2)
    Round.objects.filter(run=run, number=2).update(
        origin="hand", author=editor, author_name=editor.display_name, feedback=None
    )
    text = shown(as_viewer, run, 2)
    assert f"<b><bdi>{editor.display_name}</bdi></b>" in text
    assert "no matching feedback" not in text


def test_hostile_texts_are_escaped(as_viewer, project):
    run = finished_run(project, ["5", "6"], candidates=[HOSTILE, f"{HOSTILE}\n\n{HOSTILE} again"])
    assert "<script>alert" not in shown(as_viewer, run, 2)


def test_huge_texts_say_that_they_are_not_followed_back(as_viewer, project):
    run = finished_run(project, ["5", "6"], candidates=["a " * 300_000, "b " * 300_000])
    text = shown(as_viewer, run, 2)
    assert "These texts are too long to follow back." in text
    assert "300,000 more characters are not on this page." in text


def test_the_first_round_has_no_such_tab(as_viewer, project):
    run = finished_run(project, ["5", "6"])
    assert ">Blame</a>" not in shown(as_viewer, run, 1)
    assert ">Blame</a>" in shown(as_viewer, run, 2)


def test_the_number_of_queries_does_not_grow_with_the_rounds(as_viewer, project):
    few, many = finished_run(project, ["5", "6"]), finished_run(project, [str(n % 10) for n in range(40)])
    counts = []
    for run, number in ((few, 2), (many, 40), (few, 2), (many, 40)):
        with CaptureQueriesContext(connection) as queries:
            shown(as_viewer, run, number)
        counts.append(len(queries))
    assert counts[2] == counts[3] <= 33
