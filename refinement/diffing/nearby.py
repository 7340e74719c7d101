"""Merges changes that are close together into passages."""

from refinement.diffing.comparing import Change, Diff

MOST_CHANGES = 400  # the rest of a comparison is not merged
CLOSE_CHARS = 80  # changes at most this far apart form one passage


def passages_of(diff: Diff) -> dict[int, Change]:
    """Changes close together, merged into passages by the number of their last change."""
    numbered = {change.number: change for change in diff.changes[:MOST_CHANGES]}
    passages: dict[int, Change] = {}
    last, near = 0, False
    for piece in diff.pieces:
        if piece.change == 0:
            near = near and len(piece.text) <= CLOSE_CHARS and not piece.text.strip("\n").count("\n")
        elif piece.change in numbered and piece.change != last:
            change, before = numbered[piece.change], passages.pop(last, None) if near else None
            if before is not None:
                joined = (f"{before.before} {change.before}", f"{before.after} {change.after}")
                change = Change(change.number, *joined)
            passages[change.number] = change
            last, near = change.number, True
    return passages
