"""Runs: list, get and launch."""

import secrets
from dataclasses import replace
from typing import Annotated, Any, Literal

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.urls import reverse
from ninja import Field, Query, Router, Schema
from pydantic import StringConstraints
from pydantic_core import to_json

from refinement.access.objects import run_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.idempotency import JSON, creates, made_at
from refinement.api.core.paging import (
    Fields,
    Page,
    Paging,
    bad_cursor,
    cursor_to,
    fields_of,
    place_in,
    some_of,
)
from refinement.api.core.permissions import member
from refinement.api.core.problems import Refused, Wrong
from refinement.api.runs.shapes import WHOLE, RunLine, RunWhole, TaggedRun, run_lines, run_whole
from refinement.engine.types import OnPlateau, Rubric
from refinement.forms.runs.filters import RunFilterForm
from refinement.forms.runs.judges import rubric_with_mode
from refinement.forms.runs.overrides import rubric_overridden
from refinement.forms.runs.texts import TEXTS, rubric_with_texts
from refinement.judging.sources import LIMITS, SourceText
from refinement.models import RubricVersion, Run
from refinement.models.runs.runs import TITLE_CHARS
from refinement.providers.registry import Target
from refinement.selectors.launch.available_models import target_typed
from refinement.selectors.rubrics.definitions import RubricNotFound, definition_of, version_named
from refinement.selectors.runs.listing.lists import runs_place
from refinement.selectors.runs.listing.orders import NEWEST, Order, Place, place_from
from refinement.services.reviews.blind_readings import scores_seen_record
from refinement.services.runs.creating import MOST_TAGS
from refinement.services.runs.launching import MOST_REPEATS, runs_launch

router = Router(tags=["Runs"])
Sort = Literal[
    "newest", "-newest", "best", "-best", "r1", "-r1", "improvement", "-improvement", "rounds", "-rounds",
    "tokens", "-tokens", "time", "-time", "people", "-people", "outcome", "-outcome", "title", "-title",
    "rubric", "-rubric",
]  # fmt: skip
# As strings, so that the page's form validates them and words the errors.
Score = Field("", max_length=40, examples=["8.5"])
Day = Field("", max_length=40, examples=["2026-03-31"])
Setting = Annotated[str, StringConstraints(max_length=40)] | int | float | None


class RunFilters(Schema):
    """The filters of the “Runs” page, with the same names."""

    q: str = Field("", max_length=200, description="Searches task and candidates; “-word” excludes.")
    outcome: str = Field("", max_length=20, examples=["PASS"])
    reason: str = Field("", max_length=40, description="The stop reason.", examples=["max_rounds"])
    status: str = Field("", max_length=20, examples=["finished"])
    decision: str = Field("", max_length=20, examples=["approved"])
    rubric: str = Field("", max_length=80, description="The rubric's slug.", examples=["wiggum"])
    producer: str = Field("", max_length=200, description="The producer's model.", examples=["qwen3:4b"])
    judge: str = Field("", max_length=200, description="The judge's model.")
    person: str = Field("", max_length=20, description="The ID of the user who launched it.")
    task_type: str = Field("", max_length=200, examples=["how-to"])
    tag: str = Field("", max_length=50)
    kinship: str = Field("", max_length=20, description="same_model or same_family.")
    mark: str = Field("", max_length=20, description="Rounds with a signal, a penalty or a cut.")
    imported: str = Field("", max_length=20, description="any, simmer, jsonl or wiggum.")
    people: str = Field("", max_length=20, description="disagree: far from the judge's score.")
    since: str = Day
    until: str = Day
    r1_min: str = Score
    r1_max: str = Score
    best_min: str = Score
    best_max: str = Score
    experiment: str = Field("", max_length=20, description="The ID of the experiment it belongs to.")
    suite: str = Field("", max_length=80, description="The slug of its experiment's suite.")
    archived: bool = Field(False, description="Archived runs instead of active ones.")


class RunQuery(RunFilters, Fields, Paging):
    """Filters, order and page of a run list."""

    sort: Sort = Field("newest", description="Highest or newest first; a minus reverses the order.")


