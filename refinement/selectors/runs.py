"""A page of a project's runs: in any order, by key and never by counting, with what each line shows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from refinement.charts import Sparkline, sparkline
from refinement.models import Project, Run, RunTag
from refinement.selectors.blindness import hidden_runs, without_hidden
from refinement.selectors.run_conditions import Among, Matching
from refinement.selectors.run_filters import RunFilters, runs_matching
from refinement.selectors.run_orders import NEWEST, Order, Place
from refinement.selectors.run_search import LAST_RUN, Found, search
from refinement.selectors.run_steps import Key, Step, step

PAGE_SIZE = 25
# The first answer comes soon. Whoever looks further, with script or without, is there in fewer steps.
FURTHER_STRIDES = 25
# How many of a search's finds are looked at for one page, and how many are put into another order.
SEARCH_WINDOW = 300
SPARE_FINDS = 2  # times a page's runs; without a filter, only those in the archive are left out
SORTED_HITS = 1_000
MOST_TAGS_SHOWN = 4
MOST_POINTS = 60
SHOWN_FIELDS = (
    *("title", "status", "outcome", "stop_reason", "why", "producer_model", "judge_model", "kinship"),
    *("r1", "best", "best_round", "improvement", "trajectory", "rounds_judged", "model_seconds"),
    *("signal_rounds", "penalty_rounds", "cut_rounds", "prompt_tokens", "completion_tokens"),
    *("created_at", "archived_at", "waiting_for", "next_try_at", "started_at", "finished_at", "batch"),
    *("decision", "chosen_round", "source", "last", "calls_made", "producer_endpoint", "judge_endpoint"),
    *("rubric__name", "rubric__slug", "rubric_version__number", "created_by__name", "created_by__email"),
    *("rubric_version__scale_minimum", "rubric_version__scale_maximum"),
)


@dataclass(frozen=True, slots=True)
class Listed:
    """A line of the list."""

    run: Run
    line: Sparkline | None
    tags: list[str]  # those that there is room for
    more_tags: int
    all_tags: list[str]


@dataclass(slots=True)
class RunsPage:
    """The lines, and the places at which the next and the previous page begin."""

    lines: list[Listed] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    following: Place | None = None
    previous: Place | None = None
    looked_through: bool = True  # False: further runs were not looked at yet; the next page begins with them
    only_newest_sorted: bool = False


def runs_page(
    project: Project,
    filters: RunFilters,
    *,
    order: Order = NEWEST,
    upwards: bool = False,
    place: Place | None = None,
    size: int | None = None,
    strides: int | None = 1,
) -> RunsPage:
    """A page of the project's runs. Runs that are added meanwhile move nothing on it."""
    page = runs_place(project, filters, order=order, upwards=upwards, place=place, size=size, strides=strides)
    page.lines = listed(page.numbers)
    return page


def runs_place(
    project: Project,
    filters: RunFilters,
    *,
    order: Order = NEWEST,
    upwards: bool = False,
    place: Place | None = None,
    size: int | None = None,
    strides: int | None = 1,
) -> RunsPage:
    """The same page without its lines: the numbers of its runs, and where others begin.

    It may have fewer than there is room for, or none, though the list goes on: what was not looked at yet
    begins at the next place. More strides lead farther, and None to the end, but for the words of a search.
    """
    size = size or PAGE_SIZE
    page, backwards = RunsPage(), place is not None and place.backwards
    rising = upwards != backwards
    # The way back leads past what was looked at before: nobody is asked there whether to look further.
    strides = None if backwards else strides
    reached = _reached(project, filters, order, place, rising=rising, limit=size + 1, strides=strides)
    keys = reached.keys
    if backwards and len(keys) <= size:
        # The way back leads to the very beginning, as a whole page.
        return runs_place(project, filters, order=order, upwards=upwards, size=size, strides=None)
    shown, more = keys[:size], len(keys) > size
    if backwards:
        shown.reverse()
    _set_places(page, shown, order, place, more=more)
    page.only_newest_sorted = reached.only_newest
    if reached.resume is not None and not more:
        page.following, page.looked_through = reached.resume, False
    page.numbers = [number for number, _ in shown]
    return page


def runs_place_filled(
    project: Project,
    filters: RunFilters,
    *,
    order: Order,
    upwards: bool,
    place: Place | None,
    size: int,
) -> RunsPage:
    """The same for whoever does not watch: a page that stopped short of being full takes a long step more."""
    page = runs_place(project, filters, order=order, upwards=upwards, place=place, size=size)
    left = size - len(page.numbers)
    if page.looked_through or filters.words or not left:
        return page
    more = runs_place(
        project,
        filters,
        order=order,
        upwards=upwards,
        place=page.following,
        size=left,
        strides=FURTHER_STRIDES,
    )
    page.numbers += more.numbers
    page.following, page.looked_through = more.following, more.looked_through
    return page


