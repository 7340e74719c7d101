"""Whether two pieces of feedback ask for the same, by their words."""

from rapidfuzz import fuzz

from refinement.diffing import word_stems

MOST_CHARS = 2_000  # of a text; the rest is ignored
ALIKE = 85  # of 100, by the letters of the sorted words
LEAST_SHARED = 3  # words that say something
SHARED = 0.6  # of the shorter text's such words


class Said:
    """A text prepared for comparing it with many others."""

    __slots__ = ("stems", "text")

    def __init__(self, text: str) -> None:
        self.text = text[:MOST_CHARS].casefold().strip()
        self.stems = word_stems(self.text)

    def like(self, other: "Said") -> bool:
        """Whether both ask for the same: nearly the same letters, or most of the words that say something."""
        if not self.text or not other.text:
            return False
        if self.text == other.text:
            return True
        shared = len(self.stems & other.stems)
        if self.stems and not shared:
            return False
        shorter = min(len(self.stems), len(other.stems))
        if shared >= LEAST_SHARED and shared >= SHARED * shorter:
            return True
        return fuzz.token_sort_ratio(self.text, other.text) >= ALIKE
