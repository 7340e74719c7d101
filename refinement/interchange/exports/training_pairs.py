"""Exports runs as training data in JSON Lines. The formats are described in docs/training-pairs.md."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from refinement.interchange.exports.json import as_json


@dataclass(frozen=True, slots=True)
class Text:
    """A judged round's candidate."""

    round: int
    score: Decimal
    text: str
    by_hand: bool


@dataclass(frozen=True, slots=True)
class Origin:
    """The run of an example. Its scores are on a scale from `bottom` to `top`."""

    run: int
    prompt: str
    rubric: str
    bottom: Decimal
    top: Decimal
    source: str  # of an imported run


@dataclass(frozen=True, slots=True)
class Example:
    """A text to train on, or a better and a worse one."""

    origin: Origin
    chosen: Text
    rejected: Text | None = None


def sft_lines(examples: Iterable[Example]) -> Iterator[str]:
    """Chats with two messages: the prompt and the text that passed."""
    for example in examples:
        chosen = example.chosen
        messages = [
            {"role": "user", "content": example.origin.prompt},
            {"role": "assistant", "content": chosen.text},
        ]
        details = {
            "run": example.origin.run,
            "round": chosen.round,
            "score": number(chosen.score),
            "edited_by_hand": chosen.by_hand,
        }
        yield f"{as_json({'messages': messages, **details, **_about(example.origin)})}\n"


def pair_lines(examples: Iterable[Example]) -> Iterator[str]:
    """The better and the worse of two rounds of a run, with their prompt."""
    for example in examples:
        chosen, rejected = example.chosen, example.rejected
        assert rejected is not None
        values = {
            "prompt": example.origin.prompt,
            "chosen": chosen.text,
            "rejected": rejected.text,
            "run": example.origin.run,
            "chosen_round": chosen.round,
            "rejected_round": rejected.round,
            "chosen_score": number(chosen.score),
            "rejected_score": number(rejected.score),
            "difference": number(chosen.score - rejected.score),
            "edited_by_hand": [
                name for name, side in (("chosen", chosen), ("rejected", rejected)) if side.by_hand
            ],
            **_about(example.origin),
        }
        yield f"{as_json(values)}\n"


def _about(origin: Origin) -> dict[str, Any]:
    scale = [number(origin.bottom), number(origin.top)]
    return {"scale": scale, "rubric": origin.rubric, "imported": origin.source or None}


def number(value: Decimal) -> int | float:
    """The value as int or float. This export is for training, not for import."""
    return int(value) if value == value.to_integral_value() else float(value)
