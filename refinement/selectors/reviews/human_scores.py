"""Human scores of a round next to the judge's, and their agreement over the run."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from refinement.engine.agreement import Agreement, agreement_of, near_gap
from refinement.engine.scoring import shown
from refinement.engine.types import ZERO, JudgeMode, Rubric
from refinement.models import BlindReading, HumanScore, Round, Run, User
from refinement.selectors.reviews.blindness import not_blind_reason_for
from refinement.selectors.reviews.board_agreement import FEWEST_ROUNDS, JudgeLine, board_agreement
from refinement.selectors.reviews.given import MOST_PAIRS, PersonScores, score_pairs, scores_given
from refinement.selectors.runs.words import plain_number
from refinement.selectors.score_words import composite_change, composite_text, score_change, score_text

MOST_PEOPLE = 20  # in a round's table


@dataclass(frozen=True, slots=True)
class PersonLine:
    """One person's scores, formatted."""

    pk: int
    name: str
    composite: str
    blind: bool
    blind_since: datetime | None  # since when the scores were hidden from them
    own: bool
    version: int
    at: datetime
    note: str
    reasons: tuple[tuple[str, str, str], ...]  # criterion, score, reason


@dataclass(frozen=True, slots=True)
class ScoreCell:
    score: str
    gap: str  # person minus judge; empty if equal or not judged


@dataclass(frozen=True, slots=True)
class CriterionRow:
    """A table row: the judge, each person, and the people's mean."""

    name: str
    judge: str
    cells: tuple[ScoreCell, ...]
    mean: str
    gap: str


@dataclass(frozen=True, slots=True)
class PeopleFacts:
    people: tuple[PersonLine, ...]
    rows: tuple[CriterionRow, ...]
    more: int  # people not in the table
    own: HumanScore | None
    not_blind: str  # why the reader's next score cannot be blind; empty if it can
    who: str  # whose scores people's are compared with: the judge's or the board's
    agreement: "RunAgreement"
    judges: tuple[JudgeLine, ...]  # of a board, and the board itself


@dataclass(frozen=True, slots=True)
class RunAgreement:
    """How closely the judge agrees with people over the run, as sentences."""

    rounds: int
    readings: int
    sentences: tuple[str, ...]


def people_of(run: Run, rubric: Rubric, row: Round, reader: User) -> PeopleFacts:
    """Human scores of the round, and the agreement over the run. A fixed number of queries."""
    found = _scores_of(row.pk)
    own = next((entry for entry in found if entry.author_id == reader.pk), None)
    # The reader's own column is always included.
    listed = [*([own] if own else []), *(entry for entry in found if entry is not own)][:MOST_PEOPLE]
    given = scores_given(run.pk)
    judged = [entry for entry in given if entry.judged is not None]
    readings = _readings_of(run.pk)
    since: dict[int | None, datetime] = {e.reader_id: e.began_at for e in readings if not e.given_up}
    ended = next((e for e in readings if e.reader_id == reader.pk and e.ended_at is not None), None)
    return PeopleFacts(
        people=tuple(_person(entry, rubric, reader, since.get(entry.author_id)) for entry in listed),
        rows=_rows(rubric, row, listed, found) if found else (),
        more=len(found) - len(listed),
        own=own,
        not_blind=not_blind_reason_for(ended, scored=any(entry.author == reader.pk for entry in given)),
        who="Judge" if row.spread is None else "Board",
        agreement=agreement_in(rubric, judged),
        judges=board_agreement(run.pk, rubric, judged),
    )


@dataclass(frozen=True, slots=True)
class RoundReadings:
    """Human scores of one round for visitors without an account."""

    people: tuple[PersonLine, ...]
    rows: tuple[CriterionRow, ...]
    more: int


def readings_of(rubric: Rubric, row: Round) -> RoundReadings:
    """The table without a current user. One query."""
    found = _scores_of(row.pk)
    listed = found[:MOST_PEOPLE]
    return RoundReadings(
        people=tuple(_person(entry, rubric, None, None) for entry in listed),
        rows=_rows(rubric, row, listed, found) if found else (),
        more=len(found) - len(listed),
    )


def _scores_of(row: int) -> list[HumanScore]:
    return list(HumanScore.objects.filter(round=row).order_by("id"))


def _readings_of(run: int) -> list[BlindReading]:
    return list(BlindReading.objects.filter(run=run).order_by("id")[:MOST_PAIRS])


def _person(entry: HumanScore, rubric: Rubric, reader: User | None, since: datetime | None) -> PersonLine:
    names = {criterion.key: criterion.name for criterion in rubric.criteria}
    return PersonLine(
        pk=entry.pk,
        name=entry.author_name,
        composite=shown(entry.composite, rubric.policy),
        blind=entry.blind,
        blind_since=since if entry.blind else None,
        own=reader is not None and entry.author_id == reader.pk,
        version=entry.version,
        at=entry.changed_at or entry.submitted_at,
        note=entry.note,
        reasons=tuple(
            (names.get(said["key"], said["key"]), said["score"], said["reason"])
            for said in entry.scores
            if said["reason"]
        ),
    )


def scores_in(entry: HumanScore) -> dict[str, Decimal]:
    """The person's scores by criterion."""
    return {said["key"]: Decimal(said["score"]) for said in entry.scores}


