"""Who judges, in words: one judge or a board, its price in calls, and what happens on a plateau."""

from collections.abc import Mapping
from dataclasses import dataclass

from refinement.engine.boards import FEW_CRITERIA
from refinement.engine.kinds import JudgeMode, OnPlateau, StopReason
from refinement.engine.panels import FEWEST_JUDGES, MOST_JUDGES, USUAL_JUDGES
from refinement.engine.types import Rubric

# Label and one sentence on each mode.
JUDGE_MODES: Mapping[JudgeMode, tuple[str, str]] = {
    JudgeMode.SINGLE: ("Single judge", "One judge scores each round."),
    JudgeMode.BOARD: (
        "Board",
        f"{FEWEST_JUDGES} to {MOST_JUDGES} judges score alone, then answer each other. The median counts.",
    ),
    JudgeMode.AUTO: (
        "Automatic",
        f"One judge for short texts with at most {FEW_CRITERIA} criteria; otherwise a board.",
    ),
}
ON_PLATEAU: Mapping[OnPlateau, str] = {
    OnPlateau.STOP: "Stop",
    OnPlateau.ASK: "Pause and ask",
    OnPlateau.BOARD: "Continue with a board for 2 more rounds",
}
PLATEAU_SENTENCES: Mapping[OnPlateau, str] = {
    OnPlateau.STOP: "The run stops.",
    OnPlateau.ASK: "The run pauses and asks its owner: stop, or 2 more rounds judged by a board.",
    OnPlateau.BOARD: "The run continues with a board for 2 more rounds.",
}
RUNS_MODEL = "The run's judge model"
COMPOSED = f"The clerk composes {USUAL_JUDGES} judges for each run"


def board_calls(judges: int, *, deliberation: bool) -> int:
    """Model calls of a board's round: each judge scores, may answer the others once, and the clerk merges."""
    return (2 if deliberation else 1) * judges + 1


def price_words(mode: str, judges: int, *, deliberation: bool, escalates: bool = False) -> str:
    """What a round costs. `judges` is the panel's size, 0 if the clerk composes it."""
    seats = max(judges or USUAL_JUDGES, FEWEST_JUDGES)
    calls = board_calls(seats, deliberation=deliberation)
    if mode == JudgeMode.BOARD:
        return f"{seats} judges: {calls} calls per round"
    if mode == JudgeMode.AUTO:
        return f"1 call per round, or {calls} with a board of {seats}"
    return f"1 judge: 1 call per round{f', {calls} after a plateau' if escalates else ''}"


@dataclass(frozen=True, slots=True)
class JudgeFacts:
    """Who judges, as labels and sentences, and the panel by seat: name, lens, model."""

    facts: list[tuple[str, str]]
    panel: list[tuple[str, str, str]]


def judge_facts(rubric: Rubric) -> JudgeFacts:
    """Who judges this rubric's runs. Settings that have no effect are left out."""
    judges, plateau = rubric.judges, plateau_choice(rubric)
    if not rubric.criteria:
        return JudgeFacts([("Judges", "None. Without criteria, no judge is called.")], [])
    price = price_words(
        judges.mode,
        len(judges.panel),
        deliberation=judges.deliberation,
        escalates=plateau not in (None, OnPlateau.STOP),
    )
    facts = [("Judges", ". ".join(JUDGE_MODES[judges.mode])), ("Cost", f"{price}.")]
    if judges.mode is not JudgeMode.SINGLE or plateau not in (None, OnPlateau.STOP):
        facts += _board_facts(rubric)
    elif judges.clerk:
        facts.append(("Clerk", judges.clerk))
    if plateau is not None:
        facts.append(("On a plateau", PLATEAU_SENTENCES[plateau]))
    return JudgeFacts(facts, [(judge.name, judge.lens, judge.model) for judge in judges.panel])


def plateau_choice(rubric: Rubric) -> OnPlateau | None:
    """What happens on a plateau; None without that stop rule. A board cannot be followed by another."""
    policy = rubric.policy
    if StopReason.PLATEAU not in policy.stop_rules:
        return None
    has_board = rubric.judges.mode is JudgeMode.BOARD
    return OnPlateau.STOP if has_board and policy.on_plateau is OnPlateau.BOARD else policy.on_plateau


def _board_facts(rubric: Rubric) -> list[tuple[str, str]]:
    judges = rubric.judges
    return [
        ("Judges", f"{len(judges.panel)} judges, see below." if judges.panel else f"{COMPOSED}."),
        ("Deliberation", "Each judge answers the others once." if judges.deliberation else "Off."),
        ("Clerk", judges.clerk or f"{RUNS_MODEL}."),
    ]
