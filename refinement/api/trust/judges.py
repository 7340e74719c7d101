"""Judges: their figures, what a report of one says, and two compared."""

from datetime import datetime
from typing import Any, Literal

from django.http import Http404
from ninja import Field, Query, Router, Schema, Status

from refinement.access.judges import figures_or_blind, judge_or_404, label_set_of_judge_or_404
from refinement.access.labelling import labelled_rubrics
from refinement.api.core.auth import ApiRequest
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.models import JudgeRecord
from refinement.selectors.experiments.reports.stored import StoredResults
from refinement.selectors.trust.judges import judges_in
from refinement.services.trust.reports import judges_wanted, trust_requested, trust_wanted

router = Router(tags=["Judges"])


class JudgeQuery(Paging):
    """Filters of judges."""

    rubric: str = Field("", max_length=100, description="The rubric's slug.", examples=["release-notes"])
    version: int | None = Field(None, ge=1, le=2**31 - 1, description="The rubric's version.")
    judge: str = Field("", max_length=400, description="The model, `endpoint/model`, or a board's key.")


class JudgeLine(Schema):
    """A judge: a rubric version with a model or a board. Figures are null until they are known."""

    id: int
    rubric: str = Field(description="slug@version", examples=["release-notes@3"])
    key: str = Field(description="The model, or a board's digest.", examples=["gemma3:27b"])
    name: str
    model: str
    endpoint: str = Field(description="Where it was last called; empty if it never was.")
    board: bool
    labels: int = Field(description="Texts that people and the judge scored.")
    kappa: float | None
    alpha: float | None
    bias: float | None
    smallest_difference: float | None = Field(
        description="The smallest real difference between two judgements, of the composite."
    )
    worse_than_people: bool | None
    computed_at: datetime | None


class ValueShape(Schema):
    """A figure with its 95 % interval; without one if there are too few texts."""

    value: float
    low: float | None
    high: float | None


Standing = Literal[
    "not_enough", "not_measurable", "as_people", "unclear", "below_people", "not_usable", "unknown"
]


class CriterionTrust(Schema):
    """What the judge's scores on one criterion, or its composite, are worth."""

    key: str
    name: str
    n: int = Field(description="Texts that people and the judge scored.")
    raters: int = Field(description="People who scored them.")
    pairs_n: int
    alpha_n: int = Field(description="Texts that two people or more scored.")
    retest_items: int
    retest_judgements: int
    kappa: ValueShape | None = Field(description="Quadratic-weighted, with each person, averaged.")
    kappa_baseline: ValueShape | None = Field(description="Of always giving the most common score: 0.")
    alpha: ValueShape | None = Field(description="Krippendorff's alpha over people: the ceiling.")
    alpha_ordinal: ValueShape | None = Field(None, description="The same by ranks instead of distances.")
    bias: ValueShape | None = Field(description="The judge minus the mean of people.")
    mae: ValueShape | None
    tau_b: ValueShape | None
    within_one: ValueShape | None = Field(description="Share of people's scores within a point.")
    within_one_baseline: ValueShape | None
    retest_sd: ValueShape | None = Field(
        description="Deviation of repeated judgements of one text. Null without enough repeats."
    )
    smallest_difference: ValueShape | None = Field(description="1.96 × √2 × the retest deviation.")
    flip_rate: ValueShape | None = Field(description="Pairs of repeats on both sides of the pass mark.")
    standing: Standing
    worse_than_people: bool | None
    grid: list[list[float]] = Field(
        description="[people, judge, count, how many of them disagree] of rounded scores."
    )
    people_mean: float | None
    judge_mean: float | None


class TrustShape(Schema):
    """A judge's report."""

    labels: int
    raters: list[str]
    items_with_two: int
    evidence: Literal["none", "not_enough", "usable", "may_gate", "compares"] = Field(
        description="0, below 30, from 30, from 100, from 200 texts."
    )
    scale: dict[str, float]
    pass_mark: float | None
    criteria: list[CriterionTrust]
    composite: CriterionTrust
    length: dict[str, Any] | None = Field(description="Points per 100 words at equal scores by people.")
    family: dict[str, Any] | None = Field(description="Extra points for texts of its own model family.")
    usable: dict[str, Any] | None = Field(description="Usable replies.")
    correction: dict[str, Any] | None = Field(description="The mean of all rounds, raw and corrected.")
    planted: dict[str, Any] | None = Field(description="Planted defects that it noticed.")
    disagreements: dict[str, Any] = Field(
        description="Texts 30 % of the scale or more apart: `top` has the farthest 200."
    )
    wrong_labels: int


