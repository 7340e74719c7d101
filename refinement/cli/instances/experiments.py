"""What `wiggum suite run` needs of an instance: experiments, and their results."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from refinement.interchange.experiments.configurations import ConfigurationText

ENDED = ("finished", "cancelled")


@dataclass(frozen=True, slots=True)
class NewExperiment:
    """An experiment to create. `suite` is a slug or slug@version."""

    suite: str
    name: str
    configurations: Sequence[ConfigurationText]
    repeats: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an experiment is."""

    status: str
    reason: str  # why it paused itself
    suite: str  # slug@version
    runs: int
    ended: int
    errors: int

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED


class Experiments(Protocol):
    """Failures raise the errors of `refinement.cli.exits`."""

    def create(self, new: NewExperiment) -> int: ...

    def resume(self, number: int) -> None: ...

    def progress(self, number: int) -> Progress: ...

    def latest(self, suite: str, *, before: int | None) -> int | None:
        """The newest finished experiment of the suite, older than `before`."""
        ...

    def results(self, number: int) -> dict[str, Any]: ...

    def comparison(self, number: int, other: int) -> dict[str, Any]: ...

    def address(self, number: int) -> str:
        """The URL of its page; empty if unknown."""
        ...
