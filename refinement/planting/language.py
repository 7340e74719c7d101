"""Whether a text is English: some edits need English words."""

import re

# Frequent in English, and rare or unknown in other languages with the same letters.
ENGLISH = frozenset(
    {"the", "of", "and", "to", "is", "that", "for", "with", "are", "this", "it", "as", "be", "not", "was"}
    | {"have", "by", "from", "or", "which", "you", "your", "can", "will", "has", "they", "their", "its"}
    | {"were", "been", "would", "should", "but", "if", "when", "these", "those", "each", "into", "than"}
)
MOST_WORDS = 3_000
LEAST_SHARE = 0.12
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def is_english(text: str) -> bool:
    """By the share of frequent English words at its start."""
    words = [found.group().lower() for found in WORD.finditer(text[: MOST_WORDS * 8])][:MOST_WORDS]
    return bool(words) and sum(word in ENGLISH for word in words) / len(words) >= LEAST_SHARE
