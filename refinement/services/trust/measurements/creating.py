"""Create measurements: texts that a judge scores. Each is a bench; its trials are started by dealing."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import transaction

from refinement.engine.codec import BadRubric, rubric_from_json
from refinement.engine.types import Rubric
from refinement.execution.trust.waking import measurement_wake
from refinement.judging.same_text import fingerprint, plain_lines
from refinement.models import (
    Bench,
    CandidateOrigin,
    LabelItem,
    LabelSet,
    Measurement,
    MeasurementItem,
    MeasurementKind,
    Project,
    Round,
    RubricVersion,
    Run,
    User,
)
from refinement.providers.base import ProviderError
from refinement.selectors.endpoints import endpoint_spec
from refinement.selectors.projects.budgets import budget_of
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.trust.measurements.definitions import definition_digest
from refinement.selectors.trust.measurements.settings import may_be_anchored
from refinement.services.audit import audit_record
from refinement.services.rubrics.bench import (
    MAX_CANDIDATE_CHARS,
    MAX_TASK_CHARS,
    MOST_REPEATS,
    NO_CRITERIA,
    title_of,
)
from refinement.services.trust.judges import judge_ensure
from refinement.texts import storable

MOST_ITEMS = 5_000
MOST_JUDGEMENTS = 20_000
BATCH = 500

# Endpoint, model, and the seats of a board as a bench stores them; an empty sequence for a single judge.
JudgeChoice = tuple[str, str, Sequence[Mapping[str, str]]]


@dataclass(frozen=True, slots=True)
class NewItem:
    """A text to judge.

    With a `round`, a retest or replay judges it as its run's judge saw it. A copy names its `original` by
    position in the list of items, which has to come before it.
    """

    text: str
    task: str = ""
    label_item: LabelItem | None = None
    round: Round | None = None
    edit: str = ""
    harmless: bool = False
    original: int | None = None
    criterion: str = ""
    change: str = ""


def measurement_create(
    *,
    project: Project,
    version: RubricVersion,
    kind: MeasurementKind | str,
    judge: JudgeChoice,
    items: Sequence[NewItem],
    repeats: int = 1,
    definition: Mapping[str, Any] | None = None,
    ask_again: bool = False,
    token_budget: int | None = None,
    label_set: LabelSet | None = None,
    run: Run | None = None,
    chosen: Mapping[str, Any] | None = None,
    quote: Mapping[str, Any] | None = None,
    user: User | None = None,
) -> Measurement:
    """Create a measurement; workers judge its texts. Raises ValidationError.

    `definition` is a draft of the rubric, as `engine.codec` writes it. What the same judge has answered
    before is reused, unless `ask_again`. With `token_budget`, it pauses when these tokens are used.
    """
    endpoint, model, panel = judge
    rubric = rubric_checked(version, definition)
    texts = [plain_lines(storable(item.text)) for item in items]
    measurement_check(project, version, rubric, judge, items, texts, repeats)
    measurement = Measurement(
        project=project,
        rubric_version=version,
        kind=MeasurementKind(kind),
        created_by=user,
        definition=None if definition is None else dict(definition),
        definition_sha256=definition_digest(rubric),
        endpoint=endpoint,
        model=model,
        panel=[dict(seat) for seat in panel],
        repeats=repeats,
        ask_again=ask_again,
        token_budget=budget_checked(token_budget),
        label_set=label_set,
        run=run,
        chosen=dict(chosen or {}),
        quote=dict(quote or {}),
    )
    return measurement_store(measurement, rubric, items, texts)


@transaction.atomic
def measurement_store(
    measurement: Measurement, rubric: Rubric, items: Sequence[NewItem], texts: Sequence[str]
) -> Measurement:
    """Save a checked measurement with its texts, and wake a worker."""
    measurement.save(force_insert=True)
    if not measurement.is_draft:
        judge_ensure(
            project=measurement.project,
            version=measurement.rubric_version,
            model=measurement.model,
            endpoint=measurement.endpoint,
            panel=measurement.panel,
        )
    benches = [bench_row(measurement, rubric, *pair) for pair in zip(items, texts, strict=True)]
    Bench.objects.bulk_create(benches, batch_size=BATCH)
    rows = [
        item_row(measurement, position, item, bench)
        for position, (item, bench) in enumerate(zip(items, benches, strict=True), start=1)
    ]
    MeasurementItem.objects.bulk_create(rows, batch_size=BATCH)
    copies = [row for row, item in zip(rows, items, strict=True) if item.original is not None]
    for row in copies:
        original = items[row.position - 1].original
        assert original is not None
        row.original = rows[original]
    MeasurementItem.objects.bulk_update(copies, ["original"], batch_size=BATCH)
    audit_record(
        action="measurement.create",
        object_type="measurement",
        object_id=measurement.pk,
        project=measurement.project,
        user=measurement.created_by,
        after={
            "kind": measurement.kind,
            "rubric": str(measurement.rubric_version),
            "draft": measurement.is_draft,
            "judge": f"a board of {len(measurement.panel)}" if measurement.panel else measurement.model,
            "texts": len(items),
            "repeats": measurement.repeats,
        },
    )
    measurement_wake(measurement.pk)
    return measurement


def bench_row(measurement: Measurement, rubric: Rubric, item: NewItem, text: str) -> Bench:
    return Bench(
        project=measurement.project,
        rubric_version=measurement.rubric_version,
        created_by=measurement.created_by,
        origin=CandidateOrigin.PASTED if item.round is None else CandidateOrigin.ROUND,
        source_round=item.round,
        candidate=text,
        candidate_chars=len(text),
        candidate_sha256=fingerprint(text),
        title=title_of(text),
        task=plain_lines(storable(item.task)).strip(),
        endpoint=measurement.endpoint,
        model=measurement.model,
        panel=measurement.panel,
        repeats=measurement.repeats,
        anchored=may_be_anchored(rubric, text),
        nonce=secrets.token_hex(6),
    )


def item_row(measurement: Measurement, position: int, item: NewItem, bench: Bench) -> MeasurementItem:
    return MeasurementItem(
        measurement=measurement,
        position=position,
        bench=bench,
        label_item=item.label_item,
        round=item.round,
        edit=item.edit,
        harmless=item.harmless,
        criterion=item.criterion,
        change=storable(item.change),
    )


def rubric_checked(version: RubricVersion, definition: Mapping[str, Any] | None) -> Rubric:
    """The draft, or the version. Raises ValidationError."""
    if definition is None:
        rubric = definition_of(version)
    else:
        try:
            rubric = rubric_from_json(definition)
        except BadRubric as problem:
            raise ValidationError({"definition": f"The draft is not valid: {problem}."}) from problem
    if not rubric.criteria:
        raise ValidationError({"version": NO_CRITERIA})
    return rubric


def measurement_check(
    project: Project,
    version: RubricVersion,
    rubric: Rubric,
    judge: JudgeChoice,
    items: Sequence[NewItem],
    texts: Sequence[str],
    repeats: int,
) -> None:
    """Raises ValidationError, with words that say what to change."""
    if version.rubric.project_id != project.pk:
        raise ValidationError({"version": "This rubric belongs to another project."})
    if version.rubric.archived_at is not None:
        raise ValidationError({"version": "This rubric is archived. Unarchive it or choose another."})
    judge_check(judge)
    if not items:
        raise ValidationError({"items": "There are no texts to judge. Choose others."})
    if not 1 <= repeats <= MOST_REPEATS:
        raise ValidationError({"repeats": f"Enter 1 to {MOST_REPEATS} repeats."})
    judgements = len(items) * repeats * (len(judge[2]) or 1)
    if len(items) > MOST_ITEMS or judgements > MOST_JUDGEMENTS:
        raise ValidationError(
            {
                "items": f"This would be {len(items):,} texts and {judgements:,} judgements; at most "
                f"{MOST_ITEMS:,} texts and {MOST_JUDGEMENTS:,} judgements are allowed. Choose fewer."
            }
        )
    for position, (item, text) in enumerate(zip(items, texts, strict=True), start=1):
        if problem := text_problem(item, text):
            raise ValidationError({"items": f"Text {position}: {problem}"})
        if item.original is not None and not 0 <= item.original < position - 1:
            raise ValidationError({"items": f"Text {position}: its original has to come before it."})
    if refusal := budget_of(project).refusal:
        raise ValidationError({NON_FIELD_ERRORS: refusal})


def judge_check(judge: JudgeChoice) -> None:
    """Raises ValidationError unless all endpoints exist and all models are named."""
    endpoint, model, panel = judge
    pairs = [(endpoint, model), *((seat["endpoint"], seat["model"]) for seat in panel)]
    if not all(place and name for place, name in pairs):
        raise ValidationError({"judge": "Choose a judge."})
    for place in dict.fromkeys(place for place, _ in pairs):
        try:
            endpoint_spec(place)
        except ProviderError as problem:
            raise ValidationError({"judge": problem.message}) from problem


def text_problem(item: NewItem, text: str) -> str:
    """What is wrong with a text or its task; empty if nothing is."""
    if not text.strip():
        return "it is empty."
    for name, value, most in (
        ("the text", text, MAX_CANDIDATE_CHARS),
        ("its task", item.task, MAX_TASK_CHARS),
    ):
        if len(value) > most:
            return f"{name} is {len(value):,} characters long; {most:,} are allowed."
    return ""


def budget_checked(token_budget: int | None) -> int | None:
    """Raises ValidationError."""
    if token_budget is not None and not 1 <= token_budget <= 2**62:
        raise ValidationError({"token_budget": "The token budget must be at least 1. Leave it out for none."})
    return token_budget
