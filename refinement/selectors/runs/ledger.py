"""What became of a run's feedback: from its ledger, with people's corrections."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, Sum

from refinement.engine.types import ZERO, Rubric
from refinement.ledger import Entry, Item, Step, conclude, growth, revision_of
from refinement.ledger.types import FOLLOWED, IMPROVEMENT, ISSUE, SUGGESTION
from refinement.models import FeedbackCorrection, FeedbackFate, Round, Run, RunLedger, Verdict

MOST_LIVE_CHARS = 400_000  # of a run's texts; longer ones wait for the worker that ends the run
MOST_ROUNDS = 200
MOST_ECHOED = 12  # phrases that are stored
COUNTED_RUNS = 1_000  # of a rubric, the newest
FEW_FOLLOWED = 20  # pieces of feedback, below which the share that raised the score says nothing
LOOKS = {
    FeedbackFate.ADDRESSED: "ok",
    FeedbackFate.OPEN: "bad",
    FeedbackFate.CAME_BACK: "bad",
    FeedbackFate.WORSE: "bad",
    FeedbackFate.OVERTAKEN: "",
}
Key = tuple[int, str, int]


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """What became of one piece of feedback, as people or else the code say."""

    round: int
    kind: str
    position: int
    fate: str  # empty until the revision is judged
    why: str
    revision: int
    raised: bool | None
    computed: str  # the code's own conclusion
    corrected_by: str = ""
    version: str = "0"  # of the correction, to notice another person's
    corrected_at: datetime | None = None

    @property
    def label(self) -> str:
        return FeedbackFate(self.fate).label if self.fate else "Not judged"

    @property
    def look(self) -> str:
        return LOOKS.get(FeedbackFate(self.fate), "") if self.fate else ""

    @property
    def followed(self) -> bool:
        return self.fate in FOLLOWED

    @property
    def key(self) -> Key:
        return self.round, self.kind, self.position

    @property
    def others(self) -> list[tuple[str, str]]:
        """The other fates, with the values of the buttons that choose them."""
        known = f"{self.kind}:{self.position}:{self.version}"
        return [(f"{known}:{fate}", str(fate.label)) for fate in FeedbackFate if fate != self.fate]

    @property
    def undo(self) -> str:
        """The value of the button that takes a correction back."""
        return f"{self.kind}:{self.position}:{self.version}:"


@dataclass(frozen=True, slots=True)
class Ledger:
    """The run's feedback and how its text grew."""

    lines: Mapping[Key, LedgerLine]
    growth: Mapping[str, Any]


def ledger_of(run: Run, rubric: Rubric) -> Ledger:
    """The stored ledger; computed here while the run has more rounds than it covers. Four queries at most."""
    entries, grown = ledger_values(run, rubric)
    return Ledger({line.key: line for line in _lines(run, entries)}, grown)


def round_ledger(run: Run, rubric: Rubric, number: int) -> tuple[LedgerLine, ...]:
    """What became of one round's feedback. It reads no texts, or at most three if the ledger is not kept."""
    stored = _stored(run.pk)
    if stored and stored[0].covers == run.rounds_judged:
        entries = [entry for entry in stored[0].entries if entry["round"] == number]
    else:
        steps = _with_texts_of(run, steps_of(run, rubric, texts=False), number)
        entries = [entry_values(entry) for entry in concluded(run, steps, only=number)]
    return _lines(run, entries)


def _with_texts_of(run: Run, steps: Sequence[Step], number: int) -> list[Step]:
    """The steps with the texts of this round, its revision and the revision's base."""
    place = next((n for n, step in enumerate(steps) if step.number == number), None)
    after = None if place is None else revision_of(steps, place)
    if after is None or not steps[after].judged:
        return list(steps)
    texts = _texts(run.pk, (number, steps[after].number, steps[after].base or number))
    return [replace(step, text=texts.get(step.number, "")) for step in steps]


def _texts(run: int, numbers: Sequence[int]) -> dict[int, str]:
    rows = Round.objects.filter(run=run, number__in=numbers).order_by("number")
    return dict(rows.values_list("number", "candidate"))


def _lines(run: Run, entries: Sequence[Mapping[str, Any]]) -> tuple[LedgerLine, ...]:
    made = {_key(row): row for row in _corrections(run.pk)} if entries else {}
    return tuple(
        _line(entry, made.get((entry["round"], entry["kind"], entry["position"]))) for entry in entries
    )


