"""Runs side by side: who judged them, and their results: the rounds that people chose, or the best ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import F, Q
from django.db.models.functions import MD5, Left
from django.utils.safestring import SafeString

from refinement.engine.codec import rubric_from_json
from refinement.engine.sentences import round_name
from refinement.engine.types import Rubric
from refinement.models import PanelJudge, Project, Round, Run
from refinement.rendering import markdown
from refinement.selectors.reviews.blindness import shown_runs
from refinement.selectors.reviews.people_gap import PeopleGap, people_gaps
from refinement.selectors.runs.boards.rounds import has_panel
from refinement.selectors.score_words import DECIMALS_OF_RUN
from refinement.selectors.trust.gate import unproven_passes

FEWEST, MOST = 2, 5
DIFF_CHARS = 200_000  # per text; longer texts are compared up to here, and the page says so
SHOWN_CHARS = 20_000  # of a result; the full text is a download
CHOICE = 30


@dataclass(frozen=True, slots=True)
class Side:
    """A compared run. `slot` is its chart colour, `best` the start of its result."""

    run: Run
    rubric: Rubric
    slot: int
    best: str = ""
    best_chars: int = 0
    digest: str = ""  # of the result, to tell whether two are the same
    composite: Decimal | None = None  # of the result
    scores: Mapping[str, str] | None = None  # of the result, by criterion
    spread: Mapping[str, str] | None = None  # of its board, by criterion
    panel: tuple[str, ...] = ()  # its board as texts, by seat
    people: PeopleGap | None = None  # people's scores of the result
    unproven: str = ""  # why its PASS does not count in gates; empty if it does

    @property
    def judges(self) -> str:
        """Who scored the run: a board, a single judge, or one after the other."""
        single = f"{self.run.judge_model} at {self.run.judge_endpoint}"
        if not has_panel(self.run, self.rubric.judges.mode):
            return f"Single judge: {single}"
        seats = ", ".join(self.panel) or "composed by the clerk"
        board = f"Board of {len(self.panel)}: {seats}" if self.panel else f"Board: {seats}"
        if not self.run.escalated_after:
            return board
        after = round_name(self.run.escalated_after)
        return f"Single judge: {single}. After {after} {board[0].lower()}{board[1:]}"

    @property
    def judges_in_brief(self) -> str:
        """The same in a few words."""
        if not has_panel(self.run, self.rubric.judges.mode):
            return self.run.judge_model or "a single judge"
        board = f"a board of {len(self.panel)}" if self.panel else "a board"
        return f"{self.run.judge_model}, then {board}" if self.run.escalated_after else board

    @property
    def score(self) -> Decimal | None:
        """Of the result: the round that people chose, or else the best one."""
        return self.run.best if self.composite is None else self.composite

    @property
    def best_name(self) -> str:
        number = result_number(self.run)
        if number is None:
            return ""
        return round_name(number) + (", chosen by people" if number != self.run.best_round else "")

    @property
    def rendered(self) -> SafeString | None:
        """The result as HTML; None if it is too long."""
        return markdown(self.best)

    @property
    def is_cut(self) -> bool:
        return self.best_chars > len(self.best)

    @property
    def composites(self) -> list[Decimal]:
        return [Decimal(value) for value in self.run.trajectory]


def sides_of(project: Project, numbers: Sequence[int]) -> list[Side]:
    """The project's runs with these numbers, in this order. Unknown numbers are left out."""
    runs = shown_runs(project).filter(pk__in=numbers)
    found = {run.pk: run for run in runs.select_related("rubric", "rubric_version", "created_by")}
    rows = [found[number] for number in numbers if number in found]
    bests, panels, gaps = _bests(rows), _panels(rows), people_gaps([run.pk for run in rows])
    unproven = unproven_passes(rows, project)
    return [
        Side(
            run,
            rubric_from_json(run.snapshot),
            slot,
            **bests.get(run.pk, {}),
            panel=tuple(panels.get(run.pk, ())),
            people=gaps.get(run.pk),
            unproven=unproven.get(run.pk, ""),
        )
        for slot, run in enumerate(rows, start=1)
    ]


def _bests(runs: Sequence[Run]) -> Mapping[int, dict[str, Any]]:
    """The start of each run's result, and its scores."""
    rounds = Round.objects.filter(_best_of(runs)).annotate(
        start=Left("candidate", SHOWN_CHARS), digest=MD5("candidate")
    )
    columns = ("run", "start", "candidate_chars", "digest", "composite", "scores", "spread")
    names = ("best", "best_chars", "digest", "composite", "scores", "spread")
    return {run: dict(zip(names, values, strict=True)) for run, *values in rounds.values_list(*columns)}


def _panels(runs: Sequence[Run]) -> Mapping[int, list[str]]:
    """The judges of each run's board, with their models."""
    found: dict[int, list[str]] = {}
    for judge in PanelJudge.objects.filter(run__in=runs).order_by("run_id", "seat"):
        found.setdefault(judge.run_id, []).append(f"{judge.name} ({judge.model} at {judge.endpoint})")
    return found


def differing_judges(sides: Sequence[Side]) -> str:
    """A warning if a board scored one of the runs and somebody else another; empty otherwise."""
    boards = [side for side in sides if has_panel(side.run, side.rubric.judges.mode)]
    if not boards or len({side.judges for side in sides}) == 1:
        return ""
    said = ", ".join(f"run {side.run.pk} by {side.judges_in_brief}" for side in sides)
    return f"Scored by different judges: {said}. A difference in scores can come from the judges."


def baseline_first(sides: Sequence[Side], number: int) -> list[Side]:
    """The sides with this run's first; the others keep their order, and each its colour."""
    return sorted(sides, key=lambda side: side.run.pk != number)


def same_texts(sides: Sequence[Side]) -> list[list[Side]]:
    """Groups of two or more runs whose results are the same text."""
    groups: dict[str, list[Side]] = {}
    for side in sides:
        if side.digest:
            groups.setdefault(side.digest, []).append(side)
    return [group for group in groups.values() if len(group) > 1]


def best_texts(first: Run, second: Run, most: int) -> tuple[str, str]:
    """The results of two runs, cut at `most` characters; empty if no round is judged."""
    rounds = Round.objects.filter(_best_of([first, second])).annotate(text=Left(F("candidate"), most))
    texts = dict(rounds.values_list("run", "text"))
    return texts.get(first.pk, ""), texts.get(second.pk, "")


def _best_of(runs: Sequence[Run]) -> Q:
    places = [Q(run=run, number=number) for run in runs if (number := result_number(run))]
    return Q(*places, _connector=Q.OR) if places else Q(pk__isnull=True)


def result_number(run: Run) -> int | None:
    """The round that people chose, or else the best one."""
    return run.chosen_round or run.best_round


def latest_runs(project: Project, chosen: Sequence[int]) -> list[Run]:
    """The newest runs to choose from, plus those already chosen."""
    rows = shown_runs(project).select_related("rubric", "rubric_version", "created_by")
    brief = rows.only(
        "title", "source", "status", "outcome", "stop_reason", "best", "rounds_judged", "created_at",
        "project_id", "producer_model", "judge_model", "rubric__name", "rubric_version__number",
        "created_by__name", "created_by__email",
    ).annotate(decimals=DECIMALS_OF_RUN)  # fmt: skip
    newest = brief.filter(archived_at__isnull=True).order_by("-pk")[:CHOICE]
    picked = brief.filter(pk__in=chosen).order_by("-pk")
    return list({run.pk: run for run in (*picked, *newest)}.values())
