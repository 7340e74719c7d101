"""Computes what a replay shows: which verdicts flip, what moved, and who is closer to people.

Each text is compared with itself, so that differences between texts do not count. A mean's interval is that
of paired differences; all criteria together share its 5 % (see `statistics/comparing.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refinement.engine.types import Rubric
from refinement.models import JudgeRecord, Measurement, MeasurementItem
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.trust.measurements.before import (
    Before,
    People,
    known_before,
    people_on,
    stored_verdicts,
)
from refinement.selectors.trust.measurements.definitions import definition_measured
from refinement.selectors.trust.measurements.judgements import Judgement, judgements_of

COMPOSITE = ""
ON_TEN = 10.0  # comparisons are made on a scale from 0 to 10
TO_FAIL, TO_PASS = "to_fail", "to_pass"


@dataclass(frozen=True, slots=True)
class Pair:
    """One text before and after. The figures after are means over the repeats."""

    item: MeasurementItem
    before: Before
    scores: Mapping[str, float]
    composite: float
    passed: bool
    people: People | None

    @property
    def flip(self) -> str:
        if self.before.passed is None or self.before.passed == self.passed:
            return ""
        return TO_PASS if self.passed else TO_FAIL


def compute_replay(measurement_pk: int) -> dict[str, Any]:
    """The replay's results as JSON; empty if the measurement was deleted."""
    rows = Measurement.objects.select_related("rubric_version__rubric", "project")
    measurement = rows.filter(pk=measurement_pk).first()
    if measurement is None:
        return {}
    rubric = definition_measured(measurement)
    items = list(MeasurementItem.objects.filter(measurement=measurement).order_by("position"))
    judged = judgements_of(measurement, rubric)
    pairs = pairs_of(measurement, rubric, items, judged)
    noise = noise_of(measurement)
    return {
        "schema": 1,
        "texts": len(items),
        "judged": len(judged),
        "compared": len(pairs),
        "versions": sorted({pair.before.version for pair in pairs}),
        "judges": sorted({pair.before.judge for pair in pairs}),
        "scale": {"least": float(rubric.scale.minimum), "most": float(rubric.scale.maximum)},
        "decimals": rubric.policy.composite_decimals,
        "pass_mark": mark_of(rubric),
        "noise": noise.get(COMPOSITE),
        "criteria": criteria_compared(measurement, rubric, pairs, noise),
        "verdicts": verdicts_of(pairs, noise.get(COMPOSITE)),
        "agreement": agreement_of(rubric, pairs),
        "points": [point_of(pair, rubric, noise.get(COMPOSITE)) for pair in pairs],
    }


def pairs_of(
    measurement: Measurement,
    rubric: Rubric,
    items: Sequence[MeasurementItem],
    judged: Mapping[int, Sequence[Judgement]],
) -> list[Pair]:
    """The texts that were judged both before and now."""
    done = [item for item in items if judged.get(item.pk)]
    stored = stored_verdicts({item.round_id for item in done if item.round_id is not None})
    unlike = {item.label_item_id for item in done if item.round_id is None and item.label_item_id is not None}
    measured = known_before(measurement, unlike) if unlike else {}
    people = people_on(done)
    found = []
    for item in done:
        before = stored.get(item.round_id or 0) or measured.get(item.label_item_id or 0)
        if before is None:
            continue
        said = judged[item.pk]
        keys = [criterion.key for criterion in rubric.criteria]
        found.append(
            Pair(
                item,
                before,
                {key: float(sum(each.scores[key] for each in said) / len(said)) for key in keys},
                float(sum(each.composite for each in said) / len(said)),
                sum(each.passed for each in said) * 2 > len(said),
                people.get(item.pk),
            )
        )
    return found


def noise_of(measurement: Measurement) -> dict[str, float]:
    """The smallest real differences by criterion and of the composite, of the judge before or after.

    A draft has none of its own, so its version's are taken; then those of any version with this judge.
    """
    records = JudgeRecord.objects.filter(
        rubric_version__rubric=measurement.rubric_version.rubric,
        model=measurement.model,
        panel=measurement.panel,
        smallest_difference__isnull=False,
    )
    for record in sorted(
        records, key=lambda row: (row.rubric_version_id != measurement.rubric_version_id, -row.pk)
    ):
        if record.smallest_difference is not None:
            return {COMPOSITE: record.smallest_difference, **known_differences(record)}
    return {}


