"""Projects as each person sees them."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from refinement.models import Membership
from refinement.selectors.projects.lists import (
    NotFound,
    current_project,
    membership_for,
    memberships_of,
    project_for,
    projects_for,
)

pytestmark = pytest.mark.django_db


def test_people_see_their_own_projects_only(owner, outsider, project, other_project):
    assert list(projects_for(owner)) == [project]
    assert list(projects_for(outsider)) == [other_project]
    assert list(projects_for(AnonymousUser())) == []


def test_a_project_of_others_is_as_absent_as_none(outsider, project):
    with pytest.raises(NotFound) as of_others:
        project_for(outsider, project.slug)
    with pytest.raises(NotFound) as of_nobody:
        project_for(outsider, "no-such-project")
    assert str(of_others.value) == str(of_nobody.value)


def test_nobody_in_particular_finds_nothing(project):
    with pytest.raises(Http404):
        project_for(AnonymousUser(), project.slug)


def test_an_administrator_is_no_member_by_that(outsider, project):
    outsider.is_superuser = True
    outsider.save(update_fields=["is_superuser"])

    with pytest.raises(NotFound):
        project_for(outsider, project.slug)


def test_a_member_finds_the_project_with_their_role(viewer, project):
    assert project_for(viewer, project.slug) == project
    assert membership_for(viewer, project.slug).role == "viewer"
    assert [entry.project for entry in memberships_of(viewer)] == [project]


def test_the_last_used_project_comes_first(owner, project, other_project):
    Membership.objects.create(user=owner, project=other_project, role="viewer")
    first = min(project, other_project, key=lambda entry: entry.name)

    assert current_project(owner, other_project.slug) == other_project
    assert current_project(owner, project.slug) == project
    assert current_project(owner, "gone") == first
    assert current_project(owner, None) == first


def test_a_project_one_has_left_is_not_current(owner, project, other_project):
    assert current_project(owner, other_project.slug) == project
