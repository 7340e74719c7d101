"""Converts a line of `runs.jsonl` to a run with its rubric and figures."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from refinement.engine.kinds import Outcome, StopReason
from refinement.engine.scoring import best_round, shown
from refinement.engine.sentences import round_name
from refinement.interchange.exports.figures import history_of
from refinement.interchange.imports.foreign_runs import (
    ForeignRound,
    ForeignRun,
    document_of,
    rounds_fitted,
)
from refinement.interchange.imports.found import Notes
from refinement.interchange.imports.written_scores import agrees, written_score
from refinement.interchange.runs_jsonl.rounds import LineRound
from refinement.interchange.runs_jsonl.weights import WHOLE, LineRubric, line_rubric
from refinement.texts import label

TASK_TYPE_CHARS = 50
OUTCOMES = {outcome.value: outcome for outcome in Outcome}
REASONS = {reason.value: reason for reason in StopReason}


def foreign_run(
    record: Mapping[str, Any],
    rounds: Sequence[LineRound],
    line: int,
    notes: Notes,
    weights: Mapping[str, Decimal] | None = None,
) -> ForeignRun:
    """The run in the line, with its contradictions. Without rounds it is an unscored record."""
    names = list(dict.fromkeys(name for entry in rounds for name in (*entry.dims, *entry.unreadable)))
    if not names and any(entry.stated is not None for entry in rounds):
        notes.add(line, "", "No scores by dimension; the composites are used as scores.")
    chosen = line_rubric(record, rounds, names, weights, line, notes)
    last = rounds[-1].number if rounds else 0
    by_number = {entry.number: entry for entry in rounds}
    made = [
        _round(by_number.get(number) or LineRound(number), chosen, line, notes)
        for number in range(1, last + 1)
    ]
    task = _text(record, "task")
    foreign = ForeignRun(
        rubric=rounds_fitted(chosen.rubric, rounds=last),
        rounds=made,
        title=_title(record, line),
        task=task,
        outcome=_outcome(record, line, notes),
        reason=REASONS.get(_text(record, "stop_reason"), StopReason.IMPORTED),
        run=_run_fields(record, line, notes),
    )
    _place_result(foreign, record, line, notes)
    _state(foreign, record, rounds, names)
    if chosen.given:
        foreign.stated["weights"] = {name: f"{weight:f}" for name, weight in chosen.given.items()}
        words = ", ".join(f"{name}={weight:f}" for name, weight in chosen.given.items())
        foreign.stated["facts"].append(["weights of the import", words])
    return foreign


def _title(record: Mapping[str, Any], line: int) -> str:
    title = _text(record, "title") or _text(record, "task") or _text(record, "run_id") or f"Line {line}"
    return " ".join(title.split())[:160]


def _round(entry: LineRound, chosen: LineRubric, line: int, notes: Notes) -> ForeignRound:
    names, scale = list(chosen.keys), chosen.rubric.scale
    whole = names == [WHOLE] and not entry.dims and not entry.unreadable
    made = ForeignRound(
        entry.number,
        candidate=entry.content or None,
        issues=entry.issues,
        asi=entry.feedback,
        stated=None if whole else entry.stated,
        origin="draft" if entry.number == 1 else "revision",
        change=entry.change,
    )
    scores = ({} if entry.stated is None else {WHOLE: entry.stated}) if whole else entry.dims
    outside = [
        f"{name}: {score:f}" for name, score in scores.items() if not scale.minimum <= score <= scale.maximum
    ]
    missing = [name for name in names if name not in scores]
    if outside:
        why = f"Outside the scale of 0 to 10, so round {entry.number} is unscored."
        notes.add(line, "; ".join(outside), why)
    elif missing:
        notes.add(line, ", ".join(missing), f"Round {entry.number} has no score for this, so it is unscored.")
    else:
        made.scores = {chosen.keys[name]: score for name, score in scores.items()}
    return made


def _place_result(foreign: ForeignRun, record: Mapping[str, Any], line: int, notes: Notes) -> None:
    """Assigns the text of the result to the best round, because the loop returns that one."""
    field = next((name for name in ("final_content", "output", "content") if _text(record, name).strip()), "")
    if not field or any(entry.candidate for entry in foreign.rounds):
        return
    if not foreign.rounds:
        foreign.rounds.append(ForeignRound(1, origin="draft"))
    if len(foreign.rounds) == 1:
        foreign.rounds[0].candidate = _text(record, field)
        return
    best = best_round(foreign.rubric, history_of(document_of(foreign), foreign.rubric).rounds)
    if best is not None:
        foreign.rounds[best.number - 1].candidate = _text(record, field)
        why = f"The line has only the final text; it is assigned to round {best.number}, the best."
        notes.add(line, field, why)


def _outcome(record: Mapping[str, Any], line: int, notes: Notes) -> Outcome:
    """The outcome in the line, or DONE if there is none."""
    name = _text(record, "final") or _text(record, "outcome")
    if name and name.upper() not in OUTCOMES:
        notes.add(line, f"final: {name}", f"Unknown outcome. Available: {', '.join(OUTCOMES)}.")
    return OUTCOMES.get(name.upper(), Outcome.DONE)


def _run_fields(record: Mapping[str, Any], line: int, notes: Notes) -> dict[str, Any]:
    moment = _moment(record, ("timestamp", "created_at"), line, notes)
    return {
        "created_at": moment,
        "started_at": _moment(record, ("started_at",), line, notes) or moment,
        "finished_at": _moment(record, ("finished_at",), line, notes),
        "created_by": _text(record, "created_by")[:120],
        "producer": _model(record, ("producer_model", "producer", "model")),
        "judge": _model(record, ("judge_model", "evaluator_model", "judge", "evaluator")),
        "prompt_tokens": _count(record, ("prompt_tokens", "input_tokens")),
        "completion_tokens": _count(record, ("completion_tokens", "output_tokens")),
        "model_seconds": _seconds(record),
        "tags": [str(tag)[:50] for tag in record.get("tags") or [] if isinstance(tag, str) and tag.strip()][
            :20
        ],
        "why": _text(record, "why"),
        "task_type": _task_type(record, line, notes),
        "rubric": _rubric_name(record),
    }


def _task_type(record: Mapping[str, Any], line: int, notes: Notes) -> str:
    """The task type, cut at its limit."""
    text = label(_text(record, "task_type"))
    if len(text) > TASK_TYPE_CHARS:
        notes.add(line, f"task_type: {text}", f"Cut to {TASK_TYPE_CHARS} characters.")
    return text[:TASK_TYPE_CHARS].strip()


def _rubric_name(record: Mapping[str, Any]) -> dict[str, Any]:
    """The rubric version that the run used in its original project. Its definition is not in the file."""
    slug, number = _text(record, "rubric")[:80], record.get("rubric_version")
    known = type(number) is int and 0 < number < 2**31
    return {"slug": slug, "name": slug, "version": number} if slug and known else {}


def _state(
    foreign: ForeignRun, record: Mapping[str, Any], rounds: Sequence[LineRound], names: Sequence[str]
) -> None:
    """Records the values in the line, and where they contradict its scores."""
    rubric, contradictions = foreign.rubric, []
    document = document_of(foreign)
    best = best_round(rubric, history_of(document, rubric).rounds)
    score = best.assessment.composite if best and best.assessment else None
    stated = written_score(str(record.get("final_score", "")))
    if stated and score is not None and best and not agrees(stated.value, score):
        contradictions.append(
            f"The file states a final score of {stated.value:f}; its best is "
            f"{round_name(best.number)} with {shown(score, rubric.policy)}."
        )
    threshold = rubric.policy.pass_threshold
    if score is not None and threshold is not None and foreign.outcome in (Outcome.PASS, Outcome.FAIL):
        passes = score >= threshold
        if passes is not (foreign.outcome is Outcome.PASS):
            how = "reaches" if passes else "is below"
            contradictions.append(
                f"The file says {foreign.outcome}; {shown(score, rubric.policy)} {how} the pass mark of "
                f"{threshold} of the published loop."
            )
    count = record.get("wiggum_rounds")
    if isinstance(count, int) and count != len(rounds):
        contradictions.append(f"The file states {count} rounds, but contains {len(rounds)}.")
    foreign.stated = {
        "criteria": list(names),
        "rows": [
            {
                "label": f"r{entry.number}",
                "round": entry.number,
                "scores": [f"{entry.dims[name]:f}" if name in entry.dims else "" for name in names],
                "composite": "" if entry.stated is None else f"{entry.stated:f}",
                "change": "",
                "counted": True,
            }
            for entry in rounds
        ],
        "best": [],
        "facts": [
            [name, str(record[name])[:400]] for name in FACTS if record.get(name) not in (None, "", [])
        ],
        "remarks": "",
        "contradictions": contradictions,
    }


FACTS = (
    "final",
    "final_score",
    "wiggum_rounds",
    "wiggum_r1",
    "task_type",
    "rubric",
    "rubric_version",
    "run_id",
    "run",
    "id",
    "run_duration_s",
)


def _text(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    return value if isinstance(value, str) else ""


def _model(record: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
    return {"model": next((model[:200] for name in names if (model := _text(record, name))), "")}


def _count(record: Mapping[str, Any], names: Sequence[str]) -> int:
    values = (record.get(name) for name in names)
    return next((value for value in values if type(value) is int and 0 <= value < 2**62), 0)


def _seconds(record: Mapping[str, Any]) -> Decimal:
    for name in ("model_seconds", "run_duration_s"):
        value = record.get(name)
        if isinstance(value, (int, Decimal)) and not isinstance(value, bool) and 0 <= value < 10**8:
            return Decimal(value).quantize(Decimal("0.001"))
    return Decimal(0)


def _moment(record: Mapping[str, Any], names: Sequence[str], line: int, notes: Notes) -> datetime | None:
    for name in names:
        text = _text(record, name)
        if not text:
            continue
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            notes.add(line, f"{name}: {text}", "Not a valid time such as 2026-03-31T09:30:00+00:00.")
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None