def known_differences(record: JudgeRecord) -> dict[str, float]:
    return {key: value for key, value in record.criteria_differences.items() if value is not None}


def mark_of(rubric: Rubric) -> float | None:
    return None if rubric.policy.pass_threshold is None else float(rubric.policy.pass_threshold)


def criteria_compared(
    measurement: Measurement, rubric: Rubric, pairs: Sequence[Pair], noise: Mapping[str, float]
) -> list[dict[str, Any]]:
    """A line for each criterion, and the composite last with an empty key."""
    from refinement.statistics.comparing import MISLEADING, compared

    before = definition_of(measurement.rubric_version)
    old = {criterion.key: criterion for criterion in before.criteria}
    names = [(criterion.key, criterion.name) for criterion in rubric.criteria] + [(COMPOSITE, "Composite")]
    values = {key: [values_of(pair, key) for pair in pairs] for key, _ in names}
    width = float(rubric.scale.maximum - rubric.scale.minimum) / ON_TEN
    columns = [column_of(values[key], width) for key, _ in names]
    lines = []
    for (key, name), comparison in zip(names, compared(columns, MISLEADING), strict=True):
        both = [pair for pair in values[key] if pair[0] is not None]
        edge = noise.get(key)
        lines.append(
            {
                "key": key,
                "name": name,
                "n": len(both),
                "before": mean([one for one, _ in both]),
                "after": mean([other for _, other in both]),
                "change": scaled(comparison.difference, comparison.low, comparison.high, width),
                "verdict": comparison.verdict.value,
                "beyond": None if edge is None else sum(abs(b - a) > edge for a, b in both if a is not None),
                "noise": edge,
                "wording": wording_of(key, rubric, old),
            }
        )
    return lines


def values_of(pair: Pair, key: str) -> tuple[float | None, float]:
    if key == COMPOSITE:
        return pair.before.composite, pair.composite
    return pair.before.scores.get(key), pair.scores[key]


def column_of(values: Sequence[tuple[float | None, float]], width: float) -> Any:
    import numpy as np

    gaps = [float("nan") if before is None else (after - before) / width for before, after in values]
    return np.array(gaps, dtype=float)


def scaled(value: float | None, low: float | None, high: float | None, width: float) -> Any:
    if value is None:
        return None
    ends = [None if end is None else end * width for end in (low, high)]
    return {"value": value * width, "low": ends[0], "high": ends[1]}


def mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def wording_of(key: str, rubric: Rubric, old: Mapping[str, Any]) -> str:
    """Whether the criterion is new or has other words or another weight than in the version before."""
    now = next((criterion for criterion in rubric.criteria if criterion.key == key), None)
    if now is None:
        return ""
    if key not in old:
        return "added"
    was = old[key]
    if (was.name, was.description, was.ideal) != (now.name, now.description, now.ideal):
        return "changed"
    return "weight" if was.weight != now.weight else ""


def is_noise(pair: Pair, edge: float | None) -> bool:
    return edge is not None and abs(pair.composite - pair.before.composite) <= edge


def verdicts_of(pairs: Sequence[Pair], edge: float | None) -> dict[str, Any] | None:
    """How the verdicts changed; None without a pass mark."""
    known = [pair for pair in pairs if pair.before.passed is not None]
    if not known:
        return None
    flips = [pair for pair in known if pair.flip]
    scored = [pair for pair in flips if pair.people and closer_of(pair)]
    return {
        "n": len(known),
        "pass_pass": sum(bool(pair.before.passed) and pair.passed for pair in known),
        "pass_fail": sum(pair.flip == TO_FAIL for pair in known),
        "fail_pass": sum(pair.flip == TO_PASS for pair in known),
        "fail_fail": sum(not pair.before.passed and not pair.passed for pair in known),
        "within_noise": sum(is_noise(pair, edge) for pair in flips),
        "noise_known": edge is not None,
        "scored_flips": len(scored),
        "closer_after": sum(closer_of(pair) == "after" for pair in scored),
    }