def ledger_values(run: Run, rubric: Rubric) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The entries as they are stored, without corrections, and the growth."""
    stored = _stored(run.pk)
    if stored and stored[0].covers == run.rounds_judged:
        return stored[0].entries, stored[0].growth
    if run.rounds_judged == 0:
        return [], {}
    steps = steps_of(run, rubric)
    if sum(len(step.text) for step in steps) > MOST_LIVE_CHARS:
        return [], {}
    return [entry_values(entry) for entry in concluded(run, steps)], growth_values(run, rubric, steps)


def concluded(run: Run, steps: Sequence[Step], *, only: int | None = None) -> tuple[Entry, ...]:
    return conclude(steps, noise=run.smallest_difference or ZERO, only=only)


def growth_of(run: Run) -> Mapping[str, Any]:
    """How the best text differs from the first, once the run has ended; else empty. One query."""
    stored = _stored(run.pk) if run.is_finished else []
    return stored[0].growth if stored and stored[0].covers == run.rounds_judged else {}


def _stored(run: int) -> list[RunLedger]:
    return list(RunLedger.objects.filter(run=run).order_by("pk"))


def _corrections(run: int) -> list[FeedbackCorrection]:
    return list(FeedbackCorrection.objects.filter(run=run).order_by("pk"))


def _key(row: FeedbackCorrection) -> Key:
    return row.round_number, row.kind, row.position


def correction_version(row: FeedbackCorrection | None) -> str:
    """What changes with every correction of the same feedback."""
    return f"{row.corrected_at:%s%f}" if row else "0"


def _line(entry: Mapping[str, Any], row: FeedbackCorrection | None) -> LedgerLine:
    return LedgerLine(
        round=entry["round"],
        kind=entry["kind"],
        position=entry["position"],
        fate=row.fate if row else entry["fate"],
        why=entry["why"],
        revision=entry["revision"],
        raised=entry["raised"],
        computed=entry["fate"],
        corrected_by=row.author_name if row else "",
        version=correction_version(row),
        corrected_at=row.corrected_at if row else None,
    )


def feedback_values(run: Run, rubric: Rubric) -> list[dict[str, Any]]:
    """What became of the run's feedback, for exports."""
    names = ("round", "kind", "position", "fate", "why", "revision", "raised", "corrected_by", "corrected_at")
    lines = ledger_of(run, rubric).lines.values()
    return [{name: getattr(line, name) for name in names} for line in lines]


def item_texts(run: Run) -> dict[Key, tuple[str, str]]:
    """The words of each piece of feedback, and the criterion that an improvement is about. One query."""
    rows = Verdict.objects.filter(round__run=run).order_by("-position").annotate(number=F("round__number"))
    items = [item for row in rows for item in items_of(row.number, row, {})]
    return {item.key: (item.text, item.criterion) for item in items}


def entry_values(entry: Entry) -> dict[str, Any]:
    item = entry.item
    return {
        "round": item.round,
        "kind": item.kind,
        "position": item.position,
        "fate": entry.fate,
        "why": entry.why,
        "revision": entry.revision,
        "raised": entry.raised,
    }


def entry_of(values: Mapping[str, Any]) -> Entry:
    """A stored entry, without its words."""
    item = Item(values["round"], values["kind"], values["position"], "")
    return Entry(item, values["fate"], values["why"], values["revision"], values["raised"])


# --- a run's rounds as the ledger reads them ------------------------------------------------------
def steps_of(run: Run, rubric: Rubric, *, texts: bool = True) -> list[Step]:
    """The rounds with their texts and verdicts, in order. Two queries."""
    rows = _rounds(run.pk, texts)
    said = {verdict.round_id: verdict for verdict in _verdicts(tuple(row.pk for row in rows))}
    names = {criterion.key: criterion.name for criterion in rubric.criteria}
    return [step_of(run, row, said.get(row.pk), names, texts=texts) for row in rows]


def _rounds(run: int, texts: bool) -> list[Round]:
    rows = Round.objects.filter(run=run).order_by("number")
    return list((rows if texts else rows.defer("candidate"))[:MOST_ROUNDS])


