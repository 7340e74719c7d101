"""What code finds in a command's output: a complete failure, and metrics."""

from collections.abc import Mapping
from typing import Any

from refinement.engine.evaluating import metric_values, with_failure
from refinement.engine.types import Evaluator, EvaluatorOutput, MetricValue, Rubric
from refinement.judging.evidence import read_output

OUTPUT_FIELDS = ("stdout", "stderr", "exit_code", "stopped")


def read_values(rubric: Rubric, values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields `failure` and `metrics` of one run's row, given the others."""
    output = EvaluatorOutput(**{name: values[name] for name in OUTPUT_FIELDS})
    reading = read_output(rubric.evaluator, output)
    return {
        "failure": with_failure(output, reading.failure_pattern).failure,
        "metrics": metrics_json(rubric.evaluator, metric_values([reading.metrics])),
    }


def metrics_json(evaluator: Evaluator, found: Mapping[str, MetricValue]) -> dict[str, list[str]]:
    """The metrics as a row stores them: each run's number as exact text, none if it was not found."""
    return {
        metric.name: [str(number) for number in found[metric.name].values] if metric.name in found else []
        for metric in evaluator.metrics
    }
