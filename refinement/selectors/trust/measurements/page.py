"""What the page of a measurement shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count

from refinement.charts.quadrants import Place, Quadrants, quadrants
from refinement.models import (
    BenchTrial,
    JudgeRecord,
    Measurement,
    MeasurementItem,
    MeasurementKind,
    Report,
    ReportKind,
    TrialStatus,
)
from refinement.selectors.rubrics.comparisons import Comparison, definitions_compared
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.trust.measurements.definitions import definition_measured
from refinement.selectors.trust.measurements.progress import (
    Progress,
    elapsed_words,
    left_words,
    progress_of,
)
from refinement.selectors.trust.measurements.repeats import Repeats, repeats_of
from refinement.selectors.trust.measurements.words import (
    after_words,
    before_words,
    figures_words,
    headline,
    judge_words,
    title_of,
)

MOST_MOVERS = 50
MOST_FAILURES = 5
EXCERPT_CHARS = 180
SHOWN = ("flips", "moved", "all")


@dataclass(frozen=True, slots=True)
class Mover:
    """One text of a replay, with its verdicts and the words of the judge."""

    point: Mapping[str, Any]
    title: str
    excerpt: str
    run: int | None
    round: int | None
    bench: int
    before: str
    after: str
    criterion: str  # the one that moved most
    criterion_before: str
    criterion_after: str
    reason: str
    people: str
    closer: str  # in words


@dataclass(frozen=True, slots=True)
class MeasurementFacts:
    """A measurement as its page shows it."""

    row: Measurement
    progress: Progress
    title: str
    judge: str
    elapsed: str
    left: str
    mark: str  # changes when the page should be read again
    record: JudgeRecord | None
    failures: tuple[BenchTrial, ...]
    waits: tuple[Mapping[str, Any], ...]
    result: Mapping[str, Any] = field(default_factory=dict)
    is_computing: bool = False
    strong: str = ""
    sentences: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    chart: Quadrants | None = None
    lines: tuple[Mapping[str, Any], ...] = ()
    movers: tuple[Mover, ...] = ()
    shown: str = "flips"
    counts: Mapping[str, int] = field(default_factory=dict)
    changes: Comparison | None = None
    repeats: Repeats | None = None

    @property
    def rates(self) -> tuple[int, int]:
        """The pass rates before and after, in percent."""
        verdicts = self.result["verdicts"]
        passed = verdicts["pass_pass"]
        before, after = passed + verdicts["pass_fail"], passed + verdicts["fail_pass"]
        return round(100 * before / verdicts["n"]), round(100 * after / verdicts["n"])

    @property
    def is_live(self) -> bool:
        return not self.row.is_finished or self.is_computing


def report_of(measurement: Measurement) -> Report | None:
    """The report with its results: a replay's own, or else the judge's, once the measurement has ended."""
    if measurement.kind == MeasurementKind.REPLAY:
        return Report.objects.filter(kind=ReportKind.REPLAY, subject=measurement.pk).first()
    record = record_of(measurement)
    if record is None or not measurement.is_finished or measurement.kind == MeasurementKind.HELD_OUT:
        return None
    return Report.objects.filter(kind=ReportKind.TRUST, subject=record.pk, other=0).first()


def mark_of(measurement: Measurement, progress: Progress, report: Report | None) -> str:
    states = ".".join(f"{state[:2]}{count}" for state, count in sorted(progress.states.items()))
    computed = report.computed * 2 + report.is_current if report else 0
    return f"{measurement.status}.{computed}.{states}"


def measurement_facts(measurement: Measurement, shown: str = "") -> MeasurementFacts:
    """The page's facts; a finished replay has its results."""
    progress, report = progress_of(measurement), report_of(measurement)
    texts = progress.total // (measurement.repeats * (len(measurement.panel) or 1))
    result: Mapping[str, Any] = (report.result if report else None) or {}
    facts: dict[str, Any] = {
        "row": measurement,
        "progress": progress,
        "title": title_of(measurement, texts),
        "judge": judge_words(measurement),
        "elapsed": elapsed_words(measurement),
        "left": left_words(measurement, progress),
        "mark": mark_of(measurement, progress, report),
        "record": record_of(measurement),
        "failures": failures_of(measurement) if progress.failed else (),
        "waits": waits_of(measurement) if progress.waiting else (),
        "is_computing": report is not None and not report.is_current and not report.error,
    }
    if measurement.kind != MeasurementKind.REPLAY:
        if measurement.kind == MeasurementKind.RETEST and measurement.is_finished:
            facts["repeats"] = repeats_of(measurement)
        facts["strong"] = figures_words(measurement, result) if report and report.is_current else ""
    elif measurement.is_finished and result.get("compared"):
        facts |= result_facts(measurement, result, shown)
    return MeasurementFacts(**facts)


