"""Rubric tests for lists and pages, always within one project."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.db.models import Avg, Count, F, Max, Min, Q, QuerySet
from django.http import Http404

from refinement.judging.same_text import fingerprint
from refinement.models import Bench, BenchTrial, Project, Round, Rubric, RubricVersion, TrialStatus
from refinement.selectors.reviews.blindness import shown_runs, without_hidden
from refinement.selectors.score_words import composite_text

MOST_RUNS = 20
MOST_ROUNDS = 50
MOST_BENCHES = 50
ROUND_FIELDS = ("pk", "number", "candidate_chars", "composite", "run_id")
OF_THE_VERSION = {
    "rubric": F("run__rubric_version__name"),
    "decimals": F("run__rubric_version__policy__composite_decimals"),
}
VERSION_TEXTS = (
    "purpose", "background", "output_contract", "output_schema", "search_space", "templates",
    "calibration_text", "context", "policy",
)  # fmt: skip


def benches_of(rubric: Rubric) -> QuerySet[Bench]:
    """The rubric's tests, newest first, without their texts. Those of measurements are not listed."""
    own = Bench.objects.filter(rubric_version__rubric=rubric, measured__isnull=True)
    return (
        without_hidden(own, "source_round__run")
        .select_related("rubric_version", "created_by")
        .defer("candidate", "task", *(f"rubric_version__{name}" for name in VERSION_TEXTS))
        .order_by("-id")
    )


def outcomes_of(benches: list[Bench]) -> dict[int, Mapping[str, Any]]:
    """Trial outcomes by test id, for display only."""
    rows = (
        BenchTrial.objects.filter(bench__in=benches)
        .order_by()
        .values("bench_id")
        .annotate(
            done=Count("pk", filter=Q(status=TrialStatus.DONE)),
            failed=Count("pk", filter=Q(status=TrialStatus.FAILED)),
            mean=Avg("composite"),
            least=Min("composite"),
            most=Max("composite"),
        )
    )
    return {row["bench_id"]: row for row in rows}


def bench_or_404(rubric: Rubric, pk: int) -> Bench:
    """The rubric's test with this id and its full version, or 404."""
    found = (
        without_hidden(Bench.objects.filter(rubric_version__rubric=rubric, pk=pk), "source_round__run")
        .select_related("rubric_version", "created_by", "source_round")
        .defer("source_round__candidate")
        .first()
    )
    if found is None:
        raise Http404("This rubric has no such test.")
    found.rubric_version.rubric = rubric
    return found


def trials_of(bench: Bench) -> list[BenchTrial]:
    """The test's trials in order, without the full replies."""
    trials = list(bench.trials.order_by("number", "seat"))
    for trial in trials:
        trial.bench = bench
    return trials


def trial_or_404(bench: Bench, number: int, seat: int = 0) -> BenchTrial:
    """The trial of this repeat, and on a board of the judge in this seat."""
    found = bench.trials.filter(number=number, seat=seat).prefetch_related("calls").first()
    if found is None:
        raise Http404("This test has no such trial.")
    found.bench = bench
    return found


def same_text(bench: Bench, rubric: Rubric) -> list[Bench]:
    """Other tests of the rubric on the same text, newest first."""
    others = benches_of(rubric).filter(candidate_sha256=bench.candidate_sha256).exclude(pk=bench.pk)
    return list(others[:MOST_BENCHES])


def comparable(rubric: Rubric) -> list[tuple[Bench, Bench]]:
    """The two newest tests of each text judged more than once, of two versions if possible."""
    by_text: dict[str, list[Bench]] = {}
    for bench in benches_of(rubric)[: 4 * MOST_BENCHES]:
        by_text.setdefault(bench.candidate_sha256, []).append(bench)
    pairs = []
    for newest, *earlier in by_text.values():
        if earlier:
            other_version = (b for b in earlier if b.rubric_version_id != newest.rubric_version_id)
            pairs.append((next(other_version, earlier[0]), newest))
    return pairs[:MOST_BENCHES]


def recent_rounds(project: Project) -> list[Mapping[str, Any]]:
    """Rounds of the project's newest runs to choose a candidate from, without their texts."""
    # Filtered through the runs, which are indexed by project; rounds are not.
    runs = list(shown_runs(project).order_by("-id").values_list("pk", flat=True)[:MOST_RUNS])
    rounds = Round.objects.filter(run_id__in=runs).order_by("-run_id", "-number")
    return [*rounds.values(*ROUND_FIELDS, **OF_THE_VERSION)[:MOST_ROUNDS]]


def round_in(project: Project, pk: int) -> Round | None:
    """The project's round with this id, with its run's task."""
    rows = Round.objects.select_related("run").filter(run__project=project, pk=pk)
    return without_hidden(rows, "run").first()


def round_choice(values: Mapping[str, Any]) -> str:
    """A round as a form choice."""
    score = (
        ""
        if values["composite"] is None
        else f", scored {composite_text(values['composite'], values['decimals'])}"
    )
    return (
        f"Run {values['run_id']}, round {values['number']}{score}: "
        f"{values['candidate_chars']:,} characters ({values['rubric']})"
    )


def origin_label(bench: Bench) -> str:
    """The source of the text."""
    if bench.origin == Bench.Origin.ROUND:
        source = bench.source_round
        if source is None:
            return "a round of a deleted run"
        return f"round {source.number} of run {source.run_id}"
    return "the rubric's calibration example" if bench.origin == Bench.Origin.CALIBRATION else "pasted text"


def people_scores(bench: Bench) -> tuple[dict[str, str], str]:
    """Human scores of this text and their source: entered here, or the calibration example's."""
    if bench.human_scores:
        return bench.human_scores, "entered on this page"
    version = bench.rubric_version
    if version.calibration_text and fingerprint(version.calibration_text) == bench.candidate_sha256:
        return version.calibration_scores, "the calibration example's, from this version"
    newest = version.rubric.versions.order_by("-number").first()
    if newest is None or newest.pk == version.pk or not newest.calibration_text:
        return {}, ""
    same_scale = (newest.scale_minimum, newest.scale_maximum) == (
        version.scale_minimum,
        version.scale_maximum,
    )
    if same_scale and fingerprint(newest.calibration_text) == bench.candidate_sha256:
        return newest.calibration_scores, f"the calibration example's, from version {newest.number}"
    return {}, ""


def scale_of(version: RubricVersion) -> tuple[Decimal, Decimal]:
    return version.scale_minimum, version.scale_maximum
