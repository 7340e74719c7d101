"""Delimiters around untrusted text, made from a run's nonce and removed from any text that contains them."""

import re
import secrets
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

REMOVED = "[delimiter removed]"
NONCE = re.compile(r"[0-9A-Za-z]{8,64}\Z")

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATES = re.compile("[\ud800-\udfff]")
# Invisible characters that could hide between the letters of a delimiter.
_INVISIBLE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]*"
)
# Unicode ranges with look-alikes of ASCII letters and digits.
_LOOKALIKE_RANGES = ((0xAA, 0xBA), (0x2070, 0x209C), (0x2100, 0x214F), (0x2460, 0x24FF),
                     (0xFF10, 0xFF5A), (0x1D400, 0x1D7FF))  # fmt: skip
# Servers that render a chat template read these as control tokens anywhere in the text.
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
    """The opening and closing delimiter of a piece of data."""

    opening: str
    closing: str

    def around(self, text: str) -> str:
        """The text between its delimiters, each on its own line."""
        return f"{self.opening}\n{text}\n{self.closing}"


def new_nonce() -> str:
    """A random nonce for one run, which candidates cannot guess."""
    return secrets.token_hex(8)


def fence(nonce: str, label: str) -> Fence:
    """The delimiters for one kind of data. They are the same in all calls of a run."""
    checked(nonce)
    return Fence(f"<<<{label} {nonce}>>>", f"<<<END {label} {nonce}>>>")


def checked(nonce: str) -> str:
    """The nonce. Raises ValueError if it is too short or has other characters."""
    if not NONCE.match(nonce):
        raise ValueError("a run's nonce must be 8 to 64 ASCII letters and digits; use new_nonce()")
    return nonce


def neutralise(text: str, nonce: str) -> str:
    """The text without control characters, with every occurrence of the run's nonce replaced."""
    text = plain(text)
    # Look-alikes and invisible characters are not ASCII, so most texts can skip the slow pattern.
    if text.isascii() and checked(nonce).lower() not in text.lower():
        return text
    return _mark_pattern(checked(nonce)).sub(REMOVED, text)


def defuse_role_tags(text: str) -> str:
    """The text with a backslash inside each chat-template tag, so that servers do not interpret it."""
    return _ROLE_TAGS.sub(lambda match: match.group() + "\\", text)


def plain(text: str) -> str:
    """The text without lone surrogates and without control characters other than newline and tab."""
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
    """For each ASCII letter and digit, the characters that NFKC normalisation turns into it."""
    found: dict[str, str] = {}
    for first, last in _LOOKALIKE_RANGES:
        for code in range(first, last + 1):
            folded = unicodedata.normalize("NFKC", chr(code)).casefold()
            if len(folded) == 1 and folded.isascii() and folded.isalnum():
                found[folded] = found.get(folded, "") + chr(code)
    return found
