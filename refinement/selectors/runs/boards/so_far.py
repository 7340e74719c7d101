"""What a run has learned so far: changes that lasted or failed, options tried, and where its board points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from refinement.charts import MetricSeries
from refinement.engine.reflect import Reflection, reflect
from refinement.engine.sentences import round_name
from refinement.engine.types import (
    Assessment,
    CheckResult,
    EvaluatorOutput,
    History,
    Rubric,
    Severity,
    Verdict,
)
from refinement.engine.types import Round as EngineRound
from refinement.models import CheckResult as CheckResultRow
from refinement.models import Round, RoundOrigin
from refinement.models import Verdict as VerdictRow

MOST_LINES = 5  # of each list
ONE = Decimal(1)


@dataclass(frozen=True, slots=True)
class Change:
    """A named change, and the round that made it."""

    round_name: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class SoFar:
    """The card's content."""

    best: str
    best_number: int | None
    regressed: bool
    wins: tuple[Change, ...]
    failed: tuple[Change, ...]
    tried: tuple[str, ...]
    untried: tuple[str, ...]
    direction: str
    direction_round: str

    @property
    def options(self) -> int:
        return len(self.tried) + len(self.untried)


def so_far(rubric: Rubric, rows: Sequence[Round], metrics: Sequence[MetricSeries] = ()) -> SoFar | None:
    """What the judged rounds say; None if that is nothing. At most two queries."""
    judged = [row for row in rows if row.judged_at is not None]
    direction = next((row for row in reversed(judged) if (row.summary or {}).get("direction")), None)
    named = any(row.key_change for row in judged)
    if not judged or not (named or direction or rubric.search_space.strip()):
        return None
    found = reflect(rubric, light_history(rubric, judged, metrics, rows))
    card = card_of(found, direction)
    return card if card.wins or card.failed or card.options or card.direction else None


def card_of(found: Reflection, direction: Round | None) -> SoFar:
    def changes(named: Sequence[tuple[int, str]]) -> tuple[Change, ...]:
        newest = list(named)[-MOST_LINES:]
        return tuple(Change(round_name(number), number, text) for number, text in newest)

    return SoFar(
        best=round_name(found.best_round) if found.best_round else "",
        best_number=found.best_round,
        regressed=found.regressed,
        wins=changes(found.wins),
        failed=changes(found.failed),
        tried=found.exploration.tried,
        untried=found.exploration.untried,
        direction=str(direction.summary["direction"]) if direction and direction.summary else "",
        direction_round=round_name(direction.number) if direction else "",
    )


def light_history(
    rubric: Rubric, judged: Sequence[Round], metrics: Sequence[MetricSeries], rows: Sequence[Round]
) -> History:
    """The judged rounds with what a ranking needs, and no text of a candidate."""
    keys = [row.pk for row in judged]
    failed = _failed_checks(keys) if rubric.checks else {}
    asked = _suggestions(keys) if rubric.search_space.strip() else {}
    places = {row.pk: place for place, row in enumerate(rows)}
    return History(
        rounds=tuple(
            EngineRound(
                row.number,
                "",
                Assessment(
                    composite=row.composite if row.composite is not None else Decimal(0),
                    scores={key: Decimal(score) for key, score in (row.scores or {}).items()},
                    verdicts=(Verdict(scores=(), asi=asked[row.pk]),) if asked.get(row.pk) else (),
                    checks=failed.get(row.pk, ()),
                    evaluator=_measured(metrics, places[row.pk]),
                ),
                row.base_round,
                row.origin == RoundOrigin.HAND,
                key_change=row.key_change,
            )
            for row in judged
        )
    )


def _measured(metrics: Sequence[MetricSeries], place: int) -> EvaluatorOutput | None:
    found = {series.name: value for series in metrics if (value := series.values[place]) is not None}
    return EvaluatorOutput("", "", 0, metrics=found) if found else None


def _failed_checks(rounds: Sequence[int]) -> Mapping[int, tuple[CheckResult, ...]]:
    """The failed checks that keep a round from passing."""
    rows = CheckResultRow.objects.filter(round__in=rounds, passed=False, severity=Severity.ERROR)
    found: dict[int, tuple[CheckResult, ...]] = {}
    for key, check in rows.values_list("round_id", "key"):
        failed = CheckResult(key=check, passed=False, message="", severity=Severity.ERROR, weight=ONE)
        found[key] = (*found.get(key, ()), failed)
    return found


def _suggestions(rounds: Sequence[int]) -> Mapping[int, str]:
    return dict(VerdictRow.objects.filter(round__in=rounds, position=0).values_list("round_id", "asi"))