def record_of(measurement: Measurement) -> JudgeRecord | None:
    """The record of the judge; of a draft, its version's."""
    rows = JudgeRecord.objects.filter(rubric_version=measurement.rubric_version, model=measurement.model)
    return next((row for row in rows if row.panel == measurement.panel), None)


def failures_of(measurement: Measurement) -> tuple[BenchTrial, ...]:
    """The last judgements that failed."""
    rows = BenchTrial.objects.filter(bench__measured__measurement=measurement, status=TrialStatus.FAILED)
    rows = rows.select_related("bench").defer("bench__candidate", "bench__task")
    return tuple(rows.order_by("-pk")[:MOST_FAILURES])


def waits_of(measurement: Measurement) -> tuple[Mapping[str, Any], ...]:
    """What judgements wait for, and how many: a free slot at an endpoint, or another try."""
    rows = BenchTrial.objects.filter(bench__measured__measurement=measurement, status=TrialStatus.WAITING)
    counts = rows.order_by().values("waiting_for", "waiting_endpoint").annotate(count=Count("pk"))
    return tuple(counts.order_by("-count", "waiting_for")[:MOST_FAILURES])


def result_facts(measurement: Measurement, result: Mapping[str, Any], shown: str) -> dict[str, Any]:
    strong, sentences = headline(measurement, result)
    points: list[Mapping[str, Any]] = result["points"]
    flips = [point for point in points if point["flip"]]
    moved = [point for point in points if point["flip"] or not point["noise"]]
    if shown not in SHOWN:
        shown = "flips" if flips else "moved"
    chosen = {"flips": flips, "moved": moved, "all": points}[shown]
    ordered = sorted(
        chosen, key=lambda point: (not point["flip"], point["noise"], -abs(point["after"] - point["before"]))
    )
    before = definition_of(measurement.rubric_version)
    after = definition_measured(measurement)
    scale = result["scale"]
    return {
        "result": result,
        "strong": strong,
        "sentences": tuple(sentences),
        "before": before_words(measurement, result),
        "after": after_words(measurement),
        "chart": quadrants(
            [
                Place(point["before"], point["after"], point["flip"], point["noise"], tip_of(point, result))
                for point in points
            ],
            least=scale["least"],
            most=scale["most"],
            mark=result["pass_mark"],
            noise=result["noise"],
        ),
        "lines": tuple(line_facts(line, scale) for line in result["criteria"]),
        "movers": movers_of(measurement, ordered[:MOST_MOVERS], result),
        "shown": shown,
        "counts": {"flips": len(flips), "moved": len(moved), "all": len(points)},
        "changes": definitions_compared(before, after) if measurement.is_draft else None,
    }


