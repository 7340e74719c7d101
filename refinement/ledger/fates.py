"""Concludes what became of each piece of feedback.

The evidence is the verdicts that followed, the passages that the revision changed, and the scores. Numbers
that lie within the judge's noise do not count as a rise or a fall.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from refinement.ledger.likeness import Said
from refinement.ledger.revisions import DROPPED, KEPT, Change, changed
from refinement.ledger.types import (
    ADDRESSED,
    CAME_BACK,
    IMPROVEMENT,
    OPEN,
    OVERTAKEN,
    WORSE,
    Entry,
    Item,
    Step,
)

MOST_ITEMS = 40  # of one round
MOST_LATER = 12  # verdicts after a revision that are read
MOST_REWRITTEN = 0.7  # of a text: from here it is another text
ZERO = Decimal(0)


def conclude(steps: Sequence[Step], *, noise: Decimal = ZERO, only: int | None = None) -> tuple[Entry, ...]:
    """An entry for each piece of feedback that a revision was asked for, in order.

    `steps` are the run's rounds in order. `noise` is the smallest difference between two composites that is
    not noise. With `only`, the other rounds' feedback is left out, and only the texts of that round, its
    revision and the revision's base are read.
    """
    said = {step.number: [(item, Said(item.text)) for item in step.items[:MOST_ITEMS]] for step in steps}
    found: list[Entry] = []
    for place, step in enumerate(steps):
        after = revision_of(steps, place)
        if after is None or only not in (None, step.number):
            continue
        revision = steps[after]
        later = [entry for entry in steps[after:] if entry.judged][:MOST_LATER]
        change = changed(steps, step, revision) if revision.judged else None
        for item, words in said[step.number]:
            if item.text.strip() not in revision.told:
                continue
            again = [(entry.number, raised_again(item, words, said[entry.number])) for entry in later]
            found.append(_Case(item, step, revision, change, again, noise).entry)
    return tuple(found)


def revision_of(steps: Sequence[Step], place: int) -> int | None:
    """The place of the round that was written with this round's feedback; None if there is none."""
    number = steps[place].number
    return next((n for n in range(place + 1, len(steps)) if steps[n].asked_by == number), None)


def raised_again(item: Item, words: Said, verdict: Sequence[tuple[Item, Said]]) -> bool:
    """Whether the verdict asks for the same. What it says of another criterion is not the same."""
    return any(
        words.like(other_words)
        for other, other_words in verdict
        if not (item.criterion and other.criterion) or item.criterion == other.criterion
    )


@dataclass(frozen=True, slots=True)
class _Case:
    item: Item
    step: Step
    revision: Step
    change: Change | None  # None until the revision is judged
    again: Sequence[tuple[int, bool]]  # whether each later verdict raises it again
    noise: Decimal

    @property
    def entry(self) -> Entry:
        if self.change is None or not self.again:
            return Entry(self.item, "", "The revision is not judged.", self.revision.number, None)
        fate, why = self.raised(self.change) if self.again[-1][1] else self.silent(self.change)
        return Entry(self.item, fate, why, self.revision.number, self.rose)

    def raised(self, change: Change) -> tuple[str, str]:
        """The newest verdict asks for it again."""
        gone = next((number for number, again in self.again if not again), None)
        last = self.again[-1][0]
        if gone is not None:
            back = next(number for number, again in self.again if again and number > gone)
            return CAME_BACK, f"Gone in round {gone}, raised again in round {back}."
        if change.same:
            return OPEN, f"Round {self.revision.number} has the same text."
        if change.touches(self.item.text) and self.fell:
            return WORSE, f"Its passage changed, {self.fell} and the judge raises it again."
        return OPEN, f"Raised again in round {last}."

    def silent(self, change: Change) -> tuple[str, str]:
        """The newest verdict does not ask for it."""
        stayed = [number for number, again in self.again if again]
        number = self.revision.number
        if stayed:
            return ADDRESSED, f"Not raised again after round {stayed[-1]}."
        if change.same:
            return OPEN, f"Not raised again, but round {number} has the same text."
        quoted, touched = change.quoted(self.item.text), change.touches(self.item.text)
        if quoted == DROPPED:
            return OVERTAKEN, f"Round {number} dropped the passage it quotes."
        if touched and self.item.kind == IMPROVEMENT and self.fell:
            return WORSE, f"Its passage changed, and {self.fell}."
        if touched:
            return ADDRESSED, f"Round {number} changed its passage, and it was not raised again."
        if change.restarted:
            return (
                OVERTAKEN,
                f"Round {number} was written from {change.origin}, not from this text.",
            )
        if quoted == KEPT:
            return OPEN, f"Not raised again, but the passage it quotes is unchanged in round {number}."
        if change.rewritten >= MOST_REWRITTEN:
            return OVERTAKEN, f"Round {number} is mostly another text, and it was not raised again."
        if self.rose:
            return ADDRESSED, f"Not raised again in round {number}, and the score rose."
        return OVERTAKEN, "Not raised again, but no change matches it."

    @property
    def rose(self) -> bool | None:
        """Whether the revision scored higher; None if the scores do not compare."""
        gain = self.gain(self.step.composite, self.revision.composite)
        return None if gain is None else gain > self.noise

    @property
    def fell(self) -> str:
        """How the score that it is about fell; empty if it did not."""
        criterion = self.item.criterion
        if criterion:
            before, after = self.step.scores.get(criterion), self.revision.scores.get(criterion)
        else:
            before, after = self.step.composite, self.revision.composite
        loss = self.gain(after, before)
        if loss is None or loss <= self.noise:
            return ""
        return f"{self.item.name or criterion or 'the score'} fell by {_shown(loss)}"

    def gain(self, before: Decimal | None, after: Decimal | None) -> Decimal | None:
        if before is None or after is None or self.revision.other_judge:
            return None
        return after - before


def _shown(points: Decimal) -> str:
    return f"{points:.2f}".rstrip("0").rstrip(".")
