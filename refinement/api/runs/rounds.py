"""Rounds of a run: texts, verdicts, checks and diffs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.http import Http404, HttpResponse
from ninja import Field, Query, Router, Schema

from refinement.access.objects import run_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.idempotency import creates
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.api.runs.boards import JudgeAnswers, judge_answers
from refinement.api.runs.shapes import exact
from refinement.engine.codec import rubric_from_json
from refinement.engine.types import MetricValue
from refinement.models import CheckResult, EvaluatorResult, Round, Run, Verdict
from refinement.selectors.runs.boards.answers import answers_by_round
from refinement.selectors.runs.evaluators.metrics import metrics_by_round
from refinement.selectors.runs.texts.diff_lines import ShownPiece
from refinement.selectors.runs.texts.diffs import round_diff
from refinement.services.reviews.blind_readings import scores_seen_record
from refinement.services.runs.hand_rounds import Edit, round_edit
from refinement.services.runs.lifecycle import MOST_MORE_ROUNDS

router = Router(tags=["Rounds"])
LARGEST_NUMBER = 2**31 - 1
TEXT = "text/plain; charset=utf-8"


class VerdictShape(Schema):
    """One judge's verdict."""

    round: int
    position: int
    judge: str
    scores: list[dict[str, Any]] = Field(
        description="For each criterion: key, score, reasoning and improvement.",
        examples=[[{"key": "depth", "score": "7", "reasoning": "…", "improvement": "…"}]],
    )
    issues: list[str]
    asi: str = Field(description="The direction for the next revision.")


class CheckShape(Schema):
    """A check's result."""

    key: str
    passed: bool
    message: str
    severity: str
    weight: str
    suggestion: str
    start: int | None
    end: int | None


class EvaluatorShape(Schema):
    """The evaluator command's result for a round."""

    command: list[str] = Field(examples=[["python3", "/opt/checks/score.py", "{file}"]])
    exit_code: int | None = Field(description="Null if it was stopped.", examples=[0])
    stopped: str = Field(description="Why it was stopped early; else empty.")
    failure: str = Field(description="Why it failed completely; else empty.")
    stdout: str
    stderr: str
    stdout_missing: int = Field(description="Bytes dropped from the middle.")
    stderr_missing: int
    seconds: str = Field(examples=["1.25"])
    open_to: str = Field(
        description="Empty if it ran in the sandbox, network if it could use the network there, "
        "all if it ran without one."
    )
    at: datetime
    runs: int = Field(1, description="How often the command ran; the output is that of one run.")
    failed_runs: int = Field(0, description="Those of several runs that failed completely.")


class ValidationShape(Schema):
    """The validation command on a round's candidate: as written, and after a repair."""

    number: int = Field(description="1: as written, 2: after the repair.", examples=[1])
    passed: bool
    command: list[str]
    exit_code: int | None = Field(description="Null if it was stopped.", examples=[1])
    stopped: str
    stdout: str
    stderr: str
    seconds: str
    replaced: str = Field(description="The text that failed, if a repair replaced it; else empty.")


class MetricShape(Schema):
    """A number from the evaluator's output."""

    value: str = Field(description="The median, if the command ran several times.", examples=["0.83"])
    low: str
    high: str
    values: list[str] = Field(description="One number for each run of the command that gave it.")


class RoundLine(Schema):
    """A round without its text."""

    number: int = Field(examples=[2])
    origin: str = Field(description="seed, draft, revision or hand.", examples=["revision"])
    base_round: int | None
    author_name: str | None = Field(description="Who edited it.")
    candidate_chars: int
    candidate_cut: bool = Field(description="The producer's reply reached its length limit.")
    created_at: datetime
    judged_at: datetime | None
    composite: str | None = Field(description="Null until judged; unscored is not zero.")
    scores: dict[str, str] | None = Field(description="By criterion, after penalties.")
    metrics: dict[str, MetricShape | None] = Field(
        description="The rubric's metrics, by name. Null: not found in the output. Empty: no command ran."
    )
    contract_violated: bool = Field(description="The text violates the rubric's output contract.")
    contract_violation: str = Field(description="How it violates the contract; else empty.")
    penalties: list[dict[str, Any]]
    signals: list[Any]
    seen_chars: int | None = Field(description="How much of the text the judge saw.")
    judge_attempts: int
    parse_rung: str = Field(description="How the judge's reply was parsed.")
    key_change: str | None = Field(description="What the round changed. Null if the clerk was not asked.")
    spread: dict[str, str] | None = Field(
        description="Of a board: how far apart its judges' scores are, by criterion."
    )
    summary: dict[str, Any] | None = Field(
        description="Of a board: working, not_working, direction, and problem if it could not be merged."
    )