def tip_of(point: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    decimals = result["decimals"]
    return f"{shown_score(point['before'], decimals)} → {shown_score(point['after'], decimals)}"


def shown_score(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}"


def line_facts(line: Mapping[str, Any], scale: Mapping[str, float]) -> dict[str, Any]:
    """A criterion with the places of its means and of its interval, in percent of their axes."""
    width = scale["most"] - scale["least"]

    def on_scale(value: float | None) -> float | None:
        return None if value is None else round(4 + 92 * (value - scale["least"]) / width, 1)

    change = line["change"]
    reach = (
        max(
            (abs(end) for end in (change["value"], change["low"], change["high"]) if end is not None),
            default=0.0,
        )
        if change
        else 0.0
    )
    reach = max(reach, width / 10)

    def on_change(value: float | None) -> float | None:
        return None if value is None else round(50 + 46 * value / reach, 1)

    places = {name: on_change(change[name]) for name in ("value", "low", "high")} if change else {}
    return {
        **line,
        "at_before": on_scale(line["before"]),
        "at_after": on_scale(line["after"]),
        "at": places,
        "moved": line["verdict"] in ("better", "worse"),
        "down": bool(change and change["value"] < 0),
    }


def movers_of(
    measurement: Measurement, points: Sequence[Mapping[str, Any]], result: Mapping[str, Any]
) -> tuple[Mover, ...]:
    """The texts of these points, in their order. Two queries."""
    keys = [point["item"] for point in points]
    items = {
        item.pk: item
        for item in MeasurementItem.objects.filter(pk__in=keys)
        .select_related("bench", "round__run")
        .defer("round__candidate", "round__run__snapshot", "round__run__task", "bench__task")
    }
    trials = BenchTrial.objects.filter(
        bench__measured__in=keys, status=TrialStatus.DONE, number=1, seat__in=(0, 1)
    )
    said = dict(trials.values_list("bench__measured", "said"))
    names = {line["key"]: line["name"] for line in result["criteria"]}
    return tuple(
        mover_of(measurement, items[point["item"]], point, said.get(point["item"]) or [], names, result)
        for point in points
        if point["item"] in items
    )


def mover_of(
    measurement: Measurement,
    item: MeasurementItem,
    point: Mapping[str, Any],
    said: Sequence[Mapping[str, str]],
    names: Mapping[str, str],
    result: Mapping[str, Any],
) -> Mover:
    reasons = {entry["key"]: entry.get("reasoning", "") for entry in said}
    run = item.round.run if item.round else None
    text = item.bench.candidate
    title = (run.title if run else "") or first_line(text) or item.bench.title
    return Mover(
        point=point,
        title=title,
        excerpt=excerpt_of(text, title),
        run=run.pk if run else None,
        round=item.round.number if item.round else None,
        bench=item.bench_id,
        before=shown_score(point["before"], result["decimals"]),
        after=shown_score(point["after"], result["decimals"]),
        criterion=names.get(point["criterion"], ""),
        criterion_before=plain(point["criterion_before"]),
        criterion_after=plain(point["criterion_after"]),
        reason=reasons.get(point["criterion"], ""),
        people=plain(point["people"]),
        closer=closer_words(point["closer"], measurement, result),
    )


def first_line(text: str) -> str:
    """The first line with words, without the marks of a heading."""
    lines = (line.strip("#>*-=` \t") for line in text[: EXCERPT_CHARS * 2].splitlines())
    return next((line for line in lines if line), "")


def excerpt_of(text: str, title: str) -> str:
    """The beginning of the text on one line, without marks of headings and lists, and without its title."""
    lines = (line.strip("#>*-=` \t") for line in text[: EXCERPT_CHARS * 3].splitlines())
    whole = " · ".join(line for line in lines if line)
    rest = whole.removeprefix(title).removeprefix(" · ")
    return rest if len(rest) <= EXCERPT_CHARS else f"{rest[: EXCERPT_CHARS - 1].rstrip()}…"


def plain(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}".removesuffix(".0")


def closer_words(closer: str, measurement: Measurement, result: Mapping[str, Any]) -> str:
    if closer == "after":
        return f"{after_words(measurement)} is closer"
    if closer == "before":
        return f"{before_words(measurement, result)} was closer"
    return ""
