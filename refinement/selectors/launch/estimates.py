"""Cost estimates before a launch: a range, because the number of rounds is unknown."""

from collections.abc import Sequence
from dataclasses import dataclass

from refinement.engine.types import Information, Rubric, StopReason
from refinement.judging.schema import reply_limit_tokens
from refinement.judging.sources import fair_shares

INSTRUCTION_CHARS = 3_000  # our prompt text around the data, approximately
FEWEST_CHARS_PER_TOKEN, MOST_CHARS_PER_TOKEN = 3, 4.5
SHORT_DRAFT_TOKENS = 300
TERSE_VERDICT_TOKENS, TERSE_CRITERION_TOKENS = 80, 60
GROWTH = 2  # a revision is rarely more than twice as long as the seed
EARLIEST = {
    StopReason.PASSED: 1,
    StopReason.QUALITY_THRESHOLD_MET: 1,
    StopReason.PERFECT_SCORE: 1,
    StopReason.CYCLING: 2,
    StopReason.SCORE_REGRESSION: 2,
    StopReason.NO_IMPROVEMENT: 2,
}


@dataclass(frozen=True, slots=True)
class Range:
    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,} to {self.high:,}"

    def times(self, count: int) -> "Range":
        return Range(self.low * count, self.high * count)


@dataclass(frozen=True, slots=True)
class Estimate:
    """For all repeats together. Retries are not included."""

    rounds: Range
    calls: Range
    tokens: Range
    longest_prompt: int  # tokens of one judge call
    longest_writing: int  # tokens of one producer call, with its reply
    repeats: int


def estimate_of(
    rubric: Rubric, *, task_chars: int, seed_chars: int, source_chars: Sequence[int] = (), repeats: int = 1
) -> Estimate:
    """The range from a run that stops as early as its rules allow to one that uses every round."""
    rounds = Range(earliest_round(rubric), rubric.policy.max_rounds)
    sources = sum(fair_shares(source_chars, rubric.policy.source_limit_chars))
    lean = Sizes.of(rubric, task_chars, seed_chars, sources, lavish=False)
    lavish = Sizes.of(rubric, task_chars, seed_chars, sources, lavish=True)
    written = 0 if seed_chars else 1
    judged = 1 if rubric.criteria else 0
    calls = Range(*(count * judged + count - 1 + written for count in (rounds.low, rounds.high)))
    tokens = Range(
        lean.tokens(rounds.low, drafts=written, judged=judged),
        lavish.tokens(rounds.high, drafts=written, judged=judged),
    )
    calls, tokens = capped(calls, rubric.policy.budget.calls), capped(tokens, rubric.policy.budget.tokens)
    return Estimate(
        rounds=rounds,
        calls=calls.times(repeats),
        tokens=rounded(tokens.times(repeats)),
        longest_prompt=lavish.judge_prompt + lavish.anchor,
        longest_writing=lavish.producer_prompt + lavish.candidate,
        repeats=repeats,
    )


@dataclass(frozen=True, slots=True)
class Sizes:
    """Parts of a call, in tokens."""

    judge_prompt: int
    anchor: int  # the first version, shown to the judge from the second round on
    verdict: int
    producer_prompt: int
    candidate: int

    @classmethod
    def of(
        cls, rubric: Rubric, task_chars: int, seed_chars: int, source_chars: int, *, lavish: bool
    ) -> "Sizes":
        policy = rubric.policy
        a_token = FEWEST_CHARS_PER_TOKEN if lavish else MOST_CHARS_PER_TOKEN
        fixed = int((INSTRUCTION_CHARS + rubric_chars(rubric) + task_chars) / a_token)
        seed = int(seed_chars / a_token)
        if lavish:
            candidate = min(policy.producer_tokens, GROWTH * seed) if seed else policy.producer_tokens
            verdict = reply_limit_tokens(rubric)
        else:
            candidate = min(policy.producer_tokens, seed or SHORT_DRAFT_TOKENS)
            verdict = TERSE_VERDICT_TOKENS + TERSE_CRITERION_TOKENS * len(rubric.criteria)
        limit = int(policy.judge_limit_chars / a_token)
        seen = min(max(candidate, seed), limit)
        anchor = min(candidate, limit) if Information.SEED in rubric.context.judge else 0
        shown = len(rubric.calibration_text) if Information.CALIBRATION in rubric.context.judge else 0
        example = min(int(shown / a_token), limit)
        sources = int(source_chars / a_token)
        judged_by = sources if Information.SOURCES in rubric.context.judge else 0
        written_from = sources if Information.SOURCES in rubric.context.producer else 0
        return cls(
            judge_prompt=fixed + example + judged_by + seen,
            anchor=anchor,
            verdict=verdict,
            producer_prompt=fixed + written_from + max(candidate, seed),
            candidate=candidate,
        )

    def tokens(self, rounds: int, *, drafts: int, judged: int) -> int:
        writes = rounds - 1 + drafts
        judging = judged * (rounds * (self.judge_prompt + self.verdict) + (rounds - 1) * self.anchor)
        return judging + writes * (self.producer_prompt + self.candidate)


def rubric_chars(rubric: Rubric) -> int:
    texts = [rubric.background, rubric.output_contract, rubric.search_space]
    texts += [part for entry in rubric.criteria for part in (entry.name, entry.description, entry.ideal)]
    return sum(len(text) for text in texts)


def earliest_round(rubric: Rubric) -> int:
    """The first round after which a rule of the rubric can stop the run."""
    policy = rubric.policy
    rounds = [EARLIEST[rule] for rule in policy.stop_rules if rule in EARLIEST]
    if StopReason.PLATEAU in policy.stop_rules:
        rounds.append(policy.plateau_rounds)
    return min([policy.max_rounds, *rounds])


def capped(amount: Range, limit: int | None) -> Range:
    return amount if limit is None else Range(min(amount.low, limit), min(amount.high, limit))


def rounded(amount: Range) -> Range:
    """Rounded to two digits: more would suggest false precision."""
    return Range(two_digits(amount.low), two_digits(amount.high))


def two_digits(number: int) -> int:
    step: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // step) * step
