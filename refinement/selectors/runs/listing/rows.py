"""Rows of the run list. Every cell is ready text, so that the template only prints it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from django.utils import timezone

from refinement.charts import Sparkline, sparkline
from refinement.engine.types import ZERO, JudgeMode, Outcome
from refinement.models import DecisionKind, Project, Run, RunStatus, User
from refinement.pricing import money
from refinement.selectors.reviews.people_gap import PeopleGap, is_far
from refinement.selectors.runs.demo_model import DEMO_WORDS, is_demo_run
from refinement.selectors.runs.listing.excerpts import Excerpt, excerpts_of
from refinement.selectors.runs.listing.facts import RowFacts, row_facts
from refinement.selectors.runs.listing.lists import MOST_POINTS, Listed
from refinement.selectors.runs.noise import noise_words
from refinement.selectors.runs.words import duration, outcome_word, reason_label, waiting_label
from refinement.selectors.score_words import USUAL_DECIMALS, composite_text
from refinement.selectors.trust.gate import UNPROVEN

TAGS = 1  # shown in a row; the others are in a tooltip
HUES = 4  # colours of avatars
THIN_SPACE = "\N{NARROW NO-BREAK SPACE}"
CHIPS = {Outcome.PASS: "ok", Outcome.FAIL: "bad", Outcome.ERROR: "warn"}
DECISIONS = {
    DecisionKind.RESULT: ("people chose {}", "people"),
    DecisionKind.APPROVED: ("✓ approved", "ok"),
    DecisionKind.CHANGES: ("changes requested", "warn"),
    DecisionKind.REJECTED: ("✕ rejected", "bad"),
}
MARKS = (
    ("signal_rounds", "⚑", "Judge check: the text changed but the judge's reasoning did not, in {}."),
    ("penalty_rounds", "▼", "Points were deducted in {}."),
    ("cut_rounds", "✂", "The judge did not see the whole text in {}."),
)
KINSHIPS = {
    "same_model": "Writer and judge are the same model: scores tend to be too high",
    "same_family": "Writer and judge are of the same family: scores tend to be too high",
}


class State(NamedTuple):
    """The outcome cell: a chip, and next to it the decision, the reason or the current step."""

    word: str
    kind: str = ""
    note: str = ""
    note_kind: str = ""
    title: str = ""


class Gap(NamedTuple):
    """People's mean minus the judge's score."""

    text: str
    people: str = ""
    flagged: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A run as texts."""

    number: int
    title: str
    state: State
    tags: list[str]
    more_tags: str
    more_title: str
    source: str
    source_title: str
    experiment: int | None
    experiment_title: str
    letter: str  # of its configuration
    rubric: str
    rubric_slug: str
    version: int
    first: str
    best: str
    demo: str  # that the demo model judged it; empty if not
    scale: str
    line: Sparkline | None
    marks: list[tuple[str, str]]  # each sign with what it means
    gap: Gap
    writer: str
    judge: str
    kin: str
    tokens: str
    cost: str
    gain: str
    quiet: str  # why the gain shows no difference; empty if it does, or if nothing is known
    rounds: int
    time: str
    task_type: str
    who: str
    initials: str
    hue: int
    launched: str
    launched_iso: str
    launched_exact: str
    excerpt: Excerpt | None


def rows_of(
    entries: Sequence[Listed], reader: User, words: str = "", project: Project | None = None
) -> list[Row]:
    """The rows of a page for this reader, with excerpts for a search. A fixed number of queries."""
    facts = row_facts([entry.run for entry in entries], reader, project)
    excerpts = excerpts_of([entry.run for entry in entries], words) if words else {}
    now = timezone.now()
    return [_row(entry, facts, excerpts.get(entry.run.pk), now) for entry in entries]


