"""Access to project pages, by role."""

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.test import RequestFactory

from refinement.access.projects import project_view

pytestmark = pytest.mark.django_db
ROLES = ["viewer", "editor", "owner"]


def visit(person, project, role):
    @project_view(role=role)
    def view(request):
        return HttpResponse(f"{request.project.slug} {request.membership.role}")

    request = RequestFactory().get("/")
    request.user, request.session = person, {}
    return view(request, slug=project.slug), request


@pytest.mark.parametrize("needed", ROLES)
@pytest.mark.parametrize("role", ROLES)
def test_a_role_opens_its_own_doors_and_lower_ones(request, project, role, needed):
    person = request.getfixturevalue(role)

    if ROLES.index(role) < ROLES.index(needed):
        with pytest.raises(PermissionDenied, match=f"You are an? {role} in {project.name}"):
            visit(person, project, needed)
    else:
        answer, seen = visit(person, project, needed)
        assert answer.content.decode() == f"{project.slug} {role}"
        assert seen.session["project"] == project.slug


@pytest.mark.parametrize("needed", ROLES)
def test_an_outsider_finds_nothing_whatever_the_role(outsider, project, needed):
    with pytest.raises(Http404):
        visit(outsider, project, needed)


def test_a_role_nobody_has_is_a_mistake_in_the_code():
    with pytest.raises(ValueError, match="boss"):
        project_view(role="boss")
