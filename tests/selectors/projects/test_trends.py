"""Trends: only with enough runs, and only what is more than chance."""

from datetime import timedelta

import pytest
from django.utils import timezone

from refinement.models import JudgeRecord, Run
from refinement.selectors.projects.trends import FEWEST, trends_of
from tests.services.experiments.given import an_experiment
from tests.views.runs.listed import runs_of

pytestmark = pytest.mark.django_db


def past(project, count, *, days, **values):
    made = runs_of(project, count, **values)
    Run.objects.filter(pk__in=[run.pk for run in made]).update(
        created_at=timezone.now() - timedelta(days=days)
    )


def by_name(project):
    return {trend.name.split(" of ")[0]: trend for trend in trends_of(project)}


PASSED = {"outcome": "PASS", "stop_reason": "passed"}


def test_few_runs_say_nothing(project):
    past(project, FEWEST - 1, days=2)
    past(project, 40, days=70)
    assert trends_of(project) == []


def test_runs_of_the_demo_model_do_not_count(project):
    past(project, FEWEST, days=2, judge_endpoint="embedded", judge_model="smollm2-135m")
    assert trends_of(project) == []


def test_without_runs_before_there_is_no_change(project):
    past(project, FEWEST, days=2, **PASSED)
    trend = by_name(project)["Pass rate"]
    assert (trend.value, trend.change, trend.note) == ("100 %", "", f"{FEWEST} runs in 4 weeks")


def test_a_clear_change_is_said_with_its_direction(project):
    past(project, 30, days=40, prompt_tokens=4_000)
    past(project, 10, days=40, prompt_tokens=4_000, **PASSED)
    past(project, 36, days=3, prompt_tokens=2_000, **PASSED)
    past(project, 4, days=3, prompt_tokens=2_000)
    found = by_name(project)
    assert (found["Pass rate"].value, found["Pass rate"].change) == ("90 %", "▲ 65 points")
    assert found["Pass rate"].direction == "good"
    assert found["Tokens per run"].change.startswith("▼")
    assert found["Tokens per run"].direction == "good"
    assert found["Pass rate"].note.endswith("a clear change")


def test_a_change_that_may_be_chance_is_not_said(project):
    past(project, 8, days=40, **PASSED)
    past(project, 7, days=40)
    past(project, 9, days=3, **PASSED)
    past(project, 6, days=3)
    trend = by_name(project)["Pass rate"]
    assert (trend.change, trend.direction) == ("", "")
    assert trend.note.endswith("no clear change")


def test_the_judge_compared_with_people_most_is_named(project):
    version = runs_of(project)[0].rubric_version
    known = {"project": project, "rubric_version": version, "alpha": 0.774, "kappa": 0.691}
    JudgeRecord.objects.create(key="few", name="few", labels=29, **known)
    assert by_name(project) == {}
    judge = JudgeRecord.objects.create(key="most", name="gemma3:27b", labels=78, **known)
    JudgeRecord.objects.create(key="less", name="less", labels=40, **known)

    trend = by_name(project)["Agreement with people, κ"]

    assert (trend.value, trend.judge) == ("0.69", judge.pk)
    assert trend.note == f"gemma3:27b, {version}: 78 texts; people among themselves 0.77"


def test_archived_runs_do_not_count(project):
    past(project, FEWEST, days=2, archived_at=timezone.now())
    assert trends_of(project) == []


def test_runs_of_experiments_do_not_count(project):
    past(project, FEWEST, days=2, experiment=an_experiment(project))
    assert trends_of(project) == []
