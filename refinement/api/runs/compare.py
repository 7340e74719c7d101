"""Two to five runs side by side."""

from decimal import Decimal
from typing import Annotated

from django.http import Http404
from ninja import Field, Query, Router, Schema

from refinement.access.blindness import ReadsBlind
from refinement.api.core.auth import ApiRequest
from refinement.api.core.paging import LARGEST_NUMBER
from refinement.api.core.permissions import member
from refinement.api.runs.rounds import DiffPiece, diff_pieces
from refinement.api.runs.shapes import LINE, RunLine, Told, exact
from refinement.diffing import compared
from refinement.diffing.sides import folded
from refinement.selectors.compare.charts import Repeats, one_scale, repeats_of
from refinement.selectors.compare.runs import DIFF_CHARS, FEWEST, MOST, Side, best_texts, sides_of
from refinement.selectors.compare.settings import settings_compared
from refinement.selectors.rubrics.definitions import plain
from refinement.selectors.runs.diffs import bounded, shown_pieces
from refinement.selectors.runs.lists import run_tags

router = Router(tags=["Runs"])
Number = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]
DIGITS = Decimal("0.000001")


class CompareQuery(Schema):
    """The runs, and which two of them are compared word by word."""

    run: list[Number] = Field(
        min_length=FEWEST, max_length=MOST, description="Numbers of two to five runs.", examples=[[12, 13]]
    )
    a: Number | None = Field(None, description="The first of the two texts; else of the first run.")
    b: Number | None = Field(None, description="The second of the two texts; else of the second run.")


class ComparedRun(RunLine):
    """A run among those that are compared; `trajectory` has its composites."""

    scale: list[str] = Field(description="The lowest and the highest score.", examples=[["0", "10"]])
    pass_mark: str | None
    best_candidate: str = Field(description="The beginning of its best text.")
    best_chars: int = Field(description="How long that text is.")


class DifferingSetting(Schema):
    """A setting in which the runs differ; null is a run that does not have it."""

    group: str = Field(examples=["Launch"])
    label: str = Field(examples=["Judge"])
    values: list[str | None] = Field(description="One for each run, in their order.")


class BestsDiff(Schema):
    """The best texts of two runs, word by word, in the order of the second."""

    a: int
    b: int
    pieces: list[DiffPiece] = Field(description="Empty where one of them has no best text.")
    compared: bool = Field(description="False where the texts are too long, or one is missing.")
    cut: bool = Field(description="A text was longer than what is compared here.")
    missing: int = Field(description="Characters that are not shown here.")


class SpreadShape(Schema):
    """A figure over the finished runs of one launch."""

    label: str
    mean: str
    deviation: str = Field(description="That of a sample.")
    lowest: str
    highest: str


class RepeatsShape(Schema):
    """What the runs of one launch say together."""

    runs: list[int] = Field(description="Those of them that are compared here.")
    launched: int
    finished: int
    figures: list[SpreadShape]


class RunsCompared(Schema):
    """Runs side by side."""

    one_scale: bool = Field(description="Whether their scores can be compared as they are.")
    runs: list[ComparedRun]
    settings: list[DifferingSetting]
    same_settings: int = Field(description="How many settings are the same in all of them.")
    repeats: list[RepeatsShape]
    diff: BestsDiff


@router.get("/compare", response=RunsCompared)
@member()
def runs_compared(request: ApiRequest, query: Query[CompareQuery]) -> RunsCompared:
    """Two to five runs: how they went, which settings differ, and what differs between their best texts."""
    numbers = list(dict.fromkeys(query.run))
    for number in numbers:
        if number in request.blind_runs:
            raise ReadsBlind(number, request.blind_runs[number])
    sides = sides_of(request.project, numbers)
    if len(sides) != len(numbers) or len(sides) < FEWEST:
        raise Http404("One of these runs is not in this project, or they are one and the same.")
    tags = run_tags(numbers)
    settings = settings_compared(sides)
    return RunsCompared(
        one_scale=one_scale(sides),
        runs=[compared_run(side, tags.get(side.run.pk, [])) for side in sides],
        settings=[
            DifferingSetting(group=entry.group, label=entry.label, values=list(entry.values))
            for entry in settings.differing
        ],
        same_settings=settings.same,
        repeats=[repeats_shape(entry) for entry in repeats_of(request.project, sides)],
        diff=bests_diff(chosen(sides, query.a, sides[0]), chosen(sides, query.b, sides[1])),
    )


def chosen(sides: list[Side], number: int | None, usual: Side) -> Side:
    found = usual if number is None else next((side for side in sides if side.run.pk == number), None)
    if found is None:
        raise Http404("This run is not among those that are compared.")
    return found


def compared_run(side: Side, tags: list[str]) -> ComparedRun:
    told, scale = Told(side.run, tags), side.rubric.scale
    return ComparedRun(
        **{name: get(told) for name, get in LINE.items()},
        scale=[plain(scale.minimum), plain(scale.maximum)],
        pass_mark=exact(side.rubric.policy.pass_threshold),
        best_candidate=side.best,
        best_chars=side.best_chars,
    )


def bests_diff(first: Side, second: Side) -> BestsDiff:
    before, after = best_texts(first.run, second.run, DIFF_CHARS)
    diff = compared(before, after) if before and after else None
    pieces, missing = bounded(folded(diff.pieces)) if diff else ([], 0)
    return BestsDiff(
        a=first.run.pk,
        b=second.run.pk,
        pieces=diff_pieces(shown_pieces(pieces, {})),
        compared=diff is not None and diff.compared,
        cut=max(first.best_chars, second.best_chars) > DIFF_CHARS,
        missing=missing,
    )


def repeats_shape(entry: Repeats) -> RepeatsShape:
    return RepeatsShape(
        runs=list(entry.shown),
        launched=entry.launched,
        finished=entry.finished,
        figures=[
            SpreadShape(
                label=figure.label,
                **{
                    name: plain(getattr(figure, name).quantize(DIGITS))
                    for name in ("mean", "deviation", "lowest", "highest")
                },
            )
            for figure in entry.figures
        ],
    )
