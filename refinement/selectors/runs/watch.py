"""Signs that a run's text was written for its judge: length, the rubric's words, and a held-out judge."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from refinement.engine.types import ZERO, Rubric
from refinement.models import Run
from refinement.selectors.runs.held_out import HeldOut, held_out_of
from refinement.selectors.runs.ledger import growth_of


@dataclass(frozen=True, slots=True)
class Watch:
    """What is known of a run's growth, and what its held-out judge says. `gained` if its score rose."""

    growth: Mapping[str, Any]
    held_out: HeldOut | None
    gained: bool

    @property
    def length(self) -> str:
        """That the text grew with its score; empty if it did not."""
        found = self.growth
        if not self.gained or not found or not found["grew"]:
            return ""
        return (
            f"It grew from {found['first_words']:,} to {found['best_words']:,} words while its score rose. "
            "Judges tend to score longer texts higher."
        )

    @property
    def length_in_brief(self) -> str:
        """The same in one line."""
        if not self.length:
            return ""
        return f"{self.growth['first_words']:,} → {self.growth['best_words']:,} words as its score rose"

    @property
    def echo(self) -> str:
        """That the text repeats the rubric; empty if it does not."""
        found = self.growth
        if not self.gained or not found or not found["echoes"]:
            return ""
        such_as = " and ".join(f"“{phrase}”" for phrase in found["echoed"][:2])
        return f"{found['echoed_count']} of the rubric’s {found['phrases']} phrases are new in it: {such_as}."

    @property
    def doubts(self) -> Iterator[tuple[str, str]]:
        """What speaks against the gain: a title and the words."""
        if self.held_out and self.held_out.doubted:
            yield "Held-out judge", f"{self.held_out.sentence} Only the loop’s own judge sees the gain."
        if self.length:
            yield "Longer text", self.length
        if self.echo:
            yield "Rubric’s words", self.echo


def watch_of(run: Run, rubric: Rubric) -> Watch | None:
    """What is known once the run has ended; None before. One query, and three more for a held-out judge."""
    if not run.is_finished:
        return None
    gain = (run.best or ZERO) - (run.r1 or ZERO)
    return Watch(growth_of(run), held_out_of(run, rubric), gained=gain > (run.smallest_difference or ZERO))


def watch_sentences(run: Run, rubric: Rubric) -> list[str]:
    """The same for reports, with what the held-out judge says in any case."""
    watch = watch_of(run, rubric)
    if watch is None:
        return []
    held_out = watch.held_out
    sentences = [held_out.sentence or held_out.problem] if held_out and not held_out.doubted else []
    return [text for text in (*sentences, *(words for _, words in watch.doubts)) if text]
