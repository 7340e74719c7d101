"""Cleans text for storage and for single lines."""

import unicodedata

# Characters that change the text direction. A name with one could reorder the text around it.
TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def storable(text: str) -> str:
    """The text without characters that databases reject: NUL and lone surrogates."""
    if "\x00" in text:
        text = text.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def label(text: str) -> str:
    """The text as a short label: one line in lower case, so that equal labels compare as equal."""
    plain = (character for character in storable(text) if character not in TURNING)
    return " ".join("".join(plain).split()).lower()


def one_line(text: str, most: int) -> str:
    """The start of the text on one line, without control and direction characters."""
    # Twice the length is enough, because only whitespace and control characters are dropped.
    plain = "".join(
        " " if character.isspace() else character
        for character in text[: most * 2]
        if character not in TURNING and (character.isspace() or unicodedata.category(character) != "Cc")
    )
    line = " ".join(plain.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
