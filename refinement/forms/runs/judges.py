"""Who judges: the choice that a launch can make for its runs."""

from dataclasses import replace

from refinement.engine.boards import judge_mode
from refinement.engine.types import JudgeMode, Rubric
from refinement.models import Run

JUDGE_CHOICES = (
    ("", "As the rubric says"),
    (JudgeMode.SINGLE.value, "One judge"),
    (JudgeMode.BOARD.value, "A board"),
    (JudgeMode.AUTO.value, "Automatic"),
)


def rubric_with_mode(rubric: Rubric, mode: str) -> Rubric:
    """The rubric with another judge mode; an empty or unknown one changes nothing."""
    if mode not in set(JudgeMode):
        return rubric
    return replace(rubric, judges=replace(rubric.judges, mode=JudgeMode(mode)))


def judge_values(run: Run, saved: Rubric, used: Rubric) -> dict[str, str]:
    """A run's choices that its rubric would not have made, by form field name."""
    values = {}
    if used.judges.mode is not judge_mode(saved, len(run.seed) or None):
        values["judges"] = used.judges.mode.value
    clerk = f"{run.clerk_endpoint}/{run.clerk_model}"
    usual = used.judges.clerk or f"{run.judge_endpoint}/{run.judge_model}"
    if run.clerk_endpoint and run.clerk_model and clerk != usual:
        values["clerk"] = clerk
    return values
