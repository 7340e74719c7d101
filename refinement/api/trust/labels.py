"""Label sets: list, create, get, save, archive, texts, raters, import and export."""

from dataclasses import asdict
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.urls import reverse
from ninja import Field, Query, Router

from refinement.access.labelling import label_set_or_404, scored_set_or_404, trust_or_labelling
from refinement.api.core.auth import ApiRequest
from refinement.api.core.etags import IF_MATCH, require_match, tagged
from refinement.api.core.idempotency import creates, made_at
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.api.trust.label_shapes import (
    LabelImportNew,
    LabelImportResult,
    LabelSetLine,
    LabelSetNew,
    LabelSetSave,
    LabelShape,
    RaterShape,
    TextLine,
    TextsAdded,
    TextsNew,
    label_shape,
    set_tag,
)
from refinement.interchange.labels.writing import MEDIA_TYPES
from refinement.models import Label, LabelSet, Rubric
from refinement.selectors.rubrics.definitions import RubricNotFound, version_named
from refinement.selectors.trust.label_queue import rater_lines
from refinement.selectors.trust.label_rounds import rounds_chosen, rounds_with_texts
from refinement.selectors.trust.labels import EXPORTS, items_counted, label_sets_of, set_lines
from refinement.services.trust.label_importing import FileText, WrongSet, label_files_import
from refinement.services.trust.label_items import NewText, label_rounds_add, label_texts_add
from refinement.services.trust.labelling import label_scores_seen_record
from refinement.services.trust.labels import label_set_archive, label_set_change, label_set_create
from refinement.texts import label

router = Router(tags=["Label sets"])
GIVES_A_FILE: dict[str, Any] = {
    "responses": {200: {"description": "The file.", "content": {"*/*": {"schema": {}}}}}
}


class LabelSetQuery(Paging):
    """Filters of label sets."""

    rubric: str = Field("", max_length=80, description="The rubric's slug.")
    archived: bool = False


@router.get("/label-sets", response=Page[LabelSetLine])
@member()
def label_set_list(request: ApiRequest, query: Query[LabelSetQuery]) -> Page[LabelSetLine]:
    """List the project's label sets. Newest first."""
    rows = label_sets_of(request.project, archived=query.archived, rubric=query.rubric)
    shown, following = page_by_number(rows, query)
    return Page[LabelSetLine].of(lines_of(request, shown), following)


def lines_of(request: ApiRequest, rows: list[LabelSet]) -> list[LabelSetLine]:
    return [
        LabelSetLine(
            id=line.row.pk,
            name=line.row.name,
            rubric=f"{line.row.rubric.slug}@{line.row.rubric_version.number}",
            note=line.row.note,
            raters_wanted=line.row.raters_wanted,
            texts=line.items,
            labels=line.labels,
            people=line.people,
            waiting=line.mine,
            created_at=line.row.created_at,
            archived_at=line.row.archived_at,
        )
        for line in set_lines(rows, request.user.pk)
    ]


@router.post("/label-sets", response={201: LabelSetLine})
@member("editor")
@creates()
def label_set_new(request: ApiRequest, body: LabelSetNew) -> LabelSetLine:
    """Create a label set: with texts, with rounds of runs, or empty."""
    try:
        version = version_named(request.project, body.rubric)
    except RubricNotFound as unknown:
        raise ValidationError({"rubric": str(unknown)}) from None
    with transaction.atomic():
        row = label_set_create(
            project=request.project,
            version=version,
            name=body.name,
            note=body.note,
            raters_wanted=body.raters_wanted,
            user=request.user,
        )
        texts_added(request, row, body)
    made_at(request, reverse("api:label_set_read", args=[request.project.slug, row.pk]), set_tag(row))
    return lines_of(request, [row])[0]


def texts_added(request: ApiRequest, row: LabelSet, body: TextsNew) -> int:
    given = [NewText(entry.text, entry.task, entry.task_type, entry.key) for entry in body.texts]
    added = label_texts_add(label_set=row, texts=given, user=request.user) if given else 0
    if body.rounds:
        chosen = rounds_chosen(
            request.project, row.rubric, body.rounds, task_type=label(body.task_type), without=row
        )
        added += label_rounds_add(label_set=row, rounds=rounds_with_texts(chosen.rounds), user=request.user)
    return added


@router.post("/label-sets/import", response=LabelImportResult)
@member("editor")
def label_set_imported(request: ApiRequest, body: LabelImportNew) -> LabelImportResult:
    """Import ratings and texts, or preview the import. Errors are listed by line."""
    slug = body.rubric.partition("@")[0]
    for rubric in Rubric.objects.filter(project=request.project, slug=slug):
        trust_or_labelling(request, rubric.pk)
    try:
        result = label_files_import(
            project=request.project,
            rubric=body.rubric,
            name=body.name,
            ratings=FileText(body.ratings),
            items=FileText(body.items),
            judges=body.judges,
            user=request.user,
            dry_run=body.dry_run,
        )
    except RubricNotFound as unknown:
        raise ValidationError({"rubric": str(unknown)}) from None
    except WrongSet as wrong:
        raise ValidationError({"name": str(wrong)}) from None
    return LabelImportResult.model_validate(result.as_dict())


