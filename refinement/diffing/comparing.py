"""Compares two texts and returns same, deleted, inserted and moved passages."""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter

from rapidfuzz.distance import Indel, Levenshtein, Opcode

from refinement.diffing.splitting import moved_key, plain, units, words

# A comparison needs a bit for each pair of pieces. Above this limit, larger pieces are compared.
MOST_PAIRS = 100_000_000
LONG_CHARS = 400_000  # of both texts; longer ones are compared by sentence
MOST_CHARS = 2_000_000  # of both texts; longer ones are not compared
# A stretch with a smaller share of equal text counts as changed completely.
LEAST_ALIKE = 0.4


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage: same, deleted, inserted, moved_out, moved_in or copied. `change` numbers its stretch."""

    kind: str
    text: str
    change: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """A stretch that differs: its text before and after, without moves."""

    number: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Diff:
    pieces: tuple[Piece, ...]
    changes: tuple[Change, ...]
    by_words: bool
    moved: int  # number of moved passages
    compared: bool = True  # False if the texts are too long to compare

    @property
    def same(self) -> bool:
        return all(piece.kind == "same" for piece in self.pieces)


def compared(before: str, after: str) -> Diff:
    """The difference as passages, in the order of the later text."""
    if len(before) + len(after) > MOST_CHARS and before != after:
        return Diff((Piece("deleted", before, 1), Piece("inserted", after, 1)), (), False, 0, compared=False)
    left, right = units(before), units(after)
    start, end = common_ends([plain(unit) for unit in left], [plain(unit) for unit in right])
    builder = _Builder(by_words=len(before) + len(after) <= LONG_CHARS)
    builder.put("same", "".join(right[:start]))
    middle = left[start : len(left) - end], right[start : len(right) - end]
    _stretches(builder, *middle, {key for unit in left if (key := moved_key(unit))})
    builder.close()
    builder.put("same", "".join(right[len(right) - end :]))
    return builder.result()


def common_ends(left: Sequence[str], right: Sequence[str]) -> tuple[int, int]:
    """The number of equal pieces at the start and, of the rest, at the end."""
    shorter = min(len(left), len(right))
    start = next((i for i in range(shorter) if left[i] != right[i]), shorter)
    rest = shorter - start
    end = next((i for i in range(rest) if left[-1 - i] != right[-1 - i]), rest)
    return start, end


@dataclass
class _Builder:
    """Collects passages and merges neighbours of the same kind."""

    by_words: bool
    pieces: list[Piece] = field(default_factory=list)
    stretches: list[tuple[list[str], list[str]]] = field(default_factory=list)
    open: bool = False
    moved: int = 0

    def put(self, kind: str, text: str) -> None:
        if not text:
            return
        if kind == "same":
            self.close()
        elif not self.open:
            self.stretches.append(([], []))
            self.open = True
        number = 0 if kind == "same" else len(self.stretches)
        if kind in {"deleted", "inserted"}:
            self.stretches[-1][kind == "inserted"].append(text)
        last = self.pieces[-1] if self.pieces else None
        if last and (last.kind, last.change) == (kind, number):
            self.pieces[-1] = Piece(kind, last.text + text, number)
        else:
            self.pieces.append(Piece(kind, text, number))
            self.moved += kind == "moved_in"

    def close(self) -> None:
        self.open = False

    def result(self) -> Diff:
        changes = (
            Change(number, "".join(before), "".join(after))
            for number, (before, after) in enumerate(self.stretches, start=1)
        )
        visible = tuple(change for change in changes if (change.before + change.after).strip())
        return Diff(tuple(self.pieces), visible, self.by_words, self.moved)


def _stretches(builder: _Builder, left: list[str], right: list[str], known: set[str]) -> None:
    """Splits the texts into stretches at equal sentences, and compares each. `known` are the earlier keys."""
    if len(left) * len(right) > MOST_PAIRS:
        builder.by_words = False
        builder.put("deleted", "".join(left))
        builder.put("inserted", "".join(right))
        return
    codes = list(Indel.opcodes([plain(unit) for unit in left], [plain(unit) for unit in right]))
    moves = _moves(codes, left, right, known)
    was: list[int] = []
    now: list[int] = []
    for code in codes:
        if code.tag != "equal":
            was += range(code.src_start, code.src_end)
            now += range(code.dest_start, code.dest_end)
            continue
        stayed = "".join(right[code.dest_start : code.dest_end])
        if (was or now) and not stayed.strip():
            # A blank line between two changed paragraphs is part of the change.
            was += range(code.src_start, code.src_end)
            now += range(code.dest_start, code.dest_end)
            continue
        _stretch(builder, left, right, (was, now), moves)
        was, now = [], []
        builder.put("same", stayed)
    _stretch(builder, left, right, (was, now), moves)


def _moves(
    codes: Sequence[Opcode], left: list[str], right: list[str], known: set[str]
) -> tuple[dict[int, str], dict[int, str]]:
    """The kinds of the moved sentences on the left, and of the moved and copied ones on the right."""
    went = [i for code in codes if code.tag != "equal" for i in range(code.src_start, code.src_end)]
    new = [i for code in codes if code.tag != "equal" for i in range(code.dest_start, code.dest_end)]
    unmatched: dict[str, deque[int]] = defaultdict(deque)
    for index in went:
        unmatched[moved_key(left[index])].append(index)
    pairs = []
    for index in new:
        key = moved_key(right[index])
        if key and unmatched.get(key):
            pairs.append((unmatched[key].popleft(), index))
    gone, came = {was for was, _ in pairs}, {now for _, now in pairs}
    free_left, free_right = set(went) - gone, set(new) - came
    for was, now in pairs:
        for step in (1, -1):
            _follow(left, right, (was, now), step, (free_left, free_right), (gone, came))
    copied = {index for index in free_right if moved_key(right[index]) in known}
    return dict.fromkeys(gone, "moved_out"), dict.fromkeys(came, "moved_in") | dict.fromkeys(copied, "copied")


def _follow(
    left: list[str],
    right: list[str],
    pair: tuple[int, int],
    step: int,
    free: tuple[set[int], set[int]],
    moved: tuple[set[int], set[int]],
) -> None:
    """Extends a move to equal neighbours, even if they are short."""
    was, now = pair[0] + step, pair[1] + step
    while was in free[0] and now in free[1] and plain(left[was]) == plain(right[now]):
        for places, index in ((free[0], was), (free[1], now)):
            places.discard(index)
        moved[0].add(was)
        moved[1].add(now)
        was, now = was + step, now + step


def _stretch(
    builder: _Builder,
    left: list[str],
    right: list[str],
    places: tuple[list[int], list[int]],
    moves: tuple[dict[int, str], dict[int, str]],
) -> None:
    """Compares one stretch by words. Moved sentences are single pieces."""
    was = list(_tokens(left, places[0], moves[0]))
    now = list(_tokens(right, places[1], moves[1]))
    if not builder.by_words or len(was) * len(now) > MOST_PAIRS:
        builder.by_words = False
        _put_all(builder, was, "deleted")
        _put_all(builder, now, "inserted")
        return
    # A moved sentence has a unique key, so that it matches nothing.
    codes = list(Levenshtein.opcodes([token.key for token in was], [token.key for token in now]))
    alike = _alike(codes, was, now)
    deleted: list[_Token] = []
    inserted: list[_Token] = []
    for code in codes:
        before, after = was[code.src_start : code.src_end], now[code.dest_start : code.dest_end]
        if code.tag == "equal" and alike and not _incidental(after, bool(deleted or inserted)):
            _put_all(builder, deleted, "deleted")
            _put_all(builder, inserted, "inserted")
            deleted, inserted = [], []
            _put_same(builder, before, after)
        else:
            deleted += before
            inserted += after
    _put_all(builder, deleted, "deleted")
    _put_all(builder, inserted, "inserted")


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    key: str
    moved: str = ""


def _tokens(side: list[str], places: list[int], moved: dict[int, str]) -> Iterator[_Token]:
    for index in places:
        if kind := moved.get(index):
            yield _Token(side[index], f"{kind} {index}", kind)
        else:
            for word in words(side[index]):
                yield _Token(word, word.strip(" \t") or word)


def _put_all(builder: _Builder, tokens: Sequence[_Token], kind: str) -> None:
    for moved, group in groupby(tokens, key=attrgetter("moved")):
        builder.put(moved or kind, "".join([token.text for token in group]))


def _put_same(builder: _Builder, before: Sequence[_Token], after: Sequence[_Token]) -> None:
    """Adds equal words. Whitespace after a word on only one side is a separate change."""
    stayed: list[str] = []
    for was, now in zip(before, after, strict=True):
        if (was.text == was.key) == (now.text == now.key):
            stayed.append(now.text)
            continue
        builder.put("same", "".join([*stayed, now.key]))
        stayed.clear()
        builder.put("deleted", was.text.removeprefix(was.key))
        builder.put("inserted", now.text.removeprefix(now.key))
    builder.put("same", "".join(stayed))


def _alike(codes: Sequence[Opcode], was: list[_Token], now: list[_Token]) -> bool:
    """Whether enough words of the shorter side are equal. Short words are ignored."""
    equal = sum(
        _weight(token)
        for code in codes
        if code.tag == "equal"
        for token in now[code.dest_start : code.dest_end]
    )
    shorter = min(sum(map(_weight, was)), sum(map(_weight, now)))
    return equal >= LEAST_ALIKE * shorter


def _weight(token: _Token) -> int:
    return 0 if token.moved or len(token.key) < 4 else len(token.key)


def _incidental(tokens: list[_Token], amid_change: bool) -> bool:
    """Whether whitespace, punctuation or a short word between two changes is part of the change."""
    text = "".join(token.text for token in tokens)
    return amid_change and "\n" not in text and len(text.strip()) <= 3
