"""A round page: the text, its verdict, and the effect of the feedback."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.db.models import Q
from rapidfuzz import fuzz

from refinement.engine.safeguards import change
from refinement.engine.scoring import shown
from refinement.engine.sentences import held_back, round_name
from refinement.engine.types import Rubric, Severity
from refinement.judging.length import judged as judged_words
from refinement.ledger.types import IMPROVEMENT, ISSUE, SUGGESTION
from refinement.models import CheckResult, Round, Run, Verdict
from refinement.selectors.failures.places import Place, places_in_round
from refinement.selectors.rubrics.words import check_name
from refinement.selectors.runs.boards.rounds import BoardFacts, CriterionBoard, board_facts
from refinement.selectors.runs.evaluators.results import EvaluatorFacts, evaluator_facts
from refinement.selectors.runs.ledger import LedgerLine
from refinement.selectors.runs.noise import known_difference, other_signals, same_text_sentence
from refinement.selectors.runs.score_parts import score_parts
from refinement.selectors.runs.words import (
    RUNG_LABELS,
    capital_round_name,
    origin_label,
    penalty_sentence,
    percent,
    signal_sentence,
)
from refinement.selectors.score_words import composite_change, score_change

ALIKE = 85  # of 100: from here two sentences ask for the same change
MOST_COMPARED_CHARS = 400_000  # longer candidates are not compared when rendering a page
MOST_NAMES = 30
MOST_ISSUES = 100
WORDY = 400  # characters per criterion; above this a narrow column gets too long


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """The judge's score of one criterion, before and after penalties."""

    slot: int
    key: str
    name: str
    score: Decimal
    said: Decimal | None  # before penalties, if they changed it
    minimum: Decimal
    maximum: Decimal
    weight: Decimal
    delta: str
    direction: str
    reasoning: str
    improvement: str
    primary: bool = False  # it ranks rounds before the composite does
    board: CriterionBoard | None = None  # the judges' scores, if a board judged
    place: int = 0  # among the verdict's entries
    entry: LedgerLine | None = None  # what became of its improvement, if a revision was asked for it


@dataclass(frozen=True, slots=True)
class IssueLine:
    """An issue, and whether the next verdict raises it again."""

    text: str
    fate: str  # raised again, not raised again, or empty without a later verdict
    category: Place | None = None  # of the project's failure categories
    entry: LedgerLine | None = None  # what became of it, if a revision was asked for it


@dataclass(frozen=True, slots=True)
class CheckLine:
    key: str
    passed: bool
    message: str
    severity: str
    suggestion: str
    line: int | None
    share: Decimal  # of its weight: 1 if it passed, 0 if not, or the fraction that it measured

    @property
    def name(self) -> str:
        return check_name(self.key)


@dataclass(frozen=True, slots=True)
class PenaltyLine:
    sentence: str
    names: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True)
class DirectionEffect:
    """The effect of a round's direction on the next round."""

    name: str
    number: int
    verdict: str  # the short label
    sentences: tuple[str, ...]
    unsent: bool = False  # the feedback did not include it


@dataclass(frozen=True, slots=True)
class RoundFacts:
    row: Round
    name: str
    composite: str
    origin: str
    base: str
    note: str
    instructions: tuple[Mapping[str, Any], ...]  # people's instructions, with author and text
    scores: tuple[ScoreLine, ...]
    issues: tuple[IssueLine, ...]
    more_issues: int
    asi: str
    fate: DirectionEffect | None
    checks: tuple[CheckLine, ...]
    penalties: tuple[PenaltyLine, ...]
    signals: tuple[str, ...]
    judged_words: str
    unseen: int
    rung: str
    judge: str
    evaluator: EvaluatorFacts | None
    held_back: str = ""  # why it did not pass although its score reached the pass mark
    board: BoardFacts | None = None  # None if one judge judges it
    noise: str = ""  # that the score moved on the same text
    parts: str = ""  # how checks and criteria make up the score, if both count
    asi_entry: LedgerLine | None = None  # what became of its suggested change
    ledger: tuple[LedgerLine, ...] = ()  # what became of all that a revision was asked for

    @property
    def failed_checks(self) -> int:
        return sum(not check.passed for check in self.checks)

    @property
    def passed_checks(self) -> tuple[CheckLine, ...]:
        return tuple(check for check in self.checks if check.passed)

    @property
    def fates(self) -> tuple[tuple[str, str, int], ...]:
        """How often each fate is among the round's feedback: its label, its look and the count."""
        counts = Counter((line.label.lower(), line.look) for line in self.ledger if line.fate)
        return tuple((label, look, count) for (label, look), count in counts.items())

    @property
    def wordy(self) -> bool:
        """Whether the verdict is too long for a narrow column."""
        return self.board is None and any(len(line.reasoning) > WORDY for line in self.scores)


