"""Converts runs of other tools to run documents."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from refinement.engine.codec import rubric_to_json
from refinement.engine.kinds import Outcome, StopReason
from refinement.engine.scoring import shown
from refinement.engine.sentences import result_sentence, round_name
from refinement.engine.types import Criterion, Rubric
from refinement.interchange.exports.figures import compute, history_of
from refinement.interchange.imports.document import RoundPart, RunDocument, RunPart, VerdictPart, VerdictScore
from refinement.interchange.imports.written_scores import agrees
from refinement.judging.history import KEY_CHANGE_CHARS
from refinement.judging.length import shorten

KEY_CHARS = 60
NAME_CHARS = 160
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)  # replaced by the import time when the run is written


@dataclass(slots=True)
class ForeignRound:
    """A round in a file. `scores` are by criterion key, or None if any is missing."""

    number: int
    candidate: str | None = None
    scores: dict[str, Decimal] | None = None
    words: dict[str, tuple[str, str]] = field(default_factory=dict)  # reasoning and improvement by key
    issues: list[str] = field(default_factory=list)
    asi: str = ""
    stated: Decimal | None = None  # the composite in the file
    origin: str = "revision"
    change: str = ""  # what it changed, in the file's words


@dataclass(slots=True)
class ForeignRun:
    """A run in a file."""

    rubric: Rubric
    rounds: list[ForeignRound]
    title: str
    task: str = ""
    seed: str = ""
    outcome: Outcome = Outcome.DONE
    reason: StopReason = StopReason.IMPORTED
    run: dict[str, Any] = field(default_factory=dict)  # more fields of RunPart
    stated: dict[str, Any] = field(default_factory=dict)


def document_of(foreign: ForeignRun) -> RunDocument:
    """The document with computed composites. Differences from the file are added to `stated`."""
    rubric = foreign.rubric
    document = RunDocument(
        run=RunPart(
            title=foreign.title[:NAME_CHARS],
            task=foreign.task,
            seed=foreign.seed,
            outcome=foreign.outcome,
            stop_reason=foreign.reason,
            snapshot=rubric_to_json(rubric),
            **foreign.run,
        ),
        rounds=[_round(entry, foreign) for entry in foreign.rounds],
    )
    compute(document, rubric)
    document.run.why = document.run.why or _why(document, foreign)
    contradictions = foreign.stated.setdefault("contradictions", [])
    contradictions[:0] = composite_differences(foreign, document)
    return document


def _round(entry: ForeignRound, foreign: ForeignRun) -> RoundPart:
    text = entry.candidate or ""
    scored = entry.scores is not None
    return RoundPart(
        number=entry.number,
        origin=entry.origin if text else "absent",  # type: ignore[arg-type]
        candidate=text,
        judged_at=EPOCH if scored else None,
        key_change=shorten(entry.change, KEY_CHANGE_CHARS) or None,
        verdicts=[_verdict(entry, foreign)] if scored or entry.issues or entry.asi else [],
    )


def _verdict(entry: ForeignRound, foreign: ForeignRun) -> VerdictPart:
    judge = foreign.run.get("judge", {})
    return VerdictPart(
        judge=judge.get("model", "") if isinstance(judge, dict) else "",
        scores=[
            VerdictScore(
                key=criterion.key,
                score=(entry.scores or {})[criterion.key],
                reasoning=entry.words.get(criterion.key, ("", ""))[0],
                improvement=entry.words.get(criterion.key, ("", ""))[1],
            )
            for criterion in foreign.rubric.criteria
            if criterion.key in (entry.scores or {})
        ],
        issues=entry.issues,
        asi=entry.asi,
    )


def _why(document: RunDocument, foreign: ForeignRun) -> str:
    """Why the run ended, as far as it is known."""
    rubric = foreign.rubric
    assessed = history_of(document, rubric).assessed
    if not assessed:
        return "Imported. No round has all its scores, so there is no best round."
    after = round_name(document.rounds[-1].number)
    return (
        f"Imported. The run ended after {after}; the file does not say why."
        f"{result_sentence(rubric, assessed) if len(assessed) > 1 else ''}"
    )


def composite_differences(foreign: ForeignRun, document: RunDocument) -> list[str]:
    """Composites in the file that differ from those computed from its scores."""
    computed = {entry.number: entry.composite for entry in document.rounds}
    return [
        f"For {round_name(entry.number)} the file states a composite of {entry.stated:f}; "
        f"its scores give {shown(value, foreign.rubric.policy)}."
        for entry in foreign.rounds
        if entry.stated is not None
        and (value := computed[entry.number]) is not None
        and not agrees(entry.stated, value)
    ]


# --- rubrics ----------------------------------------------------------------------------------------
def criteria_of(names: Sequence[str], primary: Sequence[bool] = ()) -> tuple[Criterion, ...]:
    """Criteria with these names, equal weights and unique keys made from the names."""
    taken: dict[str, None] = {}
    for name in names:
        base = re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")[: KEY_CHARS - 4] or "criterion"
        key = next(
            free
            for count in range(1, len(names) + 2)
            if (free := base if count == 1 else f"{base}_{count}") not in taken
        )
        taken[key] = None
    firsts = list(primary) or [False] * len(names)
    first = firsts.index(True) if True in firsts else None
    return tuple(
        Criterion(key, name[:120], primary=place == first)
        for place, (key, name) in enumerate(zip(taken, names, strict=True))
    )


def rounds_fitted(rubric: Rubric, *, rounds: int) -> Rubric:
    """The rubric with this number of rounds."""
    return replace(rubric, policy=replace(rubric.policy, max_rounds=max(rounds, 1)))


def imported_name(names: Sequence[str]) -> str:
    """The name of a rubric created for an import."""
    whole = f"Imported: {', '.join(names)}"
    return whole if len(whole) <= NAME_CHARS else f"{whole[: NAME_CHARS - 1]}…"
