"""A run page: header facts, a row per round, and the trajectory."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal

from django.db.models import Exists, OuterRef
from django.db.models.fields.json import KT
from django.db.models.functions import Substr
from django.utils import timezone

from refinement.charts import MetricSeries, value_words
from refinement.engine.boards import is_dissent
from refinement.engine.codec import rubric_from_json
from refinement.engine.scoring import shown
from refinement.engine.types import Rubric
from refinement.judging.history import EDITED, KEY_CHANGE_CHARS
from refinement.judging.length import shorten
from refinement.models import Round, RoundOrigin, Run, RunTag
from refinement.selectors.runs.boards.rounds import JudgeLine, has_panel, panel_lines
from refinement.selectors.runs.boards.so_far import SoFar, so_far
from refinement.selectors.runs.evaluators.metrics import metrics_by_round
from refinement.selectors.runs.noise import (
    NO_DIFFERENCE,
    NoiseWords,
    is_noise,
    noise_words,
    other_signals,
    same_text_signal,
)
from refinement.selectors.runs.words import (
    KINSHIP_SENTENCES,
    capital_round_name,
    duration,
    fails_again,
    lacks_budget,
    next_step_hint,
    origin_label,
    plateau_words,
    state_sentence,
)
from refinement.selectors.score_words import composite_change, score_text
from refinement.selectors.trust.gate import unproven_pass

MOST_FULL_CARDS = 8  # with more rounds, each gets a small button
FEEDBACK_CHARS = 400  # of what the feedback asked for, to name a change by it
# Where the feedback says what it asks for, as in `judging.history.key_change`.
ASKED = {
    "asked": "feedback__asi",
    "asked_issue": "feedback__issues__0",
    "asked_failure": "feedback__failure_texts__0",
}


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """Usage of one budget."""

    name: str
    used: str
    limit: str
    share: int  # percent, at most 100
    over: bool = False  # a budget is compared before each call, so the last one may go past it


@dataclass(frozen=True, slots=True)
class RoundLine:
    """A round in the strip, the table and the chart, without its text."""

    number: int
    name: str
    composite: Decimal | None
    score: str  # formatted; empty if not judged
    delta: str
    direction: str  # up, down or empty
    best: bool
    result: bool  # what the run returns: the round that people chose, else the best one
    origin: str
    chars: int
    scores: tuple[str, ...]  # one per criterion
    flags: tuple[str, ...]
    by_hand: bool = False  # edited by a person
    unchanged: int | None = None  # the round that it was written from, if it has the same text
    metrics: tuple[str, ...] = ()  # one per metric
    key_change: str = ""  # what it changed: in the clerk's words, else in those of the feedback
    asked: bool = False  # the key change is only what the feedback asked for
    split: tuple[str, ...] = ()  # the criteria on which the judges of a board still disagree
    first_of_board: bool = False  # a board took over with this round
    quiet: bool = False  # the change since the round before shows no difference

    @property
    def no_difference(self) -> str:
        """That the change shows no difference; empty if it does, or if nothing is known."""
        return NO_DIFFERENCE if self.quiet and self.delta else ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """The flags, and what is special about a board's round."""
        split = (f"judges split on {', '.join(self.split)}",) if self.split else ()
        return (*(("a board took over",) if self.first_of_board else ()), *self.flags, *split)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Header facts of a run."""

    run: Run
    rubric: Rubric
    sentence: str
    hint: str
    kinship: str
    r1: str
    best: str
    best_name: str
    gain: str
    time: str
    budgets: tuple[BudgetLine, ...]
    rounds: tuple[RoundLine, ...]
    metrics: tuple[MetricSeries, ...] = ()
    panel: tuple[JudgeLine, ...] = ()  # its board, once it is known
    so_far: SoFar | None = None
    result: Round | None = None  # the round a person chose, else the best one; without its text
    plateau: str = ""  # what happened, while the run asks how to go on
    unproven: str = ""  # why its PASS does not count in gates and badges; empty if it does

    @property
    def noise(self) -> NoiseWords | None:
        """Why the result is no improvement over the first round, if its gain shows no difference."""
        row = self.result
        if row is None or row.composite is None or self.run.r1 is None or row.number == 1:
            return None
        return noise_words(self.run, row.composite - self.run.r1, self.rubric.policy.composite_decimals)

    @property
    def noise_band(self) -> str:
        """Half the smallest real difference: scores whose bands overlap show no difference."""
        known = self.run.smallest_difference
        return "" if known is None else shown(known / 2, self.rubric.policy)

    @property
    def has_board(self) -> bool:
        return has_panel(self.run, self.rubric.judges.mode)

    @property
    def lacks_budget(self) -> bool:
        return lacks_budget(self.run)

    @property
    def fails_again(self) -> bool:
        return fails_again(self.run)

    @property
    def has_splits(self) -> bool:
        return any(line.split for line in self.rounds)

    @property
    def compact(self) -> bool:
        return len(self.rounds) > MOST_FULL_CARDS

    @property
    def criteria(self) -> list[str]:
        return [criterion.name for criterion in self.rubric.criteria]

    def opened(self, wanted: int | None = None) -> int | None:
        """The round to open: the requested one, the result once the run ended or asks, else the newest."""
        numbers = [line.number for line in self.rounds]
        if wanted is not None:
            return wanted if wanted in numbers else None
        if (self.run.is_finished or self.run.is_asking) and self.result is not None:
            return self.result.number
        return numbers[-1] if numbers else None


def run_facts(run: Run) -> RunFacts:
    """The run's header and its rounds. A fixed number of queries."""
    rubric = rubric_from_json(run.snapshot)
    policy = rubric.policy
    rows = _rounds_of(run.pk)
    metrics = metric_series(rubric, rows)
    return RunFacts(
        run=run,
        rubric=rubric,
        sentence=state_sentence(run, rubric),
        hint=next_step_hint(run),
        kinship=KINSHIP_SENTENCES.get(run.kinship, ""),
        r1="" if run.r1 is None else shown(run.r1, policy),
        best="" if run.best is None else shown(run.best, policy),
        best_name=capital_round_name(run.best_round) if run.best_round else "",
        gain=""
        if run.best is None or run.r1 is None
        else composite_change(run.best, run.r1, policy.composite_decimals),
        time=time_label(run),
        budgets=budget_lines(run, rubric),
        rounds=round_lines(run, rubric, rows, metrics, unchanged_rounds(rows)),
        metrics=metrics,
        panel=panel_lines(run) if has_panel(run, rubric.judges.mode) else (),
        so_far=so_far(rubric, rows, metrics),
        result=next((row for row in rows if row.number == (run.chosen_round or run.best_round)), None),
        plateau=plateau_words(run, rubric),
        unproven=unproven_pass(run),
    )


