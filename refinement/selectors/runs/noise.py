"""Whether a run's gain shows a difference. Pages, lists, exports, messages and the API all ask here."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from refinement.engine.noise import improvement_is_noise
from refinement.engine.scoring import shown_to
from refinement.engine.types import ZERO
from refinement.models import Run

NO_DIFFERENCE = "no difference shown"
SAME_TEXT = "same_text"  # the kind of a signal
# The columns that tell whether a run's improvement is noise, in the order of `improvement_is_noise`.
NOISE_FIELDS = ("rounds_judged", "improvement", "smallest_difference", "same_text_moved", "escalated_after")


@dataclass(frozen=True, slots=True)
class NoiseWords:
    """What a page says about a gain that shows no difference."""

    title: str  # No difference shown
    words: str  # why, without a full stop
    same_text: bool  # the score moved as far while the text stayed the same

    @property
    def sentence(self) -> str:
        if self.same_text:
            return f"{self.words[:1].upper()}{self.words[1:]}. {self.title}."
        return f"{self.title}: {self.words}."


def known_difference(run: Run) -> Decimal | None:
    """The smallest real difference between two composites of the run; None if it is not known.

    A board that took over on a plateau is another judge than the one it was measured for.
    """
    return None if run.escalated_after else run.smallest_difference


def is_noise(run: Run, change: Decimal | None = None) -> bool | None:
    """Whether a change between two rounds shows no difference; by default the run's improvement.

    None if nothing is known about the judge's noise, or if there is only one score.
    """
    moved = run.improvement if change is None else change
    return improvement_is_noise(
        run.rounds_judged, moved, run.smallest_difference, run.same_text_moved, run.escalated_after
    )


def noise_words(run: Run, change: Decimal | None, decimals: int) -> NoiseWords | None:
    """Why a change shows no difference; None if it does, or if nothing is known."""
    if not is_noise(run, change):
        return None
    known, same = known_difference(run), run.same_text_moved
    if known is None or (same is not None and same > known):
        moved = shown_to(same, decimals) if same is not None else ""
        return NoiseWords("No difference shown", f"same text, score moved by {moved}: judge noise", True)
    words = f"changes up to {shown_to(known, decimals)} are within the judge's noise"
    return NoiseWords("No difference shown", words, False)


def same_text_signal(signals: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The signal of a round whose score moved on the same text."""
    return next((signal for signal in signals if signal.get("kind") == SAME_TEXT), None)


def other_signals(signals: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The signals of a judge that did not track the revision."""
    return [signal for signal in signals if signal.get("kind") != SAME_TEXT]


def same_text_sentence(signals: Iterable[Mapping[str, Any]], decimals: int) -> str:
    """That a round's score moved on the same text, and against which round; empty if it did not."""
    signal = same_text_signal(signals)
    if signal is None:
        return ""
    moved, changed = number_of(signal.get("moved")), number_of(signal.get("candidate_change"))
    near = f"Nearly the same text ({changed * 100:.1f} % changed)" if changed else "Same text"
    by = shown_to(abs(moved), decimals)
    return f"{near} as in round {signal.get('from_round', '?')}, score moved by {by}: judge noise."


def number_of(value: object) -> Decimal:
    """A number of a signal. Those of an imported run may be anything."""
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        return ZERO
    return found if found.is_finite() else ZERO
