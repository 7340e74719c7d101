"""What fails most: figures over filtered runs, and the categories of issues."""

from typing import Any, Literal

from django.db import transaction
from django.http import Http404
from django.utils import timezone
from ninja import Field, Query, Router, Schema

from refinement.api.core.auth import ApiRequest
from refinement.api.core.paging import LARGEST_NUMBER, Number, Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.api.core.problems import Refused
from refinement.api.runs.runs import RunFilters, filter_form
from refinement.models import FailureCategory, FailureIssue
from refinement.selectors.failures.categories import categories_of
from refinement.selectors.failures.criteria import criteria_figures
from refinement.selectors.failures.issues import issue_rows, issues_in
from refinement.selectors.failures.others import (
    check_figures,
    error_kinds,
    invented_names,
    stop_reasons,
)
from refinement.selectors.failures.sentence import sentence_parts
from refinement.selectors.failures.tables import (
    category_row,
    checks_table,
    counts_table,
    criteria_table,
    names_table,
    numbers,
)
from refinement.selectors.failures.window import SIZES, window_of, with_experiments
from refinement.selectors.failures.wording import worded_visibly
from refinement.selectors.reviews.blindness import without_hidden
from refinement.services.failures.editing import (
    MOST_MOVED,
    CategoryChanged,
    NotPossible,
    categories_merge,
    category_change,
    category_separate,
    issues_move,
)

router = Router(tags=["Failures"])


class FailureQuery(RunFilters):
    """The filters of the run list, and how many of the newest matching runs count."""

    experiments: Literal["leave_out", "include", "only"] = Field(
        "leave_out", description="For runs of experiments, unless `experiment` or `suite` is given."
    )
    window: int = Field(SIZES[0], ge=1, le=SIZES[-1], description="The newest matching runs that count.")


class Failures(Schema):
    """What fails most in the newest matching runs. Scores are from 0 to 10, shares from 0 to 1."""

    runs: int
    more: bool = Field(description="Whether older runs match, too.")
    answer: str = Field(description="The page's first sentence.")
    criteria: list[dict[str, Any]]
    categories: list[dict[str, Any]] = Field(
        description="With the `id` of each; null for “does not fit”. `share` is `runs` of `scored`: the runs "
        "that scored the criterion, or all if none did. `runs_without_score` are further runs with the issue."
    )
    checks: list[dict[str, Any]]
    invented_names: list[dict[str, Any]]
    stop_reasons: list[dict[str, Any]]
    errors: list[dict[str, Any]]


class CategoryShape(Schema):
    """A category of issues."""

    id: int
    name: str
    named: bool = Field(description="Whether a person gave the name.")
    criterion: str = Field(description="The criterion's key; empty if it is unknown.")
    note: str
    pinned: bool
    dismissed: bool = Field(description="Not an issue for people: figures leave it out.")
    merged_into: int | None
    edition: int = Field(description="Rises with each change; send it with a change.")


class CategoryChange(Schema):
    """What to change; omitted fields stay."""

    edition: int = Field(ge=1, le=2**31, description="The edition that you read.")
    name: str | None = Field(None, max_length=120, description="Empty for the automatic name.")
    note: str | None = Field(None, max_length=4_000)
    pinned: bool | None = None
    dismissed: bool | None = Field(None, description="true: not an issue; figures leave it out.")


class Merge(Schema):
    """The categories to merge into this one."""

    categories: list[Number] = Field(min_length=1, max_length=50, examples=[[12, 13]])


class Move(Schema):
    """Issues and their new category; null if they fit nowhere."""

    issues: list[Number] = Field(min_length=1, max_length=MOST_MOVED)
    category: int | None = Field(None, ge=1, le=LARGEST_NUMBER)


class Moved(Schema):
    moved: int


class IssueShape(Schema):
    """An issue of a judge, with what became of it in the next round."""

    id: int
    run: int
    round: int
    text: str
    criterion: str
    score: float | None
    next_round: str


@router.get("", response=Failures)
@member()
def failures_read(request: ApiRequest, query: Query[FailureQuery]) -> Failures:
    """Get what fails most: criteria, issue categories, checks, invented names, stop reasons and errors."""
    given = query.model_dump(exclude={"window", "experiments"})
    form = filter_form(request, RunFilters.model_construct(**given))
    filters = with_experiments(form.filters, query.experiments)
    window = window_of(request.project, filters, query.window)
    criteria, _ = criteria_figures(window)
    found = categories_of(request.project, window, timezone.now(), criteria)
    return Failures(
        runs=len(window.runs),
        more=window.more,
        answer="".join(text for text, _ in sentence_parts(window, criteria, found.listed)),
        criteria=[numbers(row) for row in criteria_table(criteria)],
        categories=[
            {"id": entry.row.pk if entry.row else None, **numbers(category_row(entry))}
            for entry in (*found.listed, found.rest)
        ],
        checks=[numbers(row) for row in checks_table(check_figures(window))],
        invented_names=[numbers(row) for row in names_table(invented_names(window))],
        stop_reasons=[numbers(row) for row in counts_table("reason", stop_reasons(window))],
        errors=[numbers(row) for row in counts_table("error", error_kinds(window))],
    )


