"""The shapes of a board's and the clerk's replies: schema, example and reader for each.

A reader returns the answer, or a precise complaint for the model. It never raises.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from refinement.engine.panels import FEWEST_JUDGES, LENS_CHARS, MOST_JUDGES, NAME_CHARS
from refinement.engine.types import CriterionStance, PanelJudge, PanelSummary, Rubric, Stance, Verdict
from refinement.judging.history import KEY_CHANGE_CHARS
from refinement.judging.length import shorten
from refinement.judging.parsing.cleaning import clean, same_name
from refinement.judging.parsing.json_rungs import attempt, load_dirtily, load_strictly, repair, spans
from refinement.judging.parsing.ladder import MAX_EXAMINED_CHARS, Rung
from refinement.judging.parsing.scores import read_score
from refinement.judging.parsing.thinking import split_thinking
from refinement.judging.schema import (
    ASI_CHARS,
    REASONING_CHARS,
    closed_object,
    plain,
    scale_in_words,
    score_schema,
    text_schema,
)

Answer = TypeVar("Answer")
ITEM_CHARS, ITEMS = 160, 5
STANCE_TOKENS, MERGE_TOKENS, COMPOSE_TOKENS, DESCRIBE_TOKENS = 200, 900, 1_200, 160


@dataclass(frozen=True, slots=True)
class Read(Generic[Answer]):
    """What a reply says, or None and a complaint for the model."""

    answer: Answer | None
    rung: Rung | None = None
    complaint: str = ""
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class Merged:
    """The clerk's merge: one suggested change, and the state of the work."""

    asi: str
    summary: PanelSummary


class Complaint(Exception):
    """What is wrong with a reply, in a sentence for the model."""


def read_object(text: str, read: Callable[[Mapping[str, Any]], Answer]) -> Read[Answer]:
    """The answer in the last JSON object of the reply that can be used; otherwise the first complaint."""
    answer, thinking = split_thinking(text)
    thinking, complaint = clean(thinking), ""
    for rung, found in _objects(answer[-MAX_EXAMINED_CHARS:]):
        try:
            return Read(read(found), rung, thinking=thinking)
        except Complaint as problem:
            complaint = complaint or str(problem)
    return Read(None, None, complaint or "The reply is not a JSON object.", thinking)


def _objects(answer: str) -> Iterator[tuple[Rung, Mapping[str, Any]]]:
    whole = attempt(load_strictly, answer)
    if isinstance(whole, dict):
        yield Rung.STRICT, whole
    loaders = ((Rung.EMBEDDED, load_strictly), (Rung.DIRTYJSON, load_dirtily), (Rung.JSON_REPAIR, repair))
    for span in spans(answer):
        for rung, load in loaders:
            loaded = attempt(load, span.text)
            if isinstance(loaded, dict):
                yield rung, loaded
                break


# --- deliberation --------------------------------------------------------------------------------


def stances_schema(rubric: Rubric) -> dict[str, object]:
    entry = closed_object(
        {
            "reasoning": text_schema(REASONING_CHARS),
            "stance": {"type": "string", "enum": [stance.value for stance in Stance]},
            "score": score_schema(rubric.scale),
        }
    )
    return closed_object({"criteria": closed_object({c.key: entry for c in rubric.criteria})})


def stances_example(rubric: Rubric) -> str:
    entries = ",\n".join(
        f'    "{criterion.key}": {{"reasoning": "...", "stance": "<agree, challenge or concede>", '
        f'"score": <{scale_in_words(rubric.scale)}>}}'
        for criterion in rubric.criteria
    )
    return f'{{\n  "criteria": {{\n{entries}\n  }}\n}}'


def read_stances(text: str, rubric: Rubric, own: Verdict) -> Read[tuple[CriterionStance, ...]]:
    """A judge's stance on each of its scores. Only a concession changes a score."""

    def read(found: Mapping[str, Any]) -> tuple[CriterionStance, ...]:
        criteria = found.get("criteria", found)
        entries = {same_name(str(key)): value for key, value in _mapping(criteria).items()}
        return tuple(
            _stance(rubric, entries.get(same_name(score.key)), score.key, own) for score in own.scores
        )

    return read_object(text, read)


