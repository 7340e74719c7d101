"""A rubric's calibration example: a text with known scores, saved as the rubric's next version."""

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

MAX_CALIBRATION_CHARS = 200_000
SET, REMOVED = "Set the calibration example.", "Removed the calibration example."


@transaction.atomic
def calibration_set(
    *,
    rubric: Rubric,
    text: str,
    scores: Mapping[str, Decimal],
    edited_from: int,
    user: User | None = None,
    note: str = "",
) -> RubricVersion | None:
    """Save a rubric version with this calibration example. Return None if it has this example already.

    Raises ValidationError, NewerVersion."""
    definition = definition_to_edit(rubric, edited_from)
    text = storable(text).replace("\r\n", "\n")
    validate_calibration(definition, text, scores)
    ordered = {entry.key: scores[entry.key] for entry in definition.criteria if entry.key in scores}
    changed = replace(definition, calibration_text=text, calibration_scores=ordered)
    if changed == definition:
        return None
    return version_create(
        rubric=rubric,
        definition=changed,
        user=user,
        note=note or SET,
        edited_from=edited_from,
    )


@transaction.atomic
def calibration_remove(
    *, rubric: Rubric, edited_from: int, user: User | None = None, note: str = ""
) -> RubricVersion | None:
    """Save a rubric version without a calibration example. Return None if it has none."""
    definition = definition_to_edit(rubric, edited_from)
    if not definition.calibration_text:
        return None
    return version_create(
        rubric=rubric,
        definition=replace(definition, calibration_text="", calibration_scores={}),
        user=user,
        note=note or REMOVED,
        edited_from=edited_from,
    )


def definition_to_edit(rubric: Rubric, edited_from: int) -> engine.Rubric:
    """The definition of the newest version. Raises NewerVersion if it is not `edited_from`."""
    newest = rubric.versions.prefetch_related("criteria", "checks").order_by("-number").first()
    if newest is None or newest.number != edited_from:
        raise NewerVersion(newest.number if newest else 0)
    return definition_of(newest)


def validate_calibration(definition: engine.Rubric, text: str, scores: Mapping[str, Decimal]) -> None:
    """Raises ValidationError with all problems by field, `score-<key>` for a criterion's score."""
    errors: dict[str, str] = {}
    if not text.strip():
        errors["text"] = "The text is empty. Paste the text that the scores belong to."
    elif len(text) > MAX_CALIBRATION_CHARS:
        errors["text"] = f"The text has {len(text):,} characters; {MAX_CALIBRATION_CHARS:,} are allowed."
    known = {entry.key for entry in definition.criteria}
    for key, score in scores.items():
        if key not in known:
            errors["scores"] = f"This version has no criterion {key!r}."
        elif not definition.scale.admits(score):
            allowed = scale_in_words(definition.scale)
            errors[f"score-{key}"] = f"{plain(score)} is not on the scale. Allowed: {allowed}."
    if not scores:
        errors["scores"] = "Score at least one criterion."
    if errors:
        raise ValidationError(errors)
