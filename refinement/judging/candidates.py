"""From a producer's reply to a candidate: the text itself, without what was thought or wrapped around it."""

import re

from refinement.judging.parsing.thinking import set_thinking_aside

_WRAPPED = re.compile(r"\A(`{3,}|~{3,})(?:markdown|md|text|txt)[ \t]*\n(?P<inside>.*)\n\1[ \t]*\Z", re.DOTALL)


def read_candidate(reply: str) -> str:
    """The candidate in a reply; empty when the producer wrote none."""
    text = set_thinking_aside(reply).answer.strip()
    wrapped = _WRAPPED.match(text)
    # A model that puts its whole answer in a Markdown fence means the text, not the fence.
    if wrapped and wrapped.group(1) not in wrapped.group("inside"):
        text = wrapped.group("inside").strip()
    return text