class RoundWhole(RoundLine):
    """A round with its text, verdicts and checks."""

    candidate: str
    feedback: dict[str, Any] | None = Field(description="The feedback that the producer got.")
    verdicts: list[VerdictShape] = Field(description="The judge's, or that of the whole board.")
    judges: list[JudgeAnswers] = Field(description="What each judge of a board said; empty without one.")
    checks: list[CheckShape]
    evaluator: EvaluatorShape | None = Field(description="Null if no command ran.")
    repaired: bool = Field(description="The producer replaced a text that failed validation.")
    validations: list[ValidationShape]


class DiffPiece(Schema):
    """A passage; passages with the same `change` belong together."""

    kind: str = Field(
        description="same, deleted, inserted, moved_out, moved_in, or copied from elsewhere.",
        examples=["inserted"],
    )
    text: str
    change: int
    asked_by: str | None = Field(description="The request that this change matches, by wording.")
    folded_chars: int = Field(description="Characters left out of an unchanged passage.")


class DiffShape(Schema):
    """Two rounds compared, in the order of the later one."""

    a: int
    b: int
    pieces: list[DiffPiece]
    asked: int = Field(description="Changes that match a request.")
    unasked: int
    compared: bool = Field(description="False if the texts are too long; both are then included in full.")
    missing: int = Field(description="Characters not included.")


class Compared(Schema):
    """The rounds to compare."""

    a: int = Field(ge=1, le=LARGEST_NUMBER, examples=[1])
    b: int = Field(ge=1, le=LARGEST_NUMBER, examples=[2])


class HandRound(Schema):
    """A round's text, edited by a person, as the run's next round."""

    base: int = Field(ge=1, le=LARGEST_NUMBER, description="The edited round.")
    text: str
    newest: int = Field(ge=1, le=LARGEST_NUMBER, description="The newest round when you started editing.")
    rounds: int | None = Field(
        None,
        ge=1,
        le=MOST_MORE_ROUNDS,
        description="For a finished run: how many rounds to run, including this one.",
    )
    resume: bool = Field(True, description="For a paused run: whether to resume immediately.")


@router.get("/{int:run}/rounds", response=Page[RoundLine])
@member()
def round_list(request: ApiRequest, run: int, paging: Query[Paging]) -> Page[RoundLine]:
    """List a run's rounds. In order, without their texts."""
    found = run_or_404(request, run, whole=False)
    rows = Round.objects.filter(run=found).defer("candidate", "feedback")
    shown, following = page_by_number(rows, paging, newest_first=False, key="number")
    metrics = round_metrics(shown)
    lines = [RoundLine(**round_values(row), metrics=metrics.get(row.pk, {})) for row in shown]
    return Page[RoundLine].of(lines, following)


@router.post("/{int:run}/rounds", response={201: RoundLine})
@member("editor")
@creates()
def round_new(request: ApiRequest, run: int, body: HandRound) -> RoundLine:
    """Add a text edited by hand as the run's next round. It is judged like any other."""
    edit = Edit(body.base, body.text, body.newest, body.rounds, resume=body.resume)
    row = round_edit(run=run_or_404(request, run), edit=edit, user=request.user)
    return RoundLine(**round_values(row), metrics={})


@router.get("/{int:run}/rounds/{int:number}", response=RoundWhole)
@member()
def round_read(request: ApiRequest, run: int, number: int) -> RoundWhole:
    """Get a round with its text, verdicts, checks and feedback."""
    found = run_or_404(request, run, whole=False)
    row = round_or_404(found, number)
    scores_seen_record(runs=[found], user=request.user)
    return RoundWhole(
        **round_values(row),
        metrics=round_metrics([row]).get(row.pk, {}),
        candidate=row.candidate,
        feedback=row.feedback,
        verdicts=[verdict_shape(verdict, number) for verdict in row.verdicts.all()],
        judges=[judge_answers(answer) for answer in answers_by_round([row]).get(row.pk, [])],
        checks=[check_shape(result) for result in row.check_results.all()],
        evaluator=evaluator_shape(row),
        **validation_values(row),
    )


