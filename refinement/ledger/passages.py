"""Which round wrote each passage of a text, and whose words asked for it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from refinement.diffing import Change, Request, matching_request
from refinement.diffing.comparing import MOST_PAIRS, common_ends
from refinement.diffing.splitting import moved_key, plain, units
from refinement.ledger.types import Step

MOST_CHARS = 1_000_000  # of all texts; longer ones are not followed back
MOST_STEPS = 50  # rounds that are followed back; the oldest of them gets the rest
KEPT = 80  # of 100: a sentence of which less is left counts as rewritten
NEARBY = 12  # sentences around a changed one, among which the one it was is looked for


@dataclass(frozen=True, slots=True)
class Passage:
    """Neighbouring sentences that one round wrote for one reason."""

    text: str
    round: int
    asked: Request | None = None  # the feedback that asked for it; None if unknown

    @property
    def blank(self) -> bool:
        return not self.text.strip()


@dataclass(frozen=True, slots=True)
class Blame:
    passages: tuple[Passage, ...]
    cut: bool = False  # the text is too long to follow it back
    oldest: int = 0  # the last round that was looked at


def blame(steps: Sequence[Step], number: int, requests: Mapping[int, Sequence[Request]]) -> Blame:
    """The passages of round `number`, each with the round that wrote it.

    `requests` are what each round's writer was asked for. A sentence that a round only moved, or edited
    slightly, belongs to the round that wrote it.
    """
    line = ancestors(steps, number)
    text = line[-1].text
    if sum(len(step.text) for step in line) > MOST_CHARS:
        return Blame((Passage(text, number),), cut=True, oldest=number)
    owners = [Passage(unit, line[0].number) for unit in units(line[0].text)]
    for after in line[1:]:
        owners = inherited(owners, after, requests.get(after.number, ()))
    return Blame(tuple(merged(owners)), oldest=line[0].number)


def ancestors(steps: Sequence[Step], number: int) -> list[Step]:
    """The rounds that the text was written from, oldest first.

    A revision that started over is compared with the round before it: a writer who gets the feedback on a
    text often repeats it.
    """
    by_number = {step.number: step for step in steps}
    line = [by_number[number]]
    while len(line) < MOST_STEPS:
        last = line[-1]
        base = by_number.get(last.base or last.asked_by or 0)
        if base is None or base.number >= last.number:
            break
        line.append(base)
    return line[::-1]


def inherited(before: Sequence[Passage], after: Step, requests: Sequence[Request]) -> list[Passage]:
    """The later text's sentences with their owners."""
    now = units(after.text)
    left, right = [plain(passage.text) for passage in before], [plain(unit) for unit in now]
    start, end = common_ends(left, right)
    moved = {key: passage for passage in before if (key := moved_key(passage.text))}
    middle = (before[start : len(before) - end], now[start : len(now) - end])
    found = [
        *(_owned(unit, owner) for unit, owner in zip(now[:start], before[:start], strict=True)),
        *_changed(*middle, after.number, moved),
        *(_owned(unit, owner) for unit, owner in _last(now, before, end)),
    ]
    return list(_with_requests(found, after.number, requests)) if requests else found


def _with_requests(
    passages: Sequence[Passage], number: int, requests: Sequence[Request]
) -> Iterator[Passage]:
    """The passages with what asked for those that this round wrote, paragraph by paragraph."""
    for (mine, _), group in groupby(passages, key=_paragraphs(number)):
        part = list(group)
        if not mine:
            yield from part
            continue
        text = "".join(passage.text for passage in part)
        asked = matching_request(Change(0, "", text), requests)
        yield from (Passage(passage.text, number, asked) for passage in part)


def _paragraphs(number: int) -> Callable[[Passage], tuple[bool, int]]:
    """Tells passages of this round apart from others, and its paragraphs from each other."""
    seen = 0

    def key(passage: Passage) -> tuple[bool, int]:
        nonlocal seen
        here = seen
        seen += passage.blank and passage.text.count("\n") > 1
        return passage.round == number, here

    return key


def _last(now: Sequence[str], before: Sequence[Passage], end: int) -> list[tuple[str, Passage]]:
    return list(zip(now[len(now) - end :], before[len(before) - end :], strict=True))


def _changed(
    before: Sequence[Passage], now: Sequence[str], number: int, moved: Mapping[str, Passage]
) -> list[Passage]:
    """The owners of a stretch's sentences: equal, moved, repeated and nearly equal ones keep theirs."""
    if len(before) * len(now) > MOST_PAIRS:
        return [_written(unit, moved.get(moved_key(unit)), number) for unit in now]
    left, right = [plain(passage.text) for passage in before], [plain(unit) for unit in now]
    found: list[Passage] = []
    for code in Indel.opcodes(left, right):
        here = now[code.dest_start : code.dest_end]
        if code.tag == "equal":
            owners = before[code.src_start : code.src_end]
            found += [_owned(unit, owner) for unit, owner in zip(here, owners, strict=True)]
            continue
        for unit in here:
            owner = moved.get(moved_key(unit)) or _nearest(unit, before, code.src_start)
            found.append(_written(unit, owner, number))
    return found


def _nearest(unit: str, before: Sequence[Passage], place: int) -> Passage | None:
    """The sentence nearby that this one is a slight edit of."""
    if not unit.strip():
        return None
    nearby = before[max(0, place - NEARBY) : place + NEARBY]
    scored = [(fuzz.ratio(unit, passage.text), -n) for n, passage in enumerate(nearby)]
    best = max(scored, default=(0.0, 0))
    return nearby[-best[1]] if best[0] >= KEPT else None


def _owned(unit: str, owner: Passage) -> Passage:
    return Passage(unit, owner.round, owner.asked)


def _written(unit: str, owner: Passage | None, number: int) -> Passage:
    return Passage(unit, number) if owner is None else _owned(unit, owner)


def merged(passages: Sequence[Passage]) -> Iterator[Passage]:
    """Neighbours of the same round and reason as one passage. Blank lines belong to the passage before."""
    last: Passage | None = None
    for passage in passages:
        if last is None:
            last = passage
        elif passage.blank or (last.round, last.asked) == (passage.round, passage.asked):
            last = Passage(last.text + passage.text, last.round, last.asked)
        elif last.blank:
            last = Passage(last.text + passage.text, passage.round, passage.asked)
        else:
            yield last
            last = passage
    if last is not None:
        yield last
