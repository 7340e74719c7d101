"""A rubric's seed calibration: a text with known scores, saved as the rubric's next version."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from django.core.exceptions import ValidationError
from django.db import transaction

from refinement.engine import types as engine
from refinement.judging.schema import plain, scale_in_words
from refinement.models import Rubric, RubricVersion, User
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics.editing import NewerVersion, version_create
from refinement.texts import storable

MAX_SEED_CHARS = 200_000
SET, REMOVED = "Set the seed.", "Removed the seed."


@transaction.atomic
def seed_set(
    *,
    rubric: Rubric,
    text: str,
    scores: Mapping[str, Decimal],
    edited_from: int,
    user: User | None = None,
    note: str = "",
) -> RubricVersion:
    """The rubric's next version, with this seed in place of the one it had."""
    definition = definition_to_edit(rubric, edited_from)
    kept = storable(text).replace("\r\n", "\n")
    refuse_odd_seed(definition, kept, scores)
    ordered = {entry.key: scores[entry.key] for entry in definition.criteria if entry.key in scores}
    return version_create(
        rubric=rubric,
        definition=replace(definition, seed_text=kept, seed_scores=ordered),
        user=user,
        note=note or SET,
        edited_from=edited_from,
    )


@transaction.atomic
def seed_remove(
    *, rubric: Rubric, edited_from: int, user: User | None = None, note: str = ""
) -> RubricVersion | None:
    """The rubric's next version without a seed; None when it has none."""
    definition = definition_to_edit(rubric, edited_from)
    if not definition.seed_text:
        return None
    return version_create(
        rubric=rubric,
        definition=replace(definition, seed_text="", seed_scores={}),
        user=user,
        note=note or REMOVED,
        edited_from=edited_from,
    )


def definition_to_edit(rubric: Rubric, edited_from: int) -> engine.Rubric:
    """What the newest version says, as long as it is the one that the person has before them."""
    newest = rubric.versions.prefetch_related("criteria", "checks").order_by("-number").first()
    if newest is None or newest.number != edited_from:
        raise NewerVersion(newest.number if newest else 0)
    return definition_of(newest)


def refuse_odd_seed(definition: engine.Rubric, text: str, scores: Mapping[str, Decimal]) -> None:
    """Everything that keeps a seed from being saved, by field; a score's field has its criterion's key."""
    found: dict[str, str] = {}
    if not text.strip():
        found["text"] = "The text is empty; paste the text that the scores belong to."
    elif len(text) > MAX_SEED_CHARS:
        found["text"] = f"The text has {len(text):,} characters; {MAX_SEED_CHARS:,} are allowed."
    known = {entry.key for entry in definition.criteria}
    for key, score in scores.items():
        if key not in known:
            found["scores"] = f"There is no criterion {key!r} in this version."
        elif not definition.scale.admits(score):
            words = scale_in_words(definition.scale)
            found[f"score-{key}"] = f"{plain(score)} is not on the scale: it takes {words}."
    if not scores:
        found["scores"] = "Give at least one criterion its score."
    if found:
        raise ValidationError(found)
