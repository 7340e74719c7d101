"""Labelling: queues are opened and left, labels saved, and labels said to be wrong."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from refinement.engine.types import Rubric
from refinement.judging.schema import plain
from refinement.models import Label, LabelItem, LabelRater, LabelSet, User
from refinement.selectors.reviews.blindness import not_blind_reason
from refinement.selectors.trust.label_queue import unlabelled, waiting_for
from refinement.services.reviews.human_scores import Reading, validate_scores
from refinement.services.trust.judges import trust_refresh_rubric
from refinement.services.trust.labels import labels_audited
from refinement.texts import storable


class LabelConflict(Exception):
    """The user's stored label is newer than the one the form was opened with."""

    def __init__(self, stored: Label) -> None:
        super().__init__(f"Version {stored.version} of this label was saved in the meantime.")
        self.stored = stored


@transaction.atomic
def queue_open(*, label_set: LabelSet, user: User) -> LabelRater:
    """Open the user's queue, which hides others' scores from them. Raises ValidationError."""
    if label_set.archived_at is not None:
        raise ValidationError("This label set is archived. Unarchive it to label its texts.")
    rater = rater_of(label_set, user)
    if rater.opened_at is None and waiting_for(label_set, rater).exists():
        LabelRater.objects.filter(pk=rater.pk, opened_at__isnull=True).update(opened_at=timezone.now())
        rater.refresh_from_db()
        labels_audited("labels.begin", label_set, user)
    return rater


@transaction.atomic
def queue_leave(*, label_set: LabelSet, user: User) -> bool:
    """Close the user's queue. If texts are left, their later labels are not blind. False if none was open."""
    rater = LabelRater.objects.filter(label_set=label_set, user=user, opened_at__isnull=False).first()
    if rater is None:
        return False
    _close(rater, unfinished=waiting_for(label_set, rater).exists())
    labels_audited("labels.leave", label_set, user)
    return True


def _close(rater: LabelRater, *, unfinished: bool) -> None:
    values: dict[str, Any] = {"opened_at": None}
    if unfinished:
        values["left_at"] = timezone.now()
    LabelRater.objects.filter(pk=rater.pk).update(**values)
    rater.refresh_from_db()


def rater_of(label_set: LabelSet, user: User) -> LabelRater:
    """The user's rater in this set, created if there is none."""
    rater = LabelRater.objects.filter(label_set=label_set, user=user).first()
    if rater is not None:
        return rater
    base = user.display_name[:140]
    taken = set(label_set.raters.filter(name__startswith=base).values_list("name", flat=True))
    name = base if base not in taken else f"{base} (member {user.pk})"
    try:
        with transaction.atomic():
            return LabelRater.objects.create(label_set=label_set, user=user, name=name)
    except IntegrityError:  # two tabs at once
        return LabelRater.objects.get(label_set=label_set, user=user)


@transaction.atomic
def label_give(
    *, item: LabelItem, user: User, definition: Rubric, submitted: Reading, seen_version: int
) -> Label:
    """Save the user's scores of a text as the label's next version. The last text closes the queue.

    Raises LabelConflict if the stored label is newer than `seen_version`, and ValidationError.
    """
    label_set = item.label_set
    if label_set.archived_at is not None:
        raise ValidationError("This label set is archived, so its labels cannot be changed.")
    if not item.text_chars:
        raise ValidationError("This text was not imported, so it cannot be labelled.")
    rater = rater_of(label_set, user)
    values = checked(definition, submitted) | {"blind": is_blind(item, rater, user)}
    before = Label.objects.filter(item=item, rater=rater).first()
    if before is None:
        row = _first(item, rater, values, seen_version)
    elif _same(before, values):
        return before  # a form that is sent twice, or unchanged, makes no new version
    else:
        row = _next(before, values, seen_version)
    action = "labels.relabel" if before else "labels.label"
    labels_audited(
        action, label_set, user, after={"item": item.key, "version": row.version, "blind": row.blind}
    )
    if rater.opened_at is not None and not waiting_for(label_set, rater).exists():
        _close(rater, unfinished=False)
    trust_refresh_rubric(label_set.rubric)
    return row


