"""The command that creates sample data."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.demo import rows
from refinement.models import (
    Call,
    Membership,
    Project,
    Run,
    User,
)
from refinement.services.people.accounts import first_person_create
from refinement.services.people.setup_links import setup_link_make
from tests.views.runs.listed import runs_of

pytestmark = pytest.mark.django_db


def seed(*, no_experiment=True, **options):
    said = StringIO()
    call_command("seed_demo", stdout=said, chars=600, no_experiment=no_experiment, **options)
    return said.getvalue()


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
