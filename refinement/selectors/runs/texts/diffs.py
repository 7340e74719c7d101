"""Two rounds of a run compared; changes are matched to the feedback that asked for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from refinement.diffing import Diff, Request, Row, compared, matching_request, passages_of, side_by_side
from refinement.diffing.comparing import Piece
from refinement.diffing.sides import folded
from refinement.engine.types import Rubric
from refinement.models import Round, Run
from refinement.selectors.runs.texts.diff_lines import DiffLine, ShownPiece, diff_lines
from refinement.selectors.runs.words import capital_round_name

MOST_SHOWN_CHARS = 300_000
MOST_ROUNDS_BETWEEN = 20


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
    unasked: int
    passages: int
    missing: int  # characters of the comparison that are not shown
    backwards: bool

    @property
    def traceable(self) -> bool:
        return bool(self.requests)

    @property
    def lines(self) -> tuple[DiffLine, ...]:
        return diff_lines(self.pieces)

    @property
    def changed(self) -> int:
        """The share of the later text that is new, in percent; at least 1 if anything is."""
        new = sum(len(piece.text) for piece in self.diff.pieces if piece.kind == "inserted")
        return max(1, round(100 * new / max(1, len(self.after.candidate)))) if new else 0


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
        asked=sum(request is not None for request in traced.values()),
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


def requests_between(run: Run, rubric: Rubric, a: int, b: int, *, named: bool = True) -> tuple[Request, ...]:
    """What the producer was asked for between round a and round b."""
    rows = Round.objects.filter(run=run, number__gt=a, number__lte=b).order_by("-number")
    values = list(rows.values_list("feedback", flat=True)[:MOST_ROUNDS_BETWEEN])
    found: list[Request] = []
    for feedback in reversed(values):
        found += requests_of(rubric, feedback, several=len(values) > 1, named=named)
    return tuple(found)


def requests_of(rubric: Rubric, feedback: Any, *, several: bool, named: bool = True) -> list[Request]:
    if not feedback:
        return []
    of = f" of {capital_round_name(feedback['from_round']).lower()}" if several else ""
    found = [
        Request(f"instruction by {said['author']}" if named else "instruction", str(said["text"]))
        for said in feedback.get("instructions", ())
    ]
    found += [Request(f"suggested change{of}", feedback["asi"])] if feedback.get("asi") else []
    found += [
        Request(f"issue {number}{of}", str(issue))
        for number, issue in enumerate(feedback.get("issues", ()), 1)
    ]
    checks = {check.key: check for check in rubric.checks}
    for key, text in zip_longest(
        feedback.get("failures", ()), feedback.get("failure_texts", ()), fillvalue=""
    ):
        # Checks are matched by key and suggestion only: their messages quote the text that they found.
        wanted = f"{key} {checks[key].suggestion}" if key in checks else text
        found.append(Request(f"{'check' if key in checks else 'failure'} {key}{of}", wanted))
    return found
