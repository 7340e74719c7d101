"""What the sample data contains. The tests only read it, so it is created once."""

from dataclasses import dataclass

import pytest
from django.utils import timezone

from refinement.engine.codec import rubric_from_json
from refinement.engine.metrics import run_metrics
from refinement.execution.waking import sweep
from refinement.models import (
    AuditEntry,
    Call,
    Comment,
    Decision,
    HumanScore,
    Instruction,
    Notice,
    Project,
    ReviewRequest,
    Round,
    RubricVersion,
    Run,
    RunTag,
    Thread,
    User,
)
from refinement.selectors.runs.history import history_of
from refinement.selectors.runs.listing.search import hits
from tests.demo.test_seed_demo import seed

pytestmark = pytest.mark.django_db
RUNS, DAYS = 150, 10


@dataclass(frozen=True)
class Sample:
    said: str
    admin: User


@pytest.fixture(scope="module")
def sample(database_for_module):
    """Sample data on an instance that already has an administrator."""
    admin = User.objects.create_superuser("root@example.org", "a long enough password", name="Ada Root")
    return Sample(seed(runs=RUNS, days=DAYS), admin)


def test_who_fails_has_been_asked(sample):
    failed = Run.objects.filter(stop_reason="judge_failed")
    assert failed.exists()
    for run in failed:
        calls = list(run.calls.order_by("round_number", "pk"))
        assert [(call.role, call.attempt, call.rung) for call in calls[-3:]] == [
            ("judge", 1, ""), ("judge", 2, ""), ("judge", 3, ""),
        ]  # fmt: skip
        assert run.calls_made == len(calls)
        assert run.rounds.get(number=calls[-1].round_number).judged_at is None
    for run in Run.objects.filter(stop_reason="producer_failed"):
        assert run.rounds.filter(judged_at=None).count() == 0


def test_a_project_is_made_with_all_that_belongs_to_it(sample):
    project = Project.objects.get(slug="sample-data")
    assert project.name == "Sample data"
    runs = Run.objects.filter(project=project)
    assert f"{RUNS} runs" in sample.said
    assert runs.count() == RUNS
    assert len(set(runs.values_list("outcome", flat=True))) >= 5
    assert len(set(runs.values_list("stop_reason", flat=True))) >= 7
    assert set(runs.values_list("status", flat=True)) > {"finished"}
    assert {run.rubric_version.number for run in runs.select_related("rubric_version")} >= {1, 2, 3}
    assert runs.filter(signal_rounds__gt=0).exists()
    assert runs.filter(penalty_rounds__gt=0).exists()
    assert RunTag.objects.filter(project=project).exists()
    assert Call.objects.filter(run__project=project, role="judge").exists()
    assert hits(project, "instance", limit=5)


def test_people_have_talked_scored_decided_and_been_told(sample):
    reviewed = Run.objects.filter(threads__isnull=False).distinct()
    assert 10 < reviewed.count() <= 40
    assert Comment.objects.filter(mentioned=sample.admin).exists()
    assert {row.place for row in Thread.objects.all()} >= {"run", "passage", "issue", "criterion"}
    for thread in Thread.objects.filter(place="passage"):
        said = Round.objects.get(run=thread.run, number=thread.round_number).candidate
        assert said[thread.quote_start :].startswith(thread.quote)
    assert HumanScore.objects.filter(blind=True).exists()
    assert Run.objects.filter(far_people__gt=0).exists()
    decided = Run.objects.filter(decision="result").first()
    assert decided.decisions.get().round_number == decided.chosen_round != decided.best_round
    assert ReviewRequest.objects.filter(reviewer=sample.admin, closed_at=None).exists()
    assert Notice.objects.filter(user=sample.admin, read_at=None).exists()
    assert not Notice.objects.filter(mail_due=True).exists()
    assert AuditEntry.objects.filter(action="score.give").count() == HumanScore.objects.count()


def test_people_have_edited_and_steered_as_the_loop_would_have_let_them(sample):
    edited = Round.objects.filter(origin="hand").first()
    assert edited.author.name == edited.author_name
    assert not Call.objects.filter(run=edited.run, role="producer", round_number=edited.number).exists()
    told = Instruction.objects.filter(used_in_round__isnull=False).first()
    row = Round.objects.get(run=told.run, number=told.used_in_round)
    assert row.feedback["instructions"] == [{"id": told.pk, "author": told.author_name, "text": told.text}]
    asked = Call.objects.get(run=told.run, role="producer", round_number=row.number)
    assert told.text in asked.messages[-1]["content"]


def test_what_is_written_is_what_the_engine_would_read(sample):
    for run in Run.objects.order_by("pk")[:60]:
        rubric = rubric_from_json(run.snapshot)
        metrics = run_metrics(rubric, history_of(run, rubric, whole=True))
        assert (run.r1, run.best, run.rounds_judged) == (
            pytest.approx(metrics.r1), pytest.approx(metrics.best), metrics.rounds,
        )  # fmt: skip
        assert [float(each) for each in run.trajectory] == pytest.approx(
            [float(row.composite) for row in run.rounds.order_by("number") if row.composite is not None]
        )


def test_times_rise_with_the_numbers_and_the_clock_goes_on_after(sample):
    moments = list(Run.objects.order_by("pk").values_list("created_at", flat=True))
    assert moments == sorted(moments)
    assert DAYS - 1 <= (timezone.now() - moments[0]).days <= DAYS
    assert Round._meta.get_field("created_at").auto_now_add


def test_rubric_versions_are_older_than_their_runs(sample):
    used = RubricVersion.objects.exclude(runs=None)
    assert used.count() > 3
    for version in used:
        assert version.created_at < version.runs.earliest("created_at").created_at


def test_no_worker_takes_any_of_them_up(sample):
    assert Run.objects.exclude(status="finished").exists()
    assert sweep(patient=False).sent == 0


def test_nothing_is_done_in_the_name_of_a_real_person(sample):
    assert ReviewRequest.objects.filter(reviewer=sample.admin).exists()
    assert not ReviewRequest.objects.filter(asked_by=sample.admin).exists()
    assert not ReviewRequest.objects.filter(reviewer=sample.admin).exclude(closed_at=None).exists()
    for model in (Comment, HumanScore, Decision):
        assert not model.objects.filter(author=sample.admin).exists()
    assert not AuditEntry.objects.filter(user=sample.admin).exists()
    assert not Notice.objects.filter(actor_name="Ada Root").exists()
