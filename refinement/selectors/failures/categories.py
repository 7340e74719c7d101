"""Figures of each category in a window of runs: issues, runs, trend, scores, and what revisions fixed."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from refinement.models import FailureCategory, FailureIssue, FailureSuggestion, Project
from refinement.selectors.failures.criteria import CriterionFigures
from refinement.selectors.failures.window import WEEKS, Window, weeks_before
from refinement.selectors.failures.wording import worded_visibly

CHANGED = 1.3  # the later half against the earlier one, from which a trend rises or falls
FEWEST_FOR_TREND = 8
SUGGESTIONS = 3
RISING, FALLING, STEADY, UNKNOWN = "rising", "falling", "steady", "unknown"
ORDERS = {
    "share": "Share of runs",
    "rising": "Rising first",
    "unfixed": "Raised again most often",
    "score": "Lowest score",
}


class Seen(NamedTuple):
    """An issue as far as the figures need it."""

    category: int | None
    run: int
    number: int
    following: int | None
    again: bool
    score: float | None


@dataclass(slots=True)
class CategoryFigures:
    """A category in the window; that without a row is "does not fit anywhere"."""

    row: FailureCategory | None
    criterion: str = ""
    slot: int = 0
    issues: int = 0
    runs: set[int] = field(default_factory=set)
    among: set[int] = field(default_factory=set)  # the runs that scored its criterion; else all
    of_all: bool = False  # whether the share is of all runs, as none scored its criterion
    share: float = 0.0
    weeks: list[float | None] = field(default_factory=lambda: [None] * WEEKS)  # share of each week's runs
    trend: str = UNKNOWN
    score: float | None = None
    followed: int = 0  # issues with a judged round after them
    fixed: int = 0  # not raised in that round
    came_back: int = 0  # of the fixed ones, raised in a later round
    merged: int = 0  # other categories that count here

    @property
    def name(self) -> str:
        return self.row.shown_name if self.row else "Does not fit anywhere"

    @property
    def scored(self) -> int:
        return len(self.among)

    @property
    def having(self) -> int:
        """How many of the runs that its share is of have it."""
        return len(self.runs & self.among)

    @property
    def elsewhere(self) -> int:
        """How many runs have it without a score on its criterion, so that the share leaves them out."""
        return len(self.runs) - self.having

    @property
    def fixed_share(self) -> float | None:
        return self.fixed / self.followed if self.followed else None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Two categories that people may want to merge, and how often they occur together."""

    pk: int
    first: CategoryFigures
    second: CategoryFigures
    together: int
    either: int


@dataclass(frozen=True, slots=True)
class Categories:
    """The categories of a window, and the bucket for what fits nowhere."""

    listed: list[CategoryFigures]
    dismissed: list[CategoryFigures]  # no issue for people; not listed
    rest: CategoryFigures
    suggestions: list[Suggestion]
    issues: int

    @property
    def sorted_issues(self) -> int:
        return self.issues - self.rest.issues - sum(entry.issues for entry in self.dismissed)

    def of(self, pk: int) -> CategoryFigures | None:
        return next((entry for entry in self.listed if entry.row and entry.row.pk == pk), None)


def categories_of(
    project: Project,
    window: Window,
    now: datetime,
    criteria: Sequence[CriterionFigures],
    *,
    order: str = "share",
    criterion: str = "",
) -> Categories:
    """The categories with issues in the window. Pinned ones come first.

    Shares are of the runs that scored the category's criterion, as `criteria` counts them.

    Three queries, four while runs are hidden.
    """
    rows = {row.pk: row for row in FailureCategory.objects.filter(project=project).defer("examples")}
    worded_visibly(rows.values())
    seen = issues_seen(window, {pk: row.merged_into_id or pk for pk, row in rows.items()})
    found: dict[int | None, CategoryFigures] = {None: CategoryFigures(None)}
    for pk, row in rows.items():
        if row.merged_into_id is None:
            slot = window.slot_of(row.criterion)
            found[pk] = CategoryFigures(row, window.name_of(row.criterion), slot)
        elif row.merged_into_id in rows:
            found.setdefault(row.merged_into_id, CategoryFigures(rows[row.merged_into_id])).merged += 1
    fill(found, seen, window, now, {entry.key: entry.scored_by for entry in criteria})
    suggestions = suggestions_of(project, found) if not criterion else []
    listed = [
        entry
        for pk, entry in found.items()
        if pk is not None
        and entry.issues
        and (not criterion or (entry.row and entry.row.criterion == criterion))
    ]
    listed.sort(key=lambda entry: (not (entry.row and entry.row.pinned), *sort_key(entry, order)))
    dismissed = [entry for entry in listed if is_dismissed(entry)]
    listed = [entry for entry in listed if not is_dismissed(entry)]
    return Categories(listed, dismissed, found[None], suggestions, len(seen))


def is_dismissed(entry: CategoryFigures) -> bool:
    return bool(entry.row and entry.row.dismissed)


