"""The answer at the top of a run's page: the outcome, the result, why, and what to doubt about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import F

from refinement.engine.scoring import shown
from refinement.engine.sentences import round_name
from refinement.engine.types import ZERO, Outcome, Rubric
from refinement.models import BoardVerdict, CheckResult, HumanScore, Round, Run, RunStatus
from refinement.models.people.people import initials_of
from refinement.selectors.runs.demo_model import DEMO_WORDS, is_demo_run
from refinement.selectors.runs.noise import (
    NoiseWords,
    other_signals,
    same_text_sentence,
)
from refinement.selectors.runs.page import RunFacts, capitalised
from refinement.selectors.runs.watch import Watch
from refinement.selectors.runs.words import capital_round_name, mark_distance, outcome_word

WIDE_GAP = Decimal("0.15")  # of the scale: from here people and the judge disagree
MOST_SCORES = 500
EMBEDDED = "embedded"
VALID_RUNGS = ("", "strict", "embedded")
LOOKS = {"PASS": "ok", "FAIL": "bad", "ERROR": "error", "DONE": "done"}
FAILED = {"judge_failed": "the judge failed", "producer_failed": "the writer failed"}


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason not to take the outcome at its word."""

    title: str
    words: str


@dataclass(frozen=True, slots=True)
class PersonScore:
    name: str
    initials: str
    score: str
    blind: bool


@dataclass(frozen=True, slots=True)
class PeopleGap:
    """People's scores of the result, and how far their mean is from the judge's."""

    people: tuple[PersonScore, ...]
    mean: Decimal
    shown: str
    gap: Decimal
    words: str
    wide: bool
    below: bool  # the pass mark

    @property
    def all_blind(self) -> bool:
        return all(person.blind for person in self.people)


@dataclass(frozen=True, slots=True)
class CheckCount:
    failed: int
    total: int

    @property
    def passed(self) -> int:
        return self.total - self.failed


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer bar."""

    outcome: str
    look: str
    number: int | None  # of the result
    headline: str
    first: str  # of the scores that follow the headline; empty if there is only one
    score: str  # empty if the headline stands alone
    why: str  # without what the headline says already
    demo: bool  # the demo model judged: the scores mean nothing
    people: PeopleGap | None
    checks: CheckCount | None
    doubts: tuple[Doubt, ...]
    unproven: str = ""  # why a PASS does not count in gates; empty if it does
    noise: NoiseWords | None = None  # the result shows no difference from the first round

    @property
    def result(self) -> str:
        """The round's name: `Round 3`."""
        return capital_round_name(self.number) if self.number else ""


def people_scores(run: Run) -> dict[int, list[HumanScore]]:
    """People's scores of the run by round. One query."""
    found: dict[int, list[HumanScore]] = {}
    for entry in _human_scores(run.pk):
        found.setdefault(entry.number, []).append(entry)  # type: ignore[attr-defined]
    return found


def people_means(scores: Mapping[int, Sequence[HumanScore]]) -> dict[int, Decimal]:
    """People's mean composites by round."""
    return {number: mean_of(rows) for number, rows in scores.items()}


def mean_of(rows: Sequence[HumanScore]) -> Decimal:
    return sum((entry.composite for entry in rows), ZERO) / len(rows)


def answer_of(
    facts: RunFacts, scores: Mapping[int, Sequence[HumanScore]], watch: Watch | None = None
) -> Answer:
    """The answer, with people's scores by round. At most two queries."""
    run, rubric = facts.run, facts.rubric
    row = facts.result
    number = row.number if row else None
    people = gap_of(rubric, row, scores.get(row.number, [])) if row else None
    checks = checks_of(row) if row and rubric.checks else None
    composite = row.composite if row else None
    demo, failed = is_demo_run(run), run.outcome == Outcome.ERROR
    score = "" if composite is None else shown(composite, rubric.policy)
    alone = failed or (demo and run.is_finished)
    return Answer(
        outcome=outcome_word(run.outcome) or RunStatus(run.status).label,
        look=look_of(facts, demo=demo),
        number=number,
        headline=headline_of(facts, number, score, demo=demo),
        first=facts.r1 if number != 1 and not alone else "",
        score="" if alone else score,
        why=f"{best_words(facts, score, demo=demo)}{chosen_words(facts)}{rank_words(facts)}{why_words(facts)}"
        f"{'' if alone or not facts.noise else ' ' + facts.noise.sentence}",
        demo=demo,
        people=people,
        checks=checks,
        doubts=(*doubts_of(facts, row, people, checks), *watch_doubts(watch))
        if row and run.is_finished
        else (),
        noise=None if alone else facts.noise,
        unproven=facts.unproven,
    )


