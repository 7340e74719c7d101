"""Two rounds of a run compared; changes are matched to the feedback that asked for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from refinement.diffing import Diff, Request, Row, compared, matching_request, passages_of, side_by_side
from refinement.diffing.comparing import Piece
from refinement.diffing.sides import folded
from refinement.engine.safeguards import change
from refinement.engine.types import Rubric
from refinement.models import Round, Run
from refinement.selectors.runs.texts.diff_lines import DiffLine, ShownPiece, diff_lines
from refinement.selectors.runs.texts.requests import requests_between
from refinement.selectors.runs.words import capital_round_name, percent

MOST_SHOWN_CHARS = 300_000


@dataclass(frozen=True, slots=True)
class RoundDiff:
    before: Round
    after: Round
    before_name: str
    after_name: str
    diff: Diff
    pieces: tuple[ShownPiece, ...]
    rows: tuple[Row, ...]
    requests: tuple[Request, ...]
    asked: int
    unsent: int  # changes that match only what the judge suggested and the writer did not get
    unasked: int
    passages: int
    missing: int  # characters of the comparison that are not shown
    backwards: bool

    @property
    def traceable(self) -> bool:
        return any(request.sent for request in self.requests)

    @property
    def lines(self) -> tuple[DiffLine, ...]:
        return diff_lines(self.pieces)

    @property
    def changed(self) -> str:
        """How much of the text changed, in percent."""
        return percent(change(self.before.candidate, self.after.candidate))


def round_diff(
    run: Run, rubric: Rubric, a: int, b: int, *, sides: bool, named: bool = True
) -> RoundDiff | None:
    """Compares round `b` with round `a`; None if one does not exist. Without `named`, names are left out."""
    rows = {row.number: row for row in Round.objects.filter(run=run, number__in=[a, b])}
    if a not in rows or b not in rows:
        return None
    # What was asked for in rounds that this one was not written from does not matter.
    since = b - 1 if rows[b].base_round == a else a
    requests = requests_between(run, rubric, since, b, named=named) if a < b else ()
    diff = compared(rows[a].candidate, rows[b].candidate)
    passages = passages_of(diff)
    traced = {number: matching_request(passage, requests) for number, passage in passages.items()}
    pieces, missing = bounded(folded(diff.pieces))
    return RoundDiff(
        before=rows[a],
        after=rows[b],
        before_name=capital_round_name(a),
        after_name=capital_round_name(b),
        diff=diff,
        pieces=() if sides else shown_pieces(pieces, traced),
        rows=tuple(side_by_side(pieces)) if sides else (),
        requests=requests,
        asked=sum(request is not None and request.sent for request in traced.values()),
        unsent=sum(request is not None and not request.sent for request in traced.values()),
        unasked=sum(request is None for request in traced.values()),
        passages=len(passages),
        missing=missing,
        backwards=a > b,
    )


def bounded(pieces: Sequence[Piece]) -> tuple[list[Piece], int]:
    """The passages that fit on a page, and how many characters are left."""
    shown: list[Piece] = []
    room = MOST_SHOWN_CHARS
    missing = 0
    for piece in pieces:
        kept = piece.text[:room]
        room -= len(kept)
        missing += len(piece.text) - len(kept)
        if kept:
            shown.append(Piece(piece.kind, kept, piece.change))
    return shown, missing


def shown_pieces(pieces: Sequence[Piece], traced: dict[int, Request | None]) -> tuple[ShownPiece, ...]:
    """The passages. A request is shown after its change's last word, before the line ends."""
    last = {piece.change: place for place, piece in enumerate(pieces) if _is_words(piece)}
    shown = []
    for place, piece in enumerate(pieces):
        ends = piece.change in traced and last.get(piece.change) == place
        text = piece.text.rstrip() if ends else piece.text
        shown.append(
            ShownPiece(
                kind=piece.kind if piece.kind == "folded" or piece.text.strip() else "blank",
                text=text,
                change=piece.change,
                asked=traced.get(piece.change) if ends else None,
                last=ends,
                tail=piece.text[len(text) :],
                folded_chars=len(piece.text) if piece.kind == "folded" else 0,
            )
        )
    return tuple(shown)


def _is_words(piece: Piece) -> bool:
    return piece.kind in {"inserted", "deleted"} and bool(piece.text.strip())
