"""Rubric tests: a text judged several times with one version."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from django.core.exceptions import ValidationError
from django.urls import reverse
from ninja import Field, Query, Router, Schema
from pydantic import StringConstraints

from refinement.access.objects import rubric_or_404, version_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.idempotency import creates, made_at
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.api.core.problems import Refused
from refinement.engine.panels import MOST_JUDGES
from refinement.judging.schema import plain, scale_in_words
from refinement.models import Bench, BenchCall, BenchStatus, BenchTrial, CandidateOrigin, Round, RubricVersion
from refinement.providers.registry import Target
from refinement.selectors.launch.available_models import target_typed
from refinement.selectors.reviews.blindness import without_hidden
from refinement.selectors.rubrics.bench import bench_or_404, benches_of, trial_or_404, trials_of
from refinement.selectors.rubrics.bench_boards import board_report, report_for
from refinement.selectors.rubrics.bench_report import Line
from refinement.selectors.trust.measurements.definitions import definition_for
from refinement.services.rubrics.bench import (
    MAX_CANDIDATE_CHARS,
    MAX_TASK_CHARS,
    MOST_REPEATS,
    Candidate,
    bench_cancel,
    bench_create,
    bench_scores_set,
)

router = Router(tags=["Test bench"])
LARGEST_NUMBER = 2**31 - 1
DIGITS = Decimal("0.000001")
MOST_MODEL_CHARS = 200
MOST_CRITERIA = 200
Number = Annotated[str, StringConstraints(max_length=20, pattern=r"^-?\d{1,6}(\.\d{1,3})?$")]


class BenchNew(Schema):
    """What to judge, by which model, and how often."""

    source: Literal["pasted", "calibration", "round"] = "pasted"
    candidate: str = Field("", max_length=MAX_CANDIDATE_CHARS, description="The text, if pasted.")
    run: int | None = Field(None, ge=1, le=LARGEST_NUMBER, description="If the text is a round's.")
    round: int | None = Field(None, ge=1, le=LARGEST_NUMBER)
    task: str = Field("", max_length=MAX_TASK_CHARS, description="Defaults to the round's task.")
    version: int | None = Field(None, ge=1, le=LARGEST_NUMBER, description="Defaults to the newest.")
    judge: str = Field(max_length=400, description="endpoint/model", examples=["ollama/qwen3:14b"])
    judges: Literal["", "single", "board", "auto"] = Field(
        "",
        description="One judge, or each judge of a board alone, without deliberation. Empty for the rubric's "
        "choice. Without a panel of the rubric's, the gallery's for its kind of work is used.",
    )
    repeats: int = Field(5, ge=1, le=MOST_REPEATS, description="On a board, for each judge.")
    temperature: Decimal = Field(Decimal(0), ge=0, le=2, decimal_places=2)
    anchored: bool = Field(
        False, description="Show the judge the rubric's calibration example and its scores, as in a run."
    )


class BenchJudge(Schema):
    """A judge of a board."""

    seat: int
    name: str
    lens: str
    model: str = Field(description="endpoint/model")


class BenchLine(Schema):
    """A rubric test in a list."""

    id: int
    version: int
    status: str = Field(description=f"One of {', '.join(BenchStatus.values)}.")
    title: str
    judge: str
    panel: list[BenchJudge] = Field(description="The judges of the board; empty for a single judge.")
    repeats: int
    temperature: str
    anchored: bool
    created_by: str | None
    created_at: datetime
    finished_at: datetime | None


class TrialShape(Schema):
    """A judgement; no composite until it is finished."""

    number: int = Field(description="The repeat.")
    seat: int = Field(description="Of the board's judge, from 1; 0 for a single judge.")
    status: str
    composite: str | None
    scores: dict[str, str] | None = Field(description="By criterion, after penalties.")
    said: list[dict[str, Any]] = Field(description="The judge's reasoning by criterion.")
    issues: list[str]
    asi: str
    penalties: list[dict[str, Any]]
    error: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: str


class Figure(Schema):
    """A criterion, or the composite with an empty key, over all trials; null without enough scores."""

    seat: int = Field(description="0 for the board, or for a single judge.")
    key: str
    mean: str | None
    spread: str | None = Field(description="Standard deviation between the repeats.")
    apart: str | None = Field(
        description="Of a board: from its lowest to its highest judge, mean over the repeats."
    )


class BenchShape(BenchLine):
    """A rubric test with its text and trials. A board's scores are its judges' medians."""

    candidate: str
    task: str
    human_scores: dict[str, str] = Field(description="Human scores by criterion.")
    figures: list[Figure]
    trials: list[TrialShape]


class TrialQuery(Schema):
    """Which judge's trial."""

    seat: int = Field(0, ge=0, le=MOST_JUDGES, description="Of the board's judge; 0 for a single judge.")


