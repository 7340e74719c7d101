"""What a judge said about texts: in measurements, in runs, or as it was recorded elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from django.db.models import Q

from refinement.models import BenchTrial, JudgeRecord, Label, TrialStatus, Verdict

MOST_TRIALS = 2_000


@dataclass(frozen=True, slots=True)
class Said:
    """A judge's score of a criterion and its reasoning."""

    score: float | None
    reasoning: str


ByCriterion: TypeAlias = dict[str, Said]


def judge_said(
    record: JudgeRecord, items: Sequence[int], rounds: Mapping[int, str]
) -> dict[str, ByCriterion]:
    """By the name of the text, then by criterion; three queries.

    `rounds` names the text of each round. Verdicts of runs come first, then measurements, then recorded
    judges; of several judgements, the first with a reasoning counts.
    """
    found: dict[str, ByCriterion] = {}
    for name, key, said in [
        *_of_verdicts(record, rounds),
        *_of_trials(record, items, rounds),
        *_of_recorded(record, items),
    ]:
        known = found.setdefault(name, {}).get(key)
        if known is None or (said.reasoning and not known.reasoning):
            found[name][key] = said if known is None else Said(known.score, said.reasoning)
    return found


def _of_verdicts(record: JudgeRecord, rounds: Mapping[int, str]) -> list[tuple[str, str, Said]]:
    rows = Verdict.objects.filter(
        round__in=list(rounds),
        round__run__rubric_version=record.rubric_version_id,
        round__run__judge_model=record.model,
    )
    found = []
    for round_id, judge, scores in rows.values_list("round_id", "judge", "scores"):
        by = f"{judge}: " if record.is_board else ""
        found += [(rounds[round_id], entry["key"], _said(entry, by)) for entry in scores]
    return found


def _of_trials(
    record: JudgeRecord, items: Sequence[int], rounds: Mapping[int, str]
) -> list[tuple[str, str, Said]]:
    measured = Q(bench__measured__label_item__in=items) | Q(bench__measured__round__in=list(rounds))
    rows = BenchTrial.objects.filter(
        measured,
        bench__rubric_version=record.rubric_version_id,
        bench__model=record.model,
        bench__measured__measurement__definition__isnull=True,
        bench__measured__original__isnull=True,
        status=TrialStatus.DONE,
    ).order_by("pk")
    names = ("bench__measured__label_item", "bench__measured__round", "said")
    found = []
    for item, round_id, entries in rows.values_list(*names)[:MOST_TRIALS]:
        texts = [f"label:{item}"] if item else []
        texts += [rounds[round_id]] if round_id in rounds else []
        found += [(name, entry["key"], _said(entry)) for name in texts for entry in entries]
    return found


def _of_recorded(record: JudgeRecord, items: Sequence[int]) -> list[tuple[str, str, Said]]:
    if record.is_board:
        return []
    rows = Label.objects.filter(item__in=items, rater__judge_model=record.model).order_by("rater__id")
    return [
        (f"label:{item}", key, Said(_number(score), reasons.get(key, "")))
        for item, scores, reasons in rows.values_list("item_id", "scores", "reasons")
        for key, score in scores.items()
    ]


def _said(entry: Mapping[str, Any], by: str = "") -> Said:
    reasoning = entry.get("reasoning", "")
    return Said(_number(entry.get("score")), f"{by}{reasoning}" if reasoning else "")


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
