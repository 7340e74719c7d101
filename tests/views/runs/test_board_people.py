"""People's scores next to a board's: their column, and each judge's agreement with them."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.engine.profiles import rubric_for
from refinement.engine.types import JudgeMode, Judges, PanelJudge
from refinement.models import BoardVerdict, Run
from tests.views.runs.finished import finished_run
from tests.views.runs.test_score import HTMX, reviewers, text_of

pytestmark = pytest.mark.django_db
PANEL = (PanelJudge("<i>Reader</i>", "You read it once."), PanelJudge("Expert", "You know it."))


@pytest.fixture
def run(project) -> Run:
    rubric = replace(rubric_for("wiggum"), judges=Judges(JudgeMode.BOARD, PANEL))
    run = finished_run(project, ("7", "8", "7.5"), definition=rubric)
    keys = [criterion.key for criterion in rubric.criteria]
    for row in run.rounds.all():
        row.spread = dict.fromkeys(keys, "2")
        row.save(update_fields=["spread"])
        for judge, score in zip(run.panel.all(), ("7", "9"), strict=True):
            scores = [{"key": key, "score": score} for key in keys]
            BoardVerdict.objects.create(round=row, judge=judge, seat=judge.seat, scores=scores, stances=[])
    return run


def page_of(run: Run, number: int = 1) -> str:
    return f"/p/alpha/runs/{run.pk}/rounds/{number}/"


def test_each_judge_is_compared_with_people(as_viewer, run):
    for number in (1, 2, 3):
        reviewers(run, 2, number, "7")
    text = text_of(as_viewer.get(page_of(run)))
    assert "3 rounds were scored by the board and by people (6 scores)." in text
    assert "People − board" in text
    assert "&lt;i&gt;Reader&lt;/i&gt;" in text
    assert "<i>Reader" not in text
    lines = as_viewer.get(page_of(run)).context["people"].judges
    assert [(line.name, line.apart, line.bias, line.scores) for line in lines] == [
        ("<i>Reader</i>", "0.00", "0.00", 36),
        ("Expert", "2.00", "+2.00", 36),
        ("Board", "0.50", "+0.50", 36),
    ]


def test_too_few_rounds_say_nothing(as_viewer, run):
    reviewers(run, 3)
    text = text_of(as_viewer.get(page_of(run, 2)))
    assert "1 round was scored by the board and by people." in text
    assert "Agreement of each judge with people" not in text


def test_more_people_and_rounds_cost_no_more_queries(as_viewer, run):
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            as_viewer.get(page_of(run, 2))
        return len(captured)

    reviewers(run, 1)
    as_viewer.get(page_of(run, 2))
    few = queries()
    for number in (1, 3):
        reviewers(run, 10, number)
    assert queries() == few


def test_outsiders_find_nothing(as_outsider, run):
    assert as_outsider.get(page_of(run)).status_code == 404
    assert as_outsider.get(f"{page_of(run)}people/", headers=HTMX).status_code == 404