class BenchScores(Schema):
    """Human scores by criterion; they replace existing ones."""

    scores: dict[str, Number] = Field(max_length=MOST_CRITERIA, examples=[{"depth": "7.5"}])


class TrialCall(Schema):
    """A full model call."""

    number: int
    messages: list[dict[str, Any]]
    reply: str
    rung: str = Field(description="How the reply was parsed.")
    complaint: str
    error: str
    started_at: datetime
    seconds: str


class TrialCalls(Schema):
    """The model calls of a trial."""

    items: list[TrialCall]


@router.get("/rubrics/{rubric}/benches", response=Page[BenchLine])
@member()
def bench_list(request: ApiRequest, rubric: str, paging: Query[Paging]) -> Page[BenchLine]:
    """List a rubric's tests. Newest first."""
    found, following = page_by_number(benches_of(rubric_or_404(request, rubric)), paging)
    return Page[BenchLine](items=[BenchLine(**bench_values(row)) for row in found], next=following)


@router.post("/rubrics/{rubric}/benches", response={201: BenchShape})
@member("editor")
@creates()
def bench_new(request: ApiRequest, rubric: str, body: BenchNew) -> BenchShape:
    """Test a rubric on a text. Workers start immediately."""
    found = rubric_or_404(request, rubric)
    if found.archived_at:
        raise Refused(409, "This rubric is archived. Unarchive it to test its judge.", "archived")
    version = version_or_404(found, body.version)
    candidate, task = text_meant(request, body, version)
    bench = bench_create(
        version=version,
        candidate=candidate,
        judge=judge_named(body.judge),
        repeats=body.repeats,
        task=task,
        temperature=body.temperature,
        anchored=body.anchored,
        judges=body.judges,
        user=request.user,
    )
    values = {"slug": request.project.slug, "rubric": rubric, "bench": bench.pk}
    made_at(request, reverse("api:bench_read", kwargs=values))
    return bench_shape(bench)


@router.get("/rubrics/{rubric}/benches/{int:bench}", response=BenchShape)
@member()
def bench_read(request: ApiRequest, rubric: str, bench: int) -> BenchShape:
    """Get a rubric test with its trials so far."""
    return bench_shape(bench_or_404(rubric_or_404(request, rubric), bench))


@router.post("/rubrics/{rubric}/benches/{int:bench}/cancel", response=BenchShape)
@member("editor")
def bench_cancelled(request: ApiRequest, rubric: str, bench: int) -> BenchShape:
    """Cancel a rubric test. Finished trials are kept. 409 if it has ended."""
    found = rubric_or_404(request, rubric)
    if not bench_cancel(bench=bench_or_404(found, bench), user=request.user):
        raise Refused(409, "The test had already ended.", "wrong_state")
    return bench_shape(bench_or_404(found, bench))


@router.put("/rubrics/{rubric}/benches/{int:bench}/scores", response=BenchShape)
@member("editor")
def bench_scored(request: ApiRequest, rubric: str, bench: int, body: BenchScores) -> BenchShape:
    """Set human scores to compare with the judge's."""
    found = bench_or_404(rubric_or_404(request, rubric), bench)
    definition = definition_for(found)
    known = {criterion.key for criterion in definition.criteria}
    scores = {key: Decimal(score) for key, score in body.scores.items()}
    for key, score in scores.items():
        if key not in known:
            raise ValidationError({f"scores.{key[:60]}": "The rubric has no such criterion."})
        if not definition.scale.admits(score):
            words = f"Scores are {scale_in_words(definition.scale)}."
            raise ValidationError({f"scores.{key}": words})
    bench_scores_set(bench=found, scores=scores, user=request.user)
    return bench_shape(found)


