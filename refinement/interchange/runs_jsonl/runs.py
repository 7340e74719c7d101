"""Converts a line of `runs.jsonl` to a run with its rubric and figures."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from refinement.engine.kinds import Composite, Outcome, StopReason
from refinement.engine.profiles import WIGGUM_CRITERIA, wiggum_rubric
from refinement.engine.scoring import best_round, shown
from refinement.engine.sentences import round_name
from refinement.engine.types import Penalties, Rubric
from refinement.interchange.exports.figures import history_of
from refinement.interchange.imports.foreign_runs import (
    ForeignRound,
    ForeignRun,
    criteria_of,
    document_of,
    imported_name,
    rounds_fitted,
)
from refinement.interchange.imports.found import Notes
from refinement.interchange.imports.written_scores import agrees, written_score
from refinement.interchange.runs_jsonl.rounds import LineRound
from refinement.texts import label

TASK_TYPE_CHARS = 50
WHOLE = "score"  # the criterion of a run whose rounds have only a composite
PUBLISHED = {criterion.key for criterion in WIGGUM_CRITERIA}
OUTCOMES = {outcome.value: outcome for outcome in Outcome}
REASONS = {reason.value: reason for reason in StopReason}


def foreign_run(
    record: Mapping[str, Any], rounds: Sequence[LineRound], line: int, notes: Notes
) -> ForeignRun:
    """The run in the line, with its contradictions."""
    names = list(dict.fromkeys(name for entry in rounds for name in (*entry.dims, *entry.unreadable)))
    if not names:
        notes.add(
            line,
            "",
            "No scores by dimension; the composites are used as scores.",
        )
    rubric = rounds_fitted(_rubric(names, line, notes), rounds=rounds[-1].number)
    by_number = {entry.number: entry for entry in rounds}
    made = [
        _round(by_number.get(number) or LineRound(number), rubric, names, line, notes)
        for number in range(1, rounds[-1].number + 1)
    ]
    task = _text(record, "task")
    foreign = ForeignRun(
        rubric=rubric,
        rounds=made,
        title=" ".join((_text(record, "title") or task or _text(record, "run_id") or f"Line {line}").split())[
            :160
        ],
        task=task,
        outcome=_outcome(record, line, notes),
        reason=REASONS.get(_text(record, "stop_reason"), StopReason.IMPORTED),
        run=_run_fields(record, line, notes),
    )
    _place_result(foreign, record, line, notes)
    _state(foreign, record, rounds, names)
    return foreign


def _rubric(names: Sequence[str], line: int, notes: Notes) -> Rubric:
    """The default rubric if the line has its six dimensions, otherwise one with equal weights."""
    published = wiggum_rubric()
    if set(names) == PUBLISHED:
        return published
    shown_names = list(names) or [WHOLE]
    if len(shown_names) > 1:
        notes.add(
            line, ", ".join(names), "The file has no weights for these dimensions; they get equal weights."
        )
    return replace(
        published,
        name=imported_name(shown_names),
        purpose="Created for an import: the dimensions of a runs.jsonl file.",
        criteria=criteria_of(shown_names),
        policy=replace(
            published.policy, composite=Composite.PLAIN_MEAN, pass_threshold=None, penalties=Penalties()
        ),
    )


def _round(entry: LineRound, rubric: Rubric, names: Sequence[str], line: int, notes: Notes) -> ForeignRound:
    made = ForeignRound(
        entry.number,
        candidate=entry.content or None,
        issues=entry.issues,
        asi=entry.feedback,
        stated=entry.stated if names else None,
        origin="draft" if entry.number == 1 else "revision",
        change=entry.change,
    )
    scores = entry.dims if names else ({} if entry.stated is None else {WHOLE: entry.stated})
    keys = {name: name for name in names} if set(names) == PUBLISHED else _keys(names or [WHOLE], rubric)
    outside = [
        f"{name}: {score:f}"
        for name, score in scores.items()
        if not rubric.scale.minimum <= score <= rubric.scale.maximum
    ]
    missing = [name for name in (names or [WHOLE]) if name not in scores]
    if outside:
        notes.add(
            line, "; ".join(outside), f"Outside the scale of 0 to 10, so round {entry.number} is unscored."
        )
    elif missing:
        notes.add(line, ", ".join(missing), f"Round {entry.number} has no score for this, so it is unscored.")
    else:
        made.scores = {keys[name]: score for name, score in scores.items()}
    return made


def _keys(names: Sequence[str], rubric: Rubric) -> dict[str, str]:
    return {name: criterion.key for name, criterion in zip(names, rubric.criteria, strict=True)}


def _place_result(foreign: ForeignRun, record: Mapping[str, Any], line: int, notes: Notes) -> None:
    """Assigns the text of the result to the best round, because the loop returns that one."""
    field = next((name for name in ("final_content", "output", "content") if _text(record, name).strip()), "")
    if not field or any(entry.candidate for entry in foreign.rounds):
        return
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
