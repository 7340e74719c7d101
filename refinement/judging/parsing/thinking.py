"""Separates a model's thinking from its answer."""

import json
import re
from typing import NamedTuple

TAG = re.compile(r"<(?P<close>/?)(?:think|thinking|reasoning|thought)>|\[(?P<shut>/?)THINK\]", re.IGNORECASE)


class Parts(NamedTuple):
    answer: str
    thinking: str


def split_thinking(text: str) -> Parts:
    """The answer and the thinking.

    An unclosed think block extends to the end, and a lone closing tag ends a block from the start.
    """
    tags = list(TAG.finditer(text))
    if not tags or _is_json(text):  # tags inside valid JSON are part of its strings
        return Parts(text.strip(), "")
    return _split(text, tags)


def _split(text: str, tags: list[re.Match[str]]) -> Parts:
    answer: list[str] = []
    thinking: list[str] = []
    position = 0
    is_open = False
    for tag in tags:
        part = text[position : tag.start()]
        if tag["close"] or tag["shut"]:
            # Some chat templates put the opening tag into the prompt, so the reply has only the closing one.
            thinking += [part] if is_open else [*answer, part]
            if not is_open:
                answer.clear()
            is_open = False
        elif is_open:
            thinking.append(part)
        elif "{" in part and _never_closed(tag, tags):
            break  # the tag is inside a JSON string
        else:
            answer.append(part)
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
