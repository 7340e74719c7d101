"""What a preview is made from: a typed text, or a round of a run."""

from dataclasses import dataclass
from typing import Any

from refinement.engine.types import History, Rubric
from refinement.forms.rubrics.rehearsals import PreviewForm
from refinement.judging.context import Brief
from refinement.judging.rehearsal import assumed_history, brief_for
from refinement.models import Run
from refinement.selectors.rubrics.assumptions import borrowed_words, typed_words
from refinement.selectors.rubrics.rehearsals import Borrowed, borrowed_history, newest_round

NONCE = "0123456789ab"  # of a run that there is not: every real one makes its own


@dataclass(frozen=True, slots=True)
class Stage:
    """What a preview is made from, and what had to be assumed for it."""

    brief: Brief
    history: History
    assumptions: list[str]


def staged(form: PreviewForm, page: dict[str, Any], definition: Rubric, run: Run | None) -> Stage | None:
    """The brief and history to rehearse; None when the run does not have the round that was asked for."""
    given = form.cleaned_data
    number: int | None = given["number"]
    if run is None:
        number = number or 1
        history = assumed_history(definition, number, given["candidate"], given["earlier"], form.assumed)
        words = typed_words(definition, number, form.assumed, has_earlier=bool(given["earlier"]))
        return Stage(brief_for(definition, given["task"], NONCE), history, [*words, code_words(NONCE)])
    newest = newest_round(run)
    if not newest or (number is not None and number > newest):
        there = f"has {newest} round{'' if newest == 1 else 's'}" if newest else "has no text yet"
        form.add_error("number" if newest else "run", f"Run {run.pk} {there}; choose one that is there.")
        return None
    borrowed: Borrowed = borrowed_history(run, page["version"], definition, number or newest, form.assumed)
    return Stage(borrowed.brief, borrowed.history, [*borrowed_words(definition, borrowed, form.assumed)])


def code_words(nonce: str) -> str:
    return f"Every run makes a code of its own for the marks around data; here it is {nonce}."
