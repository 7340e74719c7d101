"""A page of a project's runs, sorted, with keyset pagination."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from time import monotonic
from typing import Any, TypeAlias

from django.db.models import F, OrderBy, OuterRef, QuerySet, Subquery

from refinement.charts import Sparkline, sparkline
from refinement.models import Configuration, Project, Round, Run, RunTag
from refinement.selectors.reviews.blindness import hidden_runs, without_hidden
from refinement.selectors.runs.listing.filters import RunFilters, runs_matching, without_unscored
from refinement.selectors.runs.listing.orders import NEWEST, Order, Place, beyond
from refinement.selectors.runs.listing.search import LAST_RUN, search
from refinement.selectors.runs.noise import NOISE_FIELDS
from refinement.selectors.score_words import composite_text

PAGE_SIZE = 25
SEARCH_SECONDS = 0.03  # after which a search returns partial results
SEARCH_BATCH = 300  # matches filtered at a time
SORTED_HITS = 1_000  # matches sorted when the order is not newest first
MOST_TAGS_SHOWN = 4
MOST_POINTS = 60
USUAL_TOP = 10  # of a scale
Key: TypeAlias = tuple[int, Any]
SHOWN_FIELDS = (
    *("title", "task_type", "status", "outcome", "stop_reason", "why"),
    *("producer_model", "judge_model", "kinship"),
    *("r1", "best", "best_round", "improvement", "trajectory", "rounds_judged", "model_seconds", "cost"),
    *("signal_rounds", "penalty_rounds", "cut_rounds", "prompt_tokens", "completion_tokens"),
    *("created_at", "archived_at", "started_at", "finished_at", "batch", "experiment_id"),
    *("waiting_for", "waiting_endpoint", "next_try_at"),
    *("decision", "chosen_round", "source", "last", "calls_made", "producer_endpoint", "judge_endpoint"),
    *("rubric__name", "rubric__slug", "rubric_version__number", "created_by__name", "created_by__email"),
    *NOISE_FIELDS,
    *("rubric_version__scale_minimum", "rubric_version__scale_maximum", "plateau_asked"),
)
CHOSEN = Round.objects.filter(run=OuterRef("pk"), number=OuterRef("chosen_round"))
# Of the run's own copy of the rubric, which a launch can change.
SNAPSHOT_VALUES = {
    "shown_pass_mark": F("snapshot__policy__pass_threshold"),
    "shown_decimals": F("snapshot__policy__composite_decimals"),
    "shown_judges": F("snapshot__judges__mode"),
    "chosen_score": Subquery(CHOSEN.values("composite")[:1]),
}
EXPERIMENT_VALUES = {
    "shown_experiment": F("experiment__name"),
    "shown_configuration": F("experiment_run__configuration__name"),
    "shown_letter": F("experiment_run__configuration__position"),
}


@dataclass(frozen=True, slots=True)
class Listed:
    """A list row."""

    run: Run
    line: Sparkline | None
    tags: list[str]  # as many as fit
    more_tags: int
    all_tags: list[str]
    pass_mark: Decimal | None = None
    decimals: int | None = None  # of composites
    judges: str = ""  # who judges by the rubric: single, board or auto
    experiment: str = ""  # its name
    configuration: str = ""  # its letter and name
    chosen_score: Decimal | None = None  # of the round that people chose, if it is not the best one

    @property
    def chosen_words(self) -> str:
        """That people chose another round than the best one, with its score; empty if they did not."""
        if self.run.chosen_round in (None, self.run.best_round):
            return ""
        score = "" if self.chosen_score is None else f": {composite_text(self.chosen_score, self.decimals)}"
        return f"People chose round {self.run.chosen_round}{score}"

    @property
    def is_chosen_below_mark(self) -> bool:
        """Whether people chose a round that is below the pass mark."""
        if not self.chosen_words or self.chosen_score is None or self.pass_mark is None:
            return False
        return self.chosen_score < self.pass_mark

    @property
    def scale_words(self) -> str:
        """The end of the scale, if it is not the usual 10."""
        top = self.run.rubric_version.scale_maximum
        return "" if top == USUAL_TOP else f"of {top.normalize():f}"


@dataclass(slots=True)
class RunsPage:
    """The rows, and where the next and the previous page start."""

    lines: list[Listed] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    following: Place | None = None
    previous: Place | None = None
    search_stopped: bool = False  # the search timed out: `following` continues it
    only_newest_sorted: bool = False  # more matches than were sorted


def runs_page(
    project: Project,
    filters: RunFilters,
    *,
    order: Order = NEWEST,
    upwards: bool = False,
    place: Place | None = None,
    size: int | None = None,
) -> RunsPage:
    """A page of the project's runs. Runs created later do not shift it."""
    page = runs_place(project, filters, order=order, upwards=upwards, place=place, size=size)
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
) -> RunsPage:
    """The page without its rows: run numbers, and where other pages start."""
    size = size or PAGE_SIZE
    page, backwards = RunsPage(), place is not None and place.backwards
    rising = upwards != backwards
    runs = runs_matching(project, filters)
    if order.name in ("outcome", "rubric") and getattr(filters, order.name):
        order = replace(order, pinned=True)
    if order.column == "people_gap":
        runs = without_unscored(runs, filters.reader)
    if filters.words:
        keys = _found_keys(page, project, filters.words, runs, order, place, rising=rising, limit=size + 1)
    else:
        keys = _keys(runs, order, place, rising=rising, limit=size + 1)
    if backwards and len(keys) <= size and not page.search_stopped:
        # Paging back reached the start: show a full first page.
        return runs_place(project, filters, order=order, upwards=upwards, size=size)
    shown, more = keys[:size], len(keys) > size
    if backwards:
        shown.reverse()
    if more:
        page.following, page.search_stopped = None, False
    _set_places(page, shown, order, place, more=more)
    page.numbers = [number for number, _ in shown]
    return page


