"""Text as databases take it."""


def storable(text: str) -> str:
    """The text without what no database column holds: NUL, and halves of surrogate pairs."""
    if "\x00" in text:
        text = text.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