def issues_seen(window: Window, targets: dict[int, int]) -> list[Seen]:
    """The window's issues, each with the category that it counts for."""
    rows = FailureIssue.objects.filter(run__in=window.numbers).order_by()
    values = rows.values_list("category_id", "run_id", "round_number", "next_round", "again", "score")
    return [
        Seen(targets.get(category) if category else None, run, number, following, again, score)
        for category, run, number, following, again, score in values
    ]


def fill(
    found: dict[int | None, CategoryFigures],
    seen: Iterable[Seen],
    window: Window,
    now: datetime,
    scoring: Mapping[str, set[int]],
) -> None:
    """Counts the issues, and what share of the runs that scored their criterion has them.

    The next round fixed an issue if it has none of the same category, and none in nearly the same words.
    """
    seen = list(seen)
    raised = {(entry.run, entry.number, entry.category) for entry in seen if entry.category}
    last: dict[tuple[int, int], int] = {}
    for run, number, category in raised:
        last[run, category] = max(number, last.get((run, category), 0))
    scores: dict[int | None, list[float]] = defaultdict(list)
    for entry in seen:
        figures = found.get(entry.category) or found[None]
        figures.issues += 1
        figures.runs.add(entry.run)
        if entry.score is not None:
            scores[entry.category].append(entry.score)
        if entry.following is not None:
            figures.followed += 1
            later = (entry.run, entry.following, entry.category)
            fixed = not entry.again and later not in raised
            figures.fixed += fixed
            if fixed and entry.category:
                figures.came_back += last[entry.run, entry.category] > entry.following
    starts = weeks_before(now)
    weeks = {run.pk: week_of(run.created_at, starts) for run in window.runs}
    for pk, figures in found.items():
        if not figures.issues:
            continue
        values = scores.get(pk)
        figures.score = sum(values) / len(values) if values else None
        criterion = figures.row.criterion if figures.row else ""
        figures.of_all = criterion not in scoring
        figures.among = scored = set(window.numbers) if figures.of_all else scoring[criterion]
        figures.share = figures.having / len(scored)
        counts, totals = by_week(figures.runs & scored, weeks), by_week(scored, weeks)
        figures.weeks = [
            count / total if total else None for count, total in zip(counts, totals, strict=True)
        ]
        figures.trend = trend_of(counts, totals)


def by_week(runs: Iterable[int], weeks: Mapping[int, int | None]) -> list[int]:
    """How many of the runs each week has."""
    counts = Counter(weeks.get(run) for run in runs)
    return [counts[week] for week in range(WEEKS)]


def week_of(moment: datetime, starts: list[datetime]) -> int | None:
    days = (moment - starts[0]).total_seconds() / 86_400
    return min(WEEKS - 1, int(days // 7)) if days >= 0 else None


def trend_of(counts: list[int], totals: list[int]) -> str:
    """Whether the share of runs in the later half of the weeks differs clearly from the earlier one."""
    half = WEEKS // 2
    early, late = sum(counts[:half]), sum(counts[half:])
    before, after = sum(totals[:half]), sum(totals[half:])
    if early + late < FEWEST_FOR_TREND or min(before, after) < FEWEST_FOR_TREND:
        return UNKNOWN
    one, other = early / before, late / after
    # A difference that chance alone often makes is none.
    pooled = (early + late) / (before + after)
    spread = (pooled * (1 - pooled) * (1 / before + 1 / after)) ** 0.5
    if abs(other - one) < 1.96 * spread:
        return STEADY
    if other >= one * CHANGED:
        return RISING
    return FALLING if one >= other * CHANGED else STEADY


def sort_key(entry: CategoryFigures, order: str) -> tuple[float, ...]:
    usual = (-entry.having, -entry.issues, entry.row.pk if entry.row else 0)
    if order == "share":
        return (-entry.share, *usual)
    if order == "rising":
        return ((RISING, STEADY, UNKNOWN, FALLING).index(entry.trend), *usual)
    if order == "unfixed":
        return (2.0 if entry.fixed_share is None else entry.fixed_share, *usual)
    if order == "score":
        return (11.0 if entry.score is None else entry.score, *usual)
    return usual


def suggestions_of(project: Project, found: dict[int | None, CategoryFigures]) -> list[Suggestion]:
    """Open suggestions whose categories both occur in the window."""
    rows = FailureSuggestion.objects.filter(project=project, dismissed=False).order_by("-likeness", "pk")
    suggestions = []
    for row in rows[:20]:
        first, second = found.get(row.first_id), found.get(row.second_id)
        if first and second and first.issues and second.issues and first.row and second.row:
            if is_dismissed(first) or is_dismissed(second):
                continue
            together, either = len(first.runs & second.runs), len(first.runs | second.runs)
            suggestions.append(Suggestion(row.pk, first, second, together, either))
    return suggestions[:SUGGESTIONS]
