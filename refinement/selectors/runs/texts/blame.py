"""Who wrote each passage of a round's text: the round with its feedback, or a person."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from refinement.diffing import Request
from refinement.engine.types import Rubric
from refinement.ledger import Step, blame
from refinement.ledger.passages import MOST_CHARS, MOST_STEPS, Passage
from refinement.models import Round, RoundOrigin, Run
from refinement.selectors.runs.texts.requests import requests_by_round
from refinement.selectors.runs.words import capital_round_name, origin_label

MOST_SHOWN_CHARS = 300_000
MOST_PASSAGES = 2_000


@dataclass(frozen=True, slots=True)
class BlamedPassage:
    """A passage with the round that wrote it. `author` is the person who edited that round by hand."""

    text: str
    round: int
    name: str
    origin: str
    author: str
    asked: Request | None

    @property
    def words(self) -> str:
        """The text without the empty lines around it."""
        return self.text.strip("\n")


@dataclass(frozen=True, slots=True)
class RoundBlame:
    passages: tuple[BlamedPassage, ...]
    cut: bool  # the texts are too long to follow back
    missing: int  # characters that are not shown

    @property
    def rounds(self) -> int:
        return len({passage.round for passage in self.passages})


def round_blame(run: Run, rubric: Rubric, number: int, *, named: bool = True) -> RoundBlame | None:
    """The round's passages; None if the round does not exist. Four queries at most.

    Without `named`, people's names are left out.
    """
    rows = {row.number: row for row in _rows(run.pk, number)}
    if number not in rows:
        return None
    texts = _texts(run.pk, number) if _chars(rows) <= MOST_CHARS else _texts(run.pk, number, alone=True)
    steps = [_step(row, texts.get(row.number, "")) for row in rows.values()]
    if len(texts) < len(rows):
        steps = [Step(number, texts.get(number, ""))]
    feedback = {row.number: row.feedback for row in rows.values()}
    requests = requests_by_round(run, rubric, feedback, several=True, named=named)
    found = blame(steps, number, requests)
    shown, missing = _bounded(found.passages)
    passages = tuple(_passage(passage, rows[passage.round], named=named) for passage in shown)
    return RoundBlame(passages, found.cut or len(steps) < len(rows), missing)


def _rows(run: int, number: int) -> list[Round]:
    rows = Round.objects.filter(run=run, number__lte=number).order_by("-number").defer("candidate")
    return list(rows[:MOST_STEPS])[::-1]


def _chars(rows: dict[int, Round]) -> int:
    return sum(row.candidate_chars for row in rows.values())


def _texts(run: int, number: int, *, alone: bool = False) -> dict[int, str]:
    rows = Round.objects.filter(run=run, number__lte=number).order_by("-number")
    return dict(rows.values_list("number", "candidate")[: 1 if alone else MOST_STEPS])


def _step(row: Round, text: str) -> Step:
    return Step(row.number, text, row.base_round, (row.feedback or {}).get("from_round"))


def _passage(passage: Passage, row: Round, *, named: bool) -> BlamedPassage:
    by_hand = row.origin == RoundOrigin.HAND
    return BlamedPassage(
        text=passage.text,
        round=passage.round,
        name=capital_round_name(passage.round),
        origin=origin_label(row) if named or not by_hand else "Edited by hand",
        author=(row.author_name or "") if by_hand and named else "",
        asked=passage.asked,
    )


def _bounded(passages: Sequence[Passage]) -> tuple[list[Passage], int]:
    """The passages that fit on a page, and how many characters are left."""
    shown = list(_fitting(passages))
    return shown, sum(len(passage.text) for passage in passages) - sum(len(passage.text) for passage in shown)


def _fitting(passages: Sequence[Passage]) -> Iterator[Passage]:
    room = MOST_SHOWN_CHARS
    for passage in passages[:MOST_PASSAGES]:
        if room <= 0:
            return
        yield Passage(passage.text[:room], passage.round, passage.asked)
        room -= len(passage.text)
