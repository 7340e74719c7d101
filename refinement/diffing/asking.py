"""Who asked for a change: the issue or direction whose words it takes up, as far as words can tell."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from refinement.diffing.comparing import Change

MOST_CHARS = 20_000  # of a change or a request: more words do not make it clearer
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
    """Something that the producer was asked for: `label` is how a page names it."""

    label: str
    text: str


def who_asked(change: Change, requests: Sequence[Request]) -> Request | None:
    """The request that the change answers, or None where words do not tell or tell of two alike."""
    text = f"{change.before} {change.after}"[:MOST_CHARS]
    scored = sorted(((_evidence(text, request.text[:MOST_CHARS]), -n) for n, request in enumerate(requests)))
    if not scored or scored[-1][0] < 2:
        return None
    if len(scored) > 1 and scored[-1][0] == scored[-2][0]:
        return None
    return requests[-scored[-1][1]]


def _evidence(change: str, request: str) -> int:
    """Words in common; a quoted name that is taken up weighs as much as two."""
    lowered = change.casefold()
    quoted = {next(filter(None, found)).casefold() for found in _QUOTED.findall(request)}
    named = 2 * sum(name in lowered for name in quoted)
    shared = _stems(change) & _stems(request)
    return named + len(shared)


def _stems(text: str) -> set[str]:
    found = {_stem(word) for word in _WORD.findall(text.casefold()) if word not in _COMMON}
    return found | set(_NUMBER.findall(text))


def _stem(word: str) -> str:
    """Roughly the word without its ending: restores, restored and restoring are one."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending).rstrip("e")
    return word.rstrip("e")