@router.get(
    "/{int:run}/rounds/{int:number}/candidate",
    openapi_extra={"responses": {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}},
)
@member()
def round_candidate(request: ApiRequest, run: int, number: int) -> HttpResponse:
    """Get a round's text."""
    row = round_or_404(run_or_404(request, run, whole=False), number)
    return HttpResponse(row.candidate, content_type=TEXT, headers={"X-Content-Type-Options": "nosniff"})


@router.get("/{int:run}/verdicts", response=Page[VerdictShape])
@member()
def verdict_list(request: ApiRequest, run: int, paging: Query[Paging]) -> Page[VerdictShape]:
    """List verdicts on a run's rounds. In order."""
    found = run_or_404(request, run, whole=False)
    scores_seen_record(runs=[found], user=request.user)
    rows = (
        Verdict.objects.filter(round__run=found)
        .select_related("round")
        .only("position", "judge", "scores", "issues", "asi", "round__number")
    )
    shown, following = page_by_number(rows, paging, newest_first=False)
    items = [verdict_shape(verdict, verdict.round.number) for verdict in shown]
    return Page[VerdictShape].of(items, following)


@router.get("/{int:run}/diff", response=DiffShape)
@member()
def run_diff(request: ApiRequest, run: int, rounds: Query[Compared]) -> DiffShape:
    """Compare two rounds word by word. Changes are matched to the feedback."""
    found = run_or_404(request, run)
    diff = round_diff(found, rubric_from_json(found.snapshot), rounds.a, rounds.b, sides=False)
    if diff is None:
        raise Http404("Round not found in this run.")
    return DiffShape(
        a=rounds.a, b=rounds.b, pieces=diff_pieces(diff.pieces), asked=diff.asked, unasked=diff.unasked,
        compared=diff.diff.compared, missing=diff.missing,
    )  # fmt: skip


def diff_pieces(pieces: Sequence[ShownPiece]) -> list[DiffPiece]:
    return [
        DiffPiece(
            kind=piece.kind,
            text=piece.text + piece.tail,
            change=piece.change,
            asked_by=piece.asked.label if piece.asked else None,
            folded_chars=piece.folded_chars,
        )
        for piece in pieces
    ]


def round_or_404(run: Run, number: int) -> Round:
    found = Round.objects.filter(run=run, number=number).first()
    if found is None:
        raise Http404("Round not found in this run.")
    return found


def round_metrics(rows: Sequence[Round]) -> dict[int, dict[str, MetricShape | None]]:
    """The rounds' metrics by the rounds' keys."""
    return {
        key: {name: metric_shape(value) if value else None for name, value in sorted(metrics.items())}
        for key, metrics in metrics_by_round(rows).items()
    }


def metric_shape(metric: MetricValue) -> MetricShape:
    return MetricShape(
        value=f"{metric.value:f}",
        low=f"{metric.low:f}",
        high=f"{metric.high:f}",
        values=[f"{number:f}" for number in metric.values],
    )


ROUND_FIELDS = tuple(name for name in RoundLine.model_fields if name not in ("composite", "metrics"))


def round_values(row: Round) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ROUND_FIELDS} | {"composite": exact(row.composite)}


def verdict_shape(row: Verdict, number: int) -> VerdictShape:
    issues = [str(issue) for issue in row.issues]
    return VerdictShape(
        round=number, position=row.position, judge=row.judge, scores=row.scores, issues=issues, asi=row.asi
    )


def evaluator_shape(row: Round) -> EvaluatorShape | None:
    kept = EvaluatorResult.objects.filter(round=row).first()
    if kept is None:
        return None
    values = {name: getattr(kept, name) for name in EvaluatorShape.model_fields}
    return EvaluatorShape(**values | {"seconds": exact(kept.seconds)})


def validation_values(row: Round) -> dict[str, Any]:
    rows = list(row.validations.all())
    names = [name for name in ValidationShape.model_fields if name != "seconds"]
    shapes = [
        ValidationShape(**{name: getattr(kept, name) for name in names}, seconds=exact(kept.seconds) or "0")
        for kept in rows
    ]
    return {"repaired": any(kept.replaced for kept in rows), "validations": shapes}


def check_shape(row: CheckResult) -> CheckShape:
    names = ("key", "passed", "message", "severity", "suggestion", "start", "end")
    return CheckShape(**{name: getattr(row, name) for name in names}, weight=exact(row.weight) or "0")
