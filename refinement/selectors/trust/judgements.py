"""A judge's own scores: of its measurements, and of rounds in runs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, QuerySet

from refinement.engine.boards import lower_median
from refinement.engine.safeguards import family_of
from refinement.models import (
    BenchTrial,
    BoardVerdict,
    JudgeRecord,
    LabelSet,
    Measurement,
    PanelJudge,
    Round,
    RoundOrigin,
    Run,
    TrialStatus,
    Verdict,
)
from refinement.selectors.trust.keys import judge_key

MOST_TRIALS = 100_000  # the newest count
MOST_ROUNDS = 100_000
MOST_RUNS = 20_000  # whose boards are compared with the judge
BATCH = 400  # rounds in one query: every verdict has its reasoning
WRITER = ("origin", "run__producer_model", "run__producer_family")


class Judgement(NamedTuple):
    """The judge's scores of one text. A pasted text has neither a label item nor a round."""

    label_item: int | None
    round: int | None
    scores: Mapping[str, Any]
    composite: float | None = None  # with checks
    prompt: str = ""  # judgements of one text by the same prompt are repeats; empty: never
    chars: int = 0
    family: str = ""


def judgements_of(
    record: JudgeRecord, scored_rounds: Mapping[int, int], label_set: LabelSet | None
) -> Iterator[Judgement]:
    """Of its measurements, and of those rounds in runs that people scored."""
    yield from trial_judgements(record, label_set)
    yield from round_judgements(record, list(scored_rounds))


def trial_judgements(record: JudgeRecord, label_set: LabelSet | None) -> Iterator[Judgement]:
    """Of its finished trials. An answer that was reused counts once."""
    found: dict[tuple[int, int], list[Any]] = defaultdict(list)
    seen: set[tuple[int | None, int | None, int]] = set()
    for row in trials_of(record, label_set):
        text = (row["bench__measured__label_item"], row["bench__measured__round"])
        answer = (*text, row["reused_from"] or row["pk"])
        if answer not in seen:
            seen.add(answer)
            found[row["bench"], row["number"]].append(row)
    seats = len(record.panel) or 1
    for rows in found.values():
        if len(rows) == seats:
            yield judgement_of(rows)


def trials_of(record: JudgeRecord, label_set: LabelSet | None) -> list[dict[str, Any]]:
    """Of all texts that it measured, pasted ones included, without spoiled copies; the newest first."""
    measured = "bench__measured__"
    trials = BenchTrial.objects.filter(
        **{measured + "measurement__in": measurements_of(record), measured + "edit": ""},
        status=TrialStatus.DONE,
    )
    if label_set is not None:
        trials = trials.filter(**{measured + "label_item__label_set": label_set})
    columns = ("pk", "bench", "number", "said", "composite", "reused_from")
    bench = ("bench__candidate_chars", "bench__fingerprint")
    texts = (measured + "label_item", measured + "round")
    of_round = [f"{measured}round__{name}" for name in WRITER]
    return list(trials.order_by("-pk").values(*columns, *bench, *texts, *of_round)[:MOST_TRIALS])


def measurements_of(record: JudgeRecord) -> list[int]:
    """The measurements of this version, not of a draft, by this judge at any endpoint."""
    rows = Measurement.objects.filter(
        rubric_version=record.rubric_version_id, definition__isnull=True
    ).values_list("pk", "model", "panel")
    return [pk for pk, model, panel in rows if judge_key(model, panel) == record.key]


def judgement_of(rows: list[dict[str, Any]]) -> Judgement:
    """Of a single judge's trial, or of the trials of a board's seats: the median by criterion."""
    first, measured = rows[0], "bench__measured__"
    spoken: dict[str, list[Decimal]] = defaultdict(list)
    for row in rows:
        for entry in row["said"]:
            spoken[entry["key"]].append(Decimal(str(entry["score"])))
    return Judgement(
        label_item=first[measured + "label_item"],
        round=first[measured + "round"],
        scores={key: lower_median(scores) for key, scores in spoken.items() if len(scores) == len(rows)},
        composite=float(first["composite"]) if len(rows) == 1 else None,
        prompt=first["bench__fingerprint"] or f"bench {first['bench']}",
        chars=first["bench__candidate_chars"],
        family=family_of_round(*(first[f"{measured}round__{name}"] for name in WRITER)),
    )


def round_judgements(record: JudgeRecord, scored: list[int]) -> Iterator[Judgement]:
    """Of the rounds in runs that it judged, from the verdicts, which are from before penalties."""
    for start in range(0, len(scored), BATCH):
        rounds = rounds_of(record).filter(pk__in=scored[start : start + BATCH])
        rows = Verdict.objects.filter(round__in=rounds, position=0).values_list("round", "scores")
        for pk, scores in rows:
            yield Judgement(None, pk, {entry["key"]: entry["score"] for entry in scores})


def round_composites(record: JudgeRecord) -> list[float]:
    """The composites of the newest rounds that it judged, as runs show them."""
    rows = rounds_of(record).filter(composite__isnull=False).order_by("-pk")
    values = rows.values_list("composite", flat=True)[:MOST_ROUNDS]
    return [float(value) for value in values if value is not None]


def rounds_of(record: JudgeRecord) -> QuerySet[Round]:
    """The rounds that the judge scored in runs of its version."""
    rounds = Round.objects.filter(run__rubric_version=record.rubric_version_id)
    board = Exists(BoardVerdict.objects.filter(round=OuterRef("pk")))
    if record.is_board:
        return rounds.filter(board, run__in=runs_with_board(record))
    return rounds.filter(~board, run__judge_model=record.model)


def runs_with_board(record: JudgeRecord) -> list[int]:
    """The runs of the version whose board has the judge's lenses and models."""
    runs = Run.objects.filter(rubric_version=record.rubric_version_id, panel__isnull=False).order_by("-pk")
    models = dict(runs.distinct().values_list("pk", "judge_model")[:MOST_RUNS])
    panels: dict[int, list[dict[str, Any]]] = defaultdict(list)
    seats = PanelJudge.objects.filter(run__rubric_version=record.rubric_version_id).order_by("run_id", "seat")
    for run, name, lens, model in seats.values_list("run", "name", "lens", "model"):
        if run in models:
            panels[run].append({"name": name, "lens": lens, "model": model})
    return [run for run, panel in panels.items() if judge_key(models[run], panel) == record.key]


def family_of_round(origin: str | None, model: str | None, family: str | None) -> str:
    """The family of the model that wrote a round; empty for people's texts."""
    if origin not in (RoundOrigin.DRAFT, RoundOrigin.REVISION):
        return ""
    return (family or (family_of(model) if model else "")).casefold()