def round_facts(run: Run, rubric: Rubric, number: int) -> RoundFacts | None:
    """The round with its verdict and feedback; None if it does not exist. A fixed number of queries."""
    rows = _numbered(run.pk, number)
    if not rows:
        return None
    row = rows[0]
    before, after = neighbours(run, number)
    said = verdicts_of([entry for entry in (row, after) if entry is not None])
    verdict, later = said.get(row.pk), said.get(after.pk) if after else None
    shown_issues = list(verdict.issues)[:MOST_ISSUES] if verdict else []
    feedback = row.feedback or {}
    checks = check_lines(row) if rubric.checks else ()
    board = board_facts(run, rubric, row)
    places = places_in_round(run, number)
    return RoundFacts(
        row=row,
        name=capital_round_name(number),
        composite="" if row.composite is None else shown(row.composite, rubric.policy),
        origin=origin_label(row),
        base=capital_round_name(row.base_round) if row.base_round else "",
        note=str(feedback.get("note", "")),
        instructions=tuple(feedback.get("instructions", ())),
        scores=score_lines(rubric, row, before, verdict, board, known_difference(run)),
        issues=tuple(
            IssueLine(str(issue), issue_status(str(issue), later), places.get(position))
            for position, issue in enumerate(shown_issues)
        ),
        more_issues=len(verdict.issues) - len(shown_issues) if verdict else 0,
        asi=verdict.asi if verdict else "",
        fate=direction_effect(rubric, row, after, verdict, later, over=run.is_finished),
        checks=checks,
        penalties=tuple(penalty_line(entry, rubric) for entry in row.penalties),
        signals=tuple(signal_sentence(signal) for signal in other_signals(row.signals)),
        noise=same_text_sentence(row.signals, rubric.policy.composite_decimals),
        judged_words="" if row.seen_chars is None else judged_words(row.seen_chars, row.candidate_chars),
        unseen=0 if row.seen_chars is None else max(0, row.candidate_chars - row.seen_chars),
        rung=RUNG_LABELS.get(row.parse_rung, row.parse_rung),
        judge=verdict.judge if verdict else "",
        evaluator=evaluator_facts(row, [metric.name for metric in rubric.evaluator.metrics], before)
        if rubric.runs_a_command
        else None,
        held_back=held_back_sentence(rubric, row, checks),
        board=board,
        parts=score_parts(
            rubric, row.composite, row.scores or {}, {check.key: check.share for check in checks}
        ),
    )


def with_ledger(found: RoundFacts, ledger: Sequence[LedgerLine]) -> RoundFacts:
    """The round with what became of each piece of its feedback."""
    if not ledger:
        return found
    lines = {(line.kind, line.position): line for line in ledger}
    return replace(
        found,
        issues=tuple(
            replace(issue, entry=lines.get((ISSUE, place))) for place, issue in enumerate(found.issues)
        ),
        scores=tuple(replace(line, entry=lines.get((IMPROVEMENT, line.place))) for line in found.scores),
        asi_entry=lines.get((SUGGESTION, 0)),
        ledger=tuple(ledger),
    )


def held_back_sentence(rubric: Rubric, row: Round, checks: Sequence[CheckLine]) -> str:
    """Why the round did not pass although its score reached the pass mark; empty otherwise."""
    threshold = rubric.policy.pass_threshold
    failed = [check.key for check in checks if not check.passed and check.severity == Severity.ERROR]
    if threshold is None or row.composite is None or row.composite < threshold or not failed:
        return ""
    return held_back(rubric, row.composite, failed)


def _numbered(run: int, number: int) -> list[Round]:
    return list(Round.objects.filter(run=run, number=number).order_by("pk"))


def neighbours(run: Run, number: int) -> tuple[Round | None, Round | None]:
    """The previous round, and the one written with this one's feedback."""
    found = _beside(run.pk, number, number - 1)
    before = found.pop(0) if found and found[0].number < number else None
    return before, found[0] if found else None


def _beside(run: int, number: int, before: int) -> list[Round]:
    written_on_it = Q(number__gt=number, feedback__from_round=number)
    rows = Round.objects.filter(Q(number=before) | written_on_it, run=run).order_by("number")
    return list(rows.defer("candidate")[:2])


def verdicts_of(rows: Sequence[Round]) -> dict[int, Verdict]:
    """The first verdict of each round."""
    return {verdict.round_id: verdict for verdict in _verdicts(tuple(row.pk for row in rows))}


def _verdicts(rounds: tuple[int, ...]) -> list[Verdict]:
    return list(Verdict.objects.filter(round__in=rounds).order_by("-position"))