@router.get("/rubrics/{rubric}/benches/{int:bench}/trials/{int:number}/calls", response=TrialCalls)
@member()
def trial_call_list(
    request: ApiRequest, rubric: str, bench: int, number: int, query: Query[TrialQuery]
) -> TrialCalls:
    """List the model calls of a trial."""
    trial = trial_or_404(bench_or_404(rubric_or_404(request, rubric), bench), number, query.seat)
    return TrialCalls(items=[call_shape(row) for row in trial.calls.all()])


def text_meant(request: ApiRequest, body: BenchNew, version: RubricVersion) -> tuple[Candidate, str]:
    """The text to judge and its task."""
    if body.source == "calibration":
        if not version.calibration_text:
            words = "This version has no calibration example. Choose another version or text."
            raise ValidationError({"source": words})
        return Candidate(version.calibration_text, CandidateOrigin.CALIBRATION), body.task
    if body.source == "pasted":
        return Candidate(body.candidate), body.task
    rows = Round.objects.select_related("run").filter(
        run__project=request.project, run=body.run or 0, number=body.round or 0
    )
    found = without_hidden(rows, "run").first()
    if found is None:
        raise ValidationError({"round": "Round not found in this project. Give a run and a round."})
    return Candidate(found.candidate, CandidateOrigin.ROUND, found), body.task or found.run.task


def judge_named(text: str) -> Target:
    try:
        target = target_typed(text)
    except ValueError as error:
        raise ValidationError({"judge": str(error)}) from None
    if len(target.model) > MOST_MODEL_CHARS:
        raise ValidationError({"judge": f"A model name has at most {MOST_MODEL_CHARS} characters."})
    return target


def bench_values(row: Bench) -> dict[str, Any]:
    return {
        "id": row.pk,
        "version": row.rubric_version.number,
        "status": row.status,
        "title": row.title,
        "judge": f"{row.endpoint}/{row.model}",
        "panel": [
            BenchJudge(
                seat=seat,
                name=judge["name"],
                lens=judge["lens"],
                model=f"{judge['endpoint']}/{judge['model']}",
            )
            for seat, judge in enumerate(row.panel, start=1)
        ],
        "repeats": row.repeats,
        "temperature": plain(row.temperature),
        "anchored": row.anchored,
        "created_by": row.created_by.display_name if row.created_by else None,
        "created_at": row.created_at,
        "finished_at": row.finished_at,
    }


def bench_shape(row: Bench) -> BenchShape:
    trials = trials_of(row)
    return BenchShape(
        **bench_values(row),
        candidate=row.candidate,
        task=row.task,
        human_scores=row.human_scores,
        figures=figures_of(row, trials),
        trials=[trial_shape(trial) for trial in trials],
    )


def figures_of(row: Bench, trials: list[BenchTrial]) -> list[Figure]:
    """The test's figures: the board's and then each judge's, or those of the single judge."""
    rubric = definition_for(row)
    report = report_for(rubric, row, trials, {})
    if not row.panel:
        return [figure(line, 0) for line in (*report.lines, report.total)]
    board = board_report(row, rubric, trials, report, {})
    return [
        *(figure(line.board, 0, line.apart) for line in board.lines),
        *(
            figure(line, seat)
            for seat, judge in enumerate(board.judges, start=1)
            for line in (*judge.report.lines, judge.report.total)
        ),
    ]


def figure(line: Line, seat: int, apart: Decimal | None = None) -> Figure:
    spread = line.spread
    return Figure(
        seat=seat,
        key=line.key,
        mean=rounded(spread.mean) if spread else None,
        spread=rounded(spread.deviation) if spread and spread.deviation is not None else None,
        apart=None if apart is None else rounded(apart),
    )


def rounded(value: Decimal) -> str:
    return plain(value.quantize(DIGITS))


def trial_shape(row: BenchTrial) -> TrialShape:
    return TrialShape(
        number=row.number,
        seat=row.seat,
        status=row.status,
        composite=None if row.composite is None else plain(row.composite),
        scores=row.scores,
        said=row.said,
        issues=row.issues,
        asi=row.asi,
        penalties=row.penalties,
        error=row.error,
        calls=row.calls_made,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        seconds=f"{row.seconds}",
    )


def call_shape(row: BenchCall) -> TrialCall:
    return TrialCall(
        number=row.number,
        messages=row.messages,
        reply=row.reply,
        rung=row.rung,
        complaint=row.complaint,
        error=row.error_message,
        started_at=row.started_at,
        seconds=f"{row.seconds}",
    )