def checked(definition: Rubric, submitted: Reading) -> dict[str, Any]:
    """The label as column values. Raises ValidationError with all problems by field."""
    reasons = {key: cleaned(text) for key, text in submitted.reasons.items()}
    note = cleaned(submitted.note)
    validate_scores(definition, submitted.scores, reasons, note)
    keys = [criterion.key for criterion in definition.criteria]
    return {
        "scores": {key: plain(submitted.scores[key]) for key in keys},
        "reasons": {key: reasons[key] for key in keys if reasons.get(key)},
        "note": note,
    }


def cleaned(text: str) -> str:
    return storable(text).replace("\r\n", "\n").strip()


def is_blind(item: LabelItem, rater: LabelRater, user: User) -> bool:
    """Whether the user has seen no scores of the text: their queue is open, and never was left unfinished."""
    if rater.opened_at is None or rater.left_at is not None:
        return False
    return item.round is None or not not_blind_reason(item.round.run, user)


def _first(item: LabelItem, rater: LabelRater, values: dict[str, Any], seen_version: int) -> Label:
    try:
        with transaction.atomic():
            return Label.objects.create(item=item, rater=rater, **values)
    except IntegrityError:
        raise LabelConflict(Label.objects.get(item=item, rater=rater)) from None


def _same(row: Label, values: dict[str, Any]) -> bool:
    return all(getattr(row, name) == values[name] for name in ("scores", "reasons", "note"))


def _next(before: Label, values: dict[str, Any], seen_version: int) -> Label:
    # A new score replaces the old one, and its marks as wrong no longer count.
    wrong = [key for key in before.wrong if before.scores.get(key) == values["scores"].get(key)]
    changed = Label.objects.filter(pk=before.pk, version=seen_version).update(
        version=F("version") + 1, changed_at=timezone.now(), wrong=wrong, **values
    )
    stored = Label.objects.get(pk=before.pk)
    if not changed:
        raise LabelConflict(stored)
    return stored


@transaction.atomic
def label_wrong_mark(*, label: Label, criteria: Sequence[str], user: User | None) -> bool:
    """Say for which criteria the label was wrong: those scores no longer count. An empty list takes it back.

    Returns False if nothing changed. Raises ValidationError for criteria that the label has no score of.
    """
    label = (
        Label.objects.select_for_update().select_related("item__label_set__rubric", "rater").get(pk=label.pk)
    )
    unknown = [key for key in criteria if key not in label.scores]
    if unknown:
        raise ValidationError({"criteria": f"This label has no score of {', '.join(unknown)}."})
    wrong = [key for key in label.scores if key in criteria]
    if wrong == label.wrong:
        return False
    before, label.wrong = label.wrong, wrong
    label.save(update_fields=["wrong"])
    label_set = label.item.label_set
    about = {"item": label.item.key, "rater": label.rater.name}
    labels_audited(
        "labels.wrong", label_set, user, before={**about, "wrong": before}, after={**about, "wrong": wrong}
    )
    trust_refresh_rubric(label_set.rubric)
    return True


def label_scores_seen_record(*, label_sets: Iterable[LabelSet], user: User) -> None:
    """Remember that the user saw scores of these sets: their later labels of texts in them are not blind.

    Called by every page and endpoint that shows single scores of labels or disagreements.
    """
    for label_set in label_sets:
        rater = LabelRater.objects.filter(label_set=label_set, user=user).first()
        if rater is not None and rater.left_at is not None:
            continue
        if not unlabelled(label_set, rater).filter(labels__isnull=False).exists():
            continue  # the user has labelled whatever there is to see
        rater = rater or rater_of(label_set, user)
        LabelRater.objects.filter(pk=rater.pk, left_at__isnull=True).update(left_at=timezone.now())
