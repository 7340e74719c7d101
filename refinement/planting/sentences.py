"""Where sentences begin and end."""

import re
from dataclasses import dataclass

from refinement.planting.documents import Block, Document

# A full stop with closing quotes, then a space; or one of scripts without spaces.
STOP = re.compile(r"[.!?…]{1,6}[\"'”’»)\]*_]{0,6}(?=\s|$)|[。！？]{1,6}[”’」』）]{0,3}")
ABBREVIATIONS = frozenset(
    {"approx", "art", "cf", "ch", "co", "corp", "dept", "dr", "e.g", "eg", "eq", "est", "etc", "fig", "i.e"}
    | {
        "ie",
        "inc",
        "jr",
        "ltd",
        "mr",
        "mrs",
        "ms",
        "no",
        "nos",
        "pp",
        "prof",
        "rev",
        "sec",
        "sr",
        "st",
        "vol",
    }
    | {"vs", "z.b", "bzw", "ca", "usw"}
)
WITHOUT_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
FEWEST_WORDS = 4


@dataclass(frozen=True, slots=True)
class Sentence:
    """From `start` to `end`, which is after its full stop."""

    start: int
    end: int
    block: Block
    is_first: bool
    is_last: bool  # of its block


def sentences_of(document: Document, block: Block) -> list[Sentence]:
    """The sentences of a block of prose."""
    edges, start = [], block.inner
    for stop in STOP.finditer(document.text, block.inner, block.end):
        if document.is_free(stop.start(), stop.end()) and _ends(document.text, start, stop, block.end):
            edges.append((start, stop.end()))
            start = _after_spaces(document.text, stop.end(), block.end)
    if document.text[start : block.end].strip():
        edges.append((start, block.end))
    last = len(edges) - 1
    return [Sentence(begin, end, block, at == 0, at == last) for at, (begin, end) in enumerate(edges)]


def all_sentences(document: Document, kinds: tuple[str, ...] = ("paragraph",)) -> list[Sentence]:
    """The sentences of all blocks of these kinds, in order."""
    blocks = (block for block in document.blocks if block.kind in kinds)
    return [sentence for block in blocks for sentence in sentences_of(document, block)]


def words_in(text: str, start: int, end: int) -> int:
    """How many words there are; in scripts without spaces, two characters are counted as one."""
    part = text[start:end]
    return max(len(part.split()), len(WITHOUT_SPACES.findall(part)) // 2)


def _ends(text: str, start: int, stop: re.Match[str], most: int) -> bool:
    """Whether a sentence ends here, and not an abbreviation, an initial or a number in a list."""
    after = _after_spaces(text, stop.end(), most)
    if after < most and text[after].islower():
        return False
    if stop.group().rstrip("\"'”’»)]*_") != ".":
        return True
    words = text[max(start, stop.start() - 40) : stop.start()].split()
    word = words[-1].lstrip("(\"'“‘[").lower() if words else ""
    is_initial = len(word) == 1 and word.isalpha()
    return (
        bool(word)
        and word not in ABBREVIATIONS
        and not is_initial
        and not (len(words) == 1 and word.isdigit())
    )


def _after_spaces(text: str, place: int, most: int) -> int:
    while place < most and text[place].isspace():
        place += 1
    return place
