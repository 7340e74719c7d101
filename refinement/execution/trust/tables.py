"""Scores as the matrices that statistics work on."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from refinement.selectors.trust.scores import COMPOSITE, Given, Scores
from refinement.statistics.agreement.judges import Ratings
from refinement.statistics.resampling import Floats


def ratings_of(scores: Scores) -> dict[str, Ratings]:
    """The ratings of every criterion in rubric order, and of the composite. A row is a text."""
    texts = len(scores.texts)
    people = Table(scores.by_people, texts, len(scores.people))
    judge = Table(scores.by_judge, texts, most(scores.by_judge))
    same_prompt = renumbered(of_one_prompt(scores.by_judge))
    repeats = Table(same_prompt, texts, most(same_prompt), whole=True)
    keys = criteria_of(scores)
    return {key: Ratings(people.of(key), judge.of(key), repeats.of(key)) for key in keys}


def criteria_of(scores: Scores) -> list[str]:
    return [*scores.keys, COMPOSITE]


def most(given: Sequence[Given]) -> int:
    """The most judgements of one text."""
    return max((entry.rater + 1 for entry in given), default=0)


def of_one_prompt(given: Iterable[Given]) -> Iterator[Given]:
    """Each text's judgements of the prompt that it was judged by most often: only they are repeats."""
    by_text: dict[int, dict[str, list[Given]]] = {}
    for entry in given:
        if entry.prompt:
            by_text.setdefault(entry.text, {}).setdefault(entry.prompt, []).append(entry)
    for prompts in by_text.values():
        yield from max(prompts.values(), key=len)


def renumbered(given: Iterable[Given]) -> list[Given]:
    """The same with each text's judgements counted from 0."""
    counts: dict[int, int] = {}
    found = []
    for entry in given:
        number = counts.get(entry.text, 0)
        counts[entry.text] = number + 1
        found.append(entry._replace(rater=number))
    return found


class Table:
    """The scores of several raters as one matrix for each criterion.

    With `whole`, composites include checks where they are known: runs' composites do, too.
    """

    def __init__(self, given: Sequence[Given], texts: int, raters: int, *, whole: bool = False) -> None:
        self.given, self.shape, self.whole = given, (texts, raters), whole

    def of(self, key: str) -> Floats:
        matrix = np.full(self.shape, np.nan)
        known = [entry for entry in self.given if key in entry.scores]
        if known:
            rows, columns = zip(*((entry.text, entry.rater) for entry in known), strict=True)
            matrix[list(rows), list(columns)] = [self.value(entry, key) for entry in known]
        return matrix

    def value(self, entry: Given, key: str) -> float:
        if self.whole and key == COMPOSITE and entry.whole is not None:
            return entry.whole
        return entry.scores[key]