class StoredTrust(Schema):
    """The last computed report, and whether newer scores are missing in it."""

    judge: JudgeLine
    status: str = Field(description="queued, running, waiting, done or failed.")
    is_current: bool
    computed_at: datetime | None
    error: str
    report: TrustShape | None


class PairShape(Schema):
    """One criterion, on the texts that people and both judges scored."""

    key: str
    name: str
    n: int
    raters: int
    first: dict[str, ValueShape | None]
    second: dict[str, ValueShape | None]
    difference: dict[str, ValueShape | None] = Field(description="The second judge minus the first.")
    verdict: Literal["first", "second", "no_difference", "not_enough"] = Field(
        description="Who agrees better with people."
    )


class JudgesShape(Schema):
    """Two judges on the same texts."""

    items: int
    evidence: str
    criteria: list[PairShape]
    composite: PairShape


class StoredJudges(Schema):
    """The last computed comparison."""

    first: JudgeLine
    second: JudgeLine
    status: str
    is_current: bool
    computed_at: datetime | None
    error: str
    comparison: JudgesShape | None


class SetQuery(Schema):
    """Which texts count."""

    set: str = Field("", max_length=200, description="A label set's name; all texts without one.")


def judge_line(record: JudgeRecord) -> dict[str, Any]:
    version = record.rubric_version
    names = ("key", "name", "model", "endpoint", "labels", "kappa", "alpha", "bias", "smallest_difference")
    return {
        "id": record.pk,
        "rubric": f"{version.rubric.slug}@{version.number}",
        "board": record.is_board,
        **{name: getattr(record, name) for name in (*names, "worse_than_people", "computed_at")},
    }


@router.get("", response=Page[JudgeLine])
@member()
def judge_list(request: ApiRequest, query: Query[JudgeQuery]) -> dict[str, Any]:
    """List judges. The newest first; without those of rubrics that you label blind."""
    rows = judges_in(request.project).exclude(rubric_version__rubric__in=labelled_rubrics(request))
    if query.rubric:
        rows = rows.filter(rubric_version__rubric__slug=query.rubric)
    if query.version is not None:
        rows = rows.filter(rubric_version__number=query.version)
    if query.judge:
        rows = rows.filter(key__in=[query.judge, query.judge.partition("/")[2] or query.judge])
    if request.blind_runs:
        rows = rows.exclude(rubric_version__rubric__runs__in=request.blind_runs)
    found, following = page_by_number(rows, query)
    return {"items": [judge_line(row) for row in found], "next": following}


@router.get("/{int:judge}", response={200: StoredTrust, 202: StoredTrust})
@member()
def judge_read(request: ApiRequest, judge: int, query: Query[SetQuery]) -> Status[dict[str, Any]]:
    """Get a judge's report. 202 while a worker computes the first one; poll while `is_current` is false."""
    record = judge_or_404(request, judge)
    figures_or_blind(request, record)
    label_set = label_set_of_judge_or_404(request, record, query.set)
    return answered(record, trust_wanted(record, label_set))


@router.post("/{int:judge}/refresh", response={202: StoredTrust})
@member("editor")
def judge_refresh(request: ApiRequest, judge: int, query: Query[SetQuery]) -> Status[dict[str, Any]]:
    """Compute a judge's report again. This happens automatically after new labels or measurements."""
    record = judge_or_404(request, judge)
    figures_or_blind(request, record)
    label_set = label_set_of_judge_or_404(request, record, query.set)
    return Status(202, answered(record, trust_requested(record, label_set)).value)


@router.get("/{int:judge}/compare/{int:other}", response={200: StoredJudges, 202: StoredJudges})
@member()
def judges_compared(request: ApiRequest, judge: int, other: int) -> Status[dict[str, Any]]:
    """Compare two judges. On the texts that people and both judges scored."""
    first, second = judge_or_404(request, judge), judge_or_404(request, other)
    if first.pk == second.pk:
        raise Http404("A judge is not compared with itself.")
    figures_or_blind(request, first, second)
    stored = judges_wanted(first, second)
    sides = {"first": judge_line(first), "second": judge_line(second)}
    return with_status(stored, {**sides, **about(stored), "comparison": stored.result})


def answered(record: JudgeRecord, stored: StoredResults) -> Status[dict[str, Any]]:
    return with_status(stored, {"judge": judge_line(record), **about(stored), "report": stored.result})


def about(stored: StoredResults) -> dict[str, Any]:
    return {
        "status": stored.status or "queued",
        "is_current": stored.is_current,
        "computed_at": stored.computed_at,
        "error": stored.error,
    }


def with_status(stored: StoredResults, values: dict[str, Any]) -> Status[dict[str, Any]]:
    """202 until there is something to read; a failed computation is something."""
    return Status(202 if stored.result is None and stored.is_pending else 200, values)
