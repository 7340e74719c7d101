"""The prompt next to the editor: what the judge or the writer would get with the current fields."""

from typing import Any

from refinement.engine.types import Rubric
from refinement.forms.rubrics.trying.rehearsals import middle
from refinement.forms.rubrics.trying.staging import NONCE
from refinement.judging.isolation import time_limit
from refinement.judging.rehearsal import AssumedScores, assumed_history, brief_for, rehearse
from refinement.judging.templating import TemplateFailure
from refinement.selectors.rubrics.preview_sections import preview_sections

TASK = "(The run's task goes here.)"
CANDIDATE = "# Text\n\n(The text of the round goes here.)"
ISSUES = ("(The judge's issues go here.)",)
CHANGE = "(The suggested change goes here.)"
JUDGE, WRITER = "judge", "writer"


def live_prompt(rubric: Rubric, show: str = JUDGE) -> dict[str, Any]:
    """The prompt's sections for the template. Runs without criteria have no judge."""
    show = WRITER if show == WRITER or not rubric.criteria else JUDGE
    found = {"prompt_of": show, "has_judge": bool(rubric.criteria)}
    assumed = AssumedScores(middle(rubric), ISSUES, CHANGE)
    brief = brief_for(rubric, TASK, NONCE)
    try:
        with time_limit():
            history = assumed_history(rubric, 1, CANDIDATE, "", assumed)
            acts = preview_sections(rubric, rehearse(brief, history), 1, "").acts
    except TemplateFailure as failure:
        return found | {"prompt_failure": str(failure)}
    wanted = acts[-1] if show == WRITER else acts[0]
    return found | {"prompt": wanted}
