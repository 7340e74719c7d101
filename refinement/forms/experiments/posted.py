"""The configurations of a sent launch form: read, duplicated, removed and renumbered."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import QueryDict

FIELD = re.compile(r"c(\d{1,3})-(\w{1,40})")
MOST = 10
Values = dict[str, list[str]]  # a configuration's fields


def configurations_posted(data: QueryDict) -> list[Values]:
    """The configurations in their order; at most as many as an experiment can have."""
    found: dict[int, Values] = {}
    for name, values in data.lists():
        if match := FIELD.fullmatch(name):
            found.setdefault(int(match[1]), {})[match[2]] = [str(value) for value in values]
    return [found[number] for number in sorted(found)][:MOST]


def with_configurations(data: QueryDict, configurations: Sequence[Values], baseline: int) -> QueryDict:
    """The form's other fields with these configurations, numbered from 0."""
    result = QueryDict(mutable=True)
    for name, values in data.lists():
        if not FIELD.fullmatch(name) and name not in ("baseline", "do"):
            result.setlist(name, values)
    for number, fields in enumerate(configurations):
        for name, values in fields.items():
            result.setlist(f"c{number}-{name}", values)
    result["baseline"] = str(baseline)
    return result


def arranged(data: QueryDict) -> QueryDict:
    """The form after its button: `add`, `duplicate-1` or `remove-1`. Numbers count from 0."""
    configurations, baseline = configurations_posted(data), baseline_posted(data)
    verb, _, number = data.get("do", "").partition("-")
    place = int(number) if number.isascii() and number.isdigit() and len(number) < 4 else -1
    if verb == "add" and configurations:
        place, verb = len(configurations) - 1, "duplicate"
    if not 0 <= place < len(configurations):
        return with_configurations(data, configurations, baseline)
    if verb == "duplicate" and len(configurations) < MOST:
        copy = configurations[place] | {"name": [copy_name(configurations, place)]}
        configurations.insert(place + 1, copy)
        baseline += place < baseline
    elif verb == "remove" and len(configurations) > 1:
        del configurations[place]
        baseline = 0 if place == baseline else baseline - (place < baseline)
    return with_configurations(data, configurations, baseline)


def baseline_posted(data: Mapping[str, Any]) -> int:
    text = str(data.get("baseline", "0"))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0


def copy_name(configurations: Sequence[Values], place: int) -> str:
    """A name that no configuration has yet."""
    taken = {name.casefold() for fields in configurations for name in fields.get("name", [])}
    own = next(iter(configurations[place].get("name", [])), "") or "Configuration"
    base = re.sub(r" \(copy(?: \d+)?\)$", "", own)[:60]
    names = [f"{base} (copy)", *(f"{base} (copy {number})" for number in range(2, MOST + 2))]
    return next(name for name in names if name.casefold() not in taken)
