"""What `wiggum trust` needs of an instance."""

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class JudgeTrust:
    """A judge's report, as `execution/trust/computing.py` makes it."""

    rubric: str  # slug@version
    judge: str  # the model, or a board's key
    report: dict[str, Any]
    note: str = ""  # what to know about it


class Judges(Protocol):
    """Failures raise the errors of `refinement.cli.exits`."""

    def trust(self, rubric: str, judge: str, label_set: str) -> JudgeTrust:
        """The report of a rubric's judge, over all texts or those of one label set."""
        ...


def unscored(judge: str, rubric: str, known: list[str]) -> str:
    others = f" Judges with scores: {', '.join(known)}." if known else ""
    return f"There is no score by {judge} for {rubric}.{others}"
