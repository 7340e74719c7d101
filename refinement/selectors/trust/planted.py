"""Planted copies that a judge scored, each with its original, from its measurements."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from refinement.engine.boards import lower_median
from refinement.engine.scoring import composite
from refinement.engine.types import Rubric
from refinement.models import (
    BenchTrial,
    JudgeRecord,
    Measurement,
    MeasurementItem,
    MeasurementKind,
    TrialStatus,
)
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.trust.keys import judge_key
from refinement.selectors.trust.scores import CHARS_A_WORD, COMPOSITE

MOST_ITEMS = 5_000  # the newest count
MOST_MEASUREMENTS = 200


@dataclass(frozen=True, slots=True)
class Judged:
    """The mean scores of a text by criterion and for `composite`, over its repeats."""

    scores: Mapping[str, float]
    repeats: int


@dataclass(frozen=True, slots=True)
class Pair:
    """A copy and its original, both scored."""

    item: int
    measurement: int
    edit: str
    harmless: bool
    criterion: str  # that the edit should hit; empty if unknown
    change: str
    original: Judged
    copy: Judged
    words: float  # by how many the copy is longer, by its characters


def planted_pairs(record: JudgeRecord) -> list[Pair]:
    """The newest first. Four queries. A copy that was judged in several measurements counts once."""
    rows = rows_of(record)
    judged = judged_of([row["bench"] for row in rows], definition_of(record.rubric_version), record)
    by_item = {row["pk"]: row for row in rows}
    found, seen = [], set()
    for row in rows:
        original = by_item.get(row["original"])
        if original is None or row["bench"] not in judged or original["bench"] not in judged:
            continue
        same = (row["edit"], row["bench__fingerprint"], original["bench__fingerprint"])
        if same not in seen:
            seen.add(same)
            found.append(pair_of(row, original, judged))
    return found


def rows_of(record: JudgeRecord) -> list[dict[str, Any]]:
    columns = ("pk", "measurement", "bench", "edit", "harmless", "original", "criterion", "change")
    rows = MeasurementItem.objects.filter(measurement__in=measurements_of(record), started=True)
    bench = ("bench__fingerprint", "bench__candidate_chars")
    return list(rows.order_by("-pk").values(*columns, *bench)[:MOST_ITEMS])


def measurements_of(record: JudgeRecord) -> list[int]:
    """The measurements with planted copies of this version and judge."""
    rows = Measurement.objects.filter(
        rubric_version=record.rubric_version_id, kind=MeasurementKind.PLANTED, definition__isnull=True
    ).order_by("-pk")
    found = rows.values_list("pk", "model", "panel")[:MOST_MEASUREMENTS]
    return [pk for pk, model, panel in found if judge_key(model, panel) == record.key]


def judged_of(benches: list[int], rubric: Rubric, record: JudgeRecord) -> dict[int, Judged]:
    """By bench; those without a whole judgement are left out."""
    repeats: dict[int, dict[int, list[Any]]] = defaultdict(lambda: defaultdict(list))
    rows = BenchTrial.objects.filter(bench__in=benches, status=TrialStatus.DONE)
    for bench, number, said in rows.values_list("bench", "number", "said").iterator(chunk_size=2_000):
        repeats[bench][number].append(said)
    seats = len(record.panel) or 1
    found = {}
    for bench, numbers in repeats.items():
        whole = [scores_of(said, rubric) for said in numbers.values() if len(said) == seats]
        if whole:
            means = {key: sum(scores[key] for scores in whole) / len(whole) for key in whole[0]}
            found[bench] = Judged(means, len(whole))
    return found


def scores_of(said: list[Any], rubric: Rubric) -> dict[str, float]:
    """What the judge said, by criterion and for the composite, without checks and penalties.

    Of a board, the lower median of its judges.
    """
    spoken: dict[str, list[Decimal]] = defaultdict(list)
    for entries in said:
        for entry in entries:
            spoken[entry["key"]].append(Decimal(str(entry["score"])))
    scores = {key: lower_median(values) for key, values in spoken.items()}
    return {
        **{key: float(score) for key, score in scores.items()},
        COMPOSITE: float(composite(rubric, scores, ())),
    }


def pair_of(row: dict[str, Any], original: dict[str, Any], judged: Mapping[int, Judged]) -> Pair:
    chars = row["bench__candidate_chars"] - original["bench__candidate_chars"]
    return Pair(
        item=row["pk"],
        measurement=row["measurement"],
        edit=row["edit"],
        harmless=row["harmless"],
        criterion=row["criterion"],
        change=row["change"],
        original=judged[original["bench"]],
        copy=judged[row["bench"]],
        words=chars / CHARS_A_WORD,
    )


def items_again(measurement: Measurement) -> list[MeasurementItem]:
    """All its texts in order, originals before their copies."""
    rows = MeasurementItem.objects.filter(measurement=measurement)
    return list(rows.select_related("bench", "label_item", "round").order_by("position"))
