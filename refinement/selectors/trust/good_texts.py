"""Good texts, from which planted copies are made, and earlier measurements with such copies."""

from collections import defaultdict
from decimal import Decimal

from refinement.models import Label, LabelItem, LabelSet, Measurement, MeasurementKind, Rubric, RubricVersion
from refinement.selectors.reviews.blindness import without_hidden
from refinement.selectors.trust.measurements.choosing import (
    MOST_CHOICES,
    MOST_LOOKED_AT,
    round_keys,
    rounds_in,
)

GOOD = Decimal("0.8")  # of the scale, where a rubric has no pass mark


def good_label_items(label_set: LabelSet, count: int) -> list[LabelItem]:
    """The set's texts that people scored best; those that nobody scored come last."""
    rows = without_hidden(label_set.items.exclude(text=""), "round__run")
    means = people_means(label_set)
    keys = list(rows.order_by("position").values_list("pk", flat=True)[:MOST_LOOKED_AT])
    best = sorted(keys, key=lambda key: -means.get(key, float("-inf")))[:count]
    found = label_set.items.select_related("round").in_bulk(best)
    return [found[key] for key in best]


def people_means(label_set: LabelSet) -> dict[int, float]:
    """People's mean score by text, over all criteria."""
    given: dict[int, list[float]] = defaultdict(list)
    labels = Label.objects.filter(item__label_set=label_set, rater__judge_model="")
    for item, scores, wrong in labels.values_list("item", "scores", "wrong").iterator(chunk_size=2_000):
        given[item] += [float(score) for key, score in scores.items() if key not in wrong]
    return {item: sum(scores) / len(scores) for item, scores in given.items() if scores}


def good_rounds(rubric: Rubric, version: RubricVersion, count: int) -> list[int]:
    """The best round of each run that reached the pass mark, of the newest runs."""
    mark = good_from(version)
    rows = rounds_in(rubric).filter(composite__gte=mark).order_by("-run_id", "-number")
    best: dict[int, tuple[Decimal, int]] = {}
    for key in round_keys(rows[:MOST_LOOKED_AT]):
        if key.run not in best or key.composite > best[key.run][0]:
            best[key.run] = (key.composite, key.pk)
    return [pk for _, pk in list(best.values())[:count]]


def good_from(version: RubricVersion) -> Decimal:
    """The score from which on a round is good: the pass mark, or 80 % of the scale."""
    threshold = version.policy.get("pass_threshold")
    if threshold is not None:
        return Decimal(str(threshold))
    least, most = version.scale_minimum, version.scale_maximum
    return least + GOOD * (most - least)


def planted_measurements_of(rubric: Rubric) -> list[Measurement]:
    """The rubric's measurements with planted copies, whose texts another judge can be given."""
    rows = Measurement.objects.filter(rubric_version__rubric=rubric, kind=MeasurementKind.PLANTED)
    return list(rows.select_related("rubric_version").order_by("-pk")[:MOST_CHOICES])
