"""Merging two edits of one version: changes of one side are taken, conflicts are a choice."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from refinement.engine.codec import rubric_to_json
from refinement.engine.types import Information, Rubric
from refinement.judging.context import OFFERED

ROWS = ("criteria", "checks", "panel")
# The calibration example has its own page and is taken from the newest version.
APART = (*ROWS, "context", "templates", "calibration_text", "calibration_scores", "profile")
WHOLE = ("output_schema",)  # records that are taken from one side as they are


class Side(StrEnum):
    MINE = "mine"
    THEIRS = "theirs"


class Change(StrEnum):
    MINE = "mine"
    THEIRS = "theirs"
    SAME = "same"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Difference:
    """A changed place of a definition; None if it does not exist on a side."""

    path: tuple[str, ...]
    original: Any
    mine: Any
    theirs: Any

    @property
    def name(self) -> str:
        return "choose." + ".".join(self.path)

    @property
    def change(self) -> Change:
        if self.mine == self.theirs:
            return Change.SAME
        if self.theirs == self.original:
            return Change.MINE
        return Change.THEIRS if self.mine == self.original else Change.BOTH

    def taken(self, choices: Mapping[str, str]) -> Any:
        """The winning side: the one that changed, or the chosen one."""
        if self.change is Change.BOTH:
            return self.theirs if choices.get(self.name) == Side.THEIRS else self.mine
        return self.theirs if self.change is Change.THEIRS else self.mine


def differences(original: Rubric, mine: Rubric, theirs: Rubric) -> list[Difference]:
    """Every place where a side differs from the common version, in page order."""
    sides = [_with_panel_rows(rubric_to_json(rubric)) for rubric in (original, mine, theirs)]
    flat = [dict(_places(side)) for side in sides]
    for rows in ROWS:
        _add_rows(rows, sides, flat)
    paths = dict.fromkeys(path for places in flat for path in places)
    found = (Difference(path, *(places.get(path) for places in flat)) for path in paths)
    return [entry for entry in found if not entry.original == entry.mine == entry.theirs]


def _with_panel_rows(values: dict[str, Any]) -> dict[str, Any]:
    """The definition with its panel as rows like criteria and checks; a judge's name is its key."""
    judges = dict(values["judges"])
    rows = [{"key": judge["name"], **judge} for judge in judges.pop("panel")]
    return values | {"judges": judges, "panel": rows}


def _without_panel_rows(values: dict[str, Any]) -> dict[str, Any]:
    panel = [{name: row[name] for name in ("name", "lens", "model")} for row in values.pop("panel")]
    return values | {"judges": values["judges"] | {"panel": panel}}


def _places(values: Mapping[str, Any], *above: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """A definition's settings by path; the visibility table cell by cell."""
    for name, value in values.items():
        if not above and name in APART:
            continue
        if isinstance(value, dict) and name not in WHOLE:
            yield from _places(value, *above, name)
        else:
            yield (*above, name), value
    if not above:
        yield ("primary",), next((row["key"] for row in values["criteria"] if row["primary"]), None)
        for role in OFFERED:
            for kind in Information:
                yield ("context", role, kind), kind in values["context"][role]
        for name, source in values["templates"].items():
            yield ("templates", name), source


def _add_rows(rows: str, sides: list[dict[str, Any]], flat: list[dict[tuple[str, ...], Any]]) -> None:
    """Rows by key: by field if both sides have the row, else as a whole."""
    by_key = [{row["key"]: row for row in side[rows]} for side in sides]
    _, mine, theirs = by_key
    apart = ("key", "name") if rows == "panel" else ("key", "primary")
    for key in dict.fromkeys([*by_key[0], *mine, *theirs]):
        for known, places in zip(by_key, flat, strict=True):
            row = {name: value for name, value in known.get(key, {}).items() if name not in apart}
            if key in mine and key in theirs:
                places.update({(rows, key, name): value for name, value in row.items()})
            elif row:
                places[rows, key] = row
    for order, places in zip(_orders(by_key), flat, strict=True):
        places[rows, ""] = order


def _orders(by_key: list[dict[str, Any]]) -> list[list[str]]:
    """The order of the rows that all three have; additions and removals are not reorderings."""
    shared = set.intersection(*(set(known) for known in by_key))
    return [[key for key in known if key in shared] for known in by_key]


def merged(original: Rubric, mine: Rubric, theirs: Rubric, choices: Mapping[str, str]) -> dict[str, Any]:
    """The JSON definition with both sides' changes. It may not be valid."""
    values, own = (_with_panel_rows(rubric_to_json(rubric)) for rubric in (theirs, mine))
    entries = differences(original, mine, theirs)
    for rows in ROWS:
        values[rows] = _merged_rows(rows, own, values, entries, choices)
    primary = next((row["key"] for row in values["criteria"] if row.get("primary")), None)
    for entry in entries:
        if entry.path[0] in ROWS:
            continue
        taken = entry.taken(choices)
        if entry.path == ("primary",):
            primary = taken
        else:
            _put(values, entry.path, taken)
    for row in values["criteria"]:
        row["primary"] = row["key"] == primary
    return _without_panel_rows(values)


def _put(values: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    if path[0] == "context":
        seen = set(values["context"][path[1]]) - {path[2]}
        values["context"][path[1]] = sorted(seen | {str(path[2])} if value else seen)
        return
    place = values
    for part in path[:-1]:
        place = place[part]
    if path[0] == "templates" and value is None:
        place.pop(path[-1], None)
    else:
        place[path[-1]] = value


def _merged_rows(
    rows: str,
    mine: dict[str, Any],
    theirs: dict[str, Any],
    entries: list[Difference],
    choices: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Both sides' rows: theirs as the base, merged by field, in the chosen order."""
    kept = {row["key"]: dict(row) for row in [*mine[rows], *theirs[rows]]}
    order_from = theirs
    for entry in entries:
        if entry.path[0] != rows:
            continue
        _, key, *field = entry.path
        taken = entry.taken(choices)
        if not key:
            order_from = mine if taken == entry.mine else theirs
        elif field:
            kept[key][field[0]] = taken
        elif taken is None:
            del kept[key]
        else:
            kept[key] |= taken
    first, second = (mine, theirs) if order_from is mine else (theirs, mine)
    order = joined_order([row["key"] for row in first[rows]], [row["key"] for row in second[rows]])
    return [kept[key] for key in order if key in kept]


def joined_order(first: list[str], second: list[str]) -> list[str]:
    """The first order, with rows only in the second inserted after their predecessor there."""
    order = list(first)
    before = None
    for key in second:
        if key not in order:
            order.insert(order.index(before) + 1 if before is not None else 0, key)
        before = key
    return order
