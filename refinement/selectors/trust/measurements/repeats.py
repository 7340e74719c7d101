"""The repeats of a retest side by side: how far the judge's scores of the same text are apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import stdev

from refinement.models import Measurement, MeasurementItem
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.trust.measurements.judgements import judgements_of

MOST_LOOKED_AT = 200  # texts
MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Repeated:
    """A text with the composites of its repeats, and their deviation by criterion."""

    title: str
    bench: int
    composites: Sequence[str]
    deviation: float
    deviations: Sequence[float]  # in the order of the rubric's criteria


@dataclass(frozen=True, slots=True)
class Repeats:
    """The texts with the largest deviations first."""

    criteria: Sequence[str]
    texts: Sequence[Repeated]
    looked_at: int


def repeats_of(measurement: Measurement) -> Repeats | None:
    """None if no text was judged twice. Two queries; only the first texts of a large retest are looked at."""
    rubric = definition_of(measurement.rubric_version)
    items = MeasurementItem.objects.filter(measurement=measurement).order_by("position")[:MOST_LOOKED_AT]
    titles = {pk: (title, bench) for pk, title, bench in items.values_list("pk", "bench__title", "bench")}
    digits = rubric.policy.composite_decimals
    texts = []
    for pk, judged in judgements_of(measurement, rubric, among=list(titles)).items():
        if len(judged) < 2:
            continue
        title, bench = titles[pk]
        totals = [float(each.composite) for each in judged]
        apart = [stdev(float(each.scores[key.key]) for each in judged) for key in rubric.criteria]
        shown = [f"{total:.{digits}f}" for total in totals]
        texts.append(Repeated(title, bench, shown, stdev(totals), apart))
    if not texts:
        return None
    texts.sort(key=lambda text: -text.deviation)
    return Repeats([criterion.name for criterion in rubric.criteria], texts[:MOST_SHOWN], len(texts))
