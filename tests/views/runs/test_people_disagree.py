"""Runs that people score far from the judge: a tab, a filter and a sort order of the list."""

from decimal import Decimal

import pytest

from refinement.engine.codec import rubric_from_json
from refinement.execution.signals import run_ended
from refinement.models import ReviewRequest, Run
from refinement.services.reviews.decisions import decision_make
from refinement.services.reviews.human_scores import Reading, human_score_give
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
LIST = "/p/alpha/runs/"
FAR = f"{LIST}?people=disagree"


@pytest.fixture
def run(project):
    return finished_run(project)  # the judge: 7.15, 8.6, 8.3


def give(run, user, score, number=2):
    keys = [entry.key for entry in rubric_from_json(run.snapshot).criteria]
    human_score_give(
        run=Run.objects.get(pk=run.pk),
        row=run.rounds.get(number=number),
        user=user,
        submitted=Reading(dict.fromkeys(keys, Decimal(score)), {}),
        seen_version=0,
    )


def stored(run):
    return Run.objects.values_list("people_gap", "far_people").get(pk=run.pk)


def listed(client, address):
    return [row.number for row in client.get(address).context["rows"]]


def test_only_runs_far_from_the_judge_are_in_the_tab(as_owner, project, run, viewer, editor):
    near = finished_run(project)
    give(near, editor, "8")
    assert [tab.name for tab in as_owner.get(LIST).context["tabs"]][-1] != "People disagree"
    give(run, editor, "6")
    give(run, viewer, "5")
    tab = as_owner.get(LIST).context["tabs"][-1]
    assert (tab.name, tab.count, tab.query) == ("People disagree", "1", "people=disagree")
    assert listed(as_owner, FAR) == [run.pk]
    assert stored(run) == (Decimal("-3.1"), 2)
    assert stored(near) == (Decimal("-0.6"), 0)


def test_the_order_by_people_leaves_out_runs_that_nobody_scored(as_owner, project, run, editor):
    above, _ = finished_run(project), finished_run(project)
    give(above, editor, "9")
    give(run, editor, "6")
    assert listed(as_owner, f"{LIST}?sort=people") == [above.pk, run.pk]
    assert listed(as_owner, f"{LIST}?sort=-people") == [run.pk, above.pk]


def test_a_reviewer_does_not_learn_it_before_scoring(as_viewer, as_owner, project, run, viewer, editor):
    give(run, editor, "5")
    ReviewRequest.objects.create(project=project, run=run, reviewer=viewer)
    assert listed(as_viewer, FAR) == listed(as_viewer, f"{LIST}?sort=people") == []
    assert as_viewer.get("/api/v1/projects/alpha/runs?people=disagree").json()["items"] == []
    assert listed(as_owner, FAR) == [run.pk]
    give(run, viewer, "5")
    assert listed(as_viewer, FAR) == [run.pk]


def test_the_gap_follows_the_round_that_people_choose(run, editor):
    give(run, editor, "5")
    assert stored(run) == (Decimal("-3.6"), 1)
    decision_make(run=run, user=editor, kind="result", reason="Shorter.", round_number=3, seen=0)
    assert stored(run) == (None, 0)
    give(run, editor, "8", number=3)
    assert stored(run) == (Decimal("-0.3"), 0)


def test_the_gap_follows_the_best_round_of_a_continued_run(run, editor):
    give(run, editor, "5")
    Run.objects.filter(pk=run.pk).update(best_round=3)
    run_ended.send(Run, run=Run.objects.get(pk=run.pk), outcome="FAIL")
    assert stored(run) == (None, 0)