def _row(entry: Listed, facts: RowFacts, excerpt: Excerpt | None, now: datetime) -> Row:
    run, person = entry.run, entry.run.created_by
    # The experiment's tag stands first. Beside it there is room for one more, or for how many there are.
    fits = TAGS if not run.experiment_id or len(entry.all_tags) == 1 else 0
    hidden = entry.all_tags[fits:]
    marks = [(sign, words, count) for name, sign, words in MARKS if (count := getattr(run, name))]
    return Row(
        number=run.pk,
        title=run.title or "Untitled",
        state=_state(entry, facts),
        tags=entry.all_tags[:fits],
        more_tags=f"+{len(hidden)}" if hidden else "",
        more_title=", ".join(hidden),
        source="example" if run.is_example else "imported" if run.source else "",
        source_title=run.get_source_display() if run.source else "",
        experiment=run.experiment_id,
        experiment_title=f"{entry.experiment}: {entry.configuration}" if entry.experiment else "",
        letter=entry.configuration.partition(" ")[0],
        rubric=run.rubric.name,
        rubric_slug=run.rubric.slug,
        version=run.rubric_version.number,
        first="" if run.r1 is None else composite_text(run.r1, entry.decimals),
        best=_best(run, entry.decimals),
        demo=DEMO_WORDS if is_demo_run(run) else "",
        scale=entry.scale_words if run.r1 is not None else "",
        line=_line(entry),
        marks=[(sign, words.format(_rounds(count))) for sign, words, count in marks],
        gap=_gap(entry, facts),
        writer=run.producer_model,
        judge=_judge(entry, facts.seats.get(run.pk, 0)),
        kin=KINSHIPS.get(run.kinship, ""),
        tokens=short_number(run.tokens) if run.tokens else "",
        cost="" if run.cost is None else money(run.cost),
        gain="" if run.improvement is None else _signed(run.improvement, entry.decimals),
        quiet=quiet_words(entry),
        rounds=run.rounds_judged,
        time=duration(float(run.model_seconds)) if run.model_seconds else "",
        task_type=run.task_type,
        who=person.display_name if person else "",
        initials=person.initials if person else "",
        hue=run.created_by_id % HUES if run.created_by_id else 0,
        launched=since(run.created_at, now),
        launched_iso=run.created_at.isoformat(),
        launched_exact=f"{timezone.localtime(run.created_at):%-d %B %Y, %H:%M %Z}",
        excerpt=excerpt,
    )


def _state(entry: Listed, facts: RowFacts) -> State:
    run = entry.run
    if not run.outcome:
        return _unfinished(run, facts)
    standing = facts.standings.get(run.pk)
    unproven = standing.sentence if standing else ""
    neutral = unproven or entry.is_chosen_below_mark or (is_demo_run(run) and run.outcome != Outcome.ERROR)
    kind = "" if neutral else CHIPS.get(Outcome(run.outcome), "")
    if run.decision in DECISIONS:
        words, tone = DECISIONS[DecisionKind(run.decision)]
        title = entry.chosen_words or "Decided by a person"
        return State(outcome_word(run.outcome), kind, words.format(_chosen(entry)), tone, title)
    if failed := facts.failed_checks.get(run.pk):
        words = f"✕ {failed} check{'' if failed == 1 else 's'} failed"
        return State(outcome_word(run.outcome), kind, words, "bad", run.why)
    if unproven:
        return State(outcome_word(run.outcome), kind, UNPROVEN, "warn", unproven)
    tone = "warn" if run.outcome == Outcome.ERROR else ""
    return State(outcome_word(run.outcome), kind, reason_label(run), tone, run.why)


def _unfinished(run: Run, facts: RowFacts) -> State:
    match RunStatus(run.status):
        case RunStatus.RUNNING:
            return State("Running", "info", facts.steps.get(run.pk, ""))
        case RunStatus.QUEUED:
            return State("Queued", "", facts.places.get(run.pk, ""))
        case RunStatus.WAITING:
            return State("Waiting", "warn", waiting_label(run), "", run.waiting_for)
        case _ if run.is_asking:
            return State("Paused", "warn", "needs your answer", "warn")
        case status:
            return State(status.label)


