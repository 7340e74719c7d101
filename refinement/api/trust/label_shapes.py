"""The API's label sets: what is read and what is sent."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated

from ninja import Field, Schema
from pydantic import StringConstraints

from refinement.api.core.etags import etag
from refinement.interchange.labels.types import (
    KEY_CHARS,
    MODEL_CHARS,
    MOST_TEXT_CHARS,
    NAME_CHARS,
    TASK_TYPE_CHARS,
)
from refinement.models import Label, LabelItem, LabelSet
from refinement.services.reviews.human_scores import NOTE_CHARS as LABEL_NOTE_CHARS
from refinement.services.reviews.human_scores import REASON_CHARS
from refinement.services.trust.label_items import MOST_AT_ONCE
from refinement.services.trust.labels import MOST_RATERS_WANTED, NOTE_CHARS

FILE_CHARS = 11_000_000
Score = Annotated[str, StringConstraints(pattern=r"^-?\d{1,9}(\.\d{1,6})?$")]
RUBRIC = Field(
    max_length=100,
    description="The slug, or slug@version; an existing set keeps its version.",
    examples=["summaries"],
)


class LabelSetLine(Schema):
    """A label set with its progress."""

    id: int
    name: str
    rubric: str = Field(description="slug@version", examples=["release-notes@3"])
    note: str = Field(description="Instructions for raters.")
    raters_wanted: int = Field(description="People for each text.")
    texts: int
    labels: int = Field(description="By people.")
    people: int = Field(description="Who gave labels.")
    waiting: int = Field(description="Texts that you can still label.")
    created_at: datetime
    archived_at: datetime | None


class NewTextShape(Schema):
    """A text to label."""

    text: str = Field(min_length=1, max_length=MOST_TEXT_CHARS, examples=["# Backups\n\nCopy it."])
    task: str = Field("", max_length=MOST_TEXT_CHARS)
    task_type: str = Field("", max_length=TASK_TYPE_CHARS)
    key: str = Field("", max_length=KEY_CHARS, description="Its name in files; made if it is left out.")


class TextsNew(Schema):
    """Texts for a set: given ones, and rounds of the rubric's runs."""

    texts: list[NewTextShape] = Field(default_factory=list, max_length=MOST_AT_ONCE)
    rounds: int = Field(
        0,
        ge=0,
        le=MOST_AT_ONCE,
        description="How many rounds of runs: low, middle and high scores of all task types in equal parts.",
    )
    task_type: str = Field("", max_length=TASK_TYPE_CHARS, description="Only rounds of runs of this type.")


class LabelSetNew(TextsNew):
    """A new label set."""

    name: str = Field(min_length=1, max_length=NAME_CHARS, examples=["March labels"])
    rubric: str = RUBRIC
    note: str = Field("", max_length=NOTE_CHARS)
    raters_wanted: int = Field(2, ge=1, le=MOST_RATERS_WANTED)


class LabelSetSave(Schema):
    """A label set's settings. Omitted fields stay as they are."""

    name: str | None = Field(None, min_length=1, max_length=NAME_CHARS, examples=["March labels"])
    note: str | None = Field(None, max_length=NOTE_CHARS)
    raters_wanted: int | None = Field(None, ge=1, le=MOST_RATERS_WANTED)


class TextsAdded(Schema):
    """How many texts were added; those that the set had are not counted."""

    added: int


class TextLine(Schema):
    """A text of a set, with how many people and recorded judges scored it. Has no scores."""

    position: int
    key: str
    title: str
    task_type: str
    chars: int = Field(description="0 if the text was not imported.")
    run: int | None
    round: int | None
    people: int
    judges: int


class RaterShape(Schema):
    """A rater: a member, an outside name, or a judge that was recorded elsewhere."""

    name: str
    kind: str = Field(description="member, outside or judge.")
    judge: str = Field(description="A judge's model.")
    labels: int
    waiting: int | None = Field(description="Texts that a member can still label; null for others.")
    labelling: bool
    next: bool = Field(description="Who labels next.")


