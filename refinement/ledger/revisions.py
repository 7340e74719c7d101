"""What a revision changed in the text that its feedback was about."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from refinement.diffing import Change as Passage
from refinement.diffing import compared, evidence, passages_of, quoted_names
from refinement.ledger.types import Step

MOST_CHARS = 200_000  # of both texts; longer ones are not compared
MOST_REQUEST_CHARS = 2_000
MOST_PASSAGE_CHARS = 20_000
LEAST_EVIDENCE = 2  # words that a changed passage shares with a request
LEAST_QUOTE = 12  # characters of a quotation; shorter ones are names, not passages
KEPT, DROPPED = "kept", "dropped"
MOST_LEFT = 0.3  # of a passage's length: with more left, it was changed rather than dropped
REMOVAL = frozenset(("remove", "delete", "cut", "drop", "shorten", "omit", "trim", "redundant", "repeats"))


@dataclass(frozen=True)
class Change:
    """The revision compared with the judged text; nothing is known of texts that are too long."""

    before: str
    after: str
    origin: str  # what it was written from, in words, if that is not the judged text

    @property
    def restarted(self) -> bool:
        return bool(self.origin)

    @property
    def same(self) -> bool:
        return self.before == self.after

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        if len(self.before) + len(self.after) > MOST_CHARS:
            return ()
        return tuple(passages_of(compared(self.before, self.after)).values())

    @cached_property
    def rewritten(self) -> float:
        """The share of the text that is new."""
        new = sum(len(passage.after) for passage in self.passages)
        return new / max(1, len(self.after))

    def touches(self, request: str) -> bool:
        """Whether a changed passage shares enough words with the request."""
        asked = request[:MOST_REQUEST_CHARS]
        return any(
            evidence(f"{passage.before} {passage.after}"[:MOST_PASSAGE_CHARS], asked) >= LEAST_EVIDENCE
            for passage in self.passages
        )

    def quoted(self, request: str) -> str:
        """Whether the passage that the request quotes stayed or was dropped; empty if neither is known."""
        before, after = self.before.casefold(), self.after.casefold()
        quotes = [name for name in quoted_names(request[:MOST_REQUEST_CHARS]) if len(name) >= LEAST_QUOTE]
        found = [name for name in quotes if name in before]
        if not found:
            return ""
        if any(name in after for name in found):
            return KEPT
        wanted = REMOVAL & set(request.casefold().split())
        return DROPPED if not wanted and self.drops(found) else ""

    def drops(self, quotes: Sequence[str]) -> bool:
        """Whether a passage with one of the quotations went away with little in its place."""
        return any(
            len(passage.after.strip()) <= MOST_LEFT * len(passage.before.strip())
            for passage in self.passages
            if any(quote in passage.before.casefold() for quote in quotes)
        )


def changed(steps: Sequence[Step], judged: Step, revision: Step) -> Change:
    """What the revision changed. Where it was written from another round, that one is the text before."""
    other = revision.base not in (None, judged.number)
    base = next((step for step in steps if step.number == revision.base), judged) if other else judged
    return Change(base.text, revision.text, f"round {revision.base}" if other else "")