def look_of(facts: RunFacts, *, demo: bool) -> str:
    """The colour of the outcome. One that proves nothing has none."""
    outcome = facts.run.outcome
    if not outcome:
        return "info"
    proves_nothing = facts.unproven or chosen_below_mark(facts) or (demo and outcome != Outcome.ERROR)
    return "" if proves_nothing else LOOKS.get(outcome, "")


def headline_of(facts: RunFacts, number: int | None, score: str, *, demo: bool) -> str:
    """What happened, in a few words. A run that failed says so before anything else."""
    run = facts.run
    if run.outcome == Outcome.ERROR:
        return f"{_stopped(facts)}: {FAILED.get(run.stop_reason, 'an error occurred')}."
    if number is None or not score:
        return "No round was judged" if run.is_finished else ""
    name = capital_round_name(number)
    if not run.is_finished:
        return f"Best so far: {round_name(number)},"
    if demo:
        return f"{name} ranks first. Demo scores mean nothing."
    return f"{name} is the result:"


def _stopped(facts: RunFacts) -> str:
    """Where a run failed: a judge in the newest round, a writer in the one after it."""
    number = len(facts.rounds) + (facts.run.stop_reason == "producer_failed")
    return f"Stopped in {round_name(number)}" if number else "Stopped"


def best_words(facts: RunFacts, score: str, *, demo: bool) -> str:
    """What a run that failed has nevertheless."""
    if facts.run.outcome != Outcome.ERROR or facts.result is None or not score:
        return ""
    return f"Best so far: {round_name(facts.result.number)}{'' if demo else f', {score}'}. "


def why_words(facts: RunFacts) -> str:
    """Why it ended, without naming the result again, and how far it is below the pass mark."""
    words = facts.sentence.replace(f" {facts.best_name} is the result.", "")
    if facts.run.outcome == Outcome.FAIL and facts.run.best is not None:
        words = with_distance(words, mark_distance(facts.run.best, facts.rubric.policy))
    failed = FAILED.get(facts.run.stop_reason, "")
    return words.removeprefix(f"{failed[:1].upper()}{failed[1:]}: ") if failed else words


def with_distance(words: str, distance: str) -> str:
    """The words with how far the best round is below the pass mark."""
    gap, below, _ = distance.partition(" below the pass mark")
    if not below:
        return words
    return words.replace(below, f" {gap}{below}") if below in words else f"{words} {capitalised(distance)}."


def chosen_row(facts: RunFacts) -> Round | None:
    """The result, if people chose another round than the best one."""
    run, row = facts.run, facts.result
    if row is None or row.number != run.chosen_round or row.number == run.best_round:
        return None
    return row


def chosen_below_mark(facts: RunFacts) -> bool:
    """Whether the judge passed the run, but the round that people chose is below the pass mark."""
    row, mark = chosen_row(facts), facts.rubric.policy.pass_threshold
    if row is None or row.composite is None or mark is None or facts.run.outcome != Outcome.PASS:
        return False
    return row.composite < mark


def rank_words(facts: RunFacts) -> str:
    """Why a round with a lower score than another is the best one."""
    row, criterion = facts.result, facts.rubric.primary
    if row is None or row.composite is None or criterion is None or row.number != facts.run.best_round:
        return ""
    higher = [line for line in facts.rounds if line.composite is not None and line.composite > row.composite]
    if not higher:
        return ""
    top = max(higher, key=lambda line: line.composite or ZERO)
    other = f"{round_name(top.number)} has {top.score} overall"
    return f"It ranks first by {criterion.name}, the primary criterion; {other}. "


def chosen_words(facts: RunFacts) -> str:
    """Whose outcome and whose result these are, if people chose another round than the best one."""
    run, row, policy = facts.run, chosen_row(facts), facts.rubric.policy
    if row is None:
        return ""
    notes = [] if row.composite is None else [shown(row.composite, policy)]
    if row.composite is not None and policy.pass_threshold is not None:
        notes += ["below the pass mark"] if row.composite < policy.pass_threshold else []
    added = f" ({', '.join(notes)})" if notes else ""
    judge = "board" if facts.has_board else "judge"
    outcome = outcome_word(run.outcome)
    return f"{outcome} by the {judge}; people chose {round_name(row.number)}{added}. "


