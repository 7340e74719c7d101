"""How many tokens the calls of a planned run take, short or long."""

from dataclasses import dataclass

from refinement.engine.types import Information, Role, Rubric
from refinement.judging.boards.replies import COMPOSE_TOKENS, DESCRIBE_TOKENS, MERGE_TOKENS, STANCE_TOKENS
from refinement.judging.schema import reply_limit_tokens
from refinement.selectors.launch.call_counts import Calls

INSTRUCTION_CHARS = 3_000  # our prompt text around the data, approximately
FEWEST_CHARS_PER_TOKEN, MOST_CHARS_PER_TOKEN = 3, 4.5
SHORT_DRAFT_TOKENS, LONG_DRAFT_TOKENS = 300, 1_200
TERSE_VERDICT_TOKENS, TERSE_CRITERION_TOKENS = 80, 60
WORDY = 3  # a long verdict is about three times a terse one; hardly any reaches its limit
TERSE_SHARE, WORDY_SHARE = 8, 3  # parts of its limit that an answer of a clerk, or in a deliberation, takes
GROWTH = 1.5  # a revision is rarely longer than one and a half seeds


@dataclass(frozen=True, slots=True)
class Sizes:
    """Parts of a call, in tokens."""

    judge_prompt: int
    anchor: int  # the first version, shown to the judge from the second round on
    verdict: int
    quoted: int  # of a verdict, for the other judges and for the clerk
    stances: int  # a judge's reply in the deliberation
    producer_prompt: int
    candidate: int
    clerk_prompt: int  # without the verdicts, suggestions or texts that it is about
    clerk_share: int  # by which the clerk's reply limits are divided
    judges: int

    @classmethod
    def of(
        cls,
        rubric: Rubric,
        task_chars: int,
        seed_chars: int,
        source_chars: int,
        judges: int = 1,
        *,
        lavish: bool,
    ) -> "Sizes":
        policy = rubric.policy
        a_token = FEWEST_CHARS_PER_TOKEN if lavish else MOST_CHARS_PER_TOKEN
        fixed = int((INSTRUCTION_CHARS + rubric_chars(rubric) + task_chars) / a_token)
        seed = int(seed_chars / a_token)
        share = WORDY_SHARE if lavish else TERSE_SHARE
        terse = TERSE_VERDICT_TOKENS + TERSE_CRITERION_TOKENS * len(rubric.criteria)
        if lavish:
            written, verdict = int(GROWTH * seed) or LONG_DRAFT_TOKENS, WORDY * terse
        else:
            written, verdict = seed or SHORT_DRAFT_TOKENS, terse
        candidate = min(policy.producer_tokens, written)
        verdict = min(verdict, reply_limit_tokens(rubric))
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
            quoted=verdict if lavish else verdict // 2,
            stances=STANCE_TOKENS * (1 + len(rubric.criteria)) // share,
            producer_prompt=fixed + written_from + max(candidate, seed),
            candidate=candidate,
            clerk_prompt=fixed if lavish else fixed // 2,
            clerk_share=share,
            judges=judges,
        )

    def tokens(self, calls: Calls, rounds: int) -> dict[Role, int]:
        """The tokens of these calls, by role."""
        anchored = (calls.score + calls.deliberate) // rounds * (rounds - 1)
        scoring = calls.score * (self.judge_prompt + self.verdict) + anchored * self.anchor
        reading = self.judge_prompt + self.judges * self.quoted + self.stances
        merging = self.clerk_prompt + self.judges * self.quoted
        return {
            Role.PRODUCER: calls.write * (self.producer_prompt + self.candidate),
            Role.JUDGE: scoring + calls.deliberate * reading,
            Role.CLERK: calls.merge * (merging + MERGE_TOKENS // self.clerk_share)
            + calls.compose * (self.clerk_prompt + self.candidate + COMPOSE_TOKENS // self.clerk_share)
            + calls.describe * (2 * self.candidate + DESCRIBE_TOKENS // self.clerk_share),
        }

    def replies(self, calls: Calls) -> dict[Role, int]:
        """The part of these tokens that the models write, by role."""
        clerk = calls.merge * MERGE_TOKENS + calls.compose * COMPOSE_TOKENS + calls.describe * DESCRIBE_TOKENS
        return {
            Role.PRODUCER: calls.write * self.candidate,
            Role.JUDGE: calls.score * self.verdict + calls.deliberate * self.stances,
            Role.CLERK: clerk // self.clerk_share,
        }

    def total(self, calls: Calls, rounds: int) -> int:
        return sum(self.tokens(calls, rounds).values())


def rubric_chars(rubric: Rubric) -> int:
    texts = [rubric.background, rubric.output_contract, rubric.search_space]
    texts += [part for entry in rubric.criteria for part in (entry.name, entry.description, entry.ideal)]
    return sum(len(text) for text in texts)