def score_lines(
    rubric: Rubric,
    row: Round,
    before: Round | None,
    verdict: Verdict | None,
    board: BoardFacts | None = None,
    noise: Decimal | None = None,
) -> tuple[ScoreLine, ...]:
    """The criteria's scores. A change within `noise`, the composite's smallest difference, has no colour.

    A single criterion varies at least as much as the mean of all.
    """
    if not row.scores:
        return ()
    lanes = {entry.key: entry for entry in board.criteria} if board else {}
    said: dict[str, Mapping[str, Any]] = {entry["key"]: entry for entry in verdict.scores} if verdict else {}
    places = {key: place for place, key in enumerate(said)}
    earlier = (before.scores or {}) if before else {}
    lines = []
    for place, criterion in enumerate(rubric.criteria):
        if criterion.key not in row.scores:
            continue
        score, words = Decimal(row.scores[criterion.key]), said.get(criterion.key, {})
        stated = Decimal(words["score"]) if "score" in words else score
        old = Decimal(earlier[criterion.key]) if criterion.key in earlier else None
        delta = "" if old is None else score_change(score, old)
        quiet = old is not None and noise is not None and abs(score - old) <= noise
        lines.append(
            ScoreLine(
                slot=place + 1,
                key=criterion.key,
                name=criterion.name,
                score=score,
                said=stated if stated != score else None,
                minimum=rubric.scale.minimum,
                maximum=rubric.scale.maximum,
                weight=criterion.weight,
                delta=delta.rstrip("0").rstrip("."),
                direction="" if quiet else {"+": "up", "−": "down"}.get(delta[:1], ""),
                reasoning=str(words.get("reasoning", "")),
                improvement=str(words.get("improvement", "")),
                primary=criterion == rubric.primary,
                board=lanes.get(criterion.key),
                place=places.get(criterion.key, 0),
            )
        )
    return tuple(lines)


def check_lines(row: Round) -> tuple[CheckLine, ...]:
    """Failed checks first, each with the line of the text it refers to."""
    results = _checked(row.pk)
    return tuple(
        CheckLine(
            key=result.key,
            passed=result.passed,
            message=result.message,
            severity=result.severity,
            suggestion=result.suggestion,
            line=None if result.start is None else row.candidate.count("\n", 0, result.start) + 1,
            share=Decimal(result.passed) if result.score is None else result.score,
        )
        for result in results
    )


def _checked(row: int) -> list[CheckResult]:
    return list(CheckResult.objects.filter(round=row).order_by("passed", "position")[:200])


def penalty_line(penalty: Mapping[str, Any], rubric: Rubric) -> PenaltyLine:
    names = list(dict.fromkeys(penalty["names"]))
    sentence = penalty_sentence(penalty, rubric)
    return PenaltyLine(sentence, tuple(names[:MOST_NAMES]), max(0, len(names) - MOST_NAMES))


def alike(one: str, other: str) -> bool:
    return (
        bool(one.strip()) and fuzz.token_sort_ratio(one[:2000].casefold(), other[:2000].casefold()) >= ALIKE
    )


def issue_status(issue: str, later: Verdict | None) -> str:
    if later is None:
        return ""
    again = any(alike(issue, str(other)) for other in list(later.issues)[:MOST_ISSUES])
    return "raised again" if again else "not raised again"


def direction_effect(
    rubric: Rubric,
    row: Round,
    after: Round | None,
    verdict: Verdict | None,
    later: Verdict | None,
    *,
    over: bool,
) -> DirectionEffect | None:
    """The measurable effect: how much was rewritten, which scores moved, whether the request is repeated."""
    if after is None or verdict is None:
        return None
    unsent = direction_hidden(verdict, after)
    sentences = [*unsent, *rewritten(row, after), *moved_scores(rubric, row, after)]
    word = "not judged" if over else "not judged yet"
    if later is not None:
        again = alike(verdict.asi, later.asi)
        word = "suggested again" if again else ""
        if verdict.asi and again:
            sentences.append("The next verdict suggests the same change: it was probably not made.")
    return DirectionEffect(
        capital_round_name(after.number), after.number, word, tuple(sentences), bool(unsent)
    )


def direction_hidden(verdict: Verdict, after: Round) -> list[str]:
    """Feedback by issues does not include the direction, so it cannot have been followed."""
    sent = after.feedback or {}
    if not verdict.asi or sent.get("asi") or verdict.asi in sent.get("issues", ()):
        return []
    return ["Under this rubric the writer gets the issues, not the suggested change."]


def rewritten(row: Round, after: Round) -> list[str]:
    """How much of the text changed; not computed for long texts."""
    texts = _short_text(after.pk)
    if not texts or row.candidate_chars > MOST_COMPARED_CHARS:
        return []
    changed = percent(change(row.candidate, texts[0]))
    return [f"{changed} of the text changed from {round_name(row.number)} to {after.number}."]


def _short_text(row: int) -> list[str]:
    rows = Round.objects.filter(pk=row, candidate_chars__lte=MOST_COMPARED_CHARS)
    return list(rows.order_by("pk").values_list("candidate", flat=True))


def moved_scores(rubric: Rubric, row: Round, after: Round) -> list[str]:
    if row.composite is None or after.composite is None:
        return []
    decimals = rubric.policy.composite_decimals
    whole = composite_change(after.composite, row.composite, decimals) or "unchanged"
    earlier, later = row.scores or {}, after.scores or {}
    moves = [
        f"{criterion.name} {gap}"
        for criterion in rubric.criteria
        if criterion.key in earlier and criterion.key in later
        for gap in [score_change(Decimal(later[criterion.key]), Decimal(earlier[criterion.key]))]
        if gap
    ]
    detail = f" ({', '.join(moves)})" if moves else ""
    return [f"Score {whole}{detail}."]
