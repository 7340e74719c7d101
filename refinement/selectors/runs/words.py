"""How a run's states, warnings and findings are said on its page."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from refinement.engine.safeguards import Kinship
from refinement.engine.sentences import round_name
from refinement.engine.types import Outcome, Rubric
from refinement.models import Round, Run, RunStatus

KINSHIP_WORDS: Mapping[str, str] = {
    Kinship.SAME_MODEL: (
        "Producer and judge are the same model. Models rate their own work high, by about 0.9 of 10 points: "
        "read the scores with that in mind, or judge with another model."
    ),
    Kinship.SAME_FAMILY: (
        "Producer and judge are of one family. Models rate their own kind high, by about 0.9 of 10 points: "
        "read the scores with that in mind, or judge with a model of another family."
    ),
}
RUNG_WORDS: Mapping[str, str] = {
    "strict": "read as it was asked for",
    "embedded": "found inside other text",
    "dirtyjson": "read although its JSON was untidy",
    "json_repair": "read after its JSON was repaired",
    "lines": "read line by line",
}
ERROR_WORDS: Mapping[str, str] = {
    "unreachable": "server unreachable",
    "timeout": "no answer in time",
    "model_missing": "model not there",
    "context_exceeded": "prompt too long for the model",
    "refused": "refused by the server",
    "bad_reply": "reply could not be used",
}
ORIGIN_WORDS: Mapping[str, str] = {
    "seed": "seed",
    "draft": "first draft",
    "revision": "revision",
    "hand": "edited by hand",
    "absent": "text not in the file",
}
REASON_WORDS: Mapping[str, str] = {
    "passed": "passed",
    "max_rounds": "rounds used up",
    "cycling": "scores repeat",
    "perfect_score": "perfect score",
    "quality_threshold_met": "threshold met",
    "score_regression": "score fell",
    "no_improvement": "too little gain",
    "max_iterations_reached": "iterations used up",
    "plateau": "plateau",
    "budget_tokens": "token budget used",
    "budget_seconds": "time budget used",
    "budget_calls": "call budget used",
    "judge_failed": "judge failed",
    "producer_failed": "producer failed",
    "internal_error": "internal error",
    "cancelled": "cancelled",
    "imported": "ended elsewhere",
}
SAID_BY_OUTCOME = ("passed", "cancelled")


def reason_words(run: Run) -> str:
    """Why it stopped, in a word or two; nothing where the outcome says it already."""
    words = REASON_WORDS.get(run.stop_reason, run.stop_reason)
    return "" if words in SAID_BY_OUTCOME else words


def origin_words(row: Round) -> str:
    """How a round's text came about; for an edited one, by whom."""
    return f"edited by {row.author_name}" if row.author_name else ORIGIN_WORDS[row.origin]


def state_sentence(run: Run, rubric: Rubric) -> str:
    """Why it stopped, or what it is doing and what it needs to go on."""
    if run.is_finished:
        return run.why if run.why.endswith((".", "!", "?")) else f"{run.why}."
    judged = run.rounds_judged
    done = f"{judged} of at most {rubric.policy.max_rounds} {rubric.policy.round_word}s judged"
    if run.status == RunStatus.PAUSED:
        return f"Paused, {done}. Resume it to go on from there."
    if run.status == RunStatus.WAITING:
        return f"Waiting: {run.waiting_for.rstrip('.')}. It goes on by itself."
    if run.status == RunStatus.QUEUED:
        return f"Queued, {done}. A worker takes it up as soon as one is free."
    return f"At work, {done}."


def next_step_hint(run: Run) -> str:
    """What a person can do about a run that ended badly."""
    if run.outcome == Outcome.ERROR:
        return "Nothing that was done is lost: Retry takes it up from its last good step."
    if run.outcome == Outcome.CANCELLED and run.rounds_judged:
        return "More rounds take it up from its best round."
    return ""


def signal_sentence(signal: Mapping[str, Any]) -> str:
    """A Ralph signal for people: the judge may not have tracked the revision."""
    changed, said = percent(signal.get("candidate_change")), percent(signal.get("verdict_change"))
    about = "issues" if signal.get("about") == "issues" else "reasoning"
    return (
        f"The candidate changed by {changed}, the judge's {about} by {said}: "
        "it may not have read the revision. This never stops a run."
    )


def penalty_sentence(penalty: Mapping[str, Any], rubric: Rubric) -> str:
    """What was docked from what."""
    names = {criterion.key: criterion.name for criterion in rubric.criteria}
    points = plain_number(Decimal(penalty["points"]))
    count = len(penalty["names"])
    called = "a call that looks" if count == 1 else f"{count:,} calls that look"
    return (
        f"{points} docked from {names.get(penalty['criterion'], penalty['criterion'])} for {called} invented."
    )


def round_name_in(run: Run, number: int) -> str:
    """The round's name as the run's rubric counts, read from its snapshot without making a rubric of it."""
    policy = run.snapshot["policy"]
    return f"{policy['round_word']} {number - 1 + policy['first_number']}"


def capital_round_name(rubric: Rubric, number: int) -> str:
    name = round_name(rubric, number)
    return name[:1].upper() + name[1:]


def percent(share: Any) -> str:
    value = Decimal(str(share or 0)) * 100
    return f"{value:.0f} %" if value >= 1 or value == 0 else "less than 1 %"


def plain_number(value: Decimal) -> str:
    """A number without trailing zeros and never in powers of ten."""
    return f"{round(value, 4).normalize():f}"


def duration(seconds: float) -> str:
    """A length of time in the two largest units that say something."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} m {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} m" if hours < 48 else f"{hours // 24} d {hours % 24} h"