def capitalised(words: str) -> str:
    return words[:1].upper() + words[1:]


def _rounds_of(run: int) -> list[Round]:
    """The rounds without their long texts, each with the start of what its feedback asked for."""
    starts = {name: Substr(KT(path), 1, FEEDBACK_CHARS) for name, path in ASKED.items()}
    rows = Round.objects.filter(run=run).order_by("number").defer("candidate", "feedback")
    return list(rows.annotate(**starts))


def unchanged_rounds(rows: Sequence[Round]) -> Set[int]:
    """The revisions whose text is that of the round they were written from. One query at most."""
    chars = {row.number: row.candidate_chars for row in rows}
    alike = [row for row in rows if row.base_round and chars.get(row.base_round) == row.candidate_chars]
    return frozenset(_same_text(tuple(row.pk for row in alike))) if alike else frozenset()


def _same_text(rows: tuple[int, ...]) -> list[int]:
    base = Round.objects.filter(
        run=OuterRef("run"), number=OuterRef("base_round"), candidate=OuterRef("candidate")
    )
    return list(Round.objects.filter(Exists(base), pk__in=rows).values_list("number", flat=True))


def tags_of(run: Run) -> list[str]:
    """The names of the run's tags."""
    return _tag_names(run.pk)


def _tag_names(run: int) -> list[str]:
    return list(RunTag.objects.filter(run=run).values_list("name", flat=True))


def time_label(run: Run) -> str:
    """How long it worked, without the time in which it was paused or finished."""
    since = run.worked_since
    if since is None:
        return ""
    end = run.finished_at or timezone.now()
    return duration(max(0.0, (end - since).total_seconds()))


def budget_lines(run: Run, rubric: Rubric) -> tuple[BudgetLine, ...]:
    budget = rubric.policy.budget
    pairs: list[tuple[str, Decimal, Decimal | int | None]] = [
        ("tokens", Decimal(run.tokens), budget.tokens),
        ("seconds of model time", Decimal(run.model_seconds), budget.seconds),
        ("calls", Decimal(run.calls_made), budget.calls),
    ]
    return tuple(
        BudgetLine(name, f"{used:,.0f}", f"{limit:,}", min(100, int(used * 100 / limit)), used > limit)
        for name, used, limit in pairs
        if limit is not None
    )


