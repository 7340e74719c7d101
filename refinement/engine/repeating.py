"""Several runs of an evaluator's command on one candidate: which one stands for them, and what is noise."""

from collections.abc import Mapping, Sequence

from refinement.engine.types import EvaluatorOutput, MetricValue, Rubric


def repeats_failure(failures: Sequence[str]) -> str:
    """Why the runs together are a complete failure; empty if at least half of them are not.

    `failures` says for each run why it failed completely, or is empty.
    """
    failed = [failure for failure in failures if failure]
    if 2 * len(failed) <= len(failures):
        return ""
    return f"{len(failed)} of {len(failures)} runs failed completely. {failed[0]}"


def middle_run(rubric: Rubric, runs: Sequence[EvaluatorOutput]) -> int:
    """The index of the run whose output stands for all of them.

    It is the one with the median of the first metric. Without metrics it is the first run that ended like
    most of them: in a complete failure, or not.
    """
    failed = bool(repeats_failure([run.failure for run in runs]))
    alike = [index for index, run in enumerate(runs) if bool(run.failure) is failed]
    if not rubric.evaluator.metrics:
        return alike[0]
    name = rubric.evaluator.metrics[0].name
    measured = [index for index in alike if name in runs[index].metrics]
    measured.sort(key=lambda index: runs[index].metrics[name].value)
    return measured[(len(measured) - 1) // 2] if measured else alike[0]


def is_noise(now: MetricValue, before: MetricValue) -> bool:
    """Whether the change of a metric lies within the spread of its repeated runs."""
    if len(now.values) == len(before.values) == 1:
        return False
    spread = max(now.high - now.low, before.high - before.low)
    return abs(now.value - before.value) <= spread


def noisy_metrics(now: Mapping[str, MetricValue], before: Mapping[str, MetricValue]) -> frozenset[str]:
    """The names of the metrics whose change since an earlier round is noise."""
    return frozenset(name for name in now.keys() & before.keys() if is_noise(now[name], before[name]))
