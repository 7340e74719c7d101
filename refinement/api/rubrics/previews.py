"""Rubric previews: prompts, checks on a text, and version comparison."""

from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.http import Http404
from ninja import Field, Query, Router, Schema
from pydantic import StringConstraints

from refinement.access.labelling import runs_or_blind
from refinement.access.objects import rubric_or_404, version_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.permissions import member
from refinement.api.core.problems import Refused
from refinement.forms.rubrics.trying.rehearsals import (
    MAX_ISSUES,
    MAX_TEXT_CHARS,
    MOST_ROUNDS,
    SAMPLE,
    PreviewForm,
)
from refinement.forms.rubrics.trying.staging import preview_input
from refinement.forms.rubrics.trying.texts import TEXT_LIMIT
from refinement.interchange.rubrics.yaml import rubric_from_fields
from refinement.judging.checks import run_checks
from refinement.judging.isolation import time_limit
from refinement.judging.rehearsal import rehearse
from refinement.judging.templating import TemplateFailure
from refinement.judging.visibility import RolePrompt
from refinement.models import Run
from refinement.selectors.rubrics.assumptions import board_assumptions, general_assumptions
from refinement.selectors.rubrics.comparisons import definitions_compared
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.rubrics.judged_rounds import runs_with_rounds
from refinement.selectors.rubrics.prompt_parts import tokens_of
from refinement.selectors.rubrics.rehearsals import run_of

router = Router(tags=["Rubrics"])
LARGEST_NUMBER = 2**31 - 1
Issue = Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARS)]
VERSION = Field(None, ge=1, le=LARGEST_NUMBER, description="Defaults to the newest.")


class PreviewNew(Schema):
    """The texts of a round, or a run and its round; and the assumed verdict."""

    version: int | None = VERSION
    run: int | None = Field(
        None,
        ge=1,
        le=LARGEST_NUMBER,
        description="Provides task, texts and verdicts in place of those below.",
    )
    round: int | None = Field(
        None, ge=1, le=MOST_ROUNDS, description="Defaults to the run's newest, or the first."
    )
    task: str = Field("", max_length=MAX_TEXT_CHARS, examples=[SAMPLE["task"]])
    candidate: str = Field("", max_length=MAX_TEXT_CHARS, examples=[SAMPLE["candidate"]])
    earlier: str = Field("", max_length=MAX_TEXT_CHARS, description="The text of earlier rounds.")
    score: str | None = Field(
        None, max_length=40, description="Of every criterion; defaults to the middle of the scale."
    )
    issues: list[Issue] = Field([], max_length=MAX_ISSUES, examples=[["It does not say who may restore."]])
    asi: str = Field("", max_length=MAX_TEXT_CHARS, description="The judge's direction.")


class PartShape(Schema):
    """A part of a message from one source."""

    source: str = Field(examples=["candidate"])
    text: str


class PreviewMessage(Schema):
    """A message as it would be sent; its parts, joined, are its content."""

    role: str = Field(examples=["user"])
    content: str
    tokens: int = Field(description="Approximate, by a conservative estimate.")
    parts: list[PartShape]


class PromptShape(Schema):
    """What a role would be sent."""

    name: str = Field(
        description="judge, draft, revision or describe. With a board: judge-1, deliberation-1 and so on "
        "instead of judge, merge, and compose if the rubric has no panel.",
        examples=["judge"],
    )
    messages: list[PreviewMessage]
    information: dict[str, str] = Field(
        description="State of each kind: seen, unprinted, nothing or withheld.",
        examples=[{"candidate": "seen", "history": "withheld"}],
    )


class PreviewShape(Schema):
    """What each role would be sent for a round, and what was assumed."""

    version: int
    round: int
    prompts: list[PromptShape] = Field(description="Without a judge if only checks decide.")
    assumptions: list[str]


class ChecksNew(Schema):
    """A text for the checks of a version, or of an unsaved definition."""

    text: str = Field(max_length=TEXT_LIMIT)
    version: int | None = VERSION
    definition: dict[str, Any] | None = Field(None, description="As in a version's `definition`.")


class TriedShape(Schema):
    """A check's result on the text, and where."""

    key: str
    passed: bool
    message: str
    start: int | None
    end: int | None


class ChecksTried(Schema):
    """The checks in order; one that times out has failed and says so."""

    items: list[TriedShape]


