"""Reads the candidate from a producer's reply, without thinking or a wrapping code fence."""

import re

from refinement.judging.parsing.thinking import split_thinking

_WRAPPED = re.compile(r"\A(`{3,}|~{3,})(?:markdown|md|text|txt)[ \t]*\n(?P<inside>.*)\n\1[ \t]*\Z", re.DOTALL)


def read_candidate(reply: str) -> str:
    """The candidate in a reply; empty if there is none."""
    text = split_thinking(reply).answer.strip()
    wrapped = _WRAPPED.match(text)
    # Some models put the whole answer in a Markdown fence.
    if wrapped and wrapped.group(1) not in wrapped.group("inside"):
        text = wrapped.group("inside").strip()
    return text