def _rows(
    rubric: Rubric, row: Round, listed: Sequence[HumanScore], everybody: Sequence[HumanScore]
) -> tuple[CriterionRow, ...]:
    judged = {key: Decimal(score) for key, score in (row.scores or {}).items()}
    said = {entry.pk: scores_in(entry) for entry in everybody}
    decimals = rubric.policy.composite_decimals
    lines = [
        _row(
            criterion.name,
            judged.get(criterion.key),
            [said[entry.pk].get(criterion.key) for entry in listed],
            [said[entry.pk].get(criterion.key) for entry in everybody],
            decimals,
        )
        for criterion in rubric.criteria
    ]
    composites = [entry.composite for entry in listed], [entry.composite for entry in everybody]
    return (*lines, _row("Score", row.composite, *composites, decimals, fixed=True))


def own_rows(rubric: Rubric, row: Round, own: HumanScore) -> tuple[CriterionRow, ...]:
    """One person's scores next to the judge's."""
    return _rows(rubric, row, [own], [own])


def gap_headline(rubric: Rubric, row: Round, own: HumanScore) -> str:
    """How one person's composite compares with the judge's: `You are 1.30 below the judge`."""
    who, decimals = who_judges(rubric), rubric.policy.composite_decimals
    if row.composite is None:
        return "Your scores are saved"
    gap = round(own.composite - row.composite, decimals)
    if not gap:
        return f"You agree with the {who}"
    return f"You are {composite_text(abs(gap), decimals)} {'above' if gap > 0 else 'below'} the {who}"


def _row(
    name: str,
    judge: Decimal | None,
    listed: Sequence[Decimal | None],
    everybody: Sequence[Decimal | None],
    decimals: int,
    *,
    fixed: bool = False,
) -> CriterionRow:
    def words(value: Decimal | None) -> str:
        if value is None:
            return "–"
        return composite_text(value, decimals) if fixed else score_text(value)

    def gap(value: Decimal | None) -> str:
        if value is None or judge is None:
            return ""
        return composite_change(value, judge, decimals) if fixed else score_change(value, judge)

    given = [value for value in everybody if value is not None]
    mean = sum(given, ZERO) / len(given) if given else None
    cells = {value: ScoreCell(words(value), gap(value)) for value in set(listed)}  # most people agree
    return CriterionRow(
        name=name,
        judge=words(judge),
        cells=tuple(cells[value] for value in listed),
        mean="–" if mean is None else composite_text(mean, decimals),
        gap="" if mean is None or judge is None else composite_change(mean, judge, decimals),
    )


def agreement_in(rubric: Rubric, found: Sequence[PersonScores]) -> RunAgreement:
    """Agreement over all judged rounds with human scores."""
    rounds = len({entry.number for entry in found})
    if rounds < FEWEST_ROUNDS:
        return RunAgreement(rounds, len(found), (_too_few(rounds, who_judges(rubric)),) if found else ())
    wholes = [(entry.judged, entry.composite) for entry in found if entry.judged is not None]
    parts = [pair for entry in found for pair in score_pairs(entry)]
    near = near_gap(rubric)
    whole, part = agreement_of(wholes, near), agreement_of(parts, near)
    return RunAgreement(rounds, len(found), tuple(_sentences(rubric, rounds, len(found), whole, part, near)))


def who_judges(rubric: Rubric) -> str:
    return "board" if rubric.judges.mode is JudgeMode.BOARD else "judge"


def _too_few(rounds: int, who: str) -> str:
    counted = "1 round was" if rounds == 1 else f"{rounds} rounds were"
    return f"{counted} scored by the {who} and by people. Agreement is reported from {FEWEST_ROUNDS} rounds."


def _sentences(
    rubric: Rubric, rounds: int, readings: int, whole: Agreement | None, part: Agreement | None, near: Decimal
) -> list[str]:
    if whole is None:
        return []
    places, who = max(1, rubric.policy.composite_decimals), who_judges(rubric)
    sentences = [
        f"{rounds} rounds were scored by the {who} and by people ({readings} scores). Their "
        f"composites differ by {whole.apart:.{places}f} on average.",
        _bias_words(whole.bias, places, who),
    ]
    if part is not None:
        sentences.append(
            f"{part.near_share * 100:.0f} % of the {part.pairs} single scores differ by "
            f"{plain_number(near)} or less."
        )
    if whole.order is not None:
        sentences.append(_order_words(whole.order))
    return sentences


def _bias_words(bias: Decimal, places: int, who: str) -> str:
    rounded = round(bias, places)
    if rounded == 0:
        return "Neither is more lenient."
    manner = "more lenient" if rounded > 0 else "stricter"
    return f"The {who} is {abs(rounded):.{places}f} {manner} than people."


def _order_words(order: Decimal) -> str:
    rounded = round(order, 2)
    if rounded >= Decimal("0.7"):
        words = "They rank the rounds almost identically"
    elif rounded >= Decimal("0.3"):
        words = "They rank the rounds similarly"
    else:
        words = "They rank the rounds differently"
    return f"{words} (Spearman {'−' if rounded < 0 else ''}{abs(rounded):.2f})."
