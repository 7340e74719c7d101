"""Two experiments compared: their configurations in pairs, over the tasks that are the same in both.

Computed in a worker, because it imports numpy. `experiment` is the newer one, `other` the one it is compared
with.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from refinement.models import CellState, Configuration, Experiment, ExperimentRun, SuiteTask
from refinement.selectors.experiments.identity import described, differences, partner_of
from refinement.selectors.experiments.reports.headline import listed, open_sentence
from refinement.selectors.experiments.reports.results import (
    NO_COMPARISON,
    Loaded,
    comparison_json,
    exact,
    loaded,
    trials,
)
from refinement.selectors.experiments.reports.rulers import JUDGE, ruler_of, rulers_differ, with_criteria
from refinement.selectors.experiments.reports.stored import SCHEMA
from refinement.selectors.experiments.words import leaning
from refinement.statistics.comparing import MISLEADING, Comparison, Verdict, compared
from refinement.statistics.experiments import Table
from refinement.statistics.resampling import Floats

MOST_REGRESSIONS = 20
WORDS = {Verdict.BETTER: "better", Verdict.WORSE: "worse"}


def experiments_compared(pk: int, other: int) -> dict[str, Any]:
    """The comparison's JSON."""
    new, old = loaded(pk), loaded(other)
    shared = shared_tasks(new, old)
    configurations, others = configurations_of(pk), configurations_of(other)
    pairs = [(entry, *partner_of(entry, others)) for entry in configurations]
    scores, other_scores = composites(new), composites(old)
    places = {entry.pk: at for at, entry in enumerate(configurations)}
    other_places = {entry.pk: at for at, entry in enumerate(others)}
    sides = {
        entry.pk: (
            scores[[here for here, _ in shared.places], places[entry.pk]],
            other_scores[[there for _, there in shared.places], other_places[partner.pk]],
        )
        for entry, partner, _ in pairs
        if partner is not None and not not_comparable(entry, partner)
    }
    verdicts = compared([mine - theirs for mine, theirs in sides.values()], MISLEADING)
    found = dict(zip(sides, verdicts, strict=True))
    listed_pairs = [
        pair_json(shared, entry, partner, reason, sides.get(entry.pk), found.get(entry.pk))
        if partner
        else unmatched(entry)
        for entry, partner, reason in pairs
    ]
    return {
        "schema": SCHEMA,
        "experiment": named(new.experiment),
        "other": named(old.experiment),
        "suite": new.experiment.suite_version.suite.slug,
        "tasks": len(shared.places),
        "changed_tasks": shared.changed,
        "tasks_only_here": shared.only_here,
        "tasks_only_there": shared.only_there,
        "pairs": with_runs(listed_pairs, pk, other),
        "headline": headline(listed_pairs, old.experiment, len(shared.places)),
    }


class Shared:
    """The tasks of both experiments with the same key and texts, as places in the lists of tasks."""

    def __init__(self) -> None:
        self.places: list[tuple[int, int]] = []
        self.keys: list[str] = []
        self.changed: list[str] = []  # the same key, but another text
        self.only_here: list[str] = []
        self.only_there: list[str] = []


def shared_tasks(new: Loaded, old: Loaded) -> Shared:
    same_version = new.experiment.suite_version_id == old.experiment.suite_version_id
    texts = {} if same_version else task_texts(new.experiment)
    other_texts = {} if same_version else task_texts(old.experiment)
    there = {task.key: at for at, task in enumerate(old.tasks)}
    shared = Shared()
    for at, task in enumerate(new.tasks):
        if task.key not in there:
            shared.only_here.append(task.key)
        elif texts.get(task.key) != other_texts.get(task.key):
            shared.changed.append(task.key)
        else:
            shared.places.append((at, there[task.key]))
            shared.keys.append(task.key)
    here = {task.key for task in new.tasks}
    shared.only_there = [task.key for task in old.tasks if task.key not in here]
    return shared


def task_texts(experiment: Experiment) -> dict[str, tuple[Any, ...]]:
    rows = SuiteTask.objects.filter(version=experiment.suite_version_id)
    return {key: tuple(rest) for key, *rest in rows.values_list("key", "task", "seed", "sources", "checks")}


def configurations_of(pk: int) -> list[Configuration]:
    return list(with_criteria(Configuration.objects.filter(experiment=pk).order_by("position")))


def composites(found: Loaded) -> Floats:
    """Tasks × configurations, averaged over repeats; nan without a score."""
    return Table(trials(found), len(found.tasks), len(found.configurations)).means["composite"]


