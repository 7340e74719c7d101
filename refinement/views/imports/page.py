"""Importing runs from files: an upload is checked first, then imported in parts."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, TooManyFilesSent
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.runs.imports import RunImportForm
from refinement.interchange.imports.archives import MOST_BYTES, BadUpload, megabytes
from refinement.models import ImportBatch
from refinement.services.imports.batches import batch_advance, batch_discard, batch_open

FORM_BYTES = 1_000_000  # allowed in addition to the files
TOO_MANY = "Too many files for one upload. Put them into a zip file and upload that."


# Check the length before the form is read: the CSRF check would read all of it first.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@project_view(role="editor")
def run_import(request: ProjectRequest) -> HttpResponse:
    """The upload form; POST shows the upload's report."""
    if request.method != "POST":
        return import_form(request, RunImportForm())
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdigit() or int(length) > MOST_BYTES + FORM_BYTES:
        return refused(
            request,
            f"This upload is larger than {megabytes(MOST_BYTES)}. Import it in parts.",
            413,
        )
    try:
        request.FILES  # noqa: B018  reads the form
    except TooManyFilesSent:
        return refused(request, TOO_MANY, 422)
    return received(request)


@csrf_protect
def received(request: ProjectRequest) -> HttpResponse:
    form = RunImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return import_form(request, form, status=422)
    try:
        batch = batch_open(
            project=request.project,
            user=request.user,
            files=form.cleaned_data["upload"],
            weights=form.cleaned_data["weights"],
        )
    except BadUpload as refusal:
        form.add_error("upload", str(refusal))
        return import_form(request, form, status=422)
    return redirect("run_import_batch", request.project.slug, batch.pk)


def refused(request: ProjectRequest, words: str, status: int) -> HttpResponse:
    """The form with an error; the upload was not read."""
    return import_form(request, RunImportForm(), status=status, refusal=words)


def import_form(
    request: ProjectRequest, form: RunImportForm, status: int = 200, refusal: str = ""
) -> HttpResponse:
    page = {"section": "runs", "form": form, "refusal": refusal}
    return render(request, "refinement/imports/form.html", page, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@project_view(role="editor")
def run_import_batch(request: ProjectRequest, batch: int) -> HttpResponse:
    """The upload's report. POST imports the next part or discards the upload."""
    found = ImportBatch.objects.filter(project=request.project, pk=batch).first()
    if found is None:
        raise Http404("Upload not found. Uploads are deleted after a day.")
    if found.created_by_id != request.user.pk:
        # The report includes scores, and another member may be scoring one of these runs blind.
        raise PermissionDenied("Only the person who uploaded these files can see their report.")
    if request.method == "POST":
        if request.POST.get("action") == "discard":
            batch_discard(batch=found)
            messages.info(request, "Upload discarded.")
            return redirect("run_list", request.project.slug)
        found = batch_advance(batch=found, user=request.user)
        if not partial(request):
            return redirect("run_import_batch", request.project.slug, batch)
    name = "_batch" if partial(request) else "batch"
    return render(request, f"refinement/imports/{name}.html", batch_context(request, found))


def batch_context(request: ProjectRequest, batch: ImportBatch) -> dict[str, Any]:
    """The report, without scores of runs its reader scores blind."""
    report = batch.report
    hidden: dict[str, Any] = {"best": None, "contradictions": []}
    return {
        "section": "runs",
        "batch": batch,
        "counts": report["counts"],
        "made": report.get("made"),
        "runs": [run | hidden if run["run"] in request.blind_runs else run for run in report["runs"]],
        "more_runs": report["more_runs"],
        "notes": report["notes"],
        "more_notes": report["more_notes"],
        "going": batch.done > 0 and batch.finished_at is None,
    }


def partial(request: ProjectRequest) -> bool:
    return bool(request.htmx) and not request.htmx.boosted
