"""What was known of a replay's texts before it: the stored verdict, and people's scores."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db.models import F

from refinement.engine.scoring import composite
from refinement.engine.types import Rubric, Severity
from refinement.models import (
    CheckResult,
    HumanScore,
    Label,
    Measurement,
    MeasurementItem,
    MeasurementStatus,
    Round,
)
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.trust.measurements.judgements import judgements_of

MOST_AT_ONCE = 900  # keys in one query


@dataclass(frozen=True, slots=True)
class Before:
    """A verdict that was stored before the replay. Scores are on the scale of its own version."""

    scores: Mapping[str, float]
    composite: float
    passed: bool | None  # None without a pass mark
    version: str  # "v3"
    judge: str


@dataclass(slots=True)
class People:
    """What people said about one text: scores by criterion for each person, by who they are."""

    raters: dict[str, dict[str, float]] = field(default_factory=dict)

    def mean(self, key: str) -> float | None:
        said = [scores[key] for scores in self.raters.values() if key in scores]
        return sum(said) / len(said) if said else None


def batches(keys: Sequence[int]) -> Iterable[Sequence[int]]:
    for start in range(0, len(keys), MOST_AT_ONCE):
        yield keys[start : start + MOST_AT_ONCE]


def stored_verdicts(rounds: Collection[int]) -> dict[int, Before]:
    """The stored verdict of each judged round, as its run's own version counted it."""
    found: dict[int, Before] = {}
    for keys in batches(sorted(rounds)):
        errors = CheckResult.objects.filter(round__in=keys, passed=False, severity=Severity.ERROR)
        blocked = set(errors.values_list("round_id", flat=True))
        rows = Round.objects.filter(pk__in=keys, composite__isnull=False).values(
            "pk",
            "scores",
            "composite",
            mark=F("run__snapshot__policy__pass_threshold"),
            version=F("run__rubric_version__number"),
            judge=F("run__judge_model"),
        )
        for row in rows:
            found[row["pk"]] = before_of(row, blocked=row["pk"] in blocked)
    return found


def before_of(row: Mapping[str, Any], *, blocked: bool) -> Before:
    mark = None if row["mark"] is None else Decimal(str(row["mark"]).strip('"'))
    return Before(
        {key: float(score) for key, score in row["scores"].items()},
        float(row["composite"]),
        None if mark is None else row["composite"] >= mark and not blocked,
        f"v{row['version']}",
        row["judge"],
    )


def known_before(measurement: Measurement, label_items: Collection[int]) -> dict[int, Before]:
    """A verdict on each text of a label set by another judge or version, of the same model if there is one.

    From earlier measurements, or of a judge that was recorded elsewhere.
    """
    measured = measured_before(measurement, label_items)
    recorded = recorded_before(measurement, label_items)
    found = recorded | measured
    for known in (recorded, measured):
        found |= {key: before for key, before in known.items() if before.judge == measurement.model}
    return found


def recorded_before(measurement: Measurement, label_items: Collection[int]) -> dict[int, Before]:
    """The first whole verdict of a recorded judge on each text, of the same model if there is one."""
    found: dict[int, Before] = {}
    rubrics: dict[int, Rubric] = {}
    for keys in batches(sorted(label_items)):
        rows = Label.objects.filter(item__in=keys).exclude(rater__judge_model="")
        rows = rows.select_related("rater", "item__label_set__rubric_version").defer(
            "item__text", "item__task"
        )
        for row in sorted(rows, key=lambda row: (row.rater.judge_model != measurement.model, row.pk)):
            version, judge = row.item.label_set.rubric_version, row.rater.judge_model
            same = (version.pk, judge, []) == judge_of(measurement)
            if row.item_id in found or (same and not measurement.is_draft):
                continue
            if version.pk not in rubrics:
                rubrics[version.pk] = definition_of(version)
            if before := recorded_verdict(row, rubrics[version.pk], f"v{version.number}"):
                found[row.item_id] = before
    return found


