"""Finds @mentions in a text. No Django."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

MOST_MENTIONS = 50  # in one text
AT = re.compile(r"(?<![\w.@+-])@(?=\w)")


@dataclass(frozen=True, slots=True)
class Person:
    """A person who can be mentioned by name, or by the local part of their email address."""

    number: int
    name: str
    mail_name: str

    @property
    def handles(self) -> set[str]:
        return {handle for handle in (self.name, self.mail_name) if handle}


def mentioned_in(text: str, people: Iterable[Person]) -> list[int]:
    """The numbers of the people mentioned, in order. Ambiguous names are ignored."""
    known: dict[str, set[int]] = {}
    lengths: set[int] = set()
    for person in people:
        for handle in person.handles:
            known.setdefault(handle.casefold(), set()).add(person.number)
            lengths.add(len(handle))
    longest_first = sorted(lengths, reverse=True)
    mentioned: dict[int, None] = {}
    for at in AT.finditer(text):
        matches = _matches(text, at.end(), known, longest_first)
        if len(matches) == 1:
            mentioned.update(dict.fromkeys(matches))
        if len(mentioned) >= MOST_MENTIONS:
            break
    return list(mentioned)


def _matches(text: str, start: int, known: dict[str, set[int]], lengths: list[int]) -> set[int]:
    """The people with the longest name that starts here and ends at a word boundary."""
    for length in lengths:
        end = start + length
        if end < len(text) and (text[end].isalnum() or text[end] == "_"):
            continue
        people = known.get(text[start:end].casefold())
        if people:
            return people
    return set()
