"""The words of an issue: lower-case stems, without numbers, quotations and words of every sentence."""

import re
from functools import lru_cache

MOST_CHARS = 600  # of a text; what is wrong is said at its start
LONGEST_QUOTATION = 80
_WORD = re.compile(r"[^\W\d_]{2,}")
# Quotations are about this one candidate, not about the kind of issue.
_QUOTED = re.compile(
    rf"“[^”]{{1,{LONGEST_QUOTATION}}}”|‘[^’]{{1,{LONGEST_QUOTATION}}}’|"
    rf"\"[^\"]{{1,{LONGEST_QUOTATION}}}\"|(?<!\w)'[^']{{1,{LONGEST_QUOTATION}}}'(?!\w)|`[^`]{{1,{LONGEST_QUOTATION}}}`"
)
# fmt: off
STOP_WORDS = frozenset((
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "being", "both", "but", "by", "can", "could", "did", "do", "does", "for", "from",
    "had", "has", "have", "here", "how", "if", "in", "into", "is", "it", "its", "itself", "just", "may",
    "might", "more", "most", "much", "of", "on", "one", "only", "or", "other", "our", "out", "over",
    "own", "per", "rather", "same", "several", "should", "so", "some", "such", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "through", "to", "too", "under",
    "up", "us", "very", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whose",
    "will", "with", "within", "would", "you", "your", "judge", "issue", "problem", "seems", "needs",
    "need", "make", "makes", "made", "first", "second", "third", "last", "part", "section", "paragraph",
    "sentence", "line", "item", "draft", "fix", "please", "revise", "brief", "reader", "candidate",
))
SUFFIXES = (
    "ational", "fulness", "ousness", "iveness", "ations", "ation", "ments", "ingly", "edly", "ities",
    "ment", "ness", "ance", "ence", "able", "ible", "ings", "ions", "ies", "ing", "ion", "ity", "ive",
    "ful", "ous", "est", "ers", "ed", "es", "er", "ly", "al", "s", "e", "y",
)
# fmt: on


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The word without its ending, so that missing and misses are the same. At least four letters stay."""
    for suffix in SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            return word[: -len(suffix)]
    return word


def stems(text: str) -> list[str]:
    """The stems of the text's words, in order. Quotations are left out unless nothing else is said."""
    text = text[:MOST_CHARS].casefold()
    return _stems(_QUOTED.sub(" ", text)) or _stems(text)


def _stems(text: str) -> list[str]:
    return [stem(word) for word in _WORD.findall(text) if word not in STOP_WORDS]