def round_lines(
    run: Run,
    rubric: Rubric,
    rows: Sequence[Round],
    metrics: Sequence[MetricSeries] = (),
    unchanged: Set[int] = frozenset(),
) -> tuple[RoundLine, ...]:
    lines: list[RoundLine] = []
    before: Decimal | None = None
    words = [value_words(series) for series in metrics]
    for place, row in enumerate(rows):
        if run.escalated_after and row.number == run.escalated_after + 1:
            before = None  # a board took over: its scores are not compared with those of the judge before it
        line = _round_line(run, rubric, row, before)
        if row.number in unchanged:
            line = replace(line, unchanged=row.base_round, flags=("no change", *line.flags))
        lines.append(replace(line, metrics=tuple(values[place] for values in words)))
        before = row.composite if row.composite is not None else before
    return tuple(lines)


def _round_line(run: Run, rubric: Rubric, row: Round, before: Decimal | None) -> RoundLine:
    policy = rubric.policy
    delta, quiet = "", False
    if row.composite is not None and before is not None:
        delta = composite_change(row.composite, before, policy.composite_decimals)
        quiet = bool(is_noise(run, row.composite - before))
    scores, spread = row.scores or {}, row.spread or {}
    return RoundLine(
        number=row.number,
        name=capital_round_name(row.number),
        composite=row.composite,
        score="" if row.composite is None else shown(row.composite, policy),
        delta=delta,
        direction="" if quiet else {"+": "up", "−": "down"}.get(delta[:1], ""),
        best=row.number == run.best_round,
        result=row.number == (run.chosen_round or run.best_round),
        origin=origin_label(row),
        chars=row.candidate_chars,
        scores=tuple(
            score_text(Decimal(scores[criterion.key])) if criterion.key in scores else ""
            for criterion in rubric.criteria
        ),
        flags=tuple(flags_of(run, row)),
        by_hand=row.origin == RoundOrigin.HAND,
        key_change=key_change_of(row),
        asked=is_asked(row),
        split=tuple(
            criterion.name
            for criterion in rubric.criteria
            if criterion.key in spread and is_dissent(rubric, Decimal(spread[criterion.key]))
        ),
        first_of_board=run.escalated_after > 0 and row.number == run.escalated_after + 1,
        quiet=quiet,
    )


def key_change_of(row: Round) -> str:
    """What the round changed: as the clerk names it, else what the feedback before it asked for."""
    if row.key_change:
        return row.key_change
    if row.origin == RoundOrigin.HAND:
        return EDITED
    asked = next((words for name in ASKED if (words := getattr(row, name, ""))), "")
    return shorten(asked, KEY_CHANGE_CHARS) if asked else ""


def is_asked(row: Round) -> bool:
    """Whether the key change is what the feedback asked for: the clerk did not name what was done."""
    if row.key_change or row.origin == RoundOrigin.HAND:
        return False
    return any(getattr(row, name, "") for name in ASKED)


def flags_of(run: Run, row: Round) -> list[str]:
    """Short warnings about a round."""
    flags = []
    if run.chosen_round not in (None, run.best_round):
        flags += ["chosen by people"] if row.number == run.chosen_round else []
        flags += ["judge’s best"] if row.number == run.best_round else []
    if row.judged_at is None:
        flags.append("unscored" if run.is_finished else "not judged yet")
    if row.contract_violation:
        flags.append("contract violated")
    if same_text_signal(row.signals):
        flags.append("judge noise")
    if other_signals(row.signals):
        flags.append("judge check")
    if row.penalties:
        flags.append("penalty")
    if row.seen_chars is not None and row.seen_chars < row.candidate_chars:
        flags.append("judged in part")
    if row.candidate_cut:
        flags.append("text cut off")
    return flags


def metric_series(rubric: Rubric, rows: Sequence[Round]) -> tuple[MetricSeries, ...]:
    """The rubric's metrics by round; empty without metrics."""
    names = [metric.name for metric in rubric.evaluator.metrics]
    found = metrics_by_round(rows, names) if names and rubric.runs_a_command else {}
    if not found:
        return ()
    return tuple(
        MetricSeries(
            name=metric.name,
            values=[found.get(row.pk, {}).get(metric.name) for row in rows],
            measured=[row.pk in found for row in rows],
            lower_is_better=metric.lower_is_better,
        )
        for metric in rubric.evaluator.metrics
    )
