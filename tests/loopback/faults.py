"""What can go wrong on purpose: rules that say which call meets which fault."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

KINDS = frozenset(
    {
        "drop",  # the connection closes before any byte of an answer
        "reset",  # the connection is reset in the middle of the stream
        "cut",  # the stream ends in good order, without its last part
        "status",  # an error status, 500 unless said otherwise
        "rate_limit",  # 429, with Retry-After
        "hang",  # nothing comes, ever
        "slow_first_byte",  # the answer comes after some seconds
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
    """One rule: the calls it meets (all that match, or the n-th of those) and what happens to them."""

    kind: str
    nth: tuple[int, ...] = ()  # counted from 1 over the calls that match; empty means every one
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
        """Counts the call when it matches, and tells whether it is one of those to spoil."""
        if self.role and self.role != role:
            return False
        self.seen += 1
        return not self.nth or self.seen in self.nth

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> "Fault":
        return cls(**{**entry, "nth": tuple(entry.get("nth", ())), "seen": 0})

    def as_json(self) -> dict[str, Any]:
        return asdict(self)
