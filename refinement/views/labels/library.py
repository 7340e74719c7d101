"""The list of a project's label sets, and a new one."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from refinement.access.objects import can_edit
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.labels.sets import USUAL_ROUNDS, NewSetForm
from refinement.models import LabelSet, RubricVersion
from refinement.selectors.trust.label_rounds import rounds_chosen, rounds_with_texts
from refinement.selectors.trust.labels import label_sets_page, versions_to_label
from refinement.services.trust.label_items import label_rounds_add, label_texts_add, texts_pasted
from refinement.services.trust.labels import label_set_create
from refinement.texts import label


@require_safe
@project_view()
def label_set_list(request: ProjectRequest) -> HttpResponse:
    """Active or archived label sets, with what waits for the reader."""
    archived, rubric = request.GET.get("archived") == "1", request.GET.get("rubric", "")[:80]
    page, lines = label_sets_page(
        request.project,
        reader=request.user.pk,
        archived=archived,
        rubric=rubric.replace("\x00", ""),
        page=request.GET.get("page", "1"),
    )
    context = {
        "section": "trust",
        "archived": archived,
        "rubric": rubric,
        "archived_count": request.project.label_sets.filter(archived_at__isnull=False).count(),
        "page": page,
        "lines": lines,
        "can_edit": can_edit(request),
    }
    return render(request, "refinement/labels/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def label_set_new(request: ProjectRequest) -> HttpResponse:
    """Creates a set, with rounds of runs or pasted texts."""
    versions = versions_to_label(request.project)
    if request.method != "POST":
        initial = {"rubric": request.GET.get("rubric", ""), "rounds": USUAL_ROUNDS}
        return new_page(request, NewSetForm(versions, initial=initial))
    form = NewSetForm(versions, request.POST)
    if not form.is_valid():
        return new_page(request, form, status=422)
    try:
        row, added = created(request, form, form.version)
    except ValidationError as refused:
        take_over(form, refused)
        return new_page(request, form, status=422)
    messages.success(request, f"{row.name} was created with {texts_words(added)}.")
    return redirect("label_set_page", request.project.slug, row.pk)


def new_page(request: ProjectRequest, form: NewSetForm, status: int = 200) -> HttpResponse:
    context = {"section": "trust", "form": form, "has_rubrics": bool(form.versions)}
    return render(request, "refinement/labels/new.html", context, status=status)


@transaction.atomic
def created(request: ProjectRequest, form: NewSetForm, version: RubricVersion) -> tuple[LabelSet, int]:
    values = form.cleaned_data
    row = label_set_create(
        project=request.project,
        version=version,
        name=values["name"],
        note=values["note"],
        raters_wanted=values["raters_wanted"],
        user=request.user,
    )
    return row, texts_added(request, row, values)


def texts_added(request: ProjectRequest, row: LabelSet, values: dict[str, object]) -> int:
    """Adds the pasted texts, and rounds of the rubric's runs. Returns how many texts were added."""
    texts = texts_pasted(str(values["texts"]))
    added = label_texts_add(label_set=row, texts=texts, user=request.user) if texts else 0
    if count := int(str(values["rounds"])):
        chosen = rounds_chosen(
            request.project, row.rubric, count, task_type=label(str(values["task_type"])), without=row
        )
        added += label_rounds_add(label_set=row, rounds=rounds_with_texts(chosen.rounds), user=request.user)
    return added


def texts_words(count: int) -> str:
    return "1 text" if count == 1 else f"{count:,} texts" if count else "no texts yet"


def take_over(form: NewSetForm, error: ValidationError) -> None:
    """Adds the service's errors to their fields."""
    for name, found in getattr(error, "message_dict", {None: error.messages}).items():
        form.add_error(name if name in form.fields else None, found)