def _stance(rubric: Rubric, entry: object, key: str, own: Verdict) -> CriterionStance:
    if not isinstance(entry, dict):
        raise Complaint(f"The stance on {key} is missing.")
    words = same_name(str(entry.get("stance", "")))
    stance = next((stance for stance in Stance if words.startswith(stance.value)), None)
    if stance is None:
        raise Complaint(f"{key}: the stance must be agree, challenge or concede.")
    score = next(given.score for given in own.scores if given.key == key)
    if stance is Stance.CONCEDE:
        reading = read_score(key, entry.get("score"), rubric.scale)
        if reading.value is None or reading.problem:
            raise Complaint(f"{reading.problem} A concession needs the revised score.")
        score = reading.value
    return CriterionStance(key, stance, score, clean(str(entry.get("reasoning") or ""), 2 * REASONING_CHARS))


# --- merge ---------------------------------------------------------------------------------------

MERGE_EXAMPLE = '{"working": ["..."], "not_working": ["..."], "direction": "...", "asi": "..."}'


def merge_schema() -> dict[str, object]:
    items: dict[str, object] = {"type": "array", "items": text_schema(ITEM_CHARS), "maxItems": ITEMS}
    return closed_object(
        {
            "working": items,
            "not_working": items,
            "direction": text_schema(2 * ITEM_CHARS),
            "asi": text_schema(ASI_CHARS),
        }
    )


def read_merge(text: str) -> Read[Merged]:
    """The clerk's one suggestion and its summary."""

    def read(found: Mapping[str, Any]) -> Merged:
        asi = found.get("asi")
        if not isinstance(asi, str) or not asi.strip():
            raise Complaint("asi must be one suggested change, as text.")
        summary = PanelSummary(
            _items(found.get("working")),
            _items(found.get("not_working")),
            clean(str(found.get("direction") or ""), 2 * ITEM_CHARS),
        )
        return Merged(clean(asi, 2 * ASI_CHARS), summary)

    return read_object(text, read)


def _items(value: object) -> tuple[str, ...]:
    listed = value if isinstance(value, (list, tuple)) else [value]
    texts = (shorten(clean(item), ITEM_CHARS) for item in listed if isinstance(item, str))
    return tuple(dict.fromkeys(text for text in texts if text))[:ITEMS]


# --- compose -------------------------------------------------------------------------------------


def compose_example(judges: int) -> str:
    entry = '{"name": "...", "lens": "..."}'
    return f'{{"judges": [{", ".join([entry] * judges)}]}}'


def compose_schema(judges: int) -> dict[str, object]:
    judge = closed_object({"name": text_schema(NAME_CHARS), "lens": text_schema(LENS_CHARS // 2)})
    listed = {"type": "array", "items": judge, "minItems": judges, "maxItems": judges}
    return closed_object({"judges": listed})


def read_panel(text: str, judges: int) -> Read[tuple[PanelJudge, ...]]:
    """The panel that the clerk composed. More judges than asked for are left out."""

    def read(found: Mapping[str, Any]) -> tuple[PanelJudge, ...]:
        listed = found.get("judges", found.get("panel"))
        panel: dict[str, PanelJudge] = {}
        for entry in listed if isinstance(listed, (list, tuple)) else ():
            name, lens = (clean(str(_mapping(entry).get(part) or "")) for part in ("name", "lens"))
            if name and lens:
                judge = PanelJudge(shorten(name, NAME_CHARS), clean(lens, LENS_CHARS))
                panel.setdefault(judge.name.casefold(), judge)
        if len(panel) < max(FEWEST_JUDGES, min(judges, MOST_JUDGES)):
            raise Complaint(f"judges must be {judges} objects, each with its own name and lens.")
        return tuple(panel.values())[:judges]

    return read_object(text, read)


# --- describe ------------------------------------------------------------------------------------

DESCRIBE_EXAMPLE = '{"change": "..."}'


def describe_schema() -> dict[str, object]:
    return closed_object({"change": text_schema(2 * KEY_CHANGE_CHARS)})


def read_change(text: str) -> Read[str]:
    """What changed, on one line of fewer than 60 characters."""

    def read(found: Mapping[str, Any]) -> str:
        change = found.get("change", found.get("key_change"))
        if not isinstance(change, str) or not change.strip():
            raise Complaint("change must be a few words that name what changed.")
        return shorten(clean(change).rstrip("."), KEY_CHANGE_CHARS)

    return read_object(text, read)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def verdict_text(verdict: Verdict, keys: Sequence[str]) -> str:
    """A judge's own verdict in the shape of its reply, to be quoted to it."""
    scores = {entry.key: entry for entry in verdict.scores}
    criteria = ",\n".join(
        f"    {json.dumps(key, ensure_ascii=False)}: "
        f'{{"reasoning": {json.dumps(scores[key].reasoning, ensure_ascii=False)}, '
        f'"score": {plain(scores[key].score)}}}'
        for key in keys
    )
    return f'{{\n  "criteria": {{\n{criteria}\n  }}\n}}'
