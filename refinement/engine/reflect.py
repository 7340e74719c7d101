"""Reflect: what a run has learned so far, from its scores and named changes. No candidate text is needed."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from refinement.engine.scoring import best_round, rank
from refinement.engine.types import History, Round, Rubric

OPTION_MARK = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)])\s+")
WORD = re.compile(r"[^\W_]{3,}")
MOST_OPTIONS = 40
# Words that say nothing about which option is meant.
COMMON = frozenset(
    [
        "and",
        "the",
        "for",
        "with",
        "from",
        "into",
        "use",
        "using",
        "try",
        "one",
        "per",
        "that",
        "this",
        "more",
        "less",
        "than",
        "instead",
    ]
)


@dataclass(frozen=True, slots=True)
class Exploration:
    """The options of the search space that were tried, and those that were not."""

    tried: tuple[str, ...] = ()
    untried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reflection:
    """The state of a run after its last judged round. Changes are named by round number."""

    best_round: int | None = None
    regressed: bool = False  # the last round ranks below the best one before it
    wins: tuple[tuple[int, str], ...] = ()  # changes that improved, and that later rounds kept
    failed: tuple[tuple[int, str], ...] = ()  # changes that ranked below the best round before them
    exploration: Exploration = Exploration()


def reflect(rubric: Rubric, history: History, *, before: int | None = None) -> Reflection:
    """What the judged rounds say; those before round number `before`, if it is given.

    Only changes that the clerk has named count: other texts may not be for every role to see.
    """
    rounds = [entry for entry in history.assessed if before is None or entry.number < before]
    if not rounds:
        return Reflection(exploration=exploration_of(rubric.search_space, ()))
    best = best_round(rubric, rounds)
    assert best is not None
    failed: list[Round] = []
    wins: list[Round] = []
    # A board's scores are not compared with those of the single judge before it.
    for alike in _by_judges(rounds, history.escalated_after):
        worse = [entry for entry in alike[1:] if _below_best(rubric, alike, entry)]
        wins += [entry for entry in alike[1:] if entry not in worse and _lasting(rubric, alike, entry)]
        failed += worse
    # A suggestion has been tried once a later round, judged or not, has acted on it.
    acted_on = [entry for entry in rounds if entry.number < history.rounds[-1].number]
    said = [entry.key_change or "" for entry in rounds]
    said += [verdict.asi for entry in acted_on if entry.assessment for verdict in entry.assessment.verdicts]
    return Reflection(
        best_round=best.number,
        regressed=rounds[-1] in failed,
        wins=_named(wins),
        failed=_named(failed),
        exploration=exploration_of(rubric.search_space, said),
    )


def _by_judges(rounds: Sequence[Round], escalated_after: int) -> tuple[list[Round], list[Round]]:
    """The rounds of the run's first judges, and those of the board that took over."""
    first = [entry for entry in rounds if not escalated_after or entry.number <= escalated_after]
    return first, [entry for entry in rounds if entry not in first]


def _named(rounds: Iterable[Round]) -> tuple[tuple[int, str], ...]:
    return tuple((entry.number, entry.key_change) for entry in rounds if entry.key_change)


def _rank(rubric: Rubric, entry: Round) -> tuple[Decimal, ...]:
    assert entry.assessment is not None
    return rank(rubric, entry.assessment)


def _before(rounds: Sequence[Round], entry: Round) -> list[Round]:
    return [other for other in rounds if other.number < entry.number]


def _below_best(rubric: Rubric, rounds: Sequence[Round], entry: Round) -> bool:
    return _rank(rubric, entry) < max(_rank(rubric, other) for other in _before(rounds, entry))


def _lasting(rubric: Rubric, rounds: Sequence[Round], entry: Round) -> bool:
    """Whether the round improved on all before it, and a later one kept its change.

    A change is kept by the rounds that start from it, directly or through others. It is stable once one of
    them does not rank below it.
    """
    if _rank(rubric, entry) <= max(_rank(rubric, other) for other in _before(rounds, entry)):
        return False
    heirs = {entry.number}
    for other in rounds:
        base = other.base_round if other.base_round is not None else other.number - 1
        if other.number > entry.number and base in heirs:
            heirs.add(other.number)
            if _rank(rubric, other) >= _rank(rubric, entry):
                return True
    return False


def options_of(search_space: str) -> tuple[str, ...]:
    """The options that a search space lists: its bullets, else its lines, else what semicolons separate."""
    lines = [line for line in search_space.splitlines() if line.strip()]
    bullets = [OPTION_MARK.sub("", line) for line in lines if OPTION_MARK.match(line)]
    parts = bullets or (lines if len(lines) > 1 else search_space.split(";"))
    return tuple(dict.fromkeys(part.strip(" \t.") for part in parts if part.strip(" \t.")))[:MOST_OPTIONS]


def exploration_of(search_space: str, said: Iterable[str]) -> Exploration:
    """Which options the changes and suggestions so far have touched: those that share most of their words."""
    texts = [_words(text) for text in said]
    tried: list[str] = []
    untried: list[str] = []
    for option in options_of(search_space):
        words = _words(option)
        touched = any(words and 2 * len(words & text) > len(words) for text in texts)
        (tried if touched else untried).append(option)
    return Exploration(tuple(tried), tuple(untried))


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.casefold())) - COMMON
