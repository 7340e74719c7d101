"""Whether a judge has shown what its project requires before its PASS counts in gates and badges."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Min, Q

from refinement.engine.types import Outcome
from refinement.models import Experiment, JudgeRecord, Project, RubricVersion, Run, RunStatus
from refinement.selectors.trust.words import FIRST

UNPROVEN = "unproven judge"
GATED = (
    Q(project__gate_labels__isnull=False)
    | Q(project__gate_kappa__isnull=False)
    | Q(project__gate_like_people=True)
)
NO_RECORD = (
    "nothing is known about this judge: its run was imported, comes from an eval file, changed how the "
    "rubric scores, or had a board of its own"
)
TOOK_OVER = "a board took over from the judge during the run"


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a judge is proven, and why not."""

    proven: bool
    reason: str = ""  # for a sentence, without a full stop

    @property
    def sentence(self) -> str:
        """The reason as a sentence; empty for a proven judge."""
        return f"{UNPROVEN.capitalize()}: {self.reason}." if self.reason else ""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a project requires of a judge. Everything that is set has to hold."""

    labels: int | None = None
    kappa: Decimal | None = None
    like_people: bool = False

    @classmethod
    def of_settings(cls, settings: Mapping[str, Any]) -> "Rule":
        """The rule in a project's settings, as the API gives them."""
        kappa = settings["gate_kappa"]
        return cls(
            settings["gate_labels"], None if kappa is None else Decimal(kappa), settings["gate_like_people"]
        )

    def __bool__(self) -> bool:
        return self.labels is not None or self.kappa is not None or self.like_people

    def standing(self, record: JudgeRecord | None) -> Standing:
        """The standing of a judge by its figures; without a record nothing is known about it."""
        if record is None:
            return Standing(False, NO_RECORD)
        reasons = [
            *self._labels(record.labels),
            *self._kappa(record.kappa, record.labels),
            *self._people(record.worse_than_people),
        ]
        return Standing(not reasons, "; ".join(reasons))

    def _labels(self, labels: int) -> list[str]:
        if self.labels is None or labels >= self.labels:
            return []
        return [f"{labels:,} of {self.labels:,} texts labelled"]

    def _kappa(self, kappa: float | None, labels: int) -> list[str]:
        if self.kappa is None:
            return []
        if 0 < labels < FIRST:
            return [f"κ of {labels} labelled texts is not enough evidence, {FIRST} are required"]
        if kappa is None:
            return ["its agreement with people (κ) is not known"]
        if Decimal(str(kappa)) >= self.kappa:
            return []
        return [f"κ is {kappa:.2f}, {self.kappa:.2f} is required"]

    def _people(self, worse: bool | None) -> list[str]:
        if not self.like_people or worse is False:
            return []
        if worse is None:
            return ["it is not shown to agree with people as well as they agree with each other"]
        return ["it agrees with people less than they agree with each other"]


def rule_of(project: Project) -> Rule:
    """What the project requires; false if it requires nothing."""
    return Rule(project.gate_labels, project.gate_kappa, project.gate_like_people)


def judge_standing(project: Project, record: JudgeRecord | None) -> Standing | None:
    """The standing of a judge in its project; None if the project requires nothing."""
    rule = rule_of(project)
    return rule.standing(record) if rule else None


def run_standing(run: Run, rule: Rule | None = None) -> Standing | None:
    """The standing of the run's judge; None if its project requires nothing. Two queries at most.

    `rule` replaces the project's, for a run that is sent to a server.
    """
    rule = rule_of(run.project) if rule is None else rule
    return standing_by(rule, run, with_criteria([run.rubric_version_id])) if rule else None


def unproven_pass(run: Run, outcome: str = "") -> str:
    """Why the run's PASS does not count in gates; empty if it does, or if the run did not pass."""
    standing = run_standing(run) if (outcome or run.outcome) == Outcome.PASS else None
    return standing.sentence if standing else ""


def standings(numbers: Sequence[int], project: Project | None = None) -> dict[int, Standing]:
    """The standings of these runs' judges by run, in projects that require something. Two queries at most.

    No query if the runs' `project` is given and requires nothing.
    """
    if not numbers or (project is not None and not rule_of(project)):
        return {}
    runs = Run.objects.filter(GATED, pk__in=numbers).select_related("project", "judge_record")
    columns = ("escalated_after", "rubric_version_id", "project", "judge_record")
    rows = list(runs.only(*columns))
    judged = with_criteria(run.rubric_version_id for run in rows if run.judge_record is None)
    return {run.pk: standing_by(rule_of(run.project), run, judged) for run in rows}


def unproven_passes(runs: Iterable[Run], project: Project) -> dict[int, str]:
    """Why the PASS of these runs does not count in gates, by run. Two queries at most."""
    found = standings([run.pk for run in runs if run.outcome == Outcome.PASS], project)
    return {number: standing.sentence for number, standing in found.items() if not standing.proven}


def standing_by(rule: Rule, run: Run, judged: Collection[int]) -> Standing:
    """The standing by a rule. `judged` are the rubric versions that have criteria.

    A run without criteria needs no judge: code decides whether it passes.
    """
    if run.judge_record is None and run.rubric_version_id not in judged:
        return Standing(True)
    return Standing(False, TOOK_OVER) if run.escalated_after else rule.standing(run.judge_record)


def with_criteria(versions: Iterable[int]) -> frozenset[int]:
    """Those of the rubric versions that have criteria. One query, or none."""
    wanted = set(versions)
    if not wanted:
        return frozenset()
    rows = RubricVersion.objects.filter(pk__in=wanted, criteria__isnull=False).order_by()
    return frozenset(rows.values_list("pk", flat=True).distinct())


def configuration_standings(experiment: Experiment) -> dict[int, Standing]:
    """The standings of the judges of an experiment's configurations, in a project that requires something.

    Those of the runs that have ended: the first reason counts. Three queries at most, and none without a
    rule.
    """
    if not rule_of(experiment.project):
        return {}
    ended = Run.objects.filter(experiment=experiment, status=RunStatus.FINISHED).order_by()
    # One run of each kind represents the others.
    kinds = ended.values("experiment_run__configuration", "judge_record", "escalated_after")
    firsts = kinds.annotate(first=Min("pk")).values_list("experiment_run__configuration", "first")
    rows = [(configuration, run) for configuration, run in firsts if configuration is not None]
    known = standings([run for _, run in rows])
    found: dict[int, Standing] = {}
    for configuration, run in rows:
        standing = known[run]
        if configuration not in found or found[configuration].proven:
            found[configuration] = standing
    return found


def figures_with_standings(experiment: Experiment, report: dict[str, Any]) -> dict[str, Any]:
    """The figures of an experiment, with the standing of each configuration's judge."""
    known = configuration_standings(experiment)
    entries = [
        {
            **entry,
            "judge_proven": known[entry["id"]].proven if entry["id"] in known else None,
            "unproven_reason": known[entry["id"]].reason if entry["id"] in known else "",
        }
        for entry in report["configurations"]
    ]
    return {**report, "configurations": entries}