def people_total(pair: Pair) -> tuple[float, float, float] | None:
    """People's mean, the judge's before and the judge's after, over the criteria that all three scored."""
    if pair.people is None:
        return None
    rows = [
        (said, pair.before.scores[key], score)
        for key, score in pair.scores.items()
        if (said := pair.people.mean(key)) is not None and key in pair.before.scores
    ]
    if not rows:
        return None
    people, before, after = (sum(column) / len(rows) for column in zip(*rows, strict=True))
    return people, before, after


def closer_of(pair: Pair) -> str:
    """Which verdict is closer to people: before, after, or both; empty without people."""
    found = people_total(pair)
    if found is None:
        return ""
    people, before, after = found
    gain = abs(before - people) - abs(after - people)
    return "both" if abs(gain) < 1e-9 else "after" if gain > 0 else "before"


def agreement_of(rubric: Rubric, pairs: Sequence[Pair]) -> dict[str, Any] | None:
    """Agreement with people before and after, on the texts that people scored."""
    scored = [pair for pair in pairs if pair.people is not None]
    names = sorted({name for pair in scored if pair.people for name in pair.people.raters})
    lines = []
    for criterion in rubric.criteria:
        key = criterion.key
        known = [
            (pair, pair.people, said)
            for pair in scored
            if pair.people and key in pair.before.scores and (said := pair.people.mean(key)) is not None
        ]
        if known:
            kappas = kappas_of(key, [(pair, people) for pair, people, _ in known], names)
            lines.append(
                {
                    "key": key,
                    "name": criterion.name,
                    "n": len(known),
                    "mae_before": mean([abs(pair.before.scores[key] - said) for pair, _, said in known]),
                    "mae_after": mean([abs(pair.scores[key] - said) for pair, _, said in known]),
                    **kappas,
                }
            )
    if not lines:
        return None
    return {
        "labels": len(scored),
        "has_kappa": any(line["kappa_after"] for line in lines),
        "criteria": lines,
    }


def kappas_of(key: str, known: Sequence[tuple[Pair, People]], names: Sequence[str]) -> dict[str, Any]:
    """Weighted kappa with people before and after, each with its interval."""
    import numpy as np

    from refinement.statistics.agreement.bootstrap import figures_of
    from refinement.statistics.agreement.kappa import kappa_measure

    people = np.array(
        [[said.raters.get(name, {}).get(key, np.nan) for name in names] for _, said in known], dtype=float
    )
    before = np.array([[pair.before.scores[key]] for pair, _ in known], dtype=float)
    after = np.array([[pair.scores[key]] for pair, _ in known], dtype=float)
    figures = figures_of([kappa_measure(before, people), kappa_measure(after, people)])
    return {
        name: None if figure is None else {"value": figure.value, "low": figure.low, "high": figure.high}
        for name, figure in zip(("kappa_before", "kappa_after"), figures, strict=True)
    }


def point_of(pair: Pair, rubric: Rubric, edge: float | None) -> dict[str, Any]:
    """One text for the chart and the list of movers."""
    moved = max(
        (
            (abs(score - pair.before.scores[key]), key)
            for key, score in pair.scores.items()
            if key in pair.before.scores
        ),
        key=lambda entry: entry[0],
        default=None,
    )
    totals = people_total(pair)
    return {
        "item": pair.item.pk,
        "before": pair.before.composite,
        "after": pair.composite,
        "passed_before": pair.before.passed,
        "passed": pair.passed,
        "flip": pair.flip,
        "noise": is_noise(pair, edge),
        "criterion": moved[1] if moved and moved[0] > 0 else "",
        "criterion_before": pair.before.scores[moved[1]] if moved and moved[0] > 0 else None,
        "criterion_after": pair.scores[moved[1]] if moved and moved[0] > 0 else None,
        "people": totals[0] if totals else None,
        "closer": closer_of(pair),
    }
