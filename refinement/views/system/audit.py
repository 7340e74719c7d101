"""The audit log of a project for owners, and of the instance for administrators."""

from typing import Any

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from refinement.access.projects import ProjectRequest, SignedInRequest, project_view
from refinement.downloads import sent
from refinement.forms.people.members import NUMBER_CHARS, AuditFilterForm
from refinement.interchange.exports.audit_rows import audit_csv
from refinement.interchange.exports.json import as_json
from refinement.models import AuditEntry, Project
from refinement.selectors.people.administration import projects_listed
from refinement.selectors.people.audit import audit_exported, audit_options, audit_page
from refinement.selectors.reviews.blindness import blind_runs_of
from refinement.views.system.administration import administrator_view


@require_safe
@project_view(role="owner")
def audit_log(request: ProjectRequest) -> HttpResponse:
    """The project's log; a partial when filters change."""
    addresses = [reverse(name, args=[request.project.slug]) for name in ("audit_log", "audit_export")]
    return _shown(request, request.project, *addresses)


@require_safe
@never_cache
@project_view(role="owner")
def audit_export(request: ProjectRequest) -> HttpResponseBase:
    """The project's log as CSV."""
    return _exported(request, request.project, reverse("audit_log", args=[request.project.slug]))


@require_safe
@administrator_view
def instance_audit(request: SignedInRequest) -> HttpResponse:
    """The instance's log."""
    return _shown(request, None, reverse("administration_audit"), reverse("administration_audit_export"))


@require_safe
@never_cache
@administrator_view
def instance_audit_export(request: SignedInRequest) -> HttpResponseBase:
    """The instance's log as CSV."""
    return _exported(request, None, reverse("administration_audit"))


def _shown(request: SignedInRequest, project: Project | None, address: str, export: str) -> HttpResponse:
    form = _form(request, project)
    page = audit_page(
        project,
        form.filters,
        user=request.user,
        before=_number(request, "before"),
        after=_number(request, "after"),
        hidden=blind_runs_of(request.user),
    )
    context: dict[str, Any] = {
        "section": "members" if project else "",
        "tab": "audit",
        "is_owner": True,
        "form": form,
        "page": page,
        "query": form.query(),
        "address": address,
        "export": f"{export}?{form.query()}",
        "older": form.query(before=page.older) if page.older else "",
        "newer": form.query(after=page.newer) if page.newer else "",
        "of_instance": project is None,
    }
    status = 200 if form.is_valid() else 422
    if request.htmx and not request.htmx.boosted:
        answer = render(request, "refinement/people/_audit_results.html", context, status=status)
        return push_url(answer, f"{address}?{form.query()}" if form.query() else address)
    template = "refinement/people/audit.html" if project else "refinement/people/administration_audit.html"
    return render(request, template, context, status=status)


def _exported(request: SignedInRequest, project: Project | None, address: str) -> HttpResponseBase:
    form = _form(request, project)
    if not form.is_valid():
        # The page shows each filter's error.
        return redirect(f"{address}?{request.GET.urlencode()}")
    rows = map(_cells, audit_exported(project, form.filters, blind_runs_of(request.user)))
    return sent(request, audit_csv(rows), f"audit-{project.slug}" if project else "audit", "csv")


def _form(request: SignedInRequest, project: Project | None) -> AuditFilterForm:
    projects = [(each.slug, each.name) for each in projects_listed()] if project is None else None
    return AuditFilterForm(request.GET, audit_options(project), projects)


def _number(request: SignedInRequest, name: str) -> int | None:
    given = request.GET.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) <= NUMBER_CHARS else None


def _cells(entry: AuditEntry) -> list[Any]:
    return [
        entry.at,
        entry.actor,
        entry.user.email if entry.user else "",
        entry.address,
        entry.project.slug if entry.project else "",
        entry.action,
        entry.object_type,
        entry.object_id,
        as_json(entry.before) if entry.before else "",
        as_json(entry.after) if entry.after else "",
    ]
