"""A judge's reply while it is being written: what can be read of JSON that has no end yet.

For eyes alone: nothing that is read here is a score. `static/js/live_reading.js` does the same to a reply
that grows on an open page; a test holds the two against each other.
"""

import re
from dataclasses import dataclass, field

MOST_DEEP = 8
MOST_VALUES = 400
# What may stand before the object: a think block, the start of a fence.
LEAD = re.compile(
    r"\s*(?:<(think|thinking|reasoning|thought)>.*?</\1>\s*)?(?:```[a-z]*\s*)?(?=\{)",
    re.IGNORECASE | re.DOTALL,
)
PLAIN = re.compile(r'[^"\\]+')
BARE = re.compile(r"[^\s,{}\[\]\"]+")
SPACE = re.compile(r"\s+")
ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(slots=True)
class Value:
    """A text or number, where it stands, and whether it stood in quotation marks."""

    path: tuple[str, ...]
    text: str
    quoted: bool


@dataclass(slots=True)
class _Opened:
    is_list: bool
    key: str = ""
    count: int = 0


@dataclass(slots=True)
class _Scanner:
    text: str
    place: int
    opened: list[_Opened] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)

    def scan(self) -> bool:
        """Reads to the end of what is there; whether it can be the beginning of an object."""
        wanted = "value"
        while wanted and (sign := self._next_sign()):
            wanted = {"value": self._value, "key": self._key, "colon": self._colon, "after": self._after}[
                wanted
            ](sign)
            if wanted == "wrong":
                return False
        return True

    def _next_sign(self) -> str:
        if space := SPACE.match(self.text, self.place):
            self.place = space.end()
        return self.text[self.place : self.place + 1]

    def _value(self, sign: str) -> str:
        if sign in "{[":
            self.place += 1
            self.opened.append(_Opened(sign == "["))
            return "wrong" if len(self.opened) > MOST_DEEP else "value" if sign == "[" else "key"
        if sign == "]" and self.opened[-1].is_list:
            return self._after(sign)
        bare = BARE.match(self.text, self.place)
        if (sign != '"' and not bare) or len(self.values) == MOST_VALUES:
            return "wrong"
        path = tuple(str(entry.count) if entry.is_list else entry.key for entry in self.opened)
        text = self._string() if sign == '"' else bare[0] if bare else ""
        self.values.append(Value(path, text, sign == '"'))
        if bare:
            self.place = bare.end()
        return "after"

    def _key(self, sign: str) -> str:
        if sign == '"':
            self.opened[-1].key = self._string()
            return "colon"
        if sign == ",":
            self.place += 1
            return "key"
        return self._after(sign) if sign == "}" else "wrong"

    def _colon(self, sign: str) -> str:
        self.place += 1
        return "value" if sign == ":" else "wrong"

    def _after(self, sign: str) -> str:
        self.place += 1
        inside = self.opened[-1]
        if sign == ",":
            inside.count += 1
            return "value" if inside.is_list else "key"
        if sign != ("]" if inside.is_list else "}"):
            return "wrong"
        self.opened.pop()
        return "after" if self.opened else ""

    def _string(self) -> str:
        """The string that begins here, as far as it goes."""
        parts: list[str] = []
        self.place += 1
        while self.place < len(self.text) and self.text[self.place] != '"':
            if plain := PLAIN.match(self.text, self.place):
                parts.append(plain[0])
                self.place = plain.end()
            else:
                parts.append(self._escape())
        self.place += 1
        return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _escape(self) -> str:
        sign = self.text[self.place + 1 : self.place + 2]
        digits = self.text[self.place + 2 : self.place + 6] if sign == "u" else ""
        self.place += 2 + len(digits)
        if len(digits) == 4 and re.fullmatch("[0-9a-fA-F]{4}", digits):
            return chr(int(digits, 16))
        return "" if digits or sign == "u" else ESCAPES.get(sign, sign)


def values_so_far(text: str) -> list[Value] | None:
    """What the beginning of a JSON object says, in its order; None if this is not one."""
    lead = LEAD.match(text)
    if lead is None:
        return None
    scanner = _Scanner(text, lead.end())
    return scanner.values if scanner.scan() else None


# --- as people read it ----------------------------------------------------------------------------
AROUND = ("criteria", "scores")  # what a judge may put around its criteria
NAMES = ("name", "key", "criterion")
PLACE = re.compile("[0-9]+")
TITLES = {"asi": "ASI", "issues": "Issues"}
LABELS = {"reasoning": "", "reason": "", "improvement": "To improve:"}


@dataclass(slots=True)
class Entry:
    """What is said of one thing: a criterion with its score, the issues, the ASI."""

    title: str
    score: str = ""
    parts: list[tuple[str, str]] = field(default_factory=list)  # a label, which may be empty, and a text


def entries_so_far(text: str) -> list[Entry] | None:
    """A verdict as far as it is written, one entry for each criterion; None if it is not JSON."""
    values = values_so_far(text)
    if values is None:
        return None
    found: dict[str, Entry] = {}
    for value in values:
        criterion = len(value.path) > 1 and value.path[0] in AROUND
        key, *rest = value.path[1:] if criterion else value.path
        entry = found.setdefault(f"{criterion} {key}", Entry(titled(key)))
        last = rest[-1] if rest else ""
        if last == "score" or (not rest and not value.quoted):
            entry.score = value.text
        elif criterion and last in NAMES:
            entry.title = titled(value.text)
        elif value.text:
            words = titled(last)
            label = LABELS.get(last, f"{words}:" if words else "")
            entry.parts.append((label, value.text))
    return list(found.values())


def titled(key: str) -> str:
    """A name for people; a place in a list is none."""
    words = "" if PLACE.fullmatch(key) else key.replace("_", " ")
    return TITLES.get(key, words[:1].upper() + words[1:])
