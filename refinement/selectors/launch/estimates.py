"""Cost estimates before a launch: a range, because the number of rounds is unknown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from refinement.engine.stopping import MORE_ROUNDS
from refinement.engine.types import Role, Rubric, StopReason
from refinement.judging.sources import fair_shares
from refinement.selectors.launch.call_counts import Calls, board_size, calls_of, escalation_calls
from refinement.selectors.launch.judging import Judging, judging_of
from refinement.selectors.launch.sizes import Sizes

T = TypeVar("T")
Ends: TypeAlias = tuple[T, T]
HELD_OUT_CALLS = 2  # the first and the best round
EARLIEST = {
    StopReason.PASSED: 1,
    StopReason.QUALITY_THRESHOLD_MET: 1,
    StopReason.PERFECT_SCORE: 1,
    StopReason.CYCLING: 2,
    StopReason.SCORE_REGRESSION: 2,
    StopReason.NO_IMPROVEMENT: 2,
    StopReason.UNCHANGED: 2,
}


@dataclass(frozen=True, slots=True)
class Range:
    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,} to {self.high:,}"

    def times(self, count: int) -> "Range":
        return Range(self.low * count, self.high * count)

    def plus(self, other: "Range") -> "Range":
        return Range(self.low + other.low, self.high + other.high)


NOTHING = Range(0, 0)


@dataclass(frozen=True, slots=True)
class RoleShare:
    """What one role takes part in the estimate."""

    role: Role
    calls: Range
    tokens: Range
    replies: Range  # the tokens of these that the model writes


@dataclass(frozen=True, slots=True)
class Estimate:
    """For all repeats together. Retries are not included."""

    rounds: Range
    calls: Range
    tokens: Range
    roles: tuple[RoleShare, ...]  # those that are called: producer, judges, clerk
    held_out: RoleShare | None  # what the held-out judge takes, which is in the totals, too
    round_calls: int  # the most that one round takes
    first_calls: int  # of the first round, and what comes before it
    first_tokens: int  # usual, of these calls
    more_calls: int  # the most that a plateau adds; 0 if it ends the run
    more_tokens: int
    longest_prompt: int  # tokens of one judge call
    longest_writing: int  # tokens of one producer call, with its reply
    repeats: int


def estimate_of(
    rubric: Rubric,
    *,
    task_chars: int,
    seed_chars: int,
    source_chars: Sequence[int] = (),
    repeats: int = 1,
    judging: Judging | None = None,
    held_out: bool = False,
) -> Estimate:
    """The range from a run that stops as early as its rules allow to one that uses every round."""
    judging = judging or judging_of(rubric, seed_chars=seed_chars, judge=None)
    rubric = judging.rubric
    rounds = Range(earliest_round(rubric), rubric.policy.max_rounds)
    sources = sum(fair_shares(source_chars, rubric.policy.source_limit_chars))
    lean = Sizes.of(rubric, task_chars, seed_chars, sources, judging.size, lavish=False)
    lavish = Sizes.of(rubric, task_chars, seed_chars, sources, judging.size, lavish=True)
    drafts = 0 if seed_chars else 1
    few, many = (calls_of(rubric, count, drafts=drafts) for count in (rounds.low, rounds.high))
    more = escalation_calls(rubric)
    most = Sizes.of(rubric, task_chars, seed_chars, sources, board_size(rubric), lavish=True)
    budget = rubric.policy.budget
    first = calls_of(rubric, 1, drafts=drafts)
    calls = capped(Range(few.total, many.total), budget.calls)
    tokens = capped(Range(lean.total(few, rounds.low), lavish.total(many, rounds.high)), budget.tokens)
    outside = held_out_share(lavish, rounds, repeats) if held_out else None
    more_after = outside or RoleShare(Role.JUDGE, NOTHING, NOTHING, NOTHING)
    return Estimate(
        rounds=rounds,
        calls=calls.times(repeats).plus(more_after.calls),
        tokens=rounded(tokens.times(repeats).plus(more_after.tokens)),
        roles=shares(
            (lean.tokens(few, rounds.low), lavish.tokens(many, rounds.high)),
            (lean.replies(few), lavish.replies(many)),
            (few, many),
            repeats,
        ),
        held_out=outside,
        round_calls=most_calls(rubric, first),
        first_calls=first.total,
        first_tokens=two_digits((lean.total(first, 1) + lavish.total(first, 1)) // 2),
        more_calls=repeats * room(more.total, calls.high, budget.calls),
        more_tokens=two_digits(repeats * room(most.total(more, MORE_ROUNDS), tokens.high, budget.tokens)),
        longest_prompt=lavish.judge_prompt + lavish.anchor,
        longest_writing=lavish.producer_prompt + lavish.candidate,
        repeats=repeats,
    )


# --- ranges ---------------------------------------------------------------------------------------
def shares(
    tokens: Ends[Mapping[Role, int]], replies: Ends[Mapping[Role, int]], calls: Ends[Calls], repeats: int
) -> tuple[RoleShare, ...]:
    """The part of each role that is called. Each argument has its low and its high end."""
    return tuple(
        RoleShare(
            role,
            Range(*(end.of(role) for end in calls)).times(repeats),
            rounded(Range(*(end[role] for end in tokens)).times(repeats)),
            Range(*(end[role] for end in replies)).times(repeats),
        )
        for role in (Role.PRODUCER, Role.JUDGE, Role.CLERK)
        if calls[1].of(role)
    )


def held_out_share(sizes: Sizes, rounds: Range, repeats: int) -> RoleShare:
    """What a held-out judge takes: nothing if the first round is the best, else a call for each of the two.

    The run's own limits do not count it.
    """
    most = HELD_OUT_CALLS * repeats if rounds.high > 1 else 0
    tokens = Range(0, most * (sizes.judge_prompt + sizes.verdict))
    return RoleShare(Role.JUDGE, Range(0, most), rounded(tokens), Range(0, most * sizes.verdict))


def earliest_round(rubric: Rubric) -> int:
    """The first round after which a rule of the rubric can stop the run."""
    policy = rubric.policy
    rounds = [EARLIEST[rule] for rule in policy.stop_rules if rule in EARLIEST]
    if StopReason.PLATEAU in policy.stop_rules:
        rounds.append(policy.plateau_rounds)
    return min([policy.max_rounds, *rounds])


def most_calls(rubric: Rubric, first: Calls) -> int:
    """The calls of the first round or of a later one: it has a revision, and the name of its change."""
    again = calls_of(rubric, 2, drafts=0).total - calls_of(rubric, 1, drafts=0).total
    alone = first.total - first.compose
    return max(alone, again) if rubric.policy.max_rounds > 1 else alone


def capped(amount: Range, limit: int | None) -> Range:
    return amount if limit is None else Range(min(amount.low, limit), min(amount.high, limit))


def room(amount: int, used: int, limit: int | None) -> int:
    """How much of the amount a budget leaves."""
    return amount if limit is None else max(0, min(amount, limit - used))


def rounded(amount: Range) -> Range:
    """Rounded to two digits: more would suggest false precision."""
    return Range(two_digits(amount.low), two_digits(amount.high))


def two_digits(number: int) -> int:
    step: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // step) * step
