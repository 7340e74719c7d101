"""Compares two texts: changes, moves, and the requests behind changes. No Django, no I/O."""

from refinement.diffing.asking import Request, evidence, matching_request, quoted_names, word_stems
from refinement.diffing.comparing import Change, Diff, Piece, compared
from refinement.diffing.nearby import passages_of
from refinement.diffing.sides import Row, side_by_side

__all__ = [
    "Change",
    "Diff",
    "Piece",
    "Request",
    "Row",
    "compared",
    "evidence",
    "matching_request",
    "passages_of",
    "quoted_names",
    "side_by_side",
    "word_stems",
]
