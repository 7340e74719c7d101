"""A label set's page, its settings, more texts, exports, and a text with its labels."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from refinement.access.labelling import (
    label_item_or_404,
    label_or_404,
    label_set_or_404,
    scored_set_or_404,
)
from refinement.access.objects import can_edit
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.labels.sets import SettingsForm, TextsForm
from refinement.interchange.labels.writing import MEDIA_TYPES
from refinement.models import LabelRater, LabelSet
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.runs.texts.texts import candidate_text
from refinement.selectors.trust.label_queue import progress_of, rater_lines
from refinement.selectors.trust.labels import EXPORTS, items_page, label_lines, set_facts
from refinement.services.trust.labelling import label_scores_seen_record, label_wrong_mark
from refinement.services.trust.labels import label_set_archive, label_set_change
from refinement.views.labels.library import texts_added, texts_words
from refinement.views.trust.ways import has_texts_for

PAGE = "refinement/labels/set.html"


@require_safe
@project_view()
def label_set_page(request: ProjectRequest, label_set: int) -> HttpResponse:
    """Progress, raters and texts. It shows no scores, so that raters can read it."""
    row = label_set_or_404(request, label_set)
    rater = LabelRater.objects.filter(label_set=row, user=request.user).first()
    context = {
        "section": "trust",
        "row": row,
        "facts": set_facts(row),
        "raters": rater_lines(row),
        "mine": progress_of(row, rater or LabelRater(label_set=row)) if rater else None,
        "page": items_page(row, request.GET.get("page", "1")),
        "texts_wait": has_texts_for(row, request.user),
        "labels_here": any(queue.label_set == row.pk for queue in request.label_queues),
        "can_edit": can_edit(request),
    }
    return render(request, PAGE, context)


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def label_set_edit(request: ProjectRequest, label_set: int) -> HttpResponse:
    """The set's name, raters for each text, and instructions."""
    row = label_set_or_404(request, label_set)
    initial = {"name": row.name, "raters_wanted": row.raters_wanted, "note": row.note}
    form = SettingsForm(request.POST if request.method == "POST" else None, initial=initial)
    if form.is_bound and form.is_valid():
        try:
            label_set_change(label_set=row, user=request.user, **form.cleaned_data)
        except ValidationError as refused:
            for name, found in refused.message_dict.items():
                form.add_error(name, found)
        else:
            messages.success(request, "Saved.")
            return redirect("label_set_page", request.project.slug, row.pk)
    context = {"section": "trust", "row": row, "form": form}
    return render(request, "refinement/labels/edit.html", context, status=422 if form.is_bound else 200)


@require_POST
@project_view(role="editor")
def label_set_archived(request: ProjectRequest, label_set: int) -> HttpResponse:
    """Archives the set, or takes it out of the archive."""
    row = label_set_or_404(request, label_set)
    archived = request.POST.get("archived") != "no"
    if label_set_archive(label_set=row, user=request.user, archived=archived):
        messages.success(request, f"{row.name} was {'archived' if archived else 'unarchived'}.")
    return redirect("label_set_page", request.project.slug, row.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def label_set_add(request: ProjectRequest, label_set: int) -> HttpResponse:
    """Adds pasted texts, or rounds of the rubric's runs."""
    row = label_set_or_404(request, label_set)
    form = TextsForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            added = texts_added(request, row, form.cleaned_data)
        except ValidationError as refused:
            form.add_error(None, refused.messages)
        else:
            messages.success(
                request, f"Added {texts_words(added)}." if added else "There was nothing to add."
            )
            return redirect("label_set_page", request.project.slug, row.pk)
    context = {"section": "trust", "row": row, "form": form}
    return render(request, "refinement/labels/add.html", context, status=422 if form.is_bound else 200)


@require_safe
@project_view()
def label_set_export(request: ProjectRequest, label_set: int, what: str, form: str) -> StreamingHttpResponse:
    """The set's ratings or texts as CSV or JSON Lines, as the import reads them."""
    row = scored_set_or_404(request, label_set)
    write = EXPORTS.get((what, form))
    if write is None:
        raise Http404("Ratings and items are exported as csv or jsonl.")
    if what == "ratings":
        label_scores_seen_record(label_sets=[row], user=request.user)
    answer = StreamingHttpResponse(write(row), content_type=f"{MEDIA_TYPES[form]}; charset=utf-8")
    name = f"{slugify(row.name) or 'labels'}.{what}.{form}"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


@require_safe
@project_view()
def label_item_page(request: ProjectRequest, label_set: int, position: int) -> HttpResponse:
    """A text with everybody's scores of it."""
    row = scored_set_or_404(request, label_set)
    return item_page(request, row, position)


def item_page(request: ProjectRequest, row: LabelSet, position: int, status: int = 200) -> HttpResponse:
    item = label_item_or_404(row, position)
    label_scores_seen_record(label_sets=[row], user=request.user)
    rubric = definition_of(row.rubric_version)
    context = {
        "section": "trust",
        "row": row,
        "item": item,
        "text": candidate_text(item.text, raw=False),
        "criteria": rubric.criteria,
        "lines": label_lines(item, rubric),
        "can_edit": can_edit(request),
        "before": row.items.filter(position__lt=position).order_by("-position").first(),
        "after": row.items.filter(position__gt=position).order_by("position").first(),
    }
    return render(request, "refinement/labels/item.html", context, status=status)


@require_POST
@project_view(role="editor")
def label_wrong(request: ProjectRequest, label_set: int, position: int, label: int) -> HttpResponse:
    """Says which scores of a label were wrong, so that they no longer count."""
    row = scored_set_or_404(request, label_set)
    item = label_item_or_404(row, position)
    found = label_or_404(item, label)
    try:
        if label_wrong_mark(label=found, criteria=request.POST.getlist("criterion"), user=request.user):
            messages.success(request, "Saved. Scores marked as wrong no longer count.")
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
        return item_page(request, row, position, status=422)
    return redirect("label_item_page", request.project.slug, row.pk, position)
