"""Who judges a planned run: one judge or a board, with their models, and the clerk."""

from dataclasses import dataclass, replace

from refinement.engine.boards import FEW_CRITERIA, SHORT_ARTIFACT_CHARS, judge_mode, names_changes
from refinement.engine.panels import USUAL_JUDGES
from refinement.engine.stopping import MORE_ROUNDS
from refinement.engine.types import History, JudgeMode, OnPlateau, Rubric, StopReason
from refinement.providers.registry import Target

CHECKS_ONLY = "Checks only: no judge is called"


@dataclass(frozen=True, slots=True)
class PlannedJudge:
    """A judge of the planned run. Its model is None as long as none is chosen."""

    name: str
    lens: str
    target: Target | None


@dataclass(frozen=True, slots=True)
class Judging:
    """Who judges a planned run. `rubric` is the run's, with `auto` resolved."""

    rubric: Rubric
    sentence: str
    judges: tuple[PlannedJudge, ...]  # those of the rubric's panel, or the single judge
    size: int  # how many judges score a round; the clerk composes those that are not in `judges`
    judge: Target | None  # the model of judges without one of their own
    clerk: Target | None
    has_clerk: bool  # whether the clerk is called in every run
    more: str  # what happens on a plateau; empty if the run stops

    @property
    def is_board(self) -> bool:
        return bool(self.rubric.criteria) and self.rubric.judges.mode is JudgeMode.BOARD

    @property
    def composes(self) -> bool:
        """Whether the clerk composes the panel when the run starts."""
        return self.is_board and not self.rubric.judges.panel

    @property
    def may_escalate(self) -> bool:
        return escalates(self.rubric)


def judging_of(
    rubric: Rubric, *, seed_chars: int, judge: Target | None, clerk: Target | None = None
) -> Judging:
    """Who judges a run with a starting text of this length; 0 if the producer writes the first draft."""
    mode = judge_mode(rubric, seed_chars or None)
    resolved = replace(rubric, judges=replace(rubric.judges, mode=mode))
    board = mode is JudgeMode.BOARD
    size = (len(rubric.judges.panel) or USUAL_JUDGES) if board else min(1, len(rubric.criteria))
    return Judging(
        rubric=resolved,
        sentence=mode_sentence(rubric, mode, size, seed_chars),
        judges=judges_of(resolved, judge),
        size=size,
        judge=judge,
        clerk=clerk or target_named(rubric.judges.clerk) or judge,
        has_clerk=board or names_changes(resolved, History(), 2),
        more=plateau_sentence(resolved),
    )


def judges_of(rubric: Rubric, judge: Target | None) -> tuple[PlannedJudge, ...]:
    """The panel's judges with their models, or the single judge."""
    if not rubric.criteria:
        return ()
    if rubric.judges.mode is not JudgeMode.BOARD:
        return (PlannedJudge("Judge", "", judge),)
    return panel_judges(rubric, judge)


def panel_judges(rubric: Rubric, judge: Target | None) -> tuple[PlannedJudge, ...]:
    return tuple(
        PlannedJudge(entry.name, entry.lens, target_named(entry.model) or judge)
        for entry in rubric.judges.panel
    )


def target_named(model: str) -> Target | None:
    """The target of a rubric's ENDPOINT/MODEL; None for an empty one."""
    endpoint, _, name = model.partition("/")
    return Target(endpoint, name) if endpoint and name else None


# --- sentences ------------------------------------------------------------------------------------
def mode_sentence(rubric: Rubric, mode: JudgeMode, size: int, seed_chars: int) -> str:
    if not rubric.criteria:
        return CHECKS_ONLY
    chosen = f"a board of {size}" if mode is JudgeMode.BOARD else "one judge"
    if rubric.judges.mode is JudgeMode.AUTO:
        return f"Automatic: {chosen}, because {auto_reason(rubric, seed_chars)}"
    return chosen.capitalize()


def auto_reason(rubric: Rubric, seed_chars: int) -> str:
    """Why the automatic mode chooses a board or a single judge for this run."""
    if rubric.runs_a_command:
        return "an evaluator runs"
    if len(rubric.criteria) > FEW_CRITERIA:
        return f"the rubric has {len(rubric.criteria)} criteria"
    if not seed_chars:
        return "the writer starts with nothing"
    return "the text is long" if seed_chars > SHORT_ARTIFACT_CHARS else "the text is short"


def escalates(rubric: Rubric) -> bool:
    """Whether a plateau can give the run two more rounds with a board."""
    policy = rubric.policy
    reached = StopReason.PLATEAU in policy.stop_rules and policy.plateau_rounds <= policy.max_rounds
    if not rubric.criteria or not reached:
        return False
    if policy.on_plateau is OnPlateau.ASK:
        return True
    return policy.on_plateau is OnPlateau.BOARD and rubric.judges.mode is not JudgeMode.BOARD


def plateau_sentence(rubric: Rubric) -> str:
    if not escalates(rubric):
        return ""
    size = len(rubric.judges.panel) or USUAL_JUDGES
    rounds = f"{MORE_ROUNDS} more rounds"
    if rubric.policy.on_plateau is OnPlateau.ASK:
        return f"On a plateau the run asks you: stop, or {rounds} judged by a board of {size}."
    return f"On a plateau a board of {size} takes over for {rounds}."
