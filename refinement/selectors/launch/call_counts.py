"""How many calls a planned run takes, by what they are for."""

from dataclasses import dataclass, replace

from refinement.engine.boards import names_changes
from refinement.engine.panels import USUAL_JUDGES
from refinement.engine.stopping import MORE_ROUNDS
from refinement.engine.types import History, JudgeMode, Role, Rubric
from refinement.selectors.launch.judging import escalates


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of one run, by what they are for."""

    write: int = 0
    score: int = 0
    deliberate: int = 0
    compose: int = 0
    merge: int = 0
    describe: int = 0

    def of(self, role: Role) -> int:
        return {
            Role.PRODUCER: self.write,
            Role.JUDGE: self.score + self.deliberate,
            Role.CLERK: self.compose + self.merge + self.describe,
        }[role]

    @property
    def total(self) -> int:
        return sum(self.of(role) for role in Role)


def calls_of(rubric: Rubric, rounds: int, *, drafts: int) -> Calls:
    """The calls of a run with this many rounds. A board takes 2n + 1 per round; see engine/boards.py."""
    writes = rounds - 1 + drafts
    if not rubric.criteria:
        return Calls(write=writes)
    describes = rounds - 1 if names_changes(rubric, History(), 2) else 0
    if rubric.judges.mode is not JudgeMode.BOARD:
        return Calls(write=writes, score=rounds, describe=describes)
    return board_calls(rubric, rounds, writes=writes, describes=describes)


def board_calls(rubric: Rubric, rounds: int, *, writes: int, describes: int) -> Calls:
    judged = board_size(rubric) * rounds
    return Calls(
        write=writes,
        score=judged,
        deliberate=judged if rubric.judges.deliberation else 0,
        compose=0 if rubric.judges.panel else 1,
        merge=rounds,
        describe=describes,
    )


def board_size(rubric: Rubric) -> int:
    return len(rubric.judges.panel) or USUAL_JUDGES


def escalation_calls(rubric: Rubric) -> Calls:
    """The calls of the rounds that a board judges after a plateau."""
    if not escalates(rubric):
        return Calls()
    more = board_calls(rubric, MORE_ROUNDS, writes=MORE_ROUNDS, describes=MORE_ROUNDS)
    # A run that a board judges from the start has its panel already.
    return replace(more, compose=0) if rubric.judges.mode is JudgeMode.BOARD else more
