"""What a project requires of a judge before its PASS counts."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.engine.profiles import rubric_for
from refinement.models import JudgeRecord, Project, Run
from refinement.selectors.trust.gate import Rule, judge_standing, run_standing, standings
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
KNOWN = {"labels": 120, "kappa": 0.6, "worse_than_people": False}


def gated(project, **rule):
    Project.objects.filter(pk=project.pk).update(**rule)
    project.refresh_from_db()
    return project


def passed(project, known=None, **fields):
    run = finished_run(project, ["7", "9.5"], outcome="PASS", stop_reason="passed", **fields)
    if known is not None:
        JudgeRecord.objects.filter(pk=run.judge_record_id).update(**known)
    return Run.objects.get(pk=run.pk)


@pytest.mark.parametrize(
    ("rule", "known", "reason"),
    [
        (Rule(labels=120), KNOWN, ""),
        (Rule(labels=121), KNOWN, "120 of 121 texts labelled"),
        (Rule(kappa=Decimal("0.6")), KNOWN, ""),
        (Rule(kappa=Decimal("0.61")), KNOWN, "κ is 0.60, 0.61 is required"),
        (
            Rule(kappa=Decimal("0.6")),
            {"labels": 29, "kappa": 0.9},
            "κ of 29 labelled texts is not enough evidence, 30 are required",
        ),
        (Rule(kappa=Decimal("0.6")), {}, "its agreement with people (κ) is not known"),
        (Rule(like_people=True), KNOWN, ""),
        (
            Rule(like_people=True),
            {"worse_than_people": True},
            "it agrees with people less than they agree with each other",
        ),
        (
            Rule(like_people=True),
            {},
            "it is not shown to agree with people as well as they agree with each other",
        ),
        (Rule(1, Decimal("0.7")), KNOWN, "κ is 0.60, 0.70 is required"),
        (Rule(121, Decimal("0.7")), KNOWN, "120 of 121 texts labelled; κ is 0.60, 0.70 is required"),
    ],
)
def test_everything_that_is_required_has_to_hold(rule, known, reason):
    standing = rule.standing(JudgeRecord(**known))
    assert (standing.proven, standing.reason) == (not reason, reason)
    assert standing.sentence == (f"Unproven judge: {reason}." if reason else "")


def test_a_project_without_a_rule_has_no_standings(project):
    run = passed(project)
    assert run_standing(run) is None
    assert standings([run.pk]) == {}
    assert judge_standing(project, run.judge_record) is None


def test_a_runs_judge_is_its_record(project):
    gated(project, gate_labels=100)
    proven, unproven = passed(project, KNOWN), passed(project)
    assert run_standing(proven).proven
    assert run_standing(unproven).reason == "0 of 100 texts labelled"
    assert judge_standing(project, proven.judge_record).proven
    found = standings([proven.pk, unproven.pk])
    assert [found[run.pk].proven for run in (proven, unproven)] == [True, False]


def test_without_criteria_no_judge_is_needed(project):
    gated(project, gate_labels=100)
    run = passed(project, definition=rubric_for("ralph"))
    assert run.judge_record is None
    assert run_standing(run).proven


def test_nothing_is_known_about_an_imported_runs_judge(project):
    gated(project, gate_like_people=True)
    run = passed(project, KNOWN)
    Run.objects.filter(pk=run.pk).update(judge_record=None)
    run.refresh_from_db()
    assert run_standing(run).reason.startswith("nothing is known about this judge")


def test_a_board_that_took_over_is_another_judge(project):
    gated(project, gate_labels=100)
    run = passed(project, KNOWN)
    Run.objects.filter(pk=run.pk).update(escalated_after=1)
    run.refresh_from_db()
    assert run_standing(run).reason == "a board took over from the judge during the run"


def test_many_runs_cost_no_more_queries(project):
    gated(project, gate_labels=100)
    runs = [passed(project) for _ in range(3)]
    Run.objects.filter(pk__in=[run.pk for run in runs[1:]]).update(judge_record=None)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        standings([run.pk for run in runs])
    assert len(asked) == 2
