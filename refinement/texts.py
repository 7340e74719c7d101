"""Text as databases take it, and as one line of a sentence takes it."""

import unicodedata

# They turn the order of what stands around them: a name with one could rewrite the sentence it is in.
TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def storable(text: str) -> str:
    """The text without what no database column holds: NUL, and halves of surrogate pairs."""
    if "\x00" in text:
        text = text.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def one_line(text: str, most: int) -> str:
    """The beginning of the text without line ends, control signs and signs that turn its direction."""
    # Twice as much is looked at as is shown: enough for text with spaces, little of a very long one.
    plain = "".join(
        " " if character.isspace() else character
        for character in text[: most * 2]
        if character not in TURNING and (character.isspace() or unicodedata.category(character) != "Cc")
    )
    words = " ".join(plain.split())
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"
