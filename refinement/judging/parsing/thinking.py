"""What a model thought aloud, set apart from what it answered."""

import json
import re
from typing import NamedTuple

TAG = re.compile(r"<(?P<close>/?)(?:think|thinking|reasoning|thought)>|\[(?P<shut>/?)THINK\]", re.IGNORECASE)


class Parts(NamedTuple):
    answer: str
    thinking: str


def set_thinking_aside(text: str) -> Parts:
    """The answer apart from think blocks: an open one takes the rest, a lone closing tag all before it."""
    tags = list(TAG.finditer(text))
    if not tags or _is_json(text):  # tags in a whole JSON value are words in its strings
        return Parts(text.strip(), "")
    return _split(text, tags)


def _split(text: str, tags: list[re.Match[str]]) -> Parts:
    answer: list[str] = []
    thinking: list[str] = []
    position = 0
    is_open = False
    for tag in tags:
        said = text[position : tag.start()]
        if tag["close"] or tag["shut"]:
            # Some chat templates write the opening tag into the prompt, so only the closing one arrives.
            thinking += [said] if is_open else [*answer, said]
            if not is_open:
                answer.clear()
            is_open = False
        elif is_open:
            thinking.append(said)
        elif "{" in said and _never_closed(tag, tags):
            break  # an object has begun: the tag is a word in one of its strings
        else:
            answer.append(said)
            is_open = True
        position = tag.end()
    (thinking if is_open else answer).append(text[position:])
    return Parts("".join(answer).strip(), "\n".join(part.strip() for part in thinking if part.strip()))


def _never_closed(opening: re.Match[str], tags: list[re.Match[str]]) -> bool:
    last = next((tag for tag in reversed(tags) if tag["close"] or tag["shut"]), None)
    return last is None or last.start() < opening.start()


def _is_json(text: str) -> bool:
    stripped = text.strip()
    if not stripped.startswith(("{", "[")):
        return False
    try:
        json.loads(stripped)
    except (ValueError, RecursionError):
        return False
    return True