def _reached(
    project: Project,
    filters: RunFilters,
    order: Order,
    place: Place | None,
    *,
    rising: bool,
    limit: int,
    strides: int | None,
) -> Step:
    """The runs from the place on, so many at most."""
    matching = runs_matching(project, filters, ordered_by=order.column)
    if not filters.words:
        return step(matching, order, place, rising=rising, limit=limit, strides=strides)
    for window in _windows(filters, order, limit - 1):
        found = _found(project, filters.words, order, place, rising, limit=window)
        among = Matching(matching.runs.filter(Among(found.numbers)))
        keys = step(among, order, place, rising=rising, limit=limit, strides=None).keys
        if len(keys) == limit or len(found.numbers) < window:
            break
    if found.resume is None:
        return Step(keys)
    return Step(keys, Place(found.resume)) if order is NEWEST else Step(keys, only_newest=True)


def _windows(filters: RunFilters, order: Order, size: int) -> tuple[int, ...]:
    """How many of a search's finds to look at, and how many if these do not fill the page."""
    if order is not NEWEST:
        return (SORTED_HITS,)
    few = SPARE_FINDS * size
    by_words_alone = filters == RunFilters(words=filters.words)
    return (few, SEARCH_WINDOW) if by_words_alone and few < SEARCH_WINDOW else (SEARCH_WINDOW,)


def _found(
    project: Project, words: str, order: Order, place: Place | None, rising: bool, *, limit: int
) -> Found:
    """A search's finds nearest to the place; in an order of another kind, its newest."""
    if order is not NEWEST:
        return search(project, words, limit=limit)
    above = place.number if place and rising else 0
    below = place.number if place and not rising else LAST_RUN
    return search(project, words, limit=limit, above=above, below=below, oldest_first=rising)


def _set_places(page: RunsPage, shown: list[Key], order: Order, place: Place | None, *, more: bool) -> None:
    """A run more than the page holds tells that the list goes on in the direction of reading."""
    if not shown:
        return
    backwards = place is not None and place.backwards

    def at(key: Key, back: bool) -> Place:
        return Place(key[0], None if order is NEWEST else key[1], back)

    if more or backwards:
        page.following = at(shown[-1], False)
    if place is not None:
        page.previous = at(shown[0], True)


def listed(numbers: Sequence[int]) -> list[Listed]:
    """These runs as lines, in this order, without their texts."""
    hidden = hidden_runs()
    shown = tuple(dict.fromkeys(number for number in numbers if number not in hidden))
    found = {run.pk: run for run in _with_shown_fields(shown)}
    tags = run_tags(shown)
    return [_line(found[number], tags.get(number, [])) for number in shown if number in found]


def _with_shown_fields(numbers: tuple[int, ...]) -> list[Run]:
    rows = Run.objects.select_related("rubric", "rubric_version", "created_by").only(*SHOWN_FIELDS)
    return list(rows.filter(pk__in=numbers).order_by())


def run_tags(numbers: Sequence[int]) -> dict[int, list[str]]:
    """The runs' tags by number, each run's in their order."""
    tags: dict[int, list[str]] = {}
    for number, name in _tags_of(tuple(numbers)):
        tags.setdefault(number, []).append(name)
    return tags


def _tags_of(numbers: tuple[int, ...]) -> list[tuple[int, str]]:
    return list(RunTag.objects.filter(run__in=numbers).order_by("name").values_list("run_id", "name"))


def run_values(numbers: Sequence[int], columns: Sequence[str]) -> Iterable[tuple[Any, ...]]:
    """These columns of the runs that are shown, in no order."""
    return without_hidden(Run.objects.filter(pk__in=list(numbers)).order_by()).values_list(*columns)


def _line(run: Run, tags: list[str]) -> Listed:
    version = run.rubric_version
    scores = [Decimal(score) for score in run.trajectory[:MOST_POINTS]]
    return Listed(
        run=run,
        line=_drawn(scores, version.scale_minimum, version.scale_maximum) if len(scores) > 1 else None,
        tags=tags[:MOST_TAGS_SHOWN],
        more_tags=max(0, len(tags) - MOST_TAGS_SHOWN),
        all_tags=tags,
    )


def _drawn(scores: list[Decimal], bottom: Decimal, top: Decimal) -> Sparkline | None:
    """The same height means the same share of the scale, or of its upper half where all scores are in it."""
    middle = (bottom + top) / 2
    return sparkline(scores, low=middle if min(scores) >= middle else bottom, high=top)
