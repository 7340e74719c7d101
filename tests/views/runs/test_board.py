"""A board's round on the run's page."""

import pytest

from tests.views.runs.board_guide import board_rows, board_run


def page(client, run, rest=""):
    answer = client.get(f"/p/{run.project.slug}/runs/{run.pk}/{rest}")
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.django_db(transaction=True)
def test_smoke(as_viewer, stage):
    run = board_run(stage)
    print(run.status, run.outcome, run.why, run.calls_made, run.trajectory)
    for row in run.rounds.all():
        print(row.number, row.scores, row.spread, row.key_change, row.summary)
    text = page(as_viewer, run)
    open("/tmp/e/page.html", "w").write(text)
    assert "Deliberation" in text


@pytest.mark.django_db
def test_rows(as_viewer, project):
    run = board_rows(project)
    for row in run.rounds.all():
        print(row.number, row.scores, row.spread, row.key_change, row.summary)
    text = page(as_viewer, run)
    assert "Deliberation" in text
