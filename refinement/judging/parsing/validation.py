"""Validates a loaded reply: a complete verdict, or all problems with it."""

from dataclasses import dataclass

from refinement.engine.types import CriterionScore, Rubric, Verdict
from refinement.judging.parsing.scores import ScoreReading, read_score
from refinement.judging.parsing.shapes import Gathered, Statement, gather
from refinement.judging.schema import asks_about_contract

MAX_PROBLEMS = 12
MAX_REASON = 600
UNEXPLAINED = "The judge gave no reason."


@dataclass(frozen=True, slots=True)
class Validated:
    """A verdict, or the problems. `stated` is the number of criteria with a number."""

    verdict: Verdict | None
    problems: tuple[str, ...]
    stated: int
    keys: frozenset[str]
    dropped: tuple[str, ...]


def validate(loaded: object, rubric: Rubric) -> Validated:
    """The verdict in the loaded value, if every criterion has a score on the scale."""
    gathered = gather(loaded, rubric)
    readings = {
        criterion.key: read_score(criterion.key, _statement(gathered, criterion.key).score, rubric.scale)
        for criterion in rubric.criteria
    }
    problems = tuple(reading.problem for reading in readings.values() if reading.problem)
    return Validated(
        verdict=None if problems else _verdict(gathered, readings, rubric),
        problems=problems,
        stated=sum(reading.stated for reading in readings.values()),
        keys=frozenset(gathered.statements),
        dropped=tuple(gathered.dropped),
    )


def complaint_of(validated: Validated) -> str:
    """The problems in one short text for the model."""
    sentences = list(validated.problems[:MAX_PROBLEMS])
    if len(validated.problems) > MAX_PROBLEMS:
        sentences.append(f"And {len(validated.problems) - MAX_PROBLEMS} more like these.")
    if validated.dropped:
        sentences.append(f"Not criteria of this rubric: {', '.join(validated.dropped)}.")
    return " ".join(sentences)


def _statement(gathered: Gathered, key: str) -> Statement:
    return gathered.statements.get(key, Statement())


def _verdict(gathered: Gathered, readings: dict[str, ScoreReading], rubric: Rubric) -> Verdict:
    scores = tuple(
        CriterionScore(key, reading.value, statement.reasoning, statement.improvement)
        for key, reading in readings.items()
        if reading.value is not None
        for statement in (_statement(gathered, key),)
    )
    return Verdict(
        scores=scores,
        issues=gathered.issues,
        asi=gathered.asi,
        contract_violation=_violation(gathered) if asks_about_contract(rubric) else "",
    )


def _violation(gathered: Gathered) -> str:
    """Why the judge says that the contract is violated; empty if it does not."""
    return (gathered.contract_reason[:MAX_REASON] or UNEXPLAINED) if gathered.contract_violated else ""
