"""The labelling queue: one text at a time, without anybody's scores."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from refinement.access.labelling import label_item_or_404, label_set_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.reviews.human_scores import HumanScoreForm
from refinement.judging.schema import scale_in_words
from refinement.models import Label, LabelItem, LabelRater, LabelSet
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.runs.calls import said
from refinement.selectors.runs.texts.texts import candidate_text
from refinement.selectors.trust.label_queue import next_item, progress_of, rater_lines, waiting_for
from refinement.services.reviews.human_scores import REASON, SCORE
from refinement.services.trust.labelling import LabelConflict, label_give, queue_leave, queue_open
from refinement.views.suites.context import whole


@require_http_methods(["GET", "HEAD", "POST"])
@project_view()
def label_queue(request: ProjectRequest, label_set: int) -> HttpResponse:
    """The next text, or the one at `?text=`. Opened and saved by POST."""
    row = label_set_or_404(request, label_set)
    if request.method == "POST":
        return posted(request, row)
    rater = LabelRater.objects.filter(label_set=row, user=request.user).first()
    item = asked_for(request, row, rater)
    if rater is None or (rater.opened_at is None and (item is None or not is_mine(item, rater))):
        return begin_page(request, row, rater)
    if item is None:
        return begin_page(request, row, rater)
    return text_page(request, row, rater, item)


def asked_for(request: ProjectRequest, row: LabelSet, rater: LabelRater | None) -> LabelItem | None:
    position = whole(request.GET.get("text"))
    if position is not None:
        return label_item_or_404(row, position)
    return next_item(row, rater, whole(request.GET.get("after")) or 0) if rater else None


def is_mine(item: LabelItem, rater: LabelRater) -> bool:
    return Label.objects.filter(item=item, rater=rater).exists()


def posted(request: ProjectRequest, row: LabelSet) -> HttpResponse:
    position = whole(request.POST.get("text"))
    if position is not None:
        return saved(request, row, label_item_or_404(row, position))
    try:
        queue_open(label_set=row, user=request.user)
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
    return redirect("label_queue", request.project.slug, row.pk)


def saved(request: ProjectRequest, row: LabelSet, item: LabelItem) -> HttpResponse:
    """Saves the scores and redirects to the next text."""
    rubric = definition_of(row.rubric_version)
    form = HumanScoreForm(request.POST, definition=rubric)
    rater = LabelRater.objects.filter(label_set=row, user=request.user).first()
    if rater is None or (rater.opened_at is None and not is_mine(item, rater)):
        return begin_page(request, row, rater, status=422)
    if not form.is_valid():
        return text_page(request, row, rater, item, form=form, status=422)
    try:
        label_give(
            item=item,
            user=request.user,
            definition=rubric,
            submitted=form.reading,
            seen_version=form.cleaned_data["version"],
        )
    except LabelConflict as conflict:
        typed = request.POST.copy()
        typed["version"] = str(conflict.stored.version)
        form = HumanScoreForm(typed, definition=rubric)
        return text_page(request, row, rater, item, form=form, meanwhile=conflict.stored, status=409)
    except ValidationError as refused:
        if hasattr(refused, "error_dict"):
            form.take_over(refused)
        else:
            form.add_error(None, refused)
        return text_page(request, row, rater, item, form=form, status=422)
    address = reverse("label_queue", args=[request.project.slug, row.pk])
    return redirect(f"{address}?scored={item.position}")


def text_page(
    request: ProjectRequest,
    row: LabelSet,
    rater: LabelRater,
    item: LabelItem,
    *,
    form: HumanScoreForm | None = None,
    meanwhile: Label | None = None,
    status: int = 200,
) -> HttpResponse:
    rubric = definition_of(row.rubric_version)
    kept = Label.objects.filter(item=item, rater=rater).first()
    raw = request.GET.get("view") == "raw"
    context = {
        "section": "trust",
        "row": row,
        "item": item,
        "rubric": rubric,
        "form": form or HumanScoreForm(definition=rubric, initial=label_initial(kept)),
        "kept": kept,
        "meanwhile": meanwhile,
        "is_open": rater.opened_at is not None,
        "was_left": rater.left_at is not None,
        "raw": raw,
        "text": candidate_text(item.text, raw=raw),
        "task": said("task", item.task),
        "scale_words": scale_in_words(rubric.scale),
        "progress": progress_of(row, rater),
        "last": rater.labels.select_related("item").order_by("-id").exclude(item=item).first(),
    }
    return render(request, "refinement/labels/queue.html", context, status=status)


def label_initial(kept: Label | None) -> dict[str, Any]:
    """Initial values of an existing label."""
    if kept is None:
        return {"version": 0}
    scores = {SCORE + key: score for key, score in kept.scores.items()}
    reasons = {REASON + key: reason for key, reason in kept.reasons.items()}
    return {"version": kept.version, "note": kept.note, **scores, **reasons}


def begin_page(
    request: ProjectRequest, row: LabelSet, rater: LabelRater | None, status: int = 200
) -> HttpResponse:
    """What labelling hides, and a button to start; or who labels next if the user is done."""
    context = {
        "section": "trust",
        "row": row,
        "rater": rater,
        "waiting": waiting_for(row, rater).count() if row.archived_at is None else 0,
        "raters": rater_lines(row),
        "has_texts": row.items.filter(text_chars__gt=0).exists(),
    }
    return render(request, "refinement/labels/begin.html", context, status=status)


@require_POST
@project_view()
def label_queue_leave(request: ProjectRequest, label_set: int) -> HttpResponse:
    """Closes the queue after confirmation; later labels are not blind."""
    row = label_set_or_404(request, label_set)
    if request.POST.get("sure") != "yes":
        return render(request, "refinement/labels/leave.html", {"section": "trust", "row": row})
    if queue_leave(label_set=row, user=request.user):
        messages.success(request, "You left labelling. Scores and figures are visible now.")
    return redirect("label_set_page", request.project.slug, row.pk)
