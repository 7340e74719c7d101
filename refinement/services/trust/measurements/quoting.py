"""What a measurement will cost, before it is created."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.db.models import Avg, F

from refinement.engine.types import JudgeMode, Rubric
from refinement.judging.same_text import fingerprint
from refinement.models import (
    Bench,
    BenchTrial,
    Measurement,
    MeasurementItem,
    Project,
    RubricVersion,
    TrialStatus,
)
from refinement.providers.base import ProviderError
from refinement.providers.registry import Target
from refinement.selectors.launch.estimates import Range, estimate_of
from refinement.selectors.launch.paces import duration_words, paces_in
from refinement.selectors.trust.measurements.reuse import (
    answered_before,
    digests_of,
    fingerprint_of,
    targets_of,
)
from refinement.selectors.trust.measurements.settings import setting_of
from refinement.selectors.trust.measurements.windows import window_of
from refinement.services.trust.measurements.creating import (
    JudgeChoice,
    NewItem,
    bench_row,
    rubric_checked,
)

NEWEST = 200
MOST_COMPARED = 1_000  # texts whose earlier verdicts are counted exactly
FASTER, SLOWER = 0.8, 1.4


@dataclass(frozen=True, slots=True)
class Quote:
    """Judgements, those that are reused, calls, tokens and seconds. Retries are not included."""

    texts: int
    judgements: int
    reused: int
    calls: int
    tokens_a_call: int
    tokens: int
    seconds_low: int | None
    seconds_high: int | None
    at_once: int

    @property
    def time(self) -> str:
        """In words; empty if the model has not been used here yet."""
        if self.seconds_low is None or self.seconds_high is None:
            return ""
        return duration_words(Range(self.seconds_low, self.seconds_high))

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def measurement_quote(
    *,
    project: Project,
    version: RubricVersion,
    kind: str,
    judge: JudgeChoice,
    items: Sequence[NewItem],
    repeats: int = 1,
    definition: Mapping[str, Any] | None = None,
    ask_again: bool = False,
    **_: object,
) -> Quote:
    """The quote for what `measurement_create` is given. Asks model servers for digests. ValidationError."""
    endpoint, model, panel = judge
    rubric = rubric_checked(version, definition)
    measurement = Measurement(
        project=project,
        rubric_version=version,
        kind=kind,
        endpoint=endpoint,
        model=model,
        panel=[dict(seat) for seat in panel],
        repeats=repeats,
    )
    seats = len(panel) or 1
    judgements = len(items) * repeats * seats
    reused = 0 if ask_again else reusable(measurement, rubric, items)
    calls = judgements - reused
    each = tokens_a_call(measurement, rubric, items)
    at_once = window_of(measurement)
    pace = pace_of(measurement)
    low = high = None
    if pace is not None:
        low = max(1, round(calls * pace * FASTER / at_once))
        high = max(1, round(calls * pace * SLOWER / min(at_once, max(calls, 1))))
    return Quote(len(items), judgements, reused, calls, each, each * calls, low, high, at_once)


def reusable(measurement: Measurement, rubric: Rubric, items: Sequence[NewItem]) -> int:
    """How many judgements were made before. Only texts that were measured before are looked at closely."""
    prints = {item.text: fingerprint(item.text) for item in items}
    known = Bench.objects.filter(project=measurement.project, model=measurement.model)
    known = known.exclude(fingerprint="").filter(trials__status=TrialStatus.DONE)
    shas = set(known.order_by().values_list("candidate_sha256", flat=True).distinct())
    alike = [item for item in items if prints[item.text] in shas][:MOST_COMPARED]
    if not alike:
        return 0
    try:
        digests = digests_of(targets_of(measurement))
    except ProviderError:
        return 0
    found = [fingerprint_of_new(measurement, rubric, item, digests) for item in alike]
    answered = answered_before(measurement.project, set(found))
    numbers = range(1, measurement.repeats + 1)
    seats = range(1, len(measurement.panel) + 1) if measurement.panel else (0,)
    return sum((name, number, seat) in answered for name in found for number in numbers for seat in seats)


def fingerprint_of_new(
    measurement: Measurement, rubric: Rubric, item: NewItem, digests: Mapping[Target, str]
) -> str:
    bench = bench_row(measurement, rubric, item, item.text)
    row = MeasurementItem(measurement=measurement, position=1, bench=bench, round=item.round)
    return fingerprint_of(bench, setting_of(row, rubric), rubric, digests)


def tokens_a_call(measurement: Measurement, rubric: Rubric, items: Sequence[NewItem]) -> int:
    """From the texts' lengths, as before a launch."""
    if not items:
        return 0
    single = replace(
        rubric,
        judges=replace(rubric.judges, mode=JudgeMode.SINGLE),
        policy=replace(rubric.policy, max_rounds=1),
    )
    estimate = estimate_of(
        single,
        task_chars=sum(len(item.task) for item in items) // len(items),
        seed_chars=max(1, sum(len(item.text) for item in items) // len(items)),
    )
    return estimate.first_tokens


def pace_of(measurement: Measurement) -> float | None:
    """Seconds a call: of earlier measurements with this model, or of runs."""
    trials = BenchTrial.objects.filter(
        bench__project=measurement.project,
        bench__model=measurement.model,
        bench__endpoint=measurement.endpoint,
        status=TrialStatus.DONE,
        calls_made__gt=0,
    )
    newest = trials.order_by("-pk").values("pk")[:NEWEST]
    found = BenchTrial.objects.filter(pk__in=newest).aggregate(pace=Avg(F("seconds") / F("calls_made")))
    if found["pace"] is not None:
        return float(found["pace"])
    return paces_in(measurement.project).get(("judge", Target(measurement.endpoint, measurement.model)))
