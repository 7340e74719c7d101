"""Where search words are in a run's texts."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db.models import Q
from django.db.models.functions import Left

from refinement.models import Round, Run
from refinement.selectors.runs.listing.search_terms import terms

READ_CHARS = 20_000  # of a text; later matches have no excerpt
BEFORE, AFTER = 40, 110


class Excerpt(NamedTuple):
    """A passage of the result or the task around the first match."""

    before: str
    match: str
    after: str


def excerpts_of(runs: Sequence[Run], words: str) -> dict[int, Excerpt]:
    """The first match in each run's best text or else in its task. Two queries."""
    wanted = [text for minus, text in terms(words) if not minus]
    if not wanted:
        return {}
    found = _found(_bests(runs), wanted)
    rest = [run.pk for run in runs if run.pk not in found]
    tasks = Run.objects.filter(pk__in=rest).order_by().values_list("pk", Left("task", READ_CHARS))
    return _found(dict(tasks), wanted) | found


def _bests(runs: Sequence[Run]) -> dict[int, str]:
    places = [Q(run=run.pk, number=run.best_round or 1) for run in runs]
    if not places:
        return {}
    rounds = Round.objects.filter(Q(*places, _connector=Q.OR)).order_by()
    return dict(rounds.values_list("run", Left("candidate", READ_CHARS)))


def _found(texts: Mapping[int, str], wanted: Sequence[str]) -> dict[int, Excerpt]:
    pattern = re.compile("|".join(rf"\b{_loosely(text)}\b" for text in wanted), re.IGNORECASE)
    return {
        pk: _around(text, match.start(), match.end())
        for pk, text in texts.items()
        if (match := pattern.search(text))
    }


def _loosely(phrase: str) -> str:
    """The words of a term with anything but letters and digits between them, as the index sees it."""
    return r"\W+".join(re.escape(word) for word in re.findall(r"\w+", phrase))


def _around(text: str, start: int, end: int) -> Excerpt:
    before = text[max(0, start - BEFORE) : start]
    if start > BEFORE:  # from the start of a word
        before = f"…{before.partition(' ')[2] or before}"
    return Excerpt(
        _one_line(before),
        _one_line(text[start:end]),
        _one_line(text[end : end + AFTER]) + ("…" if end + AFTER < len(text) else ""),
    )


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)
