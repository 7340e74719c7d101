"""A name for a category, from what its issues say."""

import re
from collections import Counter
from collections.abc import Sequence

from refinement.taxonomy.words import stems

NAME_CHARS = 80
FEWEST_WORDS = 2  # of a name, without those that are in every sentence
MOST_READ = 40  # texts, the most typical first
_CLAUSES = re.compile(r"(?<=[.!?;:])\s+|\s+[–—]\s+|\s\(|, (?:so|which|because|but|and|although)\b")
_LABEL = re.compile(
    r"^(?:(?:issue|problem|note|weakness)\s*:|it seems that\b|[-*•\d.)\s]+)\s*", re.IGNORECASE
)
_QUOTED = re.compile(r"\s*\([“‘\"'][^”’\"']{1,80}[”’\"']\)|[“”\"]")


def automatic_name(texts: Sequence[str]) -> str:
    """The shortest clause among the texts that says what most of them say."""
    texts = texts[:MOST_READ]
    shared = Counter(word for text in texts for word in set(stems(text)))
    clauses = dict.fromkeys(clause for text in texts for clause in clauses_of(text))
    if not clauses:
        return "Unnamed"
    return max(clauses, key=lambda clause: (worth(clause, shared), -len(clause)))


def clauses_of(text: str) -> list[str]:
    line = _QUOTED.sub("", " ".join(text.split()))
    parts = (_LABEL.sub("", part).strip(" .;:,)") for part in _CLAUSES.split(line))
    return [capital(cut(part)) for part in parts if part]


def worth(clause: str, shared: Counter[str]) -> float:
    """How much of what is shared the clause says, less for each word that is not."""
    words = set(stems(clause))
    if len(words) < FEWEST_WORDS:
        return 0.0
    return sum(shared[word] for word in words) / (len(words) + 2)


def cut(text: str) -> str:
    """At most NAME_CHARS, at the end of a word."""
    if len(text) <= NAME_CHARS:
        return text
    return text[: NAME_CHARS - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
