"""Input of a prompt preview: a typed text or a round of a run."""

from dataclasses import dataclass
from typing import Any

from refinement.engine.types import History, Rubric
from refinement.forms.rubrics.trying.rehearsals import PreviewForm
from refinement.judging.context import Brief
from refinement.judging.rehearsal import EXAMPLE_SOURCE, assumed_history, brief_for
from refinement.models import Run
from refinement.selectors.rubrics.assumptions import borrowed_assumptions, typed_assumptions
from refinement.selectors.rubrics.rehearsals import PreviewHistory, newest_round, preview_history

NONCE = "0123456789ab"  # of a fictional run; every real one has its own
EXAMPLE_WORDS = "The source is an example. A run without sources has no such block."


@dataclass(frozen=True, slots=True)
class PreviewInput:
    """Input of a preview, and what was assumed."""

    brief: Brief
    history: History
    assumptions: list[str]
    feedback: dict[str, Any] | None = None  # that led to a run's round


def preview_input(
    form: PreviewForm, page: dict[str, Any], definition: Rubric, run: Run | None
) -> PreviewInput | None:
    """The brief and history to preview; None if the run does not have the requested round."""
    given = form.cleaned_data
    number: int | None = given["number"]
    if run is None:
        number = number or 1
        history = assumed_history(definition, number, given["candidate"], given["earlier"], form.said)
        words = typed_assumptions(definition, number, form.said, has_earlier=bool(given["earlier"]))
        brief = brief_for(definition, given["task"], NONCE, sources=(EXAMPLE_SOURCE,))
        return PreviewInput(brief, history, [*words, EXAMPLE_WORDS, code_words(NONCE)])
    newest = newest_round(run)
    if not newest or (number is not None and number > newest):
        there = f"has {newest} round{'' if newest == 1 else 's'}" if newest else "has no text yet"
        form.add_error("number" if newest else "run", f"Run {run.pk} {there}. Choose an existing round.")
        return None
    borrowed: PreviewHistory = preview_history(run, page["version"], definition, number or newest, form.said)
    words = borrowed_assumptions(borrowed.brief.rubric, borrowed, form.said)
    return PreviewInput(borrowed.brief, borrowed.history, [*words], borrowed.feedback)


def code_words(nonce: str) -> str:
    return f"Each run has its own code in the markers around data; here it is {nonce}."
