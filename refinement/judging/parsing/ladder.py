"""Reads a verdict from a judge's reply, trying parsers from strict to lenient."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from refinement.engine.types import Rubric, Verdict
from refinement.judging.parsing.cleaning import clean
from refinement.judging.parsing.json_rungs import attempt, load_dirtily, load_strictly, repair, spans
from refinement.judging.parsing.line_rung import read_lines
from refinement.judging.parsing.thinking import split_thinking
from refinement.judging.parsing.validation import Validated, complaint_of, validate
from refinement.judging.schema import scale_in_words

MAX_EXAMINED_CHARS = 120_000  # only the end of a very long reply is read

REFUSAL = re.compile(
    r"\bI(?:['’]m| am) (?:very |truly )?sorry|\bI apologi[sz]e|\bas an AI\b"
    r"|\bI (?:can['’]?t|cannot|can not|won['’]t|will not)\b|\bI(?:['’]m| am) (?:not able|unable)\b",
    re.IGNORECASE,
)


class Rung(StrEnum):
    """How a reply was read, from strict to last resort."""

    STRICT = "strict"
    EMBEDDED = "embedded"
    DIRTYJSON = "dirtyjson"
    JSON_REPAIR = "json_repair"
    LINES = "lines"


@dataclass(frozen=True, slots=True)
class Reading:
    """A verdict and the rung that read it, or no verdict and a complaint for the model."""

    verdict: Verdict | None
    rung: Rung | None
    complaint: str
    thinking: str
    dropped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Try:
    rung: Rung
    validated: Validated


def read_reply(text: str, rubric: Rubric) -> Reading:
    """The verdict in a judge's reply, or a precise complaint. Never raises.

    The last object with a number for every criterion decides. If it is not valid, earlier objects are not
    used instead, because they may be drafts or quotes from the candidate.
    """
    answer, thinking = split_thinking(text)
    thinking = clean(thinking)
    if not answer:
        return Reading(None, None, _no_answer(thinking, rubric), thinking, ())
    best: _Try | None = None
    for current in _tries(answer[-MAX_EXAMINED_CHARS:], rubric):
        if best is None or current.validated.stated > best.validated.stated:
            best = current
        if current.validated.verdict is not None or current.validated.stated == len(rubric.criteria):
            return _reading(current, thinking)
    if best is None or not best.validated.keys:
        dropped = best.validated.dropped if best else ()
        return Reading(None, None, _no_scores(answer, rubric, dropped), thinking, dropped)
    return _reading(best, thinking)


def _reading(chosen: _Try, thinking: str) -> Reading:
    found = chosen.validated
    if found.verdict is None:
        return Reading(None, None, complaint_of(found), thinking, found.dropped)
    return Reading(found.verdict, chosen.rung, "", thinking, found.dropped)


def _tries(answer: str, rubric: Rubric) -> Iterator[_Try]:
    whole = attempt(load_strictly, answer)
    if isinstance(whole, (dict, list)):
        yield _Try(Rung.STRICT, validate(whole, rubric))
    pieces: list[tuple[object, _Try]] = []
    for span in spans(answer):
        loaders = ((Rung.EMBEDDED, load_strictly), (Rung.DIRTYJSON, load_dirtily), (Rung.JSON_REPAIR, repair))
        for rung, load in loaders:
            loaded = attempt(load, span.text)
            if not isinstance(loaded, (dict, list)):
                continue
            current = _Try(rung, validate(loaded, rubric))
            yield current
            if span.complete and rung is not Rung.JSON_REPAIR:
                pieces.append((loaded, current))
                break
    yield from _pieces_together(pieces, rubric)
    lines = read_lines(answer, rubric)
    if lines is not None:
        yield _Try(Rung.LINES, validate(lines, rubric))


def _pieces_together(pieces: list[tuple[object, _Try]], rubric: Rubric) -> Iterator[_Try]:
    """Combines objects that each cover other criteria. Objects with a common criterion are not combined."""
    in_order = [(loaded, entry.rung) for loaded, entry in reversed(pieces)]
    keys = [validate([loaded], rubric).keys for loaded, _ in in_order]
    together = validate([loaded for loaded, _ in in_order], rubric)
    if len(in_order) > 1 and together.keys and sum(map(len, keys)) == len(together.keys):
        yield _Try(_lowest(rung for _, rung in in_order), together)


def _lowest(rungs: Iterator[Rung]) -> Rung:
    order = list(Rung)
    return max(rungs, key=order.index)


def _no_answer(thinking: str, rubric: Rubric) -> str:
    if thinking:
        return f"The reply ended in its thinking, before any answer. {_reply_format(rubric)}"
    return f"The reply is empty. {_reply_format(rubric)}"


def _no_scores(answer: str, rubric: Rubric, dropped: tuple[str, ...]) -> str:
    if dropped:
        return f"None of these is a criterion of this rubric: {', '.join(dropped)}. {_reply_format(rubric)}"
    if REFUSAL.search(answer[:2_000]):
        refused = "The reply declines to judge; the text is only to be scored, not acted on."
        return f"{refused} {_reply_format(rubric)}"
    return f"The reply states no scores. {_reply_format(rubric)}"


def _reply_format(rubric: Rubric) -> str:
    keys = [criterion.key for criterion in rubric.criteria]
    listed = ", ".join(keys[:12]) + (f" and {len(keys) - 12} more" if len(keys) > 12 else "")
    return f"Give one JSON object with a score ({scale_in_words(rubric.scale)}) for each of: {listed}."
