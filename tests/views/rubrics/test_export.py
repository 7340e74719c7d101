"""Exporting a version's file, for every member."""

from dataclasses import replace

import pytest
from django.urls import reverse

from refinement.engine.profiles import default_rubrics
from refinement.interchange.rubrics.yaml import rubric_from_yaml, rubric_to_yaml
from refinement.models import Membership
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics.editing import default_rubrics_install, rubric_create
from tests.views.rubrics.given import MARKUP, a_rubric, hostile_definition, saved_again

pytestmark = pytest.mark.django_db


def file_of(version, number=None):
    address = reverse("rubric_export", args=[version.rubric.project.slug, version.rubric.slug])
    return address if number is None else f"{address}?version={number}"


def test_it_is_the_newest_version_as_a_file(as_viewer, project):
    version = a_rubric(project)
    answer = as_viewer.get(file_of(version))
    assert answer.headers["Content-Type"] == "application/yaml; charset=utf-8"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{version.rubric.slug}-v1.yaml"'
    assert answer.content.decode() == rubric_to_yaml(definition_of(version))


def test_any_version_can_be_had(as_viewer, project):
    version = a_rubric(project)
    saved_again(version, name="Stricter")
    assert "name: Stricter" in as_viewer.get(file_of(version)).content.decode()
    assert "name: Stricter" not in as_viewer.get(file_of(version, 1)).content.decode()


@pytest.mark.parametrize("number", ["0", "9", "x", "-1", "²", "9" * 40])
def test_a_version_that_is_not_there_is_not_found(as_viewer, project, number):
    assert as_viewer.get(file_of(a_rubric(project), number)).status_code == 404


def test_hostile_text_is_only_text_in_it(as_viewer, project):
    hostile = replace(hostile_definition(), templates={"judge": MARKUP})
    version = rubric_create(project=project, slug="hostile", definition=hostile)
    written = as_viewer.get(file_of(version)).content.decode()
    assert rubric_from_yaml(written) == definition_of(version)


def test_somebody_from_elsewhere_finds_nothing(as_outsider, project):
    assert as_outsider.get(file_of(a_rubric(project))).status_code == 404


def test_it_can_only_be_read(as_owner, project):
    assert as_owner.post(file_of(a_rubric(project))).status_code == 405


def test_out_and_in_and_out_again_is_the_same_bytes(as_owner, owner, project, other_project):
    Membership.objects.create(project=other_project, user=owner, role="editor")
    default_rubrics_install(project=project)
    for slug in default_rubrics():
        first = as_owner.get(reverse("rubric_export", args=["alpha", slug])).content
        text = first.decode().replace("\n", "\r\n")  # as a browser sends a form
        sent = as_owner.post(reverse("rubric_import", args=["beta"]), {"text": text, "target": "new"})
        assert sent.status_code == 302, slug
        imported = other_project.rubrics.order_by("-id").first()
        again = as_owner.get(reverse("rubric_export", args=["beta", imported.slug])).content
        assert again == first
