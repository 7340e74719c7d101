"""Turns statements into their opposite. English only."""

import re
from collections.abc import Iterator
from random import Random

from refinement.planting.documents import Document
from refinement.planting.kinds import Made, dose, quoted
from refinement.planting.sentences import Sentence, all_sentences

VERBS = "is|are|was|were|can|could|should|must|will|would"
# A rule and what replaces its match. Negations are removed before any is added.
REMOVED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"\b({VERBS}|do|does|did|has|have|had|may|might) not\b(?! only)"), r"\1"),
    (re.compile(r"\bcannot\b"), "can"),
    (re.compile(r"\bcan['’]t\b"), "can"),
    (re.compile(r"\bwon['’]t\b"), "will"),
    (re.compile(r"\b(is|are|was|were|do|does|did|has|have|had|should|would|could|must)n['’]t\b"), r"\1"),
    (re.compile(r"\bnever\b"), "always"),
    (re.compile(r"\bno longer\b"), "still"),
)
ADDED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\balways\b"), "never"),
    (re.compile(r"\b(has|have|had) been\b"), r"\1 not been"),
    (re.compile(r"\bcan (?=[a-z])"), "cannot "),
    # Not after an article, as in "the will", and not before what a negation would not fit.
    (
        re.compile(
            rf"(?<!\ba )(?<!\bthe )(?<!\bof )\b((?!can\b)(?:{VERBS})) (?=[a-z])(?!not\b|to\b|of\b|never\b)"
        ),
        r"\1 not ",
    ),
)
KINDS = ("paragraph", "item")


def flip_negations(document: Document, chance: Random) -> Made | None:
    """Negates one statement, or removes its negation; two or three in a long text."""
    sentences = all_sentences(document, KINDS)
    found = [(sentence, change) for sentence in sentences if (change := opposite(document, sentence))]
    if not found:
        return None
    chosen = chance.sample(found, dose(len(found), one_in=8))
    text = document.replaced([change for _, change in chosen])
    first, change = min(chosen, key=lambda entry: entry[0].start)
    old = quoted(document.text[first.start : first.end])
    new = quoted(with_change(document, first, change))
    more = f" {len(chosen)} statements were changed in this way." if len(chosen) > 1 else ""
    return Made(text, f"Turned {old} into {new}.{more}")


def opposite(document: Document, sentence: Sentence) -> tuple[int, int, str] | None:
    """The change that turns the statement into its opposite; None for questions and for what has no verb."""
    if document.text[sentence.start : sentence.end].rstrip("\"'”’»)]*_ \n").endswith("?"):
        return None
    return next(_changes(document, sentence), None)


def _changes(document: Document, sentence: Sentence) -> Iterator[tuple[int, int, str]]:
    for pattern, new in (*REMOVED, *ADDED):
        for match in pattern.finditer(document.text, sentence.start, sentence.end):
            if document.is_free(*match.span()):
                yield match.start(), match.end(), match.expand(new)


def with_change(document: Document, sentence: Sentence, change: tuple[int, int, str]) -> str:
    """The sentence with the change, on one line."""
    start, end, new = change
    changed = document.text[sentence.start : start] + new + document.text[end : sentence.end]
    return " ".join(changed.split())
