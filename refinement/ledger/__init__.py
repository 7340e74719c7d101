"""What became of feedback, who wrote each passage, and how a text grew. Pure code, no Django, no I/O.

Start with `conclude` in `fates.py`. It reads the rounds of one run (`types.py`): their texts, scores and what
their judges said.
"""

from refinement.ledger.counting import Counts, corrected, counted
from refinement.ledger.drift import Growth, growth
from refinement.ledger.fates import conclude, revision_of
from refinement.ledger.passages import Blame, Passage, blame
from refinement.ledger.types import Entry, Item, Step

__all__ = [
    "Blame",
    "Counts",
    "Entry",
    "Growth",
    "Item",
    "Passage",
    "Step",
    "blame",
    "conclude",
    "corrected",
    "counted",
    "growth",
    "revision_of",
]
