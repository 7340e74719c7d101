"""Assertions on the context of an answer, as rubrics: the context is one of the case's vars."""

from collections.abc import Mapping
from dataclasses import replace

from refinement.evals.dialects.asserts.kinds import RUBRIC
from refinement.evals.sources.plain import text_of
from refinement.evals.types import Assertion

QUESTIONS = ("query", "question", "input", "prompt")
WORDS: Mapping[str, str] = {
    "context-faithfulness": "Every claim of the answer follows from this context. Context: {context}",
    "context-recall": "Judge the context and not the answer: it holds all that is needed to state what is "
    "expected. Context: {context} Expected: {value}",
    "context-relevance": "Judge the context and not the answer: it is relevant to the question, without much "
    "else. Question: {question} Context: {context}",
}


def as_rubric(assertion: Assertion, values: Mapping[str, object]) -> Assertion | None:
    """The assertion as a rubric; None if the case has no context."""
    context = text_of(values.get("context")).strip()
    if not context:
        return None
    question = next((text_of(values[name]) for name in QUESTIONS if values.get(name)), "")
    text = WORDS[assertion.kind].format(context=context, value=text_of(assertion.value), question=question)
    return replace(assertion, kind=RUBRIC, value=text, metric=assertion.metric or assertion.kind)
