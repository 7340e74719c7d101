"""Boards: a run's panel, and what each judge said in a round."""

from typing import Any, Literal

from ninja import Field, Router, Schema

from refinement.access.objects import run_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.permissions import member
from refinement.api.runs.shapes import RunWhole, run_whole
from refinement.models import BoardVerdict
from refinement.selectors.runs.boards.answers import model_name, revised_scores
from refinement.services.runs.plateau import plateau_answer

router = Router(tags=["Actions"])
SCORES = [[{"key": "depth", "score": "7", "reasoning": "…", "improvement": "…"}]]
STANCES = [[{"key": "depth", "stance": "concede", "score": "8", "reasoning": "…"}]]


class JudgeAnswers(Schema):
    """What one judge of a board said about a round."""

    seat: int = Field(description="In the panel, from 1.", examples=[1])
    name: str = Field(examples=["First-time reader"])
    lens: str = Field(description="How this judge looks at the work.")
    model: str = Field(description="endpoint/model", examples=["ollama/gemma3:12b"])
    scores: list[dict[str, Any]] = Field(
        description="Its own, for each criterion: key, score, reasoning and improvement.", examples=SCORES
    )
    revised: dict[str, str] | None = Field(
        description="Its scores after the deliberation, by criterion. Null if it has not deliberated."
    )
    stances: list[dict[str, Any]] | None = Field(
        description="For each criterion: key, stance (agree, challenge or concede), score and reasoning. "
        "Null before the deliberation, empty if the reply could not be read.",
        examples=STANCES,
    )
    issues: list[str]
    asi: str = Field(description="Its suggested change. The clerk distils one from all.")
    contract_violation: str = Field(description="Why it says that the output contract is violated.")
    problem: str = Field(description="Why its scores could not be read; it is then left out.")
    stances_problem: str = Field(description="Why its reply in the deliberation could not be read.")


class PlateauAnswer(Schema):
    """What to do with a run that has stopped improving."""

    answer: Literal["stop", "continue"] = Field(
        description="stop: end the run. continue: two more rounds, judged by a board."
    )


@router.post("/{int:run}/plateau", response=RunWhole)
@member("editor")
def run_plateau(request: ApiRequest, run: int, body: PlateauAnswer) -> RunWhole:
    """Answer a run that asks whether to go on. 409 if it does not ask, or somebody answered before."""
    plateau_answer(run=run_or_404(request, run), answer=body.answer, user=request.user)
    return run_whole(run_or_404(request, run))


SAME = ("seat", "scores", "stances", "asi", "contract_violation", "problem", "stances_problem")


def judge_answers(answer: BoardVerdict) -> JudgeAnswers:
    return JudgeAnswers(
        name=answer.judge.name,
        lens=answer.judge.lens,
        model=model_name(answer.judge),
        revised=revised_scores(answer),
        issues=[str(issue) for issue in answer.issues],
        **{name: getattr(answer, name) for name in SAME},
    )