@router.get("/categories", response=Page[CategoryShape])
@member()
def failure_categories(request: ApiRequest, paging: Query[Paging]) -> Page[CategoryShape]:
    """List the project's categories, oldest first, merged ones included."""
    rows = FailureCategory.objects.filter(project=request.project).defer("examples")
    if request.blind_runs:
        rows = rows.filter(pk__in=without_hidden(FailureIssue.objects.all(), "run").values("category"))
    found, following = page_by_number(rows, paging, newest_first=False)
    worded_visibly(found)
    return Page[CategoryShape].of([category_shape(row) for row in found], following)


@router.patch("/categories/{int:category}", response=CategoryShape)
@member("editor")
def failure_category_change(request: ApiRequest, category: int, body: CategoryChange) -> CategoryShape:
    """Rename, annotate or pin a category. Refused with 409 if somebody changed it since `edition`."""
    row = category_in(request, category)
    try:
        return changed_shape(category_change(row, request.user, **body.model_dump()))
    except CategoryChanged as refused:
        raise Refused(409, str(refused), "changed") from None
    except NotPossible as refused:
        raise Refused(422, str(refused), "invalid") from None


@router.post("/categories/{int:category}/merge", response=CategoryShape)
@member("editor")
def failure_category_merge(request: ApiRequest, category: int, body: Merge) -> CategoryShape:
    """Merge other categories, and later issues like theirs, into this category."""
    target, others = category_in(request, category), [category_in(request, pk) for pk in body.categories]
    try:
        return changed_shape(categories_merge(target, others, request.user))
    except NotPossible as refused:
        raise Refused(422, str(refused), "invalid") from None


@router.post("/categories/{int:category}/separate", response=CategoryShape)
@member("editor")
def failure_category_separate(request: ApiRequest, category: int) -> CategoryShape:
    """Separate a merged category again."""
    row = category_in(request, category)
    try:
        return changed_shape(category_separate(row, request.user))
    except NotPossible as refused:
        raise Refused(422, str(refused), "invalid") from None


@router.get("/categories/{int:category}/issues", response=Page[IssueShape])
@member()
def failure_category_issues(request: ApiRequest, category: int, paging: Query[Paging]) -> Page[IssueShape]:
    """List the issues of a category, the last read first."""
    rows = issues_in(request.project, category_in(request, category)).select_related("run")
    found, following = page_by_number(rows, paging)
    return Page[IssueShape].of(
        [
            IssueShape(
                id=row.pk,
                run=row.run,
                round=row.round_number,
                text=row.text,
                criterion=row.criterion,
                score=row.score,
                next_round=row.fate,
            )
            for row in issue_rows(found)
        ],
        following,
    )


@router.post("/issues/move", response=Moved)
@member("editor")
@transaction.atomic
def failure_issues_moved(request: ApiRequest, body: Move) -> Moved:
    """Move issues to a category, or to none. Later issues like them follow."""
    rows = FailureIssue.objects.filter(project=request.project, pk__in=body.issues)
    issues = list(without_hidden(rows, "run").select_related("project").order_by("pk"))
    target = category_in(request, body.category) if body.category else None
    try:
        issues_move(issues, request.user, to=target)
    except NotPossible as refused:
        raise Refused(422, str(refused), "invalid") from None
    return Moved(moved=len(issues))


def category_in(request: ApiRequest, number: int) -> FailureCategory:
    row = FailureCategory.objects.filter(project=request.project, pk=number).first()
    if row is None or (request.blind_runs and not issues_in(request.project, row).exists()):
        raise Http404("There is no such category in this project.")
    row.project = request.project
    return row


def changed_shape(row: FailureCategory) -> CategoryShape:
    worded_visibly([row])
    return category_shape(row)


def category_shape(row: FailureCategory) -> CategoryShape:
    return CategoryShape(
        id=row.pk,
        name=row.shown_name,
        named=bool(row.name),
        criterion=row.criterion,
        note=row.note,
        pinned=row.pinned,
        dismissed=row.dismissed,
        merged_into=row.merged_into_id,
        edition=row.edition,
    )
