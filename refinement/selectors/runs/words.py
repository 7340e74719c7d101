"""Labels and sentences for a run's state, warnings and findings."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from refinement.engine.panels import USUAL_JUDGES
from refinement.engine.safeguards import Kinship
from refinement.engine.scoring import shown
from refinement.engine.sentences import round_name
from refinement.engine.stopping import MORE_ROUNDS
from refinement.engine.types import Outcome, Policy, Rubric
from refinement.models import Round, Run, RunStatus
from refinement.selectors.score_words import composite_change

KINSHIP_SENTENCES: Mapping[str, str] = {
    Kinship.SAME_MODEL: (
        "Writer and judge are the same model. Models rate their own work about 0.9 of 10 points "
        "too high. Choose another judge for more reliable scores."
    ),
    Kinship.SAME_FAMILY: (
        "Writer and judge are of the same family. Models rate their own family about 0.9 of 10 "
        "points too high. Choose a judge of another family for more reliable scores."
    ),
}
RUNG_LABELS: Mapping[str, str] = {
    "strict": "valid reply",
    "embedded": "reply inside other text",
    "dirtyjson": "reply with malformed JSON",
    "json_repair": "reply with repaired JSON",
    "lines": "reply read line by line",
}
ERROR_LABELS: Mapping[str, str] = {
    "unreachable": "server unreachable",
    "timeout": "timed out",
    "model_missing": "model not found",
    "context_exceeded": "prompt too long for the model",
    "refused": "rejected by the server",
    "bad_reply": "invalid reply",
}
ORIGIN_LABELS: Mapping[str, str] = {
    "seed": "starting text",
    "draft": "first draft",
    "revision": "revision",
    "hand": "edited by hand",
    "absent": "text not in the file",
}
REASON_LABELS: Mapping[str, str] = {
    "passed": "passed",
    "max_rounds": "round limit reached",
    "cycling": "scores repeat",
    "perfect_score": "perfect score",
    "quality_threshold_met": "pass mark reached",
    "score_regression": "score dropped",
    "no_improvement": "too little gain",
    "max_iterations_reached": "round limit reached",
    "plateau": "plateau",
    "unchanged": "text repeats",
    "budget_tokens": "token budget used up",
    "budget_seconds": "time budget used up",
    "budget_calls": "call budget used up",
    "judge_failed": "judge failed",
    "producer_failed": "writer failed",
    "internal_error": "internal error",
    "cancelled": "stopped",
    "imported": "ended elsewhere",
}
SHORT_WAIT = 24  # characters that a list has room for
AWAY = ("cannot be reached", "refused", "not reachable", "unreachable", "timed out")
SAID_BY_OUTCOME = ("passed", "stopped")


def outcome_word(outcome: str) -> str:
    """The outcome as pages show it. People stop a run; programs read `CANCELLED`."""
    return "STOPPED" if outcome == Outcome.CANCELLED else outcome


def outcome_choice(outcome: str) -> str:
    """The outcome in a list to choose from."""
    return "DONE (no pass mark)" if outcome == Outcome.DONE else outcome_word(outcome)


def reason_label(run: Run) -> str:
    """Why it stopped, in a few words; empty if the outcome already says so."""
    words = REASON_LABELS.get(run.stop_reason, run.stop_reason)
    return "" if words in SAID_BY_OUTCOME else words


def waiting_label(run: Run) -> str:
    """What it waits for, in two or three words."""
    if len(run.waiting_for) <= SHORT_WAIT:
        return run.waiting_for
    where = run.waiting_endpoint or "model server"
    if any(words in run.waiting_for for words in AWAY):
        return f"{where} is down"
    return f"for {where}" if run.waiting_endpoint else "for a retry"


def origin_label(row: Round) -> str:
    """The origin of a round's text; for an edited one, its author."""
    return f"edited by {row.author_name}" if row.author_name else ORIGIN_LABELS[row.origin]


def state_sentence(run: Run, rubric: Rubric) -> str:
    """Why it stopped, or what it is doing and what it needs to continue."""
    if run.is_finished:
        return run.why if run.why.endswith((".", "!", "?")) else f"{run.why}."
    judged = run.rounds_judged
    done = f"{judged} of max. {rounds_at_most(run, rubric)} rounds judged"
    if run.status == RunStatus.PAUSED and run.plateau_asked:
        return f"Paused on a plateau, {done}. Decide how to go on."
    if run.status == RunStatus.PAUSED:
        return f"Paused, {done}. Resume it to continue."
    if run.status == RunStatus.WAITING:
        return f"Waiting: {run.waiting_for.rstrip('.')}. It continues automatically."
    if run.status == RunStatus.QUEUED:
        return f"Queued, {done}. Starts when a worker is free."
    return f"Running, {done}."


