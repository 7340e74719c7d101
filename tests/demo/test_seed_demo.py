"""The command that creates sample data."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from refinement.demo import rows
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
    Membership,
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
from refinement.services.people.accounts import first_person_create
from refinement.services.people.setup_links import setup_link_make
from tests.views.runs.listed import runs_of

pytestmark = pytest.mark.django_db


def seed(*, no_experiment=True, **options):
    said = StringIO()
    call_command("seed_demo", stdout=said, chars=600, no_experiment=no_experiment, **options)
    return said.getvalue()


def test_who_fails_has_been_asked():
    seed(runs=150)
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


def test_a_project_is_made_with_all_that_belongs_to_it():
    said = seed(runs=120)
    project = Project.objects.get(slug="sample-data")
    assert project.name == "Sample data"
    runs = Run.objects.filter(project=project)
    assert "120 runs" in said
    assert runs.count() == 120
    assert len(set(runs.values_list("outcome", flat=True))) >= 5
    assert len(set(runs.values_list("stop_reason", flat=True))) >= 7
    assert set(runs.values_list("status", flat=True)) > {"finished"}
    assert {run.rubric_version.number for run in runs.select_related("rubric_version")} >= {1, 2, 3}
    assert runs.filter(signal_rounds__gt=0).exists()
    assert runs.filter(penalty_rounds__gt=0).exists()
    assert RunTag.objects.filter(project=project).exists()
    assert Call.objects.filter(run__project=project, role="judge").exists()
    assert hits(project, "instance", limit=5)


def test_people_have_talked_scored_decided_and_been_told():
    admin = User.objects.create_superuser("root@example.org", "a long enough password", name="Ada Root")
    seed(runs=120)
    reviewed = Run.objects.filter(threads__isnull=False).distinct()
    assert 10 < reviewed.count() <= 40
    assert Comment.objects.filter(mentioned=admin).exists()
    assert {row.place for row in Thread.objects.all()} >= {"run", "passage", "issue", "criterion"}
    for thread in Thread.objects.filter(place="passage"):
        said = Round.objects.get(run=thread.run, number=thread.round_number).candidate
        assert said[thread.quote_start :].startswith(thread.quote)
    assert HumanScore.objects.filter(blind=True).exists()
    assert Run.objects.filter(far_people__gt=0).exists()
    decided = Run.objects.filter(decision="result").first()
    assert decided.decisions.get().round_number == decided.chosen_round != decided.best_round
    assert ReviewRequest.objects.filter(reviewer=admin, closed_at=None).exists()
    assert Notice.objects.filter(user=admin, read_at=None).exists()
    assert not Notice.objects.filter(mail_due=True).exists()
    assert AuditEntry.objects.filter(action="score.give").count() == HumanScore.objects.count()


def test_people_have_edited_and_steered_as_the_loop_would_have_let_them():
    seed(runs=120)
    edited = Round.objects.filter(origin="hand").first()
    assert edited.author.name == edited.author_name
    assert not Call.objects.filter(run=edited.run, role="producer", round_number=edited.number).exists()
    told = Instruction.objects.filter(used_in_round__isnull=False).first()
    row = Round.objects.get(run=told.run, number=told.used_in_round)
    assert row.feedback["instructions"] == [{"id": told.pk, "author": told.author_name, "text": told.text}]
    asked = Call.objects.get(run=told.run, role="producer", round_number=row.number)
    assert told.text in asked.messages[-1]["content"]


def test_what_is_written_is_what_the_engine_would_read():
    seed(runs=60)
    for run in Run.objects.all():
        rubric = rubric_from_json(run.snapshot)
        metrics = run_metrics(rubric, history_of(run, rubric, whole=True))
        assert (run.r1, run.best, run.rounds_judged) == (
            pytest.approx(metrics.r1), pytest.approx(metrics.best), metrics.rounds,
        )  # fmt: skip
        assert [float(each) for each in run.trajectory] == pytest.approx(
            [float(row.composite) for row in run.rounds.order_by("number") if row.composite is not None]
        )


def test_times_rise_with_the_numbers_and_the_clock_goes_on_after():
    seed(runs=30, days=10)
    moments = list(Run.objects.order_by("pk").values_list("created_at", flat=True))
    assert moments == sorted(moments)
    assert 9 <= (timezone.now() - moments[0]).days <= 10
    assert Round._meta.get_field("created_at").auto_now_add


def test_rubric_versions_are_older_than_their_runs():
    seed(runs=60, days=10)
    used = RubricVersion.objects.exclude(runs=None)
    assert used.count() > 3
    for version in used:
        assert version.created_at < version.runs.earliest("created_at").created_at


def test_no_worker_takes_any_of_them_up():
    seed(runs=120)
    assert Run.objects.exclude(status="finished").exists()
    assert sweep(patient=False).sent == 0


def test_called_again_it_adds_runs_and_nothing_twice():
    seed(runs=10)
    before = (Project.objects.count(), User.objects.count())
    seed(runs=5)
    assert Run.objects.count() == 15
    assert (Project.objects.count(), User.objects.count()) == before


def test_a_project_with_real_runs_is_left_alone(project):
    runs_of(project)
    with pytest.raises(CommandError, match="is not sample data"):
        seed(runs=3, project=project.slug)
    assert Run.objects.count() == 1


def test_an_empty_project_of_others_is_left_alone(project, owner):
    with pytest.raises(CommandError, match="is not sample data"):
        seed(runs=3, project=project.slug)
    assert not Run.objects.exists()


def test_nothing_is_done_in_the_name_of_a_real_person():
    admin = User.objects.create_superuser("root@example.org", "a long enough password", name="Ada Root")
    seed(runs=150)
    assert ReviewRequest.objects.filter(reviewer=admin).exists()
    assert not ReviewRequest.objects.filter(asked_by=admin).exists()
    assert not ReviewRequest.objects.filter(reviewer=admin).exclude(closed_at=None).exists()
    for model in (Comment, HumanScore, Decision):
        assert not model.objects.filter(author=admin).exists()
    assert not AuditEntry.objects.filter(user=admin).exists()
    assert not Notice.objects.filter(actor_name="Ada Root").exists()


def test_people_cannot_sign_in_and_administrators_are_owners():
    admin = User.objects.create_superuser("root@example.org", "a long enough password")
    seed(runs=1)
    assert Membership.objects.get(user=admin).role == "owner"
    made = User.objects.filter(email__endswith="@demo.example")
    assert made.count() == 5
    assert not any(user.has_usable_password() for user in made)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"runs": 0}, "--runs is 0"),
        ({"runs": 1, "days": 0}, "--days is 0"),
        ({"runs": 1, "project": "A b"}, "--project is"),
    ],
)
def test_what_cannot_be_made_is_said(options, words):
    with pytest.raises(CommandError, match=words):
        seed(**options)
    assert not Project.objects.exists()


def test_calls_can_be_left_out():
    seed(runs=5, no_calls=True)
    assert not Call.objects.exists()


def test_many_runs_are_written_with_few_statements(monkeypatch):
    monkeypatch.setattr(rows, "BATCH", 100)
    with CaptureQueriesContext(connection) as few:
        seed(runs=20, project="few")
    with CaptureQueriesContext(connection) as many:
        seed(runs=100, project="many")
    assert len(many) < len(few) * 3


def test_demo_people_do_not_lock_the_first_person_out():
    seed(runs=5)
    token = setup_link_make()
    assert token
    user = first_person_create(
        token=token, name="Ada", email="ada@example.org", password="seven quiet rivers", project_name="Docs"
    )
    owned = Membership.objects.filter(user=user, role="owner").values_list("project__slug", flat=True)
    assert sorted(owned) == ["docs", "sample-data"]
    assert setup_link_make() is None
