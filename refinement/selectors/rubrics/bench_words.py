"""Sentences that explain a rubric test's figures."""

from dataclasses import dataclass
from decimal import Decimal

from refinement.engine.agreement import Shift, Steadiness, detectable_gap, required_gap, steadiness_of
from refinement.judging.schema import plain
from refinement.models import Bench
from refinement.selectors.rubrics.bench_report import Comparison, Line, Pair, Report

MOST_SENTENCES = 8
CHIPS = {
    Steadiness.TOO_FEW: ("", "too few trials"),
    Steadiness.SAME: ("chip-info", "identical"),
    Steadiness.STEADY: ("chip-ok", "steady"),
    Steadiness.NOISY: ("chip-warn", "noisy"),
}
RUNGS = {
    "strict": "clean JSON",
    "embedded": "JSON inside other text",
    "dirtyjson": "malformed JSON",
    "json_repair": "broken JSON, repaired",
    "lines": "lines of text",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether the judge is reliable here: one label, and sentences that explain it."""

    chip: str
    word: str
    sentences: tuple[str, ...]


def finding_of(bench: Bench, report: Report) -> Finding | None:
    """What the repeats show about the judge; None while nothing is scored."""
    spread = report.total.spread
    if spread is None:
        return None
    steadiness = steadiness_of(spread, required_gap(report.rubric))
    chip, word = CHIPS[steadiness]
    sentences = [
        steadiness_sentence(steadiness, bench, report),
        *noisiest_sentence(report),
        *threshold_sentence(report),
    ]
    return Finding(chip, word, tuple(sentences))


def steadiness_sentence(steadiness: Steadiness, bench: Bench, report: Report) -> str:
    spread, digits = report.total.spread, report.digits
    assert spread is not None
    if steadiness is Steadiness.TOO_FEW:
        unit = report.unit
        scored = f"One {unit} has" if spread.count == 1 else f"{spread.count} {unit}s have"
        return f"{scored} scores. At least three are needed to measure the {report.who}'s variation."
    if steadiness is Steadiness.SAME:
        same = f"Every {report.unit} gave the same composite, {rounded(spread.mean, digits)}."
        if bench.temperature == 0:
            same += " At temperature 0 this is expected and does not show that the score is right."
        return same
    return noise_sentence(steadiness, report)


def noise_sentence(steadiness: Steadiness, report: Report) -> str:
    spread, digits = report.total.spread, report.digits
    assert spread is not None
    assert spread.deviation is not None
    gap = detectable_gap(spread) or Decimal(0)
    wanted = required_gap(report.rubric)
    text = (
        f"The composite varies by {rounded(spread.deviation, digits)} between {report.unit}s. Two texts "
        f"must differ by about {rounded(gap, digits)} before one judgement each shows which is "
        "better."
    )
    if steadiness is Steadiness.STEADY:
        return (
            f"{text} That is precise enough for this rubric, which works with differences of {plain(wanted)}."
        )
    return (
        f"{text} This rubric works with differences of {plain(wanted)}, so a smaller gain between "
        "rounds may be noise."
    )


def noisiest_sentence(report: Report) -> list[str]:
    deviations = [(line.spread.deviation or Decimal(0), line) for line in report.lines if line.spread]
    if report.done < 3 or not deviations:
        return []
    most, line = max(deviations, key=lambda entry: entry[0])
    if not most or len(report.lines) < 2:
        return []
    return [f"It varies most on {line.name} (±\u00a0{rounded(most, report.digits)})."]


def threshold_sentence(report: Report) -> list[str]:
    mark = report.rubric.policy.pass_threshold
    values = [value for value in report.total.values if value is not None]
    if mark is None or len(values) < 2:
        return []
    reached = sum(value >= mark for value in values)
    if reached in (0, len(values)):
        who = "None" if not reached else "Each"
        return [f"{who} of the {len(values)} {report.unit}s reaches the pass mark of {plain(mark)}."]
    return [
        f"{reached} of {len(values)} {report.unit}s reach the pass mark of {plain(mark)}, so whether this "
        "text passes depends on chance."
    ]


# --- people ---------------------------------------------------------------------------------------
def people_sentences(report: Report) -> list[str]:
    """How the judge differs from people, largest difference first."""
    if report.apart is None:
        return []
    digits = 1 if report.digits == 2 else 2
    sentences = [f"On average the {report.who} differs from people by {rounded(report.apart, digits)}."]
    lines = [line for line in report.lines if line.difference is not None]
    lines.sort(key=lambda line: -abs(line.difference or Decimal(0)))
    return sentences + [difference_sentence(line, digits, report.who) for line in lines[:MOST_SENTENCES]]


def difference_sentence(line: Line, digits: int, who: str) -> str:
    difference = line.difference or Decimal(0)
    size = rounded(abs(difference), digits)
    if not Decimal(size):
        return f"The {who} scores {line.name} the same as people."
    return f"The {who} scores {line.name} {size} {'above' if difference > 0 else 'below'} people."


# --- comparing ------------------------------------------------------------------------------------
def comparison_sentence(comparison: Comparison) -> str:
    """The composite's difference, and whether it is significant."""
    if not comparison.same_scale:
        return "The two use different scales, so their scores cannot be compared."
    shift = comparison.total.shift
    if shift is None:
        return "One of the two has no scores yet."
    digits = comparison.after.digits
    margin = rounded(shift.margin or Decimal(0), digits)
    size = rounded(abs(shift.difference), digits)
    moved = "higher" if shift.difference > 0 else "lower"
    if not shift.difference:
        return "Both have the same mean composite."
    text = f"The second one's mean composite is {size} {moved}"
    if shift.clear is None:
        return f"{text}. Run at least two trials of each to see whether that is more than noise."
    if shift.clear:
        return f"{text}, which is more than the noise (about ±\u00a0{margin})."
    return f"{text}, but noise alone can cause {margin}, so the difference is not significant."


def pair_label(pair: Pair) -> str:
    """A short label for a criterion's difference."""
    if pair.before is None:
        return "new in the second"
    if pair.after is None:
        return "only in the first"
    return "" if pair.shift is None else shift_sentence(pair.shift)


def shift_sentence(shift: Shift) -> str:
    if not shift.difference:
        return "the same"
    return {None: "too few trials", True: "more than noise", False: "within the noise"}[shift.clear]


def rounded(value: Decimal, digits: int) -> str:
    return f"{value:.{digits}f}"