def _best(run: Run, decimals: int | None) -> str:
    """The best score, if the row says `first → best`: one score is enough for one judged round."""
    return "" if run.best is None or run.rounds_judged < 2 else composite_text(run.best, decimals)


def quiet_words(entry: Listed) -> str:
    """Why neither the gain nor the best score shows a difference from the first score."""
    run = entry.run
    decimals = USUAL_DECIMALS if entry.decimals is None else entry.decimals
    gain = None if run.best is None or run.r1 is None else max(run.best - run.r1, run.improvement or ZERO)
    found = noise_words(run, gain, decimals) if gain is not None and run.rounds_judged > 1 else None
    return found.sentence if found else ""


def _line(entry: Listed) -> Sparkline | None:
    scores = [Decimal(score) for score in entry.run.trajectory[:MOST_POINTS]]
    if len(scores) < 2:
        return None
    ends = [*scores, entry.pass_mark] if entry.pass_mark is not None else scores
    version = entry.run.rubric_version
    low, room = min(ends), (version.scale_maximum - version.scale_minimum) / 10
    return sparkline(
        scores, width=62, height=20, low=low, high=max(*ends, low + room), threshold=entry.pass_mark
    )


def _chosen(entry: Listed) -> str:
    """The score of the round that people chose as the result, else the round."""
    if not entry.chosen_words or entry.chosen_score is None:
        return f"round {entry.run.chosen_round or entry.run.best_round or ''}".strip()
    return composite_text(entry.chosen_score, entry.decimals)


def _gap(entry: Listed, facts: RowFacts) -> Gap:
    run = entry.run
    if run.pk in facts.unscored:
        return Gap("", title="Hidden until you have scored this run")
    found: PeopleGap | None = facts.gaps.get(run.pk)
    if found is None:
        return Gap("")
    flagged = is_far(found.gap, run.rubric_version)
    mean, many = composite_text(found.mean, entry.decimals), found.people != 1
    who = f"{found.people} {'people score' if many else 'person scores'}"
    title = (
        f"{who} the result {mean}{' on average' if many else ''}{', far from the judge' if flagged else ''}"
    )
    return Gap(_signed(found.gap, entry.decimals), f"({found.people})", flagged, title)


def _judge(entry: Listed, seats: int) -> str:
    if seats:
        return f"board of {seats}"
    return "board" if entry.judges == JudgeMode.BOARD else entry.run.judge_model


def _signed(value: Decimal, decimals: int | None) -> str:
    text = composite_text(abs(value), decimals)
    return f"{'+' if value >= 0 else '−'}{text}" if text.strip("0.") else f"±{text}"


def _rounds(count: int) -> str:
    return f"{count} round{'' if count == 1 else 's'}"


def short_number(value: int) -> str:
    """A count in three digits: 812, 96 k, 1.4 M."""
    if value < 1_000:
        return str(value)
    if value < 999_500:
        return f"{value / 1_000:.0f}{THIN_SPACE}k"
    return f"{value / 1_000_000:.1f}{THIN_SPACE}M"


def since(moment: datetime, now: datetime) -> str:
    """How long ago, as short as it can be said: now, 26 min, 5 h, yesterday, 3 days, 12 Mar, 12 Mar 2025."""
    gone = now - moment
    if gone < timedelta(minutes=1):
        return "now"
    if gone < timedelta(hours=1):
        return f"{int(gone.total_seconds() // 60)} min"
    if gone < timedelta(days=1):
        return f"{int(gone.total_seconds() // 3600)} h"
    if gone < timedelta(days=2):
        return "yesterday"
    if gone < timedelta(days=30):
        return f"{gone.days} days"
    day = timezone.localtime(moment)
    return f"{day:%-d %b}" if gone < timedelta(days=300) else f"{day:%-d %b %Y}"
