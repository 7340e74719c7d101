"""Monthly budgets of projects: what counts, when a warning appears, and what is refused."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from refinement.models import Bench, BenchCall, BenchTrial, Project, ProposalCall, RubricProposal, Run
from refinement.providers.registry import Target
from refinement.selectors.projects.budgets import budget_of
from refinement.selectors.rubrics.definitions import version_named
from refinement.services.rubrics.editing import default_rubrics_install
from refinement.services.runs.creating import run_create
from refinement.services.runs.lifecycle import WrongState, run_rerun

pytestmark = pytest.mark.django_db
MODEL = Target("ollama", "loopback:8b")


@pytest.fixture(autouse=True)
def _rubrics(project):
    default_rubrics_install(project=project)


def limited(project: Project, **limits) -> Project:
    Project.objects.filter(pk=project.pk).update(**limits)
    project.refresh_from_db()
    return project


def launched(project: Project, **used) -> Run:
    version = version_named(project, "wiggum")
    run = run_create(project=project, version=version, task="t", producer=MODEL, judge=MODEL)
    Run.objects.filter(pk=run.pk).update(**used)
    return run


def test_a_project_without_a_budget_reads_no_runs(project, django_assert_num_queries):
    launched(project, cost=Decimal(1000))
    with django_assert_num_queries(0):
        budget = budget_of(project)
    assert (budget.refusal, budget.warning) == ("", "")


@pytest.mark.parametrize(
    ("used", "warns", "refuses"), [("7.99", False, False), ("8", True, False), ("10", False, True)]
)
def test_a_warning_from_80_percent_and_a_refusal_at_the_end(project, used, warns, refuses):
    launched(project, cost=Decimal(used))
    budget = budget_of(limited(project, monthly_cost=10))
    assert (bool(budget.warning), bool(budget.refusal)) == (warns, refuses)


def test_nothing_is_launched_over_the_budget(project, owner):
    run = launched(project, prompt_tokens=900, completion_tokens=100)
    limited(project, monthly_tokens=1_000)
    with pytest.raises(ValidationError, match="1,000 of 1,000 tokens"):
        launched(project)
    with pytest.raises(WrongState, match="used up its budget"):
        run_rerun(run=Run.objects.get(pk=run.pk), user=owner)
    launched(limited(project, monthly_tokens=1_001))


def test_judge_tests_and_rubric_proposals_count(project, owner):
    now = timezone.now()
    proposal = RubricProposal.objects.create(
        project=project, endpoint="ollama", model="m", goal="g", sample="s"
    )
    asked = {"number": 1, "started_at": now, "finished_at": now, "messages": [], "cost": Decimal(4)}
    ProposalCall.objects.create(proposal=proposal, prompt_tokens=70, completion_tokens=30, **asked)
    version = project.rubrics.first().versions.get()
    bench = Bench.objects.create(
        project=project, rubric_version=version, origin="pasted", candidate="c", candidate_chars=1,
        repeats=1, endpoint="ollama", model="m", nonce="n",
    )  # fmt: skip
    trial = BenchTrial.objects.create(bench=bench, number=1)
    BenchCall.objects.create(trial=trial, prompt_tokens=5, completion_tokens=5, **asked)
    budget = budget_of(limited(project, monthly_cost=8, monthly_tokens=1_000))
    assert [limit.used for limit in budget.limits] == [8, 110]
    assert budget.refusal


def test_earlier_months_other_projects_and_imported_runs_do_not_count(project, other_project):
    default_rubrics_install(project=other_project)
    launched(project, cost=Decimal(10), created_at=timezone.now() - timedelta(days=32))
    launched(project, cost=Decimal(10), source="wiggum")
    launched(other_project, cost=Decimal(10))
    assert budget_of(limited(project, monthly_cost=10)).limits[0].used == 0
