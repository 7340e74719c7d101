"""Source texts: their limits, how much of each a prompt contains, and how it is delimited.

A source is material that the work must be grounded in. Its name and its text are untrusted data.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from refinement.judging.delimiters import defuse_role_tags, fence, neutralise
from refinement.judging.length import Excerpt, excerpt
from refinement.texts import one_line, storable

MOST_SOURCES = 20
MOST_CHARS = 200_000  # of one source
MOST_CHARS_TOGETHER = 500_000
MOST_NAME_CHARS = 200
LIMITS = (
    f"Up to {MOST_SOURCES} UTF-8 texts of {MOST_CHARS:,} characters each, {MOST_CHARS_TOGETHER:,} together."
)

LABEL = "SOURCE"


@dataclass(frozen=True, slots=True)
class SourceText:
    """A source as the run carries it."""

    name: str
    text: str


class BadSource(ValueError):
    """A source that cannot be used. The message names it and says what to do."""


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A source with the part of its text that prompts contain."""

    name: str
    excerpt: Excerpt


def source_decoded(name: str, content: bytes) -> SourceText:
    """The source in a file. Raises BadSource if the file is not UTF-8 text."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\x00"
    if "\x00" in text:
        raise BadSource(f"{name} is not UTF-8 text. Save it as UTF-8, or convert it to plain text first.")
    return SourceText(name, text)


def sources_cleaned(sources: Iterable[SourceText]) -> tuple[SourceText, ...]:
    """The sources as they are stored: storable text, plain line ends, a name on one line.

    A source without a name is named by its number. Raises BadSource for the first one beyond a limit.
    """
    cleaned = tuple(_cleaned(number, source) for number, source in enumerate(sources, start=1))
    if len(cleaned) > MOST_SOURCES:
        raise BadSource(f"{len(cleaned)} sources; a run can have at most {MOST_SOURCES}.")
    total = sum(len(source.text) for source in cleaned)
    if total > MOST_CHARS_TOGETHER:
        raise BadSource(
            f"The sources have {total:,} characters together; at most {MOST_CHARS_TOGETHER:,} are allowed. "
            "Remove or shorten some of them."
        )
    return cleaned


def _cleaned(number: int, source: SourceText) -> SourceText:
    name = one_line(storable(source.name), MOST_NAME_CHARS) or f"Source {number}"
    text = storable(source.text).replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise BadSource(f"{name} has no text. Add some, or remove the source.")
    if len(text) > MOST_CHARS:
        raise BadSource(
            f"{name} has {len(text):,} characters; at most {MOST_CHARS:,} are allowed for one source. "
            "Shorten or split it."
        )
    return SourceText(name, text)


def shown_sources(sources: Sequence[SourceText], limit: int) -> tuple[ShownSource, ...]:
    """The sources with at most `limit` characters of text in total, the same in every prompt of a run."""
    shares = fair_shares([len(source.text) for source in sources], limit)
    return tuple(
        ShownSource(source.name, excerpt(source.text, max(1, share)))
        for source, share in zip(sources, shares, strict=True)
    )


def fair_shares(lengths: Sequence[int], limit: int) -> list[int]:
    """Each text's part of a common limit: short texts are whole, long ones share what they leave."""
    shares, left = [0] * len(lengths), limit
    shortest_first = sorted(range(len(lengths)), key=lambda place: lengths[place])
    for done, place in enumerate(shortest_first):
        shares[place] = min(lengths[place], left // (len(lengths) - done))
        left -= shares[place]
    return shares


def source_blocks(sources: Iterable[ShownSource], nonce: str) -> Iterator[str]:
    """Each source between its own delimiters, after a notice if it is cut.

    The name is inside the delimiters, because it is as untrusted as the text.
    """
    for number, source in enumerate(sources, start=1):
        if source.excerpt.cut:
            yield _cut_notice(number, source.excerpt)
        text = defuse_role_tags(neutralise(f"Name: {source.name}\n\n{source.excerpt.text}", nonce))
        yield fence(nonce, f"{LABEL} {number}").around(text)


def _cut_notice(number: int, shown: Excerpt) -> str:
    return (
        f"Source {number} is long: you see {shown.seen_chars:,} of its {shown.total_chars:,} characters, and "
        "a line in brackets marks the gap. What is missing there may still be in the source."
    )