def pair_json(
    shared: Shared,
    entry: Configuration,
    partner: Configuration,
    reason: str,
    sides: tuple[Floats, Floats] | None,
    comparison: Comparison | None,
) -> dict[str, Any]:
    """A pair. Without `sides` the scores do not compare: no verdict, and no tasks that lost."""
    return {
        "configuration": described(entry),
        "other": described(partner),
        "matched_by": reason,
        "not_comparable": not_comparable(entry, partner),
        "against_baseline": comparison_json(comparison) if comparison else NO_COMPARISON,
        "changes": differences(partner, entry),
        "regressions": regressions(shared, *sides) if sides else [],
    }


def not_comparable(entry: Configuration, partner: Configuration) -> str:
    """What changed in how texts are measured, so that scores do not compare; empty if nothing did."""
    changed = rulers_differ(ruler_of(partner), ruler_of(entry))
    if not changed:
        return ""
    named_all = listed([f"the {name}" for name in changed])
    models = f" ({partner.judge_model} → {entry.judge_model})" if changed == [JUDGE] else ""
    return f"{named_all} changed{models}"


def unmatched(entry: Configuration) -> dict[str, Any]:
    """A configuration that has no counterpart."""
    return {
        "configuration": described(entry),
        "other": None,
        "matched_by": "",
        "not_comparable": "",
        "against_baseline": None,
        "changes": [],
        "regressions": [],
    }


def regressions(shared: Shared, mine: Floats, theirs: Floats) -> list[dict[str, Any]]:
    """The tasks that lost most, worst first."""
    lost = mine - theirs
    order = [int(at) for at in np.argsort(lost, kind="stable") if lost[at] < 0][:MOST_REGRESSIONS]
    return [
        {
            "task": shared.keys[at],
            "difference": exact(float(lost[at])),
            "value": exact(float(mine[at])),
            "other": exact(float(theirs[at])),
        }
        for at in order
    ]


def with_runs(pairs: list[dict[str, Any]], pk: int, other: int) -> list[dict[str, Any]]:
    """Adds each regression's run in both experiments: the first scored repeat."""
    runs = first_runs((pk, other))
    for pair in pairs:
        for entry in pair["regressions"]:
            entry["run"] = runs.get((pair["configuration"]["id"], entry["task"]))
            entry["other_run"] = runs.get((pair["other"]["id"], entry["task"]))
    return pairs


def first_runs(experiments: Sequence[int]) -> dict[tuple[int, str], int | None]:
    rows = ExperimentRun.objects.filter(
        experiment__in=experiments, replaced=False, state=CellState.DONE, run__isnull=False
    ).order_by("-repeat")
    return {
        (configuration, key): run
        for configuration, key, run in rows.values_list("configuration_id", "task__key", "run_id")
    }


def named(experiment: Experiment) -> dict[str, Any]:
    return {
        "id": experiment.pk,
        "name": experiment.name,
        "version": experiment.suite_version.number,
        "created_at": experiment.created_at.isoformat(),
    }


def headline(pairs: Sequence[dict[str, Any]], other: Experiment, tasks: int) -> str:
    """The comparison in a sentence or two."""
    matched = [pair for pair in pairs if pair["against_baseline"] is not None]
    if not matched or not tasks:
        return f"Nothing in this experiment can be compared with {other.name}."
    compared_pairs = [pair for pair in matched if not pair["not_comparable"]]
    sentences = []
    for verdict, word in WORDS.items():
        names = [name_of(pair) for pair in compared_pairs if verdict_of(pair) == verdict]
        if names:
            sentences.append(f"{listed(names)} {'is' if len(names) == 1 else 'are'} {word} than before.")
    likely = [pair for pair in compared_pairs if leaning(pair["against_baseline"])]
    sentences += [open_sentence(name_of(pair), pair["against_baseline"], "before") for pair in likely]
    same = [
        name_of(pair)
        for pair in compared_pairs
        if verdict_of(pair) == Verdict.NO_DIFFERENCE and pair not in likely
    ]
    few = [name_of(pair) for pair in compared_pairs if verdict_of(pair) == Verdict.NOT_ENOUGH]
    if same:
        sentences.append(f"For {listed(same)} no difference was shown.")
    if few:
        sentences.append(f"For {listed(few)} there are not enough tasks that both scored.")
    return " ".join([*sentences, *without_comparison(matched)])


def without_comparison(matched: Sequence[dict[str, Any]]) -> list[str]:
    """A sentence for each reason why configurations do not compare with their counterparts."""
    by_reason: dict[str, list[str]] = {}
    for pair in matched:
        if pair["not_comparable"]:
            by_reason.setdefault(pair["not_comparable"], []).append(name_of(pair))
    return [
        f"{listed(names)} {'does' if len(names) == 1 else 'do'} not compare: {reason}."
        for reason, names in by_reason.items()
    ]


def name_of(pair: dict[str, Any]) -> str:
    return str(pair["configuration"]["name"])


def verdict_of(pair: dict[str, Any]) -> str:
    return str(pair["against_baseline"]["verdict"])
