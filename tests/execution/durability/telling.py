"""Replies that depend on the request alone: a call made twice brings the same text, in any process."""

import json
import re
import zlib
from typing import Any

from tests.loopback.replies import Asked, instance

MARKER = re.compile(r"zz[0-9a-f]{8}")
VERSION = re.compile(r"Version (\d+) of zz")


class ForeignMarker(AssertionError):
    """A prompt carried the mark of another run."""


def marker_made(number: int, course: int = 0) -> str:
    """A word that marks all texts of one run; runs of one `course` get the same scores."""
    return f"zz{number % 0x1000000:06x}{course % 256:02x}"


def task_with(marker: str) -> str:
    return f"Write a short guide to the {marker}."


def marker_of(prompt: str) -> str:
    """The one marker of a prompt; two of them mean that runs were mixed up."""
    found = set(MARKER.findall(prompt))
    if len(found) != 1:
        raise ForeignMarker(f"one marker was expected in a prompt, found {sorted(found)}")
    return found.pop()


def tell(asked: Asked) -> str:
    """The next version of the text, or a verdict on the version that is shown."""
    marker = marker_of(asked.prompt)
    version = max((int(number) for number in VERSION.findall(asked.prompt)), default=0)
    if asked.schema is None:
        return f"Version {version + 1} of {marker} says in plain words what it is good for. " * 6
    # The last two signs are the run's course: they alone decide its scores.
    share = 0.2 + zlib.crc32(f"{marker[-2:]}/{version}".encode()) % 81 / 100
    verdict: dict[str, Any] = instance(asked.schema, None, share)
    verdict["issues"] = [f"Version {version} of {marker} lacks an example."]
    verdict["asi"] = f"Give an example where version {version} of {marker} only names things."
    return json.dumps(verdict)
