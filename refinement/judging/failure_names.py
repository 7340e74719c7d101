"""Names for categories of issues: the clerk's prompt, and how its reply is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refinement.judging.boards.prompts import clerk_prompt
from refinement.judging.boards.replies import Complaint, Read, read_object
from refinement.judging.length import shorten
from refinement.judging.parsing.cleaning import clean
from refinement.judging.prompts import Prompt, block
from refinement.judging.schema import closed_object, text_schema
from refinement.judging.templating import render

NAME_CHARS = 70
MOST_EXAMPLES, EXAMPLE_CHARS = 5, 200
TOKENS_EACH = 40
EXAMPLE = '{"names": [{"number": 1, "name": "..."}]}'


@dataclass(frozen=True, slots=True)
class ToName:
    """A category without a name, by its criterion and typical issues."""

    criterion: str
    examples: tuple[str, ...]


def names_prompt(categories: Sequence[ToName], nonce: str) -> Prompt:
    """The clerk's prompt: issues are data between delimiters."""
    listed = "\n\n".join(_listed(number, entry) for number, entry in enumerate(categories, start=1))
    return clerk_prompt(nonce, render("clerk_name", None), EXAMPLE, [block(nonce, "ISSUES", listed)])


def names_schema(count: int) -> dict[str, object]:
    entry = closed_object(
        {"number": {"type": "integer", "minimum": 1, "maximum": count}, "name": text_schema(NAME_CHARS)}
    )
    return closed_object({"names": {"type": "array", "items": entry, "minItems": 1, "maxItems": count}})


def read_names(text: str, count: int) -> Read[dict[int, str]]:
    """The names by their place from 0; or a complaint. Never raises."""

    def read(found: Mapping[str, Any]) -> dict[int, str]:
        entries = found.get("names")
        names: dict[int, str] = {}
        for entry in entries if isinstance(entries, (list, tuple)) else ():
            number, name = (entry.get("number"), entry.get("name")) if isinstance(entry, dict) else (0, "")
            words = shorten(" ".join(clean(str(name or "")).split()), NAME_CHARS).rstrip(".")
            place = int(str(number)) if str(number).isdecimal() and len(str(number)) < 4 else 0
            if 1 <= place <= count and words:
                names.setdefault(place - 1, words)
        if not names:
            raise Complaint("names must be a list of objects, each with a number of the list and a name.")
        return names

    return read_object(text, read)


def _listed(number: int, entry: ToName) -> str:
    lines = [f"{number}. Criterion: {entry.criterion or 'none'}"]
    lines += [f"- {shorten(text, EXAMPLE_CHARS)}" for text in entry.examples[:MOST_EXAMPLES]]
    return "\n".join(lines)