def gap_of(rubric: Rubric, row: Round, rows: Sequence[HumanScore]) -> PeopleGap | None:
    """People's scores of the round and the judge's; None if nobody scored it."""
    if not rows:
        return None
    mean = mean_of(rows)
    gap = ZERO if row.composite is None else mean - row.composite
    who = "judge" if row.spread is None else "board"
    far = f"{shown(abs(gap), rubric.policy)} {'above' if gap > 0 else 'below'} the {who}"
    near = shown(abs(gap), rubric.policy) == shown(ZERO, rubric.policy)
    return PeopleGap(
        people=tuple(
            PersonScore(e.author_name, initials_of(e.author_name), shown(e.composite, rubric.policy), e.blind)
            for e in rows
        ),
        mean=mean,
        shown=shown(mean, rubric.policy),
        gap=gap,
        words="" if row.composite is None else f"as the {who}" if near else far,
        wide=abs(gap) >= WIDE_GAP * (rubric.scale.maximum - rubric.scale.minimum),
        below=rubric.policy.pass_threshold is not None and mean < rubric.policy.pass_threshold,
    )


def _human_scores(run: int) -> list[HumanScore]:
    rows = HumanScore.objects.filter(run=run).annotate(number=F("round__number"))
    return list(rows.defer("scores", "note").order_by("id")[:MOST_SCORES])


def checks_of(row: Round) -> CheckCount | None:
    """How many of the round's checks failed. One query."""
    passed = list(CheckResult.objects.filter(round=row.pk).values_list("passed", flat=True))
    return CheckCount(passed.count(False), len(passed)) if passed else None


def doubts_of(
    facts: RunFacts, row: Round, people: PeopleGap | None, checks: CheckCount | None
) -> list[Doubt]:
    """Everything that qualifies the result, most important first."""
    found = [Doubt("Demo model", DEMO_WORDS)] if is_demo_run(facts.run) else []
    if chosen_below_mark(facts):
        passed = round_name(facts.run.passed_in_round or facts.run.best_round or 0)
        words = f"People chose this round; the judge passed {passed}."
        found.append(Doubt("Below the pass mark", words))
    if people and people.wide:
        found.append(Doubt("People disagree", f"People score it {people.shown}: {people.words}."))
    if checks and checks.failed:
        found.append(Doubt("Failed checks", f"{checks.failed} of {checks.total} checks failed."))
    if facts.kinship:
        found.append(Doubt("Related judge", facts.kinship))
    if facts.unproven:
        found.append(Doubt("Gate", facts.unproven))
    found += noise_doubts(facts, row)
    if row.seen_chars is not None and row.seen_chars < row.candidate_chars:
        words = f"The judge saw {row.seen_chars:,} of {row.candidate_chars:,} characters."
        found.append(Doubt("Judged in part", words))
    if row.penalties:
        found.append(Doubt("Penalty", "Points were deducted for calls that look invented."))
    if row.contract_violation:
        found.append(Doubt("Output contract", "The text violates the rubric's output contract."))
    if row.candidate_cut:
        found.append(Doubt("Cut off", "The writer's reply reached its length limit."))
    return [*found, *reply_doubts(facts, row)]


def noise_doubts(facts: RunFacts, row: Round) -> list[Doubt]:
    """What the judge's noise and its attention say about the result."""
    found = []
    if facts.noise:
        found.append(Doubt(facts.noise.title, f"{capitalised(facts.noise.words)}."))
    moved = same_text_sentence(row.signals, facts.rubric.policy.composite_decimals)
    if moved and not (facts.noise and facts.noise.same_text):
        found.append(Doubt("Judge noise", moved))
    if other_signals(row.signals):
        found.append(Doubt("Judge check", "The text changed, but what the judge says of it hardly did."))
    return found


def watch_doubts(watch: Watch | None) -> list[Doubt]:
    """What suggests that the text was written for its judge."""
    return [Doubt(title, words) for title, words in watch.doubts] if watch else []


def reply_doubts(facts: RunFacts, row: Round) -> list[Doubt]:
    """Replies that could not be read, or only with help. One query for a board."""
    found = []
    if facts.has_board:
        unread = _unread(row.pk)
        if unread:
            found.append(Doubt("Missing judges", f"No valid scores from {', '.join(unread)}."))
    elif row.judge_attempts > 1:
        found.append(Doubt("Invalid replies", f"Valid scores only at try {row.judge_attempts}."))
    elif row.parse_rung not in VALID_RUNGS:
        found.append(Doubt("Repaired reply", "The judge's reply was malformed and had to be repaired."))
    return found


def _unread(row: int) -> Sequence[str]:
    rows = BoardVerdict.objects.filter(round=row).exclude(problem="").order_by("seat")
    return list(rows.values_list("judge__name", flat=True))
