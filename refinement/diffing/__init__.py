"""Compares two texts: changes, moves, and the requests behind changes. No Django, no I/O."""

from refinement.diffing.asking import Request, matching_request
from refinement.diffing.comparing import Change, Diff, Piece, compared
from refinement.diffing.sides import Row, side_by_side

__all__ = ["Change", "Diff", "Piece", "Request", "Row", "compared", "matching_request", "side_by_side"]
