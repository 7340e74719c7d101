"""Prepared queries read what the ORM reads, with the statement of the first time."""

import pytest
from django.db.models import Count, Q, QuerySet

from refinement.models import Round, RunTag
from refinement.models.prepared import NotPrepared, prepared
from tests.models.given import a_run

pytestmark = pytest.mark.django_db


@prepared
def tagged(project: int, name: str, newest_first: bool) -> QuerySet[RunTag]:
    rows = RunTag.objects.filter(Q(name=name) | Q(name__startswith="all"), project=project)
    return rows.select_related("run__rubric").order_by("-run_id" if newest_first else "run_id", "id")


@prepared
def counted(runs: tuple[int, ...], project: int | None) -> "QuerySet[RunTag, tuple[int, int]]":
    rows = RunTag.objects.filter(run__in=runs) if project is None else RunTag.objects.filter(project=project)
    return rows.order_by("run").values_list("run").annotate(Count("id"))


@prepared
def limited(most: int) -> QuerySet[RunTag]:
    return RunTag.objects.all()[:most]


@prepared
def written_on(run: int, number: int) -> QuerySet[Round]:
    return Round.objects.filter(run=run, feedback__from_round=number).defer("candidate")


@pytest.fixture
def runs(project):
    first = a_run(project)
    second = a_run(project, first.rubric_version)
    for run, name in ((first, "red"), (first, "blue"), (second, "red"), (second, "all of it")):
        RunTag.objects.create(run=run, project=project, name=name)
    return first, second


def test_the_rows_are_the_orms_for_any_arguments(runs, project, other_project):
    for given in (
        (project.pk, "red", True), (project.pk, "red", False), (project.pk, "blue", False),
        (other_project.pk, "red", True), (2**40, "red", True), (project.pk, "' OR 1=1 --", False),
    ):  # fmt: skip
        assert tagged(*given) == list(tagged.build(*given))
    first, second = runs
    assert [row.run for row in tagged(project.pk, "blue", False)] == [first, second]


def test_related_rows_and_annotations_come_along(runs, project, django_assert_num_queries):
    first, second = runs
    tagged(project.pk, "red", False)
    with django_assert_num_queries(1):
        assert {row.run.rubric.pk for row in tagged(project.pk, "red", False)} == {first.rubric_id}
    one, other, *_ = tagged(project.pk, "red", False)
    assert one.run is not other.run
    assert one.run.rubric is other.run.rubric  # shared, for pages that only read
    assert counted((first.pk, second.pk), None) == [(first.pk, 2), (second.pk, 2)]
    assert counted((second.pk,), None) == [(second.pk, 2)]
    assert counted((), None) == []
    assert counted((), project.pk) == [(first.pk, 2), (second.pk, 2)]
    many = tuple(range(second.pk, second.pk + 500))
    assert counted(many, None) == [(second.pk, 2)]


def test_a_value_inside_json_has_its_place(runs):
    first, _ = runs
    for number in (1, 2, 3):
        Round.objects.create(
            run=first, number=number, candidate="x", candidate_chars=1, feedback={"from_round": number - 1}
        )
    assert [row.number for row in written_on(first.pk, 1)] == [2]
    assert [row.number for row in written_on(first.pk, 2)] == [3]
    assert written_on(first.pk, 2)[0].get_deferred_fields() == {"candidate"}


def test_a_query_that_its_arguments_make_another_one_is_refused(runs):
    with pytest.raises(NotPrepared):
        limited(3)


def test_a_statement_is_made_once(runs, project, monkeypatch):
    tagged(project.pk, "red", True)
    monkeypatch.setattr(tagged, "build", None)
    assert len(tagged(project.pk, "blue", True)) == 2
