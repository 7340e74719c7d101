"""Simulated failures: rules that say which call gets which fault."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

KINDS = frozenset(
    {
        "drop",  # the connection closes before the first byte of the response
        "reset",  # the connection is reset in the middle of the stream
        "cut",  # the stream ends normally, but without its last part
        "status",  # an error status, by default 500
        "rate_limit",  # 429, with Retry-After
        "hang",  # no response, ever
        "slow_first_byte",  # the response is delayed by some seconds
        "html",  # a web page with status 200
        "unknown_model",
        "context_exceeded",
        "empty",  # a reply without text
        "truncated_line",  # the stream ends in the middle of a line
        "error_object",  # an error in the middle of the stream
    }
)


@dataclass
class Fault:
    """A rule: which calls it applies to (all that match, or the n-th of those), and what happens then."""

    kind: str
    nth: tuple[int, ...] = ()  # counted from 1 over the matching calls; empty for all
    role: str = ""
    seconds: float = 0.0
    status: int = 500
    message: str = ""
    retry_after: str = "1"
    seen: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown fault {self.kind!r}; known are {', '.join(sorted(KINDS))}")
        self.nth = tuple(self.nth)

    def meets(self, role: str) -> bool:
        """Counts the call if it matches; returns whether the fault applies to it."""
        if self.role and self.role != role:
            return False
        self.seen += 1
        return not self.nth or self.seen in self.nth

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> "Fault":
        return cls(**{**entry, "nth": tuple(entry.get("nth", ())), "seen": 0})

    def as_json(self) -> dict[str, Any]:
        return asdict(self)
