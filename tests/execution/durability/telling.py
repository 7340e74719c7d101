"""Replies that depend only on the request: a repeated call gets the same text, in any process."""

import json
import re
import zlib
from collections.abc import Mapping
from typing import Any

from tests.loopback.replies import Asked, instance, purpose_by_schema

MARKER = re.compile(r"zz[0-9a-f]{8}")
SEAT = re.compile(r"as judge (\d) of 3")
VERSION = re.compile(r"Version (\d+) of zz")


class ForeignMarker(AssertionError):
    """A prompt contained the marker of another run."""


def marker_made(number: int, course: int = 0) -> str:
    """A word in all texts of one run; runs with the same `course` get the same scores."""
    return f"zz{number % 0x1000000:06x}{course % 256:02x}"


def task_with(marker: str) -> str:
    return f"Write a short guide to the {marker}."


def marker_of(prompt: str) -> str:
    """The marker in a prompt; two markers mean that runs were mixed up."""
    found = set(MARKER.findall(prompt))
    if len(found) != 1:
        raise ForeignMarker(f"one marker was expected in a prompt, found {sorted(found)}")
    return found.pop()


def tell(asked: Asked) -> str:
    """The next version of the text, or a verdict on the version that is shown."""
    marker, version = marker_of(asked.prompt), version_of(asked.prompt)
    if asked.schema is None:
        return f"Version {version + 1} of {marker} says in plain words what it is good for. " * 6
    purpose = purpose_by_schema(asked.body)
    if purpose == "compose":
        judges = [
            {"name": f"Judge {n}", "lens": f"Look at {marker} as judge {n} of 3 does."} for n in (1, 2, 3)
        ]
        return json.dumps({"judges": judges})
    # The last two signs are the run's course: with a judge's seat, they alone decide its scores.
    course = f"{marker[-2:]}/{version}{seat_of(asked.prompt)}"
    share = 0.2 + zlib.crc32(course.encode()) % 81 / 100
    said: dict[str, Any] = instance(asked.schema, None, share)
    if purpose == "score":
        said["issues"] = [f"Version {version} of {marker} lacks an example."]
    if purpose in ("score", "merge"):
        said["asi"] = f"Give an example where version {version} of {marker} only names things."
    return json.dumps(said)


def version_of(prompt: str) -> int:
    """The newest version of the text in a prompt."""
    return max((int(number) for number in VERSION.findall(prompt)), default=0)


def seat_of(prompt: str) -> str:
    """The seat of a board's judge, by its lens; empty for others."""
    found = SEAT.search(prompt)
    return found.group(1) if found else ""


def phase_of(body: Mapping[str, Any]) -> str:
    """What a request is for: its run's marker, its purpose, the version that it is about and the seat."""
    text = json.dumps(body)
    return f"{marker_of(text)} {purpose_by_schema(body)} {version_of(text)} {seat_of(text)}".strip()
