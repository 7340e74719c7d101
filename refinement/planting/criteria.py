"""Which criterion of a rubric a defect should hit.

Each edit names beginnings of words, the best first. The first one that begins a word in the key or the name
of exactly one criterion decides. If it fits several criteria, the next ones are tried among them. If that
leaves more than one, or none fits, the answer is empty: then the composite alone is compared.
"""

import re
from collections.abc import Sequence

WORDS = re.compile(r"[^\W_]+")


def criterion_for(beginnings: Sequence[str], criteria: Sequence[tuple[str, str]]) -> str:
    """The key of the criterion, from the keys and names of all; empty when unsure."""
    words = {key: WORDS.findall(f"{key} {name}".lower()) for key, name in criteria}
    left = list(words)
    for beginning in beginnings:
        fitting = [key for key in left if any(word.startswith(beginning) for word in words[key])]
        if len(fitting) == 1:
            return fitting[0]
        left = fitting or left
    return ""
