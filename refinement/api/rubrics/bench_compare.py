"""Two rubric tests on the same text, side by side."""

from decimal import Decimal

from ninja import Field, Query, Router, Schema

from refinement.access.objects import rubric_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.permissions import member
from refinement.selectors.rubrics.bench import bench_or_404
from refinement.selectors.rubrics.bench_boards import report_of
from refinement.selectors.rubrics.bench_report import Line, Pair, bench_comparison, what_differs
from refinement.selectors.rubrics.bench_words import comparison_sentence, pair_label
from refinement.selectors.rubrics.definitions import plain

router = Router(tags=["Test bench"])
LARGEST_NUMBER = 2**31 - 1
DIGITS = Decimal("0.000001")


class BenchesQuery(Schema):
    """The two tests."""

    a: int = Field(ge=1, le=LARGEST_NUMBER)
    b: int = Field(ge=1, le=LARGEST_NUMBER)


class LineCompared(Schema):
    """A criterion or the composite in both; null if there are no scores."""

    key: str
    name: str
    before: str | None = Field(description="The mean over the trials.")
    after: str | None
    before_people: str | None = Field(description="Human score.")
    after_people: str | None
    words: str = Field(description="Whether the difference is significant.")


class BenchesCompared(Schema):
    """Two rubric tests on the same text."""

    same_text: bool = Field(description="If false, scores are not compared.")
    differs: list[str] = Field(description="Differences besides the scores.")
    words: str
    lines: list[LineCompared] = Field(description="The criteria, then the composite.")


@router.get("/rubrics/{rubric}/benches/compare", response=BenchesCompared)
@member()
def benches_compared(request: ApiRequest, rubric: str, query: Query[BenchesQuery]) -> BenchesCompared:
    """Compare two rubric tests on the same text.

    Shows differences of their scores, and whether they are significant.
    """
    row = rubric_or_404(request, rubric)
    before, after = bench_or_404(row, query.a), bench_or_404(row, query.b)
    differs = what_differs(before, after)
    if before.candidate_sha256 != after.candidate_sha256:
        words = "They judged different texts, so their scores cannot be compared."
        return BenchesCompared(same_text=False, differs=differs, words=words, lines=[])
    found = bench_comparison(report_of(before), report_of(after))
    return BenchesCompared(
        same_text=True,
        differs=differs,
        words=comparison_sentence(found),
        lines=[line_compared(pair) for pair in (*found.pairs, found.total)],
    )


def line_compared(pair: Pair) -> LineCompared:
    return LineCompared(
        key=pair.key,
        name=pair.name,
        before=mean_of(pair.before),
        after=mean_of(pair.after),
        before_people=people_of(pair.before),
        after_people=people_of(pair.after),
        words=pair_label(pair),
    )


def mean_of(line: Line | None) -> str | None:
    return plain(line.spread.mean.quantize(DIGITS)) if line and line.spread else None


def people_of(line: Line | None) -> str | None:
    return plain(line.people) if line and line.people is not None else None
