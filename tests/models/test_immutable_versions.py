"""A saved version cannot be changed, by the models or by plain SQL."""

import pytest
from django.db import DatabaseError, connections, transaction

from refinement.engine.profiles import rubric_for
from refinement.judging.sources import SourceText
from refinement.models import Check, Criterion, Project, Rubric, RubricVersion, Source, User
from refinement.models.rubrics.rubrics import ImmutableRow
from refinement.services.rubrics.editing import rubric_create
from tests.models.given import a_run, a_version

MESSAGE = "saved versions and sources cannot be changed"


def test_saving_again_is_refused(project):
    version = a_version(project, "simmer")
    checked = a_version(project, "ralph")
    source = a_run(project, version, sources=[SourceText("notes.txt", "Facts.")]).sources.get()
    for row in (version, version.criteria.first(), checked.checks.first(), source):
        with pytest.raises(ImmutableRow, match="save a new one instead"):
            row.save()


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (RubricVersion, {"name": "Other"}),
        (RubricVersion, {"number": 7}),
        (RubricVersion, {"policy": {}}),
        (RubricVersion, {"scale_maximum": 100}),
        (RubricVersion, {"calibration_text": "later"}),
        (RubricVersion, {"evaluator": {"command": ["sh"]}}),
        (Criterion, {"weight": 9}),
        (Criterion, {"description": "Other."}),
        (Check, {"parameters": {}}),
        (Check, {"severity": "info"}),
        (Source, {"text": "Other."}),
        (Source, {"name": "other.txt"}),
    ],
    ids=lambda value: getattr(value, "__name__", None) or next(iter(value)),
)
def test_an_update_is_refused_by_the_database(project, model, fields):
    a_version(project, "simmer")
    a_run(project, a_version(project, "ralph"), sources=[SourceText("notes.txt", "Facts.")])
    with pytest.raises(DatabaseError, match=MESSAGE), transaction.atomic():
        model.objects.update(**fields)


def test_raw_sql_is_refused_too(project):
    version = a_version(project)
    with (
        pytest.raises(DatabaseError, match=MESSAGE),
        transaction.atomic(),
        connections["default"].cursor() as cursor,
    ):
        cursor.execute("UPDATE refinement_rubricversion SET name = 'x' WHERE id = %s", [version.pk])
    assert RubricVersion.objects.get(pk=version.pk).name == "Wiggum six dimensions"


def test_a_person_who_goes_leaves_the_versions(project, owner):
    version = rubric_create(project=project, slug="own", definition=rubric_for("wiggum"), user=owner)
    owner.delete()
    kept = RubricVersion.objects.get(pk=version.pk)
    assert (kept.created_by, kept.rubric.created_by, kept.criteria.count()) == (None, None, 6)


def test_postgresql_refuses_as_well(postgres_database, django_db_blocker):
    with django_db_blocker.unblock():
        try:
            held_on_postgresql(postgres_database)
        finally:
            connections[postgres_database].close()


def held_on_postgresql(alias: str) -> None:
    """Rows written by hand: the services know one database only."""
    project = Project.objects.using(alias).create(name="Alpha", slug="alpha")
    person = User(email="ada@example.org", name="Ada")
    person.save(using=alias)
    rubric = Rubric.objects.using(alias).create(project=project, slug="own", name="Own", created_by=person)
    version = RubricVersion(
        rubric=rubric, number=1, name="Own", profile="wiggum", problem_class="text", scale_minimum=0,
        evaluation_mode="judge_only", scale_maximum=10, policy={}, context={}, created_by=person,
    )  # fmt: skip
    version.save(using=alias)
    Criterion(version=version, position=0, key="a", name="A", weight=1).save(using=alias)
    for model, fields in ((RubricVersion, {"name": "Other"}), (Criterion, {"weight": 9})):
        with pytest.raises(DatabaseError, match=MESSAGE), transaction.atomic(using=alias):
            model.objects.using(alias).update(**fields)
    person.delete(using=alias)
    assert RubricVersion.objects.using(alias).get().created_by_id is None
    project.delete(using=alias)
    assert not Criterion.objects.using(alias).exists()