def _verdicts(rounds: tuple[int, ...]) -> list[Verdict]:
    return list(Verdict.objects.filter(round__in=rounds).order_by("-position"))


def step_of(
    run: Run, row: Round, verdict: Verdict | None, names: Mapping[str, str], *, texts: bool = True
) -> Step:
    feedback = row.feedback or {}
    asked_by = feedback.get("from_round")
    took_over = run.escalated_after
    return Step(
        number=row.number,
        text=row.candidate if texts else "",
        base=row.base_round,
        asked_by=asked_by,
        told=frozenset(told_in(feedback)),
        composite=row.composite,
        scores={key: Decimal(score) for key, score in (row.scores or {}).items()},
        items=items_of(row.number, verdict, names) if verdict else (),
        other_judge=bool(took_over and asked_by and asked_by <= took_over < row.number),
    )


def told_in(feedback: Mapping[str, Any]) -> list[str]:
    """The unchanged feedback that the writer got."""
    texts = [*feedback.get("issues", ()), feedback.get("asi", ""), *feedback.get("failure_texts", ())]
    return [str(text).strip() for text in texts if str(text).strip()]


def items_of(number: int, verdict: Verdict, names: Mapping[str, str]) -> tuple[Item, ...]:
    items = [Item(number, ISSUE, place, str(text)) for place, text in enumerate(verdict.issues)]
    items += [Item(number, SUGGESTION, 0, verdict.asi)] if verdict.asi.strip() else []
    for place, entry in enumerate(verdict.scores):
        key, text = str(entry["key"]), str(entry.get("improvement", ""))
        items += [Item(number, IMPROVEMENT, place, text, key, names.get(key, key))] if text.strip() else []
    return tuple(items)


# --- growth ---------------------------------------------------------------------------------------
def growth_values(run: Run, rubric: Rubric, steps: Sequence[Step]) -> dict[str, Any]:
    """How the best text differs from the first; empty unless there are two."""
    best = next((step for step in steps if step.number == run.best_round), None)
    first = next((step for step in steps if step.judged), None)
    if first is None or best is None or first.number >= best.number:
        return {}
    said = [text for criterion in rubric.criteria for text in (criterion.description, criterion.ideal)]
    found = growth(first.text, best.text, rubric=said, task=run.task)
    return {
        **{name: value for name, value in asdict(found).items() if name != "echoed"},
        "first": first.number,
        "best": best.number,
        "echoed": list(found.echoed[:MOST_ECHOED]),
        "echoed_count": len(found.echoed),
        "grew": found.grew,
        "echoes": found.echoes,
    }


# --- a rubric's counts ----------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Followed:
    """How much of a kind of feedback was followed, and how often the score rose with it."""

    count: int
    followed: int
    raised: int

    @property
    def share(self) -> int:
        return round(100 * self.followed / self.count)

    @property
    def raised_share(self) -> int:
        return round(100 * self.raised / self.followed) if self.followed else 0

    @property
    def is_few(self) -> bool:
        """Whether too little was followed to tell if that raises the score."""
        return self.followed < FEW_FOLLOWED


@dataclass(frozen=True, slots=True)
class RubricCounts:
    """Of the rubric's newest runs."""

    suggestions: Followed | None
    items: Followed
    runs: int

    @property
    def runs_words(self) -> str:
        if self.runs >= COUNTED_RUNS:
            return f"newest {COUNTED_RUNS:,} runs"
        return f"{self.runs:,} run{'' if self.runs == 1 else 's'}"


def rubric_counts(rubric: int, *, hidden: Collection[int] = ()) -> RubricCounts | None:
    """What became of the feedback in the rubric's newest runs; None if there was none. One query.

    `hidden` runs are left out: the user scores them blind.
    """
    names = [name.name for name in RunLedger._meta.get_fields() if name.name.startswith(("sugg", "items"))]
    rows = RunLedger.objects.filter(rubric=rubric).exclude(run__in=hidden)
    newest = rows.order_by("-run_id")[:COUNTED_RUNS]
    found = newest.aggregate(runs=Count("run_id"), **{name: Sum(name) for name in names})
    if not found["items"]:
        return None
    suggested, every = (
        Followed(found[name], found[f"{name}_followed"], found[f"{name}_raised"])
        for name in ("suggestions", "items")
    )
    return RubricCounts(suggested if suggested.count else None, every, found["runs"])
