"""Runs of an experiment that wait for a model server or a person."""

from dataclasses import dataclass

from django.db.models import Count, Max, Q

from refinement.models import Experiment, Run, RunStatus

# A run that waits for its turn at a busy server has no failures, and moves soon.
AWAY = Q(status=RunStatus.WAITING, step_failures__gt=0)
ASKING = Q(status=RunStatus.PAUSED, plateau_asked=True)
PAUSED = Q(status=RunStatus.PAUSED, plateau_asked=False)


@dataclass(frozen=True, slots=True)
class Held:
    """How many runs wait for a model server and why, ask a person, or were paused one by one."""

    away: int = 0
    why: str = ""
    asking: int = 0
    paused: int = 0

    @property
    def total(self) -> int:
        return self.away + self.asking + self.paused

    @property
    def mark(self) -> str:
        return f"{self.away}-{self.asking}-{self.paused}"


def held_in(experiment: Experiment) -> Held:
    """One query, of the few runs that wait or are paused."""
    rows = Run.objects.filter(experiment=experiment, status__in=[RunStatus.WAITING, RunStatus.PAUSED])
    found = rows.aggregate(
        away=Count("pk", filter=AWAY),
        why=Max("waiting_for", filter=AWAY),
        asking=Count("pk", filter=ASKING),
        paused=Count("pk", filter=PAUSED),
    )
    return Held(**{**found, "why": found["why"] or ""})
