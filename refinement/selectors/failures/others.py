"""Failed checks, invented names, stop reasons and errors in a window of runs."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from itertools import pairwise

from django.db.models import Count

from refinement.engine.types import Outcome, StopReason
from refinement.models import Call, CheckResult, Round
from refinement.selectors.failures.window import Window, ended_normally
from refinement.selectors.rubrics.words import check_name
from refinement.selectors.runs.words import REASON_LABELS, outcome_word

MOST_LISTED = 50
ERROR_KINDS = {
    "unreachable": "Model server not reachable",
    "timeout": "Timeout",
    "model_missing": "Model not found",
    "context_exceeded": "Prompt too long for the model",
    "refused": "Refused by the server or the model",
    "bad_reply": "Unusable reply",
}


@dataclass(slots=True)
class CheckFigures:
    """A check: in how many runs the last round fails it, and how often a revision fixed it."""

    key: str
    severity: str = ""
    suggestion: str = ""
    runs: int = 0
    failed: int = 0  # rounds that fail it and have a round after them
    fixed: int = 0
    only: int = 0  # runs at their pass mark that failed because of it

    @property
    def name(self) -> str:
        return check_name(self.key)

    @property
    def fixed_share(self) -> float | None:
        return self.fixed / self.failed if self.failed else None


@dataclass(slots=True)
class InventedName:
    """A call that looks invented, with the runs and models that it is from."""

    name: str
    runs: set[int] = field(default_factory=set)
    points: Decimal = Decimal(0)
    producers: Counter[str] = field(default_factory=Counter)
    first_seen: datetime | None = None

    @property
    def producer(self) -> str:
        return ", ".join(name for name, _ in self.producers.most_common(2))


@dataclass(frozen=True, slots=True)
class Counted:
    """A reason or an error with its number of runs or calls."""

    label: str
    count: int
    share: float
    outcome: str = ""
    key: str = ""


def check_figures(window: Window) -> list[CheckFigures]:
    """The checks that fail in some run, the most frequent first. One query."""
    runs = {run.pk: run for run in window.runs}
    found: dict[str, CheckFigures] = {}
    rounds: dict[int, dict[int, dict[str, bool]]] = defaultdict(lambda: defaultdict(dict))
    rows = CheckResult.objects.filter(round__run__in=window.numbers).order_by(
        "round__run_id", "round__number"
    )
    fields = ("round__run", "round__number", "key", "passed", "severity", "suggestion")
    for run, number, key, passed, severity, suggestion in rows.values_list(*fields):
        rounds[run][number][key] = passed
        if not passed and key not in found:
            found[key] = CheckFigures(key, severity, suggestion)
    for pk, results in rounds.items():
        numbers = sorted(results)
        for number, following in pairwise(numbers):
            for key, passed in results[number].items():
                if not passed and key in results[following]:
                    found[key].failed += 1
                    found[key].fixed += results[following][key]
        failing = [key for key, passed in results[numbers[-1]].items() if not passed]
        for key in failing:
            found[key].runs += 1
        mark = window.scales[runs[pk].version].pass_mark
        best, factor = runs[pk].best, window.scales[runs[pk].version].factor
        errors = [key for key in failing if found[key].severity == "error"]
        if mark is not None and best is not None and float(best) * factor >= mark and len(errors) == 1:
            found[errors[0]].only += runs[pk].outcome == Outcome.FAIL
    return sorted(found.values(), key=lambda entry: (-entry.runs, entry.key))[:MOST_LISTED]


def invented_names(window: Window) -> list[InventedName]:
    """The names that were penalised, the most frequent first. One query."""
    runs = {run.pk: run for run in window.runs if run.penalty_rounds}
    rows = Round.objects.filter(run__in=runs, judged_at__isnull=False).order_by("run_id", "number")
    found: dict[str, InventedName] = {}
    for pk, penalties in rows.values_list("run", "penalties"):
        for penalty in penalties:
            names = list(dict.fromkeys(penalty["names"]))
            for name in names:
                entry = found.setdefault(name, InventedName(name))
                if pk not in entry.runs:
                    entry.producers[runs[pk].producer] += 1
                entry.runs.add(pk)
                entry.points += Decimal(penalty["points"]) / len(names)
                moment = runs[pk].created_at
                entry.first_seen = min(entry.first_seen or moment, moment)
    return sorted(found.values(), key=lambda entry: (-len(entry.runs), entry.name))[:MOST_LISTED]


def stop_reasons(window: Window) -> list[Counted]:
    """How the runs ended. Reasons of different loops that mean the same count together."""
    counts = Counter((run.outcome, reason_words(run.stop_reason)) for run in window.runs)
    total = len(window.runs)
    return [
        Counted(capital(words), count, count / total, outcome_word(outcome))
        for (outcome, words), count in counts.most_common()
    ]


def reason_words(reason: str) -> str:
    """The rule behind the reason: "passed" would repeat the outcome."""
    return REASON_LABELS.get(
        StopReason.QUALITY_THRESHOLD_MET if reason == StopReason.PASSED else reason, reason
    )


def error_kinds(window: Window) -> list[Counted]:
    """Calls without a usable reply, by kind, and runs that ended in an error by role. One query."""
    rows = Call.objects.filter(run__in=window.numbers).exclude(error_kind="").order_by()
    counts = list(rows.values_list("error_kind").annotate(count=Count("pk")).order_by("-count", "error_kind"))
    total = sum(count for _, count in counts)
    return [Counted(ERROR_KINDS.get(kind, kind), count, count / total, key=kind) for kind, count in counts]


def failing_roles(window: Window) -> list[Counted]:
    """Which role's failure ended runs in an error."""
    errors = [run for run in window.runs if not ended_normally(run) and run.outcome == Outcome.ERROR]
    counts = Counter(run.failure_role or "none" for run in errors)
    words = {"judge": "Judge", "producer": "Writer", "clerk": "Clerk", "none": "Wiggum itself"}
    return [
        Counted(words.get(role, role.capitalize()), count, count / len(errors), key=role)
        for role, count in counts.most_common()
    ]


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