def _keys(runs: QuerySet[Run], order: Order, place: Place | None, *, rising: bool, limit: int) -> list[Key]:
    """Number and sort key of the first runs after the place."""
    if order.scored:
        runs = runs.filter(**{f"{order.column}__isnull": False})
    if place is not None:
        runs = beyond(runs, order, place, rising=rising)
    ends = [F("pk")] if order is NEWEST or order.pinned else [order.expression, F("pk")]
    ordered = runs.order_by(*(OrderBy(end, descending=not rising) for end in ends))
    return list(ordered.values_list("pk", order.expression)[:limit])


def _found_keys(
    page: RunsPage,
    project: Project,
    words: str,
    runs: QuerySet[Run],
    order: Order,
    place: Place | None,
    *,
    rising: bool,
    limit: int,
) -> list[Key]:
    """Like `_keys`, among the search results, within the search's time limit."""
    if order is not NEWEST:
        found = search(project, words, limit=SORTED_HITS, seconds=SEARCH_SECONDS)
        page.only_newest_sorted = found.resume is not None
        return _keys(runs.filter(pk__in=found.numbers), order, place, rising=rising, limit=limit)
    keys: list[Key] = []
    until = monotonic() + SEARCH_SECONDS
    above = place.number if place and rising else 0
    below = place.number if place and not rising else LAST_RUN
    while True:
        left = until - monotonic()
        found = search(
            project, words, limit=SEARCH_BATCH, above=above, below=below, oldest_first=rising, seconds=left
        )
        among = runs.filter(pk__in=found.numbers)
        keys += _keys(among, order, None, rising=rising, limit=limit - len(keys))
        if found.resume is None or len(keys) == limit:
            return keys
        above, below = (found.resume, below) if rising else (above, found.resume)
        if monotonic() > until:
            page.search_stopped, page.following = True, Place(found.resume)
            return keys


def _set_places(page: RunsPage, shown: list[Key], order: Order, place: Place | None, *, more: bool) -> None:
    """One run more than the page holds means there is a next page."""
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
    """These runs as rows, in this order, without their texts."""
    hidden = hidden_runs()
    shown = tuple(dict.fromkeys(number for number in numbers if number not in hidden))
    found = {run.pk: run for run in _with_shown_fields(shown)}
    tags = run_tags(shown)
    return [_line(found[number], tags.get(number, [])) for number in shown if number in found]


def _with_shown_fields(numbers: tuple[int, ...]) -> list[Run]:
    rows = Run.objects.select_related("rubric", "rubric_version", "created_by").only(*SHOWN_FIELDS)
    return list(rows.filter(pk__in=numbers).annotate(**SNAPSHOT_VALUES, **EXPERIMENT_VALUES).order_by())


def run_tags(numbers: Sequence[int]) -> dict[int, list[str]]:
    """The runs' tags by run number."""
    tags: dict[int, list[str]] = {}
    for number, name in _tags_of(tuple(numbers)):
        tags.setdefault(number, []).append(name)
    return tags


def _tags_of(numbers: tuple[int, ...]) -> list[tuple[int, str]]:
    return list(RunTag.objects.filter(run__in=numbers).order_by("name").values_list("run_id", "name"))


def run_values(numbers: Sequence[int], columns: Sequence[str]) -> Iterable[tuple[Any, ...]]:
    """These columns of the runs, unordered."""
    return without_hidden(Run.objects.filter(pk__in=list(numbers)).order_by()).values_list(*columns)


def _line(run: Run, tags: list[str]) -> Listed:
    version = run.rubric_version
    scores = [Decimal(score) for score in run.trajectory[:MOST_POINTS]]
    mark = getattr(run, "shown_pass_mark", None)
    return Listed(
        run=run,
        line=_drawn(scores, version.scale_minimum, version.scale_maximum) if len(scores) > 1 else None,
        tags=tags[:MOST_TAGS_SHOWN],
        more_tags=max(0, len(tags) - MOST_TAGS_SHOWN),
        all_tags=tags,
        pass_mark=None if mark is None else Decimal(str(mark)),
        decimals=getattr(run, "shown_decimals", None),
        judges=getattr(run, "shown_judges", None) or "",
        experiment=getattr(run, "shown_experiment", None) or "",
        configuration=_configuration(run),
        chosen_score=getattr(run, "chosen_score", None),
    )


def _configuration(run: Run) -> str:
    """The letter and the name of its configuration in its experiment."""
    position = getattr(run, "shown_letter", None)
    if position is None:
        return ""
    return f"{Configuration(position=position).letter} {getattr(run, 'shown_configuration', '')}"


def _drawn(scores: list[Decimal], bottom: Decimal, top: Decimal) -> Sparkline | None:
    """Sparkline points, scaled to the full scale, or to its upper half if all scores are in it."""
    middle = (bottom + top) / 2
    return sparkline(scores, low=middle if min(scores) >= middle else bottom, high=top)
