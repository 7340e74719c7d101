"""The metrics of a run's rounds, read from the evaluator's output when it ran."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from refinement.engine.types import MetricValue
from refinement.models import EvaluatorResult, Round

# By name in the rubric's order. None: the number was not in the output, which is not zero.
RoundMetrics: TypeAlias = Mapping[str, MetricValue | None]


def metric_names(snapshot: Mapping[str, Any]) -> list[str]:
    """The names of the metrics in a run's rubric, in order; empty without metrics."""
    return [entry["name"] for entry in snapshot.get("evaluator", {}).get("metrics", ())]


def metrics_of(names: Iterable[str], stored: Mapping[str, list[str]]) -> RoundMetrics:
    """The round's metrics from the stored numbers of its evaluator."""
    return {
        name: MetricValue(tuple(Decimal(number) for number in stored[name])) if stored.get(name) else None
        for name in names
    }


def metrics_by_round(rounds: Iterable[Round], names: Iterable[str] | None = None) -> dict[int, RoundMetrics]:
    """The metrics of each round whose evaluator ran, by the round's key. One query.

    `names` are the rubric's metrics; without them, those of each round are in no particular order.
    """
    listed = None if names is None else list(names)
    keys = [row.pk for row in rounds] if listed is None or listed else []
    rows = EvaluatorResult.objects.filter(round__in=keys).values_list("round_id", "metrics")
    return {key: metrics_of(metrics if listed is None else listed, metrics) for key, metrics in rows}


def counted(metrics: RoundMetrics) -> dict[str, Decimal | None]:
    """The number that counts of each metric: the median of its runs."""
    return {name: None if found is None else found.value for name, found in metrics.items()}
