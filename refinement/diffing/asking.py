"""Finds the issue or instruction that a change matches, by shared words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from refinement.diffing.comparing import Change

MOST_CHARS = 20_000  # of a change or a request; the rest is ignored
_QUOTED = re.compile(r"`([^`\n]{2,80})`|“([^”\n]{2,80})”|\"([^\"\n]{2,80})\"|‘([^’\n]{2,80})’")
_WORD = re.compile(r"\w[\w-]{3,}")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_COMMON_WORDS = (
    "about above after again also although always another back because been before being below between both "
    "could does doing done down each either else even every from give given gives have having here into just "
    "less like line lines made make makes many more most much must need needs never nothing only other over "
    "part parts said same says section sentence should show shows some such text than that their them then "
    "there these they thing things this those through under until upon very what when where which while will "
    "with within without word words would your explain explains explained describe mention clear clearly add "
    "added adds missing reader readers example examples better improve provide provides state states"
)
_COMMON = frozenset(_COMMON_WORDS.split())
_ENDINGS = ("ations", "ation", "ments", "ment", "ings", "ing", "ies", "ied", "es", "ed", "ly", "s")


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the producer. `label` is its name on pages; if not `sent`, the producer did not get it."""

    label: str
    text: str
    sent: bool = True


def matching_request(change: Change, requests: Sequence[Request]) -> Request | None:
    """The request that the change matches; one that was not sent only if no other does.

    Several that match equally are one request that names them all.
    """
    text = f"{change.before} {change.after}"[:MOST_CHARS]
    sent = [request for request in requests if request.sent]
    unsent = [request for request in requests if not request.sent]
    return _best(text, sent) or _best(text, unsent)


def _best(text: str, requests: Sequence[Request]) -> Request | None:
    scored = [(evidence(text, request.text[:MOST_CHARS]), request) for request in requests]
    most = max((shared for shared, _ in scored), default=0)
    if most < 2:
        return None
    first, *others = (request for shared, request in scored if shared == most)
    if not others:
        return first
    labels = list(dict.fromkeys(request.label for request in (first, *others)))
    texts = "\n".join(request.text for request in (first, *others))
    return Request(" or ".join(labels[:3]), texts, first.sent)


def evidence(change: str, request: str) -> int:
    """How many words a change shares with a request. A quoted name counts twice."""
    lowered = change.casefold()
    named = 2 * sum(name in lowered for name in quoted_names(request))
    shared = word_stems(change) & word_stems(request)
    return named + len(shared)


def quoted_names(request: str) -> set[str]:
    """What the request puts between quotation marks, in lower case."""
    return {next(filter(None, groups)).casefold() for groups in _QUOTED.findall(request)}


def word_stems(text: str) -> set[str]:
    """The words of the text that say something, roughly without their endings, and its numbers."""
    stems = {_stem(word) for word in _WORD.findall(text.casefold()) if word not in _COMMON}
    return stems | set(_NUMBER.findall(text))


def _stem(word: str) -> str:
    """The word roughly without its ending: restores, restored and restoring are the same."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending).rstrip("e")
    return word.rstrip("e")