@router.get("/label-sets/{int:label_set}", response=LabelSetLine)
@member()
def label_set_read(request: ApiRequest, response: HttpResponse, label_set: int) -> LabelSetLine:
    """Get a label set. Send its `ETag` as `If-Match` with a change."""
    row = label_set_or_404(request, label_set)
    tagged(response, set_tag(row))
    return lines_of(request, [row])[0]


@router.put("/label-sets/{int:label_set}", response=LabelSetLine)
@member("editor")
def label_set_saved(
    request: ApiRequest, response: HttpResponse, label_set: int, body: LabelSetSave, if_match: str = IF_MATCH
) -> LabelSetLine:
    """Change a label set's name, instructions or number of raters."""
    row = label_set_or_404(request, label_set)
    require_match(request, set_tag(row))
    label_set_change(
        label_set=row,
        name=row.name if body.name is None else body.name,
        note=row.note if body.note is None else body.note,
        raters_wanted=row.raters_wanted if body.raters_wanted is None else body.raters_wanted,
        user=request.user,
    )
    tagged(response, set_tag(row))
    return lines_of(request, [row])[0]


@router.post("/label-sets/{int:label_set}/archive", response=LabelSetLine)
@member("editor")
def label_set_archived(request: ApiRequest, label_set: int) -> LabelSetLine:
    """Archive a label set. Its labels no longer count."""
    return put_away(request, label_set, archived=True)


@router.post("/label-sets/{int:label_set}/unarchive", response=LabelSetLine)
@member("editor")
def label_set_unarchived(request: ApiRequest, label_set: int) -> LabelSetLine:
    """Unarchive a label set."""
    return put_away(request, label_set, archived=False)


def put_away(request: ApiRequest, number: int, *, archived: bool) -> LabelSetLine:
    row = label_set_or_404(request, number)
    label_set_archive(label_set=row, user=request.user, archived=archived)
    return lines_of(request, [row])[0]


@router.get("/label-sets/{int:label_set}/texts", response=Page[TextLine])
@member()
def label_text_list(request: ApiRequest, label_set: int, paging: Query[Paging]) -> Page[TextLine]:
    """List the texts of a set, without their content and scores. In their order."""
    rows = items_counted(label_set_or_404(request, label_set))
    shown, following = page_by_number(rows, paging, newest_first=False, key="position")
    lines = [
        TextLine(
            position=row.position,
            key=row.key,
            title=row.title,
            task_type=row.task_type,
            chars=row.text_chars,
            run=row.round.run_id if row.round else None,
            round=row.round.number if row.round else None,
            people=row.people,  # type: ignore[attr-defined]
            judges=row.judges,  # type: ignore[attr-defined]
        )
        for row in shown
    ]
    return Page[TextLine].of(lines, following)


@router.post("/label-sets/{int:label_set}/texts", response=TextsAdded)
@member("editor")
def label_texts_added(request: ApiRequest, label_set: int, body: TextsNew) -> TextsAdded:
    """Add texts, or rounds of the rubric's runs. Texts that the set has are not added again."""
    row = label_set_or_404(request, label_set)
    with transaction.atomic():
        return TextsAdded(added=texts_added(request, row, body))


@router.get("/label-sets/{int:label_set}/raters", response=list[RaterShape])
@member()
def label_rater_list(request: ApiRequest, label_set: int) -> list[RaterShape]:
    """List a set's raters, and who labels next."""
    lines = [asdict(line) for line in rater_lines(label_set_or_404(request, label_set))]
    return [
        RaterShape.model_validate({**line, "labelling": line["is_open"], "next": line["is_next"]})
        for line in lines
    ]


@router.get("/label-sets/{int:label_set}/labels", response=Page[LabelShape])
@member()
def label_list(request: ApiRequest, label_set: int, paging: Query[Paging]) -> Page[LabelShape]:
    """List all labels of a set. In order of creation. 403 while you label for its rubric."""
    row = scored_set_or_404(request, label_set)
    label_scores_seen_record(label_sets=[row], user=request.user)
    rows = Label.objects.filter(item__label_set=row).select_related("item", "rater").defer("item__text")
    shown, following = page_by_number(rows, paging, newest_first=False)
    return Page[LabelShape].of([label_shape(entry, entry.item) for entry in shown], following)


@router.get("/label-sets/{int:label_set}/export/{what}/{form}", openapi_extra=GIVES_A_FILE)
@member()
def label_set_export(request: ApiRequest, label_set: int, what: str, form: str) -> StreamingHttpResponse:
    """Get a set's `ratings` or `items` as `csv` or `jsonl`, in the format of the import."""
    row = scored_set_or_404(request, label_set)
    write = EXPORTS.get((what, form))
    if write is None:
        raise Http404("Label sets are exported as ratings or items, in csv or jsonl.")
    if what == "ratings":
        label_scores_seen_record(label_sets=[row], user=request.user)
    return StreamingHttpResponse(write(row), content_type=f"{MEDIA_TYPES[form]}; charset=utf-8")
