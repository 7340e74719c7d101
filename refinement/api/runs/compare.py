"""Two to five runs side by side."""

from decimal import Decimal

from django.http import Http404
from ninja import Field, Query, Router, Schema

from refinement.access.labelling import runs_or_blind
from refinement.api.core.auth import ApiRequest
from refinement.api.core.paging import Number
from refinement.api.core.permissions import member
from refinement.api.runs.rounds import DiffPiece, diff_pieces
from refinement.api.runs.shapes import LINE, RunLine, TaggedRun, exact
from refinement.diffing import compared
from refinement.diffing.sides import folded
from refinement.selectors.compare.charts import Repeats, one_scale, repeats_of
from refinement.selectors.compare.runs import DIFF_CHARS, FEWEST, MOST, Side, best_texts, sides_of
from refinement.selectors.compare.settings import settings_compared
from refinement.selectors.rubrics.definitions import plain
from refinement.selectors.runs.listing.lists import run_tags
from refinement.selectors.runs.texts.diffs import bounded, shown_pieces
from refinement.selectors.trust.gate import standings

router = Router(tags=["Runs"])
DIGITS = Decimal("0.000001")


class CompareQuery(Schema):
    """The runs, and the two whose texts are compared."""

    run: list[Number] = Field(
        min_length=FEWEST, max_length=MOST, description="Two to five run numbers.", examples=[[12, 13]]
    )
    a: Number | None = Field(None, description="The run with the first text; by default the first run.")
    b: Number | None = Field(None, description="The run with the second text; by default the second run.")


class ComparedRun(RunLine):
    """A compared run; `trajectory` has its composites."""

    scale: list[str] = Field(description="The lowest and the highest score.", examples=[["0", "10"]])
    pass_mark: str | None
    best_candidate: str = Field(
        description="The start of its result: the round that people chose, or the best one."
    )
    best_chars: int = Field(description="The length of that text.")


class DifferingSetting(Schema):
    """A setting in which the runs differ; null for runs that lack it."""

    group: str = Field(examples=["Launch"])
    label: str = Field(examples=["Judge"])
    values: list[str | None] = Field(description="One per run, in order.")


class BestsDiff(Schema):
    """Word diff of two runs' best texts, in the order of the second."""

    a: int
    b: int
    pieces: list[DiffPiece] = Field(description="Empty if one has no best text.")
    compared: bool = Field(description="False if the texts are too long or one is missing.")
    cut: bool = Field(description="A text was longer than the limit and compared only in part.")
    missing: int = Field(description="Characters not included.")


class SpreadShape(Schema):
    """A figure over the finished runs of one launch."""

    label: str
    mean: str
    deviation: str = Field(description="Sample standard deviation.")
    lowest: str
    highest: str


class RepeatsShape(Schema):
    """Statistics over the runs of one launch."""

    runs: list[int] = Field(description="Its runs in this comparison.")
    launched: int
    finished: int
    figures: list[SpreadShape]


class RunsCompared(Schema):
    """Runs side by side."""

    one_scale: bool = Field(description="Whether all use the same scale.")
    runs: list[ComparedRun]
    settings: list[DifferingSetting]
    same_settings: int = Field(description="Number of equal settings.")
    repeats: list[RepeatsShape]
    diff: BestsDiff


@router.get("/compare", response=RunsCompared)
@member()
def runs_compared(request: ApiRequest, query: Query[CompareQuery]) -> RunsCompared:
    """Compare two to five runs. Shows figures, differing settings, and a diff of two best texts."""
    numbers = list(dict.fromkeys(query.run))
    runs_or_blind(request, *numbers)
    sides = sides_of(request.project, numbers)
    if len(sides) != len(numbers) or len(sides) < FEWEST:
        raise Http404("One of these runs is not in this project, or a run is given twice.")
    tags, judges = run_tags(numbers), standings(numbers, request.project)
    settings = settings_compared(sides)
    return RunsCompared(
        one_scale=one_scale(sides),
        runs=[
            compared_run(side, TaggedRun(side.run, tags.get(side.run.pk, []), judges.get(side.run.pk)))
            for side in sides
        ],
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
        raise Http404("This run is not in the comparison.")
    return found


def compared_run(side: Side, tagged: TaggedRun) -> ComparedRun:
    scale = side.rubric.scale
    return ComparedRun(
        **{name: get(tagged) for name, get in LINE.items()},
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