class LabelImportNew(Schema):
    """Ratings and texts as CSV or JSON Lines, and where they go."""

    name: str = Field(min_length=1, max_length=NAME_CHARS, description="A new or an existing label set.")
    rubric: str = RUBRIC
    ratings: str = Field(
        "",
        max_length=FILE_CHARS,
        description="item, criterion, rater, score.",
        examples=["item,criterion,rater,score\na,clarity,Ada,4\n"],
    )
    items: str = Field("", max_length=FILE_CHARS, description="item, text, task, task_type.")
    judges: dict[str, Annotated[str, StringConstraints(max_length=MODEL_CHARS)]] = Field(
        default_factory=dict,
        max_length=200,
        description="The models of raters that are judges, by rater.",
        examples=[{"gpt-4#1": "gpt-4"}],
    )
    dry_run: bool = Field(False, description="Only report what would be imported.")


class ImportedRater(Schema):
    """A rater in the file."""

    name: str
    judge: str
    items: int


class LabelImportResult(Schema):
    """What an import did, or would do."""

    dry_run: bool
    name: str
    label_set: int | None = Field(description="Null for a dry run of a new set.")
    new_set: bool
    rubric: str
    version: int
    items_new: int
    items_filled: int = Field(description="Got the text that was missing.")
    items_known: int
    items_without_text: int
    raters: list[ImportedRater]
    labels_new: int
    labels_changed: int
    labels_unchanged: int
    scores: int
    scores_by_criterion: dict[str, int]
    notes: list[str]


class CriterionLabel(Schema):
    """A score on one criterion."""

    criterion: str = Field(max_length=60, examples=["clarity"])
    score: Score = Field(examples=["4"])
    reason: str = Field("", max_length=REASON_CHARS)


class LabelNew(Schema):
    """Your scores of a text: one for each criterion of the rubric."""

    scores: list[CriterionLabel] = Field(max_length=100)
    note: str = Field("", max_length=LABEL_NOTE_CHARS)


class LabelShape(Schema):
    """One rater's scores of a text."""

    id: int
    position: int = Field(description="Of the text.")
    rater: str
    judge: str
    blind: bool = Field(description="Given before seeing other scores of the text.")
    scores: list[CriterionLabel]
    wrong: list[str] = Field(description="Criteria whose scores people marked as wrong; they do not count.")
    note: str
    version: int


class WrongNew(Schema):
    """The criteria whose scores were wrong; an empty list undoes it."""

    criteria: list[Annotated[str, StringConstraints(max_length=60)]] = Field(max_length=100)


class QueueCriterion(Schema):
    """A criterion to score."""

    key: str
    name: str
    description: str
    ideal: str


class QueueShape(Schema):
    """Your queue: the next text, and what to score. `position` is null if no text waits for you."""

    open: bool = Field(description="While it is open, scores of these texts are hidden from you.")
    labelled: int
    waiting: int
    position: int | None
    text: str
    task: str
    note: str
    scale: str
    criteria: list[QueueCriterion]


def label_tag(label: Label) -> str:
    return etag("label", label.pk, label.version)


def set_tag(row: LabelSet) -> str:
    return etag("label_set", row.pk, row.name, row.note, row.raters_wanted, row.archived_at)


def label_shape(label: Label, item: LabelItem) -> LabelShape:
    return LabelShape(
        id=label.pk,
        position=item.position,
        rater=label.rater.name,
        judge=label.rater.judge_model,
        blind=label.blind,
        scores=[
            CriterionLabel.model_construct(criterion=key, score=score, reason=label.reasons.get(key, ""))
            for key, score in label.scores.items()
        ],
        wrong=label.wrong,
        note=label.note,
        version=label.version,
    )


def decimal_scores(body: LabelNew) -> dict[str, Decimal]:
    return {entry.criterion: Decimal(entry.score) for entry in body.scores}
