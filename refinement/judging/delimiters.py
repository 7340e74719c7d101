"""Marks around hostile text: made from a run's nonce, and taken out of any text that contains them."""

import re
import secrets
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

REMOVED = "[delimiter removed]"
NONCE = re.compile(r"[0-9A-Za-z]{8,64}\Z")

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATES = re.compile("[\ud800-\udfff]")
# Invisible characters that could stand between the letters of a mark without showing.
_INVISIBLE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]*"
)
# Where look-alikes of ASCII letters and digits are kept: superscripts, enclosed, full-width, mathematical.
_LOOKALIKE_RANGES = ((0xAA, 0xBA), (0x2070, 0x209C), (0x2100, 0x214F), (0x2460, 0x24FF),
                     (0xFF10, 0xFF5A), (0x1D400, 0x1D7FF))  # fmt: skip
# A server that renders a chat template reads these as control tokens, wherever they stand.
_ROLE_TAGS = re.compile(
    r"<(?=\|[^\s|<>]{1,40}\|>)"  # <|im_start|>, <|eot_id|>
    r"|<(?=\uff5c[^\s\uff5c<>]{1,40}\uff5c>)"  # the same with full-width bars
    r"|<(?=/?(?:start_of_turn|end_of_turn|start_header_id|end_header_id|bos|eos)>)"
    r"|<(?=</?SYS>>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Fence:
    """The two lines that a piece of data stands between."""

    opening: str
    closing: str

    def around(self, text: str) -> str:
        """The text between its marks, each on a line of its own."""
        return f"{self.opening}\n{text}\n{self.closing}"


def new_nonce() -> str:
    """A fresh secret for one run; nobody who writes a candidate can guess it."""
    return secrets.token_hex(8)


def fence(nonce: str, label: str) -> Fence:
    """The marks for one kind of data in this run: the same in all its calls."""
    checked(nonce)
    return Fence(f"<<<{label} {nonce}>>>", f"<<<END {label} {nonce}>>>")


def checked(nonce: str) -> str:
    """The nonce itself, or an error when it is too short to be told from ordinary text."""
    if not NONCE.match(nonce):
        raise ValueError("a run's nonce must be 8 to 64 ASCII letters and digits; use new_nonce()")
    return nonce


def neutralise(text: str, nonce: str) -> str:
    """The text without control characters, and with every trace of the run's marks visibly replaced."""
    text = plain(text)
    # Look-alikes and invisible characters are not ASCII: most texts need no pattern made for their run.
    if text.isascii() and checked(nonce).lower() not in text.lower():
        return text
    return _mark_pattern(checked(nonce)).sub(REMOVED, text)


def defuse_role_tags(text: str) -> str:
    """The text with a backslash inside each chat-template tag, so that no server takes it for its own."""
    return _ROLE_TAGS.sub(lambda found: found.group() + "\\", text)


def plain(text: str) -> str:
    """The text as it can be sent: no control characters but newline and tab, no halves of characters."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _SURROGATES.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _CONTROLS.sub("", text)


@lru_cache(maxsize=64)
def _mark_pattern(nonce: str) -> re.Pattern[str]:
    lookalikes = _lookalikes()
    letters = (f"[{letter}{lookalikes.get(letter, '')}]" for letter in nonce.lower())
    return re.compile(_INVISIBLE.join(letters), re.IGNORECASE)


@lru_cache(maxsize=1)
def _lookalikes() -> dict[str, str]:
    """For each ASCII letter and digit, the characters that compatibility folding turns into it."""
    found: dict[str, str] = {}
    for first, last in _LOOKALIKE_RANGES:
        for code in range(first, last + 1):
            folded = unicodedata.normalize("NFKC", chr(code)).casefold()
            if len(folded) == 1 and folded.isascii() and folded.isalnum():
                found[folded] = found.get(folded, "") + chr(code)
    return found
