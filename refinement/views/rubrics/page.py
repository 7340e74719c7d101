"""A rubric's overview page."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.rubrics.library import DuplicateForm
from refinement.forms.rubrics.topics import topics
from refinement.models import Membership
from refinement.selectors.projects.lists import memberships_of
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.rubrics.lists import recent_runs
from refinement.selectors.rubrics.page import version_facts
from refinement.selectors.rubrics.past_runs import lately
from refinement.selectors.runs.ledger import rubric_counts
from refinement.selectors.trust.gate import unproven_passes
from refinement.services.rubrics.editing import copy_name
from refinement.views.rubrics.context import rubric_context


@require_safe
@project_view()
def rubric_page(request: ProjectRequest, rubric: str) -> HttpResponse:
    """The newest version."""
    return overview(request, rubric)


@require_safe
@project_view()
def rubric_version(request: ProjectRequest, rubric: str, number: int) -> HttpResponse:
    """Any version."""
    return overview(request, rubric, number)


def overview(
    request: ProjectRequest, slug: str, number: int | None = None, copy: DuplicateForm | None = None
) -> HttpResponse:
    """A version's page, with a form for a copy if the user may create one."""
    page: dict[str, Any] = rubric_context(request, slug, number)
    version = page["version"]
    definition = definition_of(version)
    page["facts"] = version_facts(definition)
    page["topics"] = topics(definition, {})
    page["lately"] = lately(page["rubric"])
    page["runs"] = recent_runs(page["rubric"], None if number is None else version)
    page["unproven"] = unproven_passes(page["runs"], request.project)
    page["followed"] = rubric_counts(page["rubric"].pk, hidden=list(request.blind_runs))
    page["one_version"] = number is not None
    if page["can_edit"]:
        page["copy"] = copy or DuplicateForm(
            editable(request), initial={"name": copy_name(version.name), "project": request.project.slug}
        )
    status = 422 if copy is not None and copy.is_bound else 200
    return render(request, "refinement/rubrics/page.html", page, status=status)


def editable(request: ProjectRequest) -> list[Membership]:
    """The user's memberships with editing rights."""
    return [entry for entry in memberships_of(request.user) if entry.can_edit]