def recorded_verdict(row: Label, rubric: Rubric, version: str) -> Before | None:
    """None if a criterion is missing."""
    scores = {key: Decimal(str(score)) for key, score in row.scores.items()}
    if not all(criterion.key in scores for criterion in rubric.criteria):
        return None
    total, mark = composite(rubric, scores, ()), rubric.policy.pass_threshold
    known = {key: float(score) for key, score in scores.items()}
    passed = None if mark is None else total >= mark
    return Before(known, float(total), passed, version, row.rater.judge_model)


def measured_before(measurement: Measurement, label_items: Collection[int]) -> dict[int, Before]:
    """The verdict on each text from a measurement: the newest of the same model, or the newest."""
    found: dict[int, Before] = {}
    earlier = (
        Measurement.objects.filter(
            items__label_item__in=list(label_items)[:MOST_AT_ONCE],
            definition__isnull=True,
            status__in=[MeasurementStatus.FINISHED, MeasurementStatus.CANCELLED],
            pk__lt=measurement.pk,
        )
        .select_related("rubric_version")
        .distinct()
        .order_by("-pk")[:10]
    )
    for other in sorted(earlier, key=lambda row: (row.model != measurement.model, -row.pk)):
        if not measurement.is_draft and same_judge(other, measurement):
            continue
        rubric = definition_of(other.rubric_version)
        said = judgements_of(other, rubric)
        items = MeasurementItem.objects.filter(measurement=other, label_item__in=list(label_items))
        for item, label_item in items.values_list("pk", "label_item_id"):
            if label_item in found or not said.get(item):
                continue
            first = said[item][0]
            found[label_item] = Before(
                {key: float(score) for key, score in first.scores.items()},
                float(first.composite),
                None if rubric.policy.pass_threshold is None else first.passed,
                f"v{other.rubric_version.number}",
                other.model,
            )
    return found


def same_judge(one: Measurement, other: Measurement) -> bool:
    """Whether both are about the same version and judge."""
    return judge_of(one) == judge_of(other)


def judge_of(measurement: Measurement) -> tuple[int, str, list[Any]]:
    return measurement.rubric_version_id, measurement.model, measurement.panel


def people_on(items: Sequence[MeasurementItem]) -> dict[int, People]:
    """People's scores by item: those on its round, and labels of its text. Wrong labels do not count."""
    found: dict[int, People] = {item.pk: People() for item in items}
    by_round = items_by((item.round_id, item.pk) for item in items)
    by_label = items_by((item.label_item_id, item.pk) for item in items)
    said: list[tuple[int, str, dict[str, float]]] = []
    for keys in batches(sorted(by_round)):
        for row in HumanScore.objects.filter(round__in=keys):
            scores = {entry["key"]: float(entry["score"]) for entry in row.scores}
            said += [(pk, row.author_name, scores) for pk in by_round[row.round_id]]
        for label in labels_of(item__round__in=keys):
            said += [(pk, label.rater.name, scores_in(label)) for pk in by_round[label.item.round_id or 0]]
    for keys in batches(sorted(by_label)):
        for label in labels_of(item__in=keys):
            if label.item.round_id not in by_round:  # else it was found with the round
                said += [(pk, label.rater.name, scores_in(label)) for pk in by_label[label.item_id]]
    for pk, name, scores in said:
        found[pk].raters[name] = scores
    return {pk: people for pk, people in found.items() if people.raters}


def items_by(pairs: Iterable[tuple[int | None, int]]) -> dict[int, list[int]]:
    """Items by a key, without those that have none."""
    found: dict[int, list[int]] = {}
    for key, item in pairs:
        if key is not None:
            found.setdefault(key, []).append(item)
    return found


def labels_of(**which: Any) -> Iterable[Label]:
    rows = Label.objects.filter(rater__judge_model="", **which).select_related("item", "rater")
    return rows.defer("item__text", "item__task")


def scores_in(label: Label) -> dict[str, float]:
    return {key: float(score) for key, score in label.scores.items() if key not in label.wrong}
