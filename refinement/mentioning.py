"""Whom a text mentions with an @; no Django."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

MOST_MENTIONS = 50  # people that one comment calls
AT = re.compile(r"(?<![\w.@+-])@(?=\w)")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who can be mentioned: by their name, or by what stands before the @ of their address."""

    number: int
    name: str
    mail_name: str

    @property
    def handles(self) -> set[str]:
        return {handle for handle in (self.name, self.mail_name) if handle}


def mentioned_in(text: str, people: Iterable[Person]) -> list[int]:
    """The people whose name follows an @, in that order; a name that two of them have is only a word."""
    known: dict[str, set[int]] = {}
    lengths: set[int] = set()
    for person in people:
        for handle in person.handles:
            known.setdefault(handle.casefold(), set()).add(person.number)
            lengths.add(len(handle))
    longest_first = sorted(lengths, reverse=True)
    found: dict[int, None] = {}
    for at in AT.finditer(text):
        called = _called(text, at.end(), known, longest_first)
        if len(called) == 1:
            found.update(dict.fromkeys(called))
        if len(found) >= MOST_MENTIONS:
            break
    return list(found)


def _called(text: str, start: int, known: dict[str, set[int]], lengths: list[int]) -> set[int]:
    """Who has the longest name that stands here and ends with a word."""
    for length in lengths:
        end = start + length
        if end < len(text) and (text[end].isalnum() or text[end] == "_"):
            continue
        people = known.get(text[start:end].casefold())
        if people:
            return people
    return set()
