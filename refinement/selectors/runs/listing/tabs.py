"""Tabs of the run list: all runs, those in progress, one's own reviews, and saved views, with counts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from django.db.models import QuerySet

from refinement.models import Project, Run, SavedView
from refinement.selectors.runs.listing.filters import DISAGREE, UNDER_WAY, RunFilters, runs_matching

MOST_TABS = 5  # saved views shown as tabs; the others are in a menu
MOST_IN_TAB = 99
MOST_COUNTED = 10_000
COUNT_SECONDS = 0.015  # after which the remaining tabs have no count


@dataclass(frozen=True, slots=True)
class Tab:
    """A view of the list. `number` is its saved view's; the built-in ones have none."""

    name: str
    query: str
    count: str = ""
    number: int | None = None
    private: bool = False
    deletable: bool = False
    urgent: bool = False  # the count stands out


def tabs_of(
    project: Project,
    views: Sequence[SavedView],
    filters_in: Callable[[str], RunFilters],
    *,
    total: str,
    user: int,
    can_edit: bool,
) -> tuple[list[Tab], list[Tab]]:
    """The tabs, and the saved views that do not fit. One bounded query for each count."""
    until = monotonic() + COUNT_SECONDS
    everything, mine = RunFilters(), RunFilters(reviewer=user)
    far = counted(runs_matching(project, RunFilters(people=DISAGREE, reader=user)), MOST_IN_TAB)
    waiting = counted(runs_matching(project, mine), MOST_IN_TAB)
    going = counted(runs_matching(project, replace(everything, status=UNDER_WAY)), MOST_IN_TAB)
    tabs = [
        Tab("All", "", total),
        Tab("In progress", "status=active", going),
        Tab("For my review", "review=mine", waiting, urgent=waiting != "0"),
    ]
    if far != "0":
        tabs.append(Tab("People disagree", f"people={DISAGREE}", far))
    for view in views[:MOST_TABS]:
        filters = filters_in(view.query) if monotonic() < until else None
        count = counted(runs_matching(project, filters), MOST_IN_TAB) if filters and not filters.words else ""
        tabs.append(_saved(view, count, can_edit))
    return tabs, [_saved(view, "", can_edit) for view in views[MOST_TABS:]]


def _saved(view: SavedView, count: str, can_edit: bool) -> Tab:
    return Tab(view.name, view.query, count, view.pk, not view.shared, can_edit or not view.shared)


def counted(runs: QuerySet[Run], most: int) -> str:
    """How many there are, counted up to `most`."""
    found = runs.values("pk")[: most + 1].count()
    return f"{most:,}+" if found > most else f"{found:,}"