class VersionsQuery(Schema):
    """The two versions; by default the two newest."""

    a: int | None = VERSION
    b: int | None = VERSION


class DifferenceShape(Schema):
    """A field on both sides; null if a side lacks it."""

    group: str = Field(examples=["Criteria"])
    label: str
    before: str | None
    after: str | None


class VersionsCompared(Schema):
    """Two versions of a rubric, field by field."""

    a: int
    b: int
    changed: list[DifferenceShape]
    unchanged: int = Field(description="Number of equal fields.")


@router.post("/rubrics/{rubric}/preview", response=PreviewShape)
@member()
def rubric_previewed(request: ApiRequest, rubric: str, body: PreviewNew) -> PreviewShape:
    """Preview the prompts of judges, clerk and producer. Nothing is sent or stored."""
    row = rubric_or_404(request, rubric)
    version = version_or_404(row, body.version)
    definition, run = definition_of(version), run_wanted(request, body.run)
    form = PreviewForm(
        {
            **body.model_dump(include={"task", "candidate", "earlier", "asi"}),
            "version": version.number,
            "run": run.pk if run else "",
            "number": body.round or "",
            "score": body.score or "",
            "issues": "\n".join(" ".join(issue.split()) for issue in body.issues),
        },
        definition=definition,
        versions=[version.number],
        runs=runs_with_rounds(request.project, also=run) if run else [],
    )
    with time_limit():
        stage = preview_input(form, {"version": version}, definition, run) if form.is_valid() else None
        if stage is None:
            raise ValidationError({named(name): list(words) for name, words in form.errors.items()})
        last = stage.history.rounds[-1].number
        try:
            rehearsal = rehearse(stage.brief, stage.history, stage.feedback)
            prompts = [prompt_shape(name, prompt) for name, prompt in rehearsal.prompts()]
        except TemplateFailure as failure:
            raise Refused(422, str(failure), "template_failure") from None
    return PreviewShape(
        version=version.number,
        round=last,
        prompts=prompts,
        assumptions=[
            *stage.assumptions,
            *board_assumptions(rehearsal.board),
            *general_assumptions(stage.brief.rubric, last),
        ],
    )


@router.post("/rubrics/{rubric}/checks", response=ChecksTried)
@member("editor")
def checks_tried(request: ApiRequest, rubric: str, body: ChecksNew) -> ChecksTried:
    """Try the rubric's checks on a text. Nothing is stored."""
    version = version_or_404(rubric_or_404(request, rubric), body.version)
    meant = definition_of(version) if body.definition is None else rubric_from_fields(body.definition)
    items = [
        TriedShape(
            key=result.key,
            passed=result.passed,
            message=result.message,
            start=result.place.start if result.place else None,
            end=result.place.end if result.place else None,
        )
        for result in run_checks(meant.checks, body.text)
    ]
    return ChecksTried(items=items)


@router.get("/rubrics/{rubric}/compare", response=VersionsCompared)
@member()
def versions_compared(request: ApiRequest, rubric: str, query: Query[VersionsQuery]) -> VersionsCompared:
    """Compare two versions of a rubric, field by field."""
    row = rubric_or_404(request, rubric)
    after = version_or_404(row, query.b)
    before = version_or_404(row, query.a or max(after.number - 1, 1))
    found = definitions_compared(definition_of(before), definition_of(after))
    return VersionsCompared(
        a=before.number,
        b=after.number,
        changed=[
            DifferenceShape(group=entry.group, label=entry.label, before=entry.before, after=entry.after)
            for entry in found.changed
        ],
        unchanged=len(found.unchanged),
    )


def run_wanted(request: ApiRequest, number: int | None) -> Run | None:
    """The run to use, if it is in this project and visible."""
    if number is None:
        return None
    runs_or_blind(request, number)
    found = run_of(request.project, number)
    if found is None:
        raise Http404("Run not found in this project.")
    return found


def named(field: str) -> str:
    """Maps a form field's name to the API's."""
    return "round" if field == "number" else field


def prompt_shape(name: str, act: RolePrompt) -> PromptShape:
    return PromptShape(
        name=name,
        messages=[
            PreviewMessage(
                role=message.role,
                content=message.content,
                tokens=tokens_of(message.content),
                parts=[PartShape(source=part.source, text=part.text) for part in message.parts],
            )
            for message in act.prompt.messages
        ],
        information={kind.value: fate.value for kind, fate in act.visibility.items()},
    )