def rounds_at_most(run: Run, rubric: Rubric) -> int:
    """The run's round limit, with the rounds that a board was given on a plateau."""
    if run.escalated_after > run.extended_after:
        return run.escalated_after + MORE_ROUNDS
    return rubric.policy.max_rounds


def plateau_words(run: Run, rubric: Rubric) -> str:
    """Why a paused run asks how to go on; empty if it does not ask."""
    if run.status != RunStatus.PAUSED or not run.plateau_asked or run.best_round is None:
        return ""
    window = rubric.policy.plateau_window
    best = f" ({shown(run.best, rubric.policy)})" if run.best is not None else ""
    return f"None of the last {window} rounds is better than {round_name(run.best_round)}{best}."


def plateau_calls(rubric: Rubric, judges: int) -> int:
    """The calls of the rounds that a board judges after a plateau; `judges` is 0 before it is composed."""
    seats = judges or len(rubric.judges.panel) or USUAL_JUDGES
    answers = seats * (2 if rubric.judges.deliberation else 1)
    composed = judges or len(rubric.judges.panel)
    # Besides the judges: the revision, the merge and the name of the change.
    return MORE_ROUNDS * (answers + 3) + (0 if composed else 1)


def lacks_budget(run: Run) -> bool:
    """Whether the budget ended it before a round was judged."""
    return run.stop_reason.startswith("budget_") and not run.rounds_judged


def fails_again(run: Run) -> bool:
    """Whether a retry cannot help: a prompt is too long for its model."""
    return run.outcome == Outcome.ERROR and "context tokens" in run.why


def next_step_hint(run: Run) -> str:
    """What a person can do about a run that failed."""
    if fails_again(run):
        return "A retry fails the same way: choose a judge or writer with a larger context, or fewer rounds."
    if run.outcome == Outcome.ERROR:
        return "No work is lost. Retry to continue from the last completed step."
    if run.outcome == Outcome.CANCELLED and run.rounds_judged:
        return "Add rounds to continue from the best round."
    if lacks_budget(run):
        return "Raise the limit and run again."
    return ""


def signal_sentence(signal: Mapping[str, Any]) -> str:
    """A Ralph signal as a sentence: the judge may not have followed the revision."""
    changed, said = percent(signal.get("candidate_change")), percent(signal.get("verdict_change"))
    about = "issues" if signal.get("about") == "issues" else "reasoning"
    return (
        f"The text changed by {changed} from the round before, but the judge's {about} by {said}. "
        "The judge may not have read the revision. This does not stop a run."
    )


def penalty_sentence(penalty: Mapping[str, Any], rubric: Rubric) -> str:
    """The points deducted, and from which criterion."""
    names = {criterion.key: criterion.name for criterion in rubric.criteria}
    points = plain_number(Decimal(penalty["points"]))
    count = len(penalty["names"])
    called = "a call that looks" if count == 1 else f"{count:,} calls that look"
    return (
        f"{points} deducted from {names.get(penalty['criterion'], penalty['criterion'])} for "
        f"{called} invented."
    )


def capital_round_name(number: int) -> str:
    name = round_name(number)
    return name[:1].upper() + name[1:]


def percent(share: Any) -> str:
    value = Decimal(str(share or 0)) * 100
    return f"{value:.0f} %" if value >= 1 or value == 0 else "less than 1 %"


def mark_distance(composite: Decimal, policy: Policy) -> str:
    """How far a score is from the pass mark, as both are shown; empty without a pass mark."""
    mark = policy.pass_threshold
    if mark is None:
        return ""
    gap = composite_change(composite, mark, policy.composite_decimals)[1:]
    side = "above" if composite > mark else "below"
    far = "exactly" if composite == mark else f"{gap or 'just'} {side}"
    return f"{far} the pass mark of {plain_number(mark)}"


def plain_number(value: Decimal) -> str:
    """A number without trailing zeros or exponent."""
    return f"{round(value, 4).normalize():f}"


def duration(seconds: float) -> str:
    """A duration in its two largest units."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} m {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} m" if hours < 48 else f"{hours // 24} d {hours % 24} h"