class LaunchSettings(Schema):
    """Rubric settings changed for this launch; `"none"` removes a limit."""

    rounds: Setting = Field(None, examples=[4])
    threshold: Setting = Field(None, description="The pass mark.", examples=[8.5])
    tokens: Setting = Field(None, description="Token budget.")
    seconds: Setting = Field(None, description="Model time budget in seconds.")
    calls: Setting = Field(None, description="Call budget.")
    judge_limit: Setting = Field(None, description="Maximum characters that the judge reads.")
    source_limit: Setting = Field(None, description="Maximum characters of all sources in a prompt.")
    producer_tokens: Setting = Field(None, description="Maximum tokens of a producer's reply.")
    temperature: Setting = Field(None, description="Of the producer.", examples=[0.7])
    on_plateau: OnPlateau | None = Field(
        None, description="When scores stop improving: stop, ask a person, or let a board take over."
    )


class GivenSource(Schema):
    """A source text of a launch."""

    name: str = Field("", description="By default “Source” and its number.", examples=["notes.md"])
    text: str = Field(examples=["Backups are made at 02:00."])


def rubric_text(name: str) -> Any:
    """A text that replaces the rubric's for this launch."""
    text = next(text for text in TEXTS if text.name == name)
    return Field(None, max_length=text.limit, description=f"{text.help} By default the rubric's.")


class Launch(Schema):
    """Task, starting text, sources, rubric, models and repeats of a launch."""

    task: str = Field(examples=["Explain how our backups are made and how they are restored."])
    seed: str = Field("", description="The text to start from; by default the producer writes a first draft.")
    sources: list[GivenSource] = Field([], description=f"What the work must be grounded in. {LIMITS}")
    rubric: str = Field(max_length=100, description="A slug, or slug@version.", examples=["wiggum"])
    producer: str = Field(max_length=400, description="endpoint/model", examples=["ollama/qwen3:4b"])
    judge: str = Field(
        "",
        max_length=400,
        description="Required if the rubric has criteria.",
        examples=["ollama/gemma3:12b"],
    )
    judges: Literal["", "single", "board", "auto"] = Field(
        "", description="Who judges: one judge or a board. Empty for the rubric's choice.", examples=["board"]
    )
    clerk: str = Field(
        "",
        max_length=400,
        description="endpoint/model of the clerk. By default the rubric's, or else the judge's.",
        examples=["ollama/gemma3:4b"],
    )
    held_out: str = Field(
        "",
        max_length=400,
        description="endpoint/model of a judge that scores the first and the best round at the end. The loop "
        "never sees its scores. By default none.",
        examples=["ollama/mistral:7b"],
    )
    output_contract: str | None = rubric_text("output_contract")
    background: str | None = rubric_text("background")
    search_space: str | None = rubric_text("search_space")
    title: str = Field("", max_length=TITLE_CHARS, description="By default, the start of the task.")
    task_type: str = Field(
        "",
        max_length=200,
        description="A short label such as research; letter case does not matter.",
        examples=["how-to"],
    )
    tags: list[str] = Field([], max_length=MOST_TAGS, examples=[["ci"]])
    repeats: int = Field(1, ge=1, le=MOST_REPEATS)
    settings: LaunchSettings = Field(
        default_factory=LaunchSettings.model_construct, examples=[{"rounds": 4, "threshold": 8.5}]
    )


class Launched(Schema):
    """The runs of one launch."""

    runs: list[RunWhole]


@router.get("", response=Page[RunLine])
@member()
def run_list(request: ApiRequest, query: Query[RunQuery]) -> HttpResponse:
    """List runs. Filtered, searched and sorted as on the page.

    A search that times out returns what it has found so far. Follow `next` until it is null.
    """
    form, wanted = filter_form(request, query), fields_of(RunLine, query.fields)
    page = runs_place(
        request.project,
        form.filters,
        order=form.order,
        upwards=form.upwards,
        place=place_of(query, form.order),
        size=query.limit,
    )
    following = cursor_to(f"{query.sort}:{page.following}") if page.following else None
    # Returned without validation: validating a hundred rows again took twice as long.
    lines = run_lines(page.numbers, wanted, request.project)
    return HttpResponse(to_json({"items": lines, "next": following}), content_type=JSON)


