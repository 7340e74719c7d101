"""Signs that a text was written for its judge: it grows with its score, or repeats the rubric's words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

MOST_CHARS = 400_000  # of a text; the rest is ignored
LONGER = 1.5  # times the first text's length: from here growth is worth a doubt
MANY_ECHOED = 0.2  # of the rubric's phrases, new in the text
LEAST_ECHOED = 3
PHRASE = 3  # words
MOST_PHRASES = 400
MOST_SHOWN = 12
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
# fmt: off
_FILL = frozenset((
    "a", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "does", "each", "every", "for",
    "from", "has", "have", "how", "if", "in", "into", "is", "it", "its", "more", "no", "nor", "not", "of",
    "on", "one", "only", "or", "so", "than", "that", "the", "their", "them", "there", "they", "this", "to",
    "was", "what", "when", "where", "which", "who", "with", "without", "would",
))
# fmt: on


@dataclass(frozen=True, slots=True)
class Growth:
    """How the best text differs from the first one in length and in the rubric's words."""

    first_words: int
    best_words: int
    phrases: int  # of the rubric
    echoed: tuple[str, ...]  # those that are new in the best text, in the rubric's order

    @property
    def times(self) -> float:
        return self.best_words / self.first_words if self.first_words else 1.0

    @property
    def share(self) -> float:
        return len(self.echoed) / self.phrases if self.phrases else 0.0

    @property
    def grew(self) -> bool:
        return self.times >= LONGER

    @property
    def echoes(self) -> bool:
        return len(self.echoed) >= LEAST_ECHOED and self.share >= MANY_ECHOED


def growth(first: str, best: str, *, rubric: Sequence[str], task: str = "") -> Growth:
    """Compares the first text with the best. The task's own words may be in a text: they are no echo."""
    before, after = words(first), words(best)
    known = phrases_in([before, words(task)])
    wanted = [phrase for phrase in phrases_of(rubric) if phrase not in known]
    came = phrases_in([after])
    return Growth(len(before), len(after), len(wanted), tuple(phrase for phrase in wanted if phrase in came))


def words(text: str) -> list[str]:
    return _WORD.findall(text[:MOST_CHARS].casefold())


def phrases_of(texts: Sequence[str]) -> list[str]:
    """The texts' phrases of three words that are more than filling words, each once."""
    found: dict[str, None] = {}
    for text in texts:
        for phrase in _phrases(words(text)):
            if sum(word not in _FILL for word in phrase) >= PHRASE - 1:
                found[" ".join(phrase)] = None
    return list(found)[:MOST_PHRASES]


def phrases_in(texts: Sequence[Sequence[str]]) -> set[str]:
    return {" ".join(phrase) for text in texts for phrase in _phrases(text)}


def _phrases(found: Sequence[str]) -> list[Sequence[str]]:
    return [found[place : place + PHRASE] for place in range(len(found) - PHRASE + 1)]