def filter_form(request: ApiRequest, query: RunFilters) -> RunFilterForm:
    """The validated filter form; raises 422 for invalid filters."""
    given = {name: str(value) for name, value in query.model_dump().items() if value not in (False, "")}
    form = RunFilterForm(given, request.project, user=request.user)  # type: ignore[arg-type]  # it asks for values by name alone
    if not form.is_valid():
        wrong = [
            Wrong(where=f"query.{name}", message=str(message))
            for name, messages in form.errors.items()
            for message in messages
        ]
        raise Refused(422, f"{wrong[0].where}: {wrong[0].message}", "invalid", wrong)
    return form


def place_of(query: RunQuery, order: Order) -> Place | None:
    """Where the page starts; None for a cursor of another order."""
    if not query.cursor:
        return None
    sort, _, text = place_in(query.cursor).partition(":")
    place = place_from(text, order, backwards=False) if sort == query.sort else None
    if place is None or (order is NEWEST) != (place.value is None):
        raise bad_cursor()
    return place


@router.post("", response={201: Launched})
@member("editor")
@creates()
def run_launch(request: ApiRequest, body: Launch) -> Launched:
    """Launch one or more identical runs.

    Workers start them immediately. Follow them with `/stream`, or poll.
    """
    version = version_wanted(request, body.rubric)
    saved = definition_of(version)
    producer = target_of("producer", body.producer)
    launched = runs_launch(
        project=request.project,
        user=request.user,
        version=version,
        definition=definition_wanted(saved, body),
        task=body.task,
        seed=body.seed,
        sources=sources_of(body),
        producer=producer,
        judge=target_of("judge", body.judge) if saved.criteria else producer,
        clerk=target_of("clerk", body.clerk) if body.clerk.strip() else None,
        held_out=target_of("held_out", body.held_out) if body.held_out.strip() else None,
        title=body.title,
        task_type=body.task_type,
        tags=body.tags,
        repeats=body.repeats,
        key=secrets.token_hex(12),  # repeated launches are detected by their Idempotency-Key
    )
    made_at(request, run_address(request, launched.runs[0].pk))
    return Launched(runs=[run_whole(run) for run in launched.runs])


def sources_of(body: Launch) -> list[SourceText]:
    return [SourceText(source.name, source.text) for source in body.sources]


def version_wanted(request: ApiRequest, reference: str) -> RubricVersion:
    try:
        return version_named(request.project, reference)
    except RubricNotFound as missing:
        raise ValidationError({"rubric": str(missing)[:1].upper() + str(missing)[1:]}) from None


def definition_wanted(saved: Rubric, body: Launch) -> Rubric:
    """The rubric with the launch's changes."""
    texts = {text.name: given for text in TEXTS if (given := getattr(body, text.name)) is not None}
    return rubric_with_mode(rubric_with_texts(overridden(saved, body.settings), texts), body.judges)


def overridden(saved: Rubric, settings: LaunchSettings) -> Rubric:
    """The rubric with the launch's settings; raises ValidationError by setting."""
    given = settings.model_dump(exclude_none=True)
    on_plateau = given.pop("on_plateau", None)
    try:
        used = rubric_overridden(saved, {name: str(value) for name, value in given.items()})
    except ValidationError as refusal:
        named = {f"settings.{name}": words for name, words in refusal.message_dict.items()}
        raise ValidationError(named) from None
    return replace(used, policy=replace(used.policy, on_plateau=on_plateau)) if on_plateau else used


def target_of(role: str, text: str) -> Target:
    try:
        return target_typed(text)
    except ValueError as error:
        raise ValidationError({role: str(error)}) from None


def run_address(request: ApiRequest, run: int) -> str:
    return reverse("api:run_read", kwargs={"slug": request.project.slug, "run": run})


@router.get("/{int:run}", response=RunWhole, exclude_unset=True)
@member()
def run_read(request: ApiRequest, run: int, wanted: Query[Fields]) -> RunWhole:
    """Get a run with its task, starting text and rubric."""
    found = run_or_404(request, run)
    scores_seen_record(runs=[found], user=request.user)
    names = fields_of(RunWhole, wanted.fields)
    return some_of(RunWhole, WHOLE, TaggedRun(found, tags_of(found) if "tags" in names else []), names)


def tags_of(run: Run) -> list[str]:
    return list(run.tags.values_list("name", flat=True))
