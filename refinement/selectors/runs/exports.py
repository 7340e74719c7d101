"""Runs as plain values for files: one in full or many in brief, read in chunks to save memory."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from refinement.interchange.exports.rows import Cell, RoundSummary, RunSummary
from refinement.models import (
    BoardVerdict,
    Call,
    Decision,
    EvaluatorResult,
    Event,
    HumanScore,
    Instruction,
    Project,
    Round,
    Run,
    RunImport,
    RunSource,
    RunTag,
    Source,
    Verdict,
)
from refinement.selectors.runs.boards.answers import (
    answer_values,
    panel_values,
    revised_scores,
    scores_by_key,
)
from refinement.selectors.runs.evaluators.metrics import counted, metrics_of
from refinement.selectors.runs.noise import NOISE_FIELDS, is_noise

# Rows with long texts are read a few at a time, short ones by the hundred.
LONG_ROWS = 4
TASK_ROWS = 20
SHORT_ROWS = 200
COLUMNS = (
    "run", "title", "task_type", "rubric", "rubric_version", "profile", "producer", "judge", "status",
    "outcome", "stop_reason", "why", "r1", "best", "best_round", "passed_in_round", "last",
    "improvement", "rounds", "signal_rounds", "penalty_rounds", "cut_rounds", "prompt_tokens",
    "completion_tokens", "calls", "model_seconds", "batch", "created_by", "created_at", "started_at",
    "finished_at", "imported", "decision", "chosen_round", "decided_by", "clerk", "cost",
    "within_noise", "smallest_difference", "same_text_moved",
)  # fmt: skip
_ROUND_FIELDS = (
    "number", "origin", "author_name", "base_round", "feedback", "candidate", "candidate_chars",
    "candidate_cut", "created_at", "judged_at", "composite", "scores", "contract_violation", "penalties",
    "signals", "seen_chars", "judge_attempts", "parse_rung", "key_change", "spread", "summary",
)  # fmt: skip
_VERDICT_FIELDS = ("position", "judge", "scores", "issues", "asi", "created_at")
_CHECK_FIELDS = (
    "position", "key", "passed", "message", "severity", "weight", "suggestion", "start", "end", "score",
    "expected", "actual",
)  # fmt: skip
EVALUATOR_FIELDS = (
    "command", "exit_code", "stopped", "failure", "metrics", "stdout", "stderr", "stdout_missing",
    "stderr_missing", "seconds", "open_to", "at", "runs", "failed_runs",
)  # fmt: skip
REPEAT_FIELDS = ("number", *(name for name in EVALUATOR_FIELDS if name not in ("runs", "failed_runs")))
VALIDATION_FIELDS = (
    "number", "replaced", "command", "exit_code", "stopped", "stdout", "stderr", "stdout_missing",
    "stderr_missing", "seconds", "open_to", "at",
)  # fmt: skip
_CALL_FIELDS = (
    "round_number", "role", "purpose", "seat", "attempt", "endpoint", "model", "messages", "options", "seen",
    "withheld",
    "started_at", "finished_at", "reply", "thinking", "finish_reason", "prompt_tokens", "completion_tokens",
    "cached_tokens", "seconds", "timings", "rung", "complaint", "error_kind", "error_message",
)  # fmt: skip
SOURCE_FIELDS = ("position", "name", "chars", "shown_chars", "text")
_EVENT_FIELDS = ("kind", "at", "actor", "data")
_HUMAN_SCORE_FIELDS = (
    "author_name", "scores", "composite", "note", "blind", "submitted_at", "changed_at", "version",
)  # fmt: skip
_INSTRUCTION_FIELDS = ("author_name", "text", "created_at", "used_in_round", "withdrawn_at")
_DECISION_FIELDS = ("number", "kind", "round_number", "reason", "author_name", "at")
_RUN_FIGURES = (
    "r1", "best", "last", "improvement", "best_round", "passed_in_round", "rounds_judged", "trajectory",
    "signal_rounds", "penalty_rounds", "cut_rounds", "prompt_tokens", "completion_tokens", "calls_made",
    "model_seconds", "extended_after", "escalated_after", "plateau_accepted", "failure_role",
    "failure_message", "decision", "chosen_round", "smallest_difference", "same_text_moved",
)  # fmt: skip
_ROUND_TEXTS = ("round__candidate", "round__feedback")
Row = TypeVar("Row", bound=Model)


def run_values(run: Run) -> dict[str, Any]:
    """The run's own row, without execution state."""
    record = RunImport.objects.filter(run=run).first() if run.is_imported else None
    return {
        "id": run.pk,
        "project": run.project.slug,
        "title": run.title,
        "task_type": run.task_type,
        "batch": run.batch,
        "experiment": run.experiment_id,
        "tags": list(run.tags.values_list("name", flat=True)),
        **launch_values(run, record),
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "archived_at": run.archived_at,
        "rerun_of": run.rerun_of_id,
        "rubric": rubric_values(run, record),
        "producer": _model_values(run, "producer"),
        "judge": _model_values(run, "judge"),
        "clerk": {"endpoint": run.clerk_endpoint, "model": run.clerk_model},
        "panel": panel_values(run),
        "other_contexts": run.other_contexts,
        "kinship": run.kinship,
        "status": run.status,
        "outcome": run.outcome,
        "stop_reason": run.stop_reason,
        "why": run.why,
        **{name: getattr(run, name) for name in _RUN_FIGURES},
        "nonce": run.nonce,
        "task": run.task,
        "seed": run.seed,
        "snapshot": run.snapshot,
        "calibration": run.calibration,
        "imported": import_values(run, record),
    }


def launch_values(run: Run, record: RunImport | None) -> dict[str, Any]:
    """Who launched it and when; for an imported run, according to its file."""
    if record is None:
        by = run.created_by.display_name if run.created_by else ""
        return {"created_by": by, "created_at": run.created_at}
    return {"created_by": record.launched_by, "created_at": record.launched_at or run.created_at}


def rubric_values(run: Run, record: RunImport | None) -> dict[str, Any]:
    """The rubric's name; for an imported run, its name in the original project if the file has it."""
    if record is not None and record.kept["rubric"]["slug"]:
        kept = record.kept["rubric"]
        return {name: kept[name] for name in ("slug", "name", "version")}
    version = run.rubric_version
    return {"slug": run.rubric.slug, "name": version.name, "version": version.number}


def import_values(run: Run, record: RunImport | None) -> Any:
    """Where an imported run came from. Our own exports are exported again as imported."""
    if record is None:
        return None
    if run.source == RunSource.WIGGUM:
        return record.kept["imported"]
    return {
        "from": run.source,
        "name": record.name,
        "by": record.by_name,
        "at": record.at,
        "stated": record.stated,
    }


def _model_values(run: Run, role: str) -> dict[str, Any]:
    return {name: getattr(run, f"{role}_{name}") for name in ("endpoint", "model", "family", "context")}


def round_values(run: Run, *, candidates: bool = True) -> Iterator[dict[str, Any]]:
    """Every round in order with its verdicts and checks; without texts unless `candidates`."""
    rows = Round.objects.filter(run=run).prefetch_related("verdicts", "check_results")
    boards = run.panel.exists()
    if boards:
        rows = rows.prefetch_related("board")
    left_out = () if candidates else ("candidate", "feedback")
    fields = [name for name in _ROUND_FIELDS if name not in left_out]
    evaluated = bool(run.snapshot.get("evaluator", {}).get("command"))
    if evaluated:
        rows = rows.select_related("evaluator_result").prefetch_related("evaluator_repeats", "validations")
    size = LONG_ROWS if candidates or evaluated else SHORT_ROWS
    for row in _in_parts(rows.defer(*left_out), "number", size):
        yield {
            **_values(row, fields),
            "verdicts": [_values(verdict, _VERDICT_FIELDS) for verdict in row.verdicts.all()],
            "checks": [_values(result, _CHECK_FIELDS) for result in row.check_results.all()],
            **(_board_values(row) if boards else {}),
            **(_evaluator_values(row) if evaluated else {}),
        }


def _board_values(row: Round) -> dict[str, Any]:
    """What each judge of a board said; no key for a round of a single judge."""
    answers = [answer_values(answer) for answer in row.board.all()]
    return {"board": answers} if answers else {}


def _evaluator_values(row: Round) -> dict[str, Any]:
    """The evaluator's output, its repeats and validations; no key for what did not run."""
    kept = getattr(row, "evaluator_result", None)
    repeats = [_values(repeat, REPEAT_FIELDS) for repeat in row.evaluator_repeats.all()]
    validations = [_values(validation, VALIDATION_FIELDS) for validation in row.validations.all()]
    return {
        **({"evaluator": _values(kept, EVALUATOR_FIELDS)} if kept else {}),
        **({"evaluator_repeats": repeats} if repeats else {}),
        **({"validations": validations} if validations else {}),
    }


def source_values(run: Run, *, texts: bool = True) -> Iterator[dict[str, Any]]:
    """Every source in order; without texts unless `texts`."""
    fields = [name for name in SOURCE_FIELDS if texts or name != "text"]
    yield from Source.objects.filter(run=run).order_by("position").values(*fields)


def call_values(run: Run) -> Iterator[dict[str, Any]]:
    """Every call in order, with its messages and reply."""
    for row in _in_parts(Call.objects.filter(run=run), "id", LONG_ROWS):
        yield _values(row, _CALL_FIELDS)


def event_values(run: Run) -> Iterator[dict[str, Any]]:
    """All events of the run, in order."""
    for row in _in_parts(Event.objects.filter(run=run), "id", SHORT_ROWS):
        yield _values(row, _EVENT_FIELDS)


def human_score_values(run: Run) -> Iterator[dict[str, Any]]:
    """Human scores of the run, in order of first submission."""
    rows = HumanScore.objects.filter(run=run).select_related("round").defer(*_ROUND_TEXTS)
    for row in _in_parts(rows, "id", SHORT_ROWS):
        yield {"round": row.round.number, **_values(row, _HUMAN_SCORE_FIELDS)}


def decision_values(run: Run) -> Iterator[dict[str, Any]]:
    """Decisions on the run, in order."""
    for row in _in_parts(Decision.objects.filter(run=run), "number", SHORT_ROWS):
        yield _values(row, _DECISION_FIELDS)


def instruction_values(run: Run) -> Iterator[dict[str, Any]]:
    """Instructions for the run, in order, including unused ones."""
    for row in _in_parts(Instruction.objects.filter(run=run), "id", SHORT_ROWS):
        yield _values(row, _INSTRUCTION_FIELDS)


def best_candidate(run: Run) -> str | None:
    """The text of the judge's best round; None if nothing is judged."""
    return _candidate(run, run.best_round)


def result_candidate(run: Run) -> str | None:
    """The resulting text: the round that people chose, or else the judge's best."""
    return _candidate(run, run.chosen_round or run.best_round)


def _candidate(run: Run, number: int | None) -> str | None:
    return run.rounds.filter(number=number or 0).values_list("candidate", flat=True).first()


def _in_parts(rows: QuerySet[Row], key: str, size: int) -> Iterator[Row]:
    # Read by key instead of one open cursor: a slow client would keep a transaction open.
    last = -1
    while part := list(rows.filter(**{f"{key}__gt": last}).order_by(key)[:size]):
        yield from part
        last = getattr(part[-1], key)


def _values(row: Model, fields: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in fields}


def run_summaries(project: Project, numbers: Sequence[int], *, tasks: bool) -> Iterator[RunSummary]:
    """The project's runs with these numbers, in this order; of their long texts only the task, if wanted."""
    for start in range(0, len(numbers), SHORT_ROWS):
        wanted = list(numbers[start : start + SHORT_ROWS])
        found = _run_rows(project).in_bulk(wanted)
        rounds, tags, deciders = _rounds_of(wanted), _tags_of(wanted), _deciders_of(wanted)
        rubrics = _original_rubrics(found.values())
        runs = [found[number] for number in wanted if number in found]
        for run, task in _with_tasks(runs) if tasks else ((run, None) for run in runs):
            yield RunSummary(
                _facts(run, rubrics.get(run.pk), deciders.get(run.pk, "")),
                rounds[run.pk],
                tags[run.pk],
                best=run.best,
                outcome=run.outcome,
                task=task,
            )


def _with_tasks(runs: Sequence[Run]) -> Iterator[tuple[Run, str | None]]:
    """The runs with their tasks. Few are in memory at a time, because a task can be long."""
    for start in range(0, len(runs), TASK_ROWS):
        part = runs[start : start + TASK_ROWS]
        tasks = dict(Run.objects.filter(pk__in=[run.pk for run in part]).values_list("pk", "task"))
        for run in part:
            yield run, tasks.get(run.pk)


def numbers_of(runs: QuerySet[Run]) -> "array[int]":
    """The runs' numbers in list order, stored compactly."""
    return array("q", runs.values_list("pk", flat=True).iterator(chunk_size=2000))


def _run_rows(project: Project) -> QuerySet[Run]:
    runs = Run.objects.filter(project=project).select_related("rubric", "rubric_version", "created_by")
    version = ("rubric_version__name", "rubric_version__number", "rubric_version__profile")
    person = ("created_by__name", "created_by__email")
    own = (
        "title", "task_type", "batch", "producer_endpoint", "producer_model", "judge_endpoint",
        "judge_model", "status", "outcome", "stop_reason", "why", "r1", "best", "best_round",
        "passed_in_round", "last", "improvement", "rounds_judged", "signal_rounds", "penalty_rounds",
        "cut_rounds", "prompt_tokens", "completion_tokens", "calls_made", "model_seconds", "created_at",
        "started_at", "finished_at", "source", "decision", "chosen_round", "clerk_endpoint", "clerk_model",
        "cost", *NOISE_FIELDS,
    )  # fmt: skip
    return runs.only(*own, *version, *person, "rubric__slug", "project_id")


def _facts(run: Run, original: tuple[str, int] | None, decided_by: str) -> dict[str, Cell]:
    version = run.rubric_version
    rubric = original or (run.rubric.slug, version.number)
    values: tuple[Cell, ...] = (
        run.pk, run.title, run.task_type, *rubric, version.profile,
        f"{run.producer_endpoint}/{run.producer_model}", f"{run.judge_endpoint}/{run.judge_model}",
        run.status, run.outcome, run.stop_reason, run.why, run.r1, run.best, run.best_round,
        run.passed_in_round, run.last, run.improvement, run.rounds_judged, run.signal_rounds,
        run.penalty_rounds, run.cut_rounds, run.prompt_tokens, run.completion_tokens, run.calls_made,
        run.model_seconds, run.batch, run.created_by.display_name if run.created_by else "",
        run.created_at, run.started_at, run.finished_at, run.source or "", run.decision or "",
        run.chosen_round, decided_by if run.decision else "",
        f"{run.clerk_endpoint}/{run.clerk_model}" if run.clerk_model else "", run.cost,
        is_noise(run), run.smallest_difference, run.same_text_moved,
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def _rounds_of(numbers: Sequence[int]) -> Mapping[int, list[RoundSummary]]:
    issues: dict[int, list[str]] = defaultdict(list)
    said = Verdict.objects.filter(round__run__in=numbers).order_by("round_id", "position")
    for pk, entries in said.values_list("round_id", "issues"):
        issues[pk] += [str(entry) for entry in entries]
    found: dict[int, list[RoundSummary]] = defaultdict(list)
    judged = Round.objects.filter(run__in=numbers, judged_at__isnull=False).order_by("run_id", "number")
    metrics, judges = _metrics_of(numbers), _judges_of(numbers)
    # A constraint guarantees that judged rounds have a composite.
    for pk, run, number, composite, scores, violation, change, spread in judged.values_list(
        *("pk", "run_id", "number", "composite", "scores", "contract_violation", "key_change", "spread")
    ):
        exact = {key: Decimal(score) for key, score in (scores or {}).items()}
        summary = RoundSummary(
            number,
            composite or Decimal(0),
            exact,
            issues[pk],
            metrics.get(pk, {}),
            violation,
            key_change=change or "",
            spread={key: Decimal(points) for key, points in (spread or {}).items()},
            judges=judges.get(pk, {}),
        )
        found[run].append(summary)
    return found


def _metrics_of(numbers: Sequence[int]) -> dict[int, Mapping[str, Decimal | None]]:
    """The numbers that count of each round's metrics, by the round's key."""
    rows = EvaluatorResult.objects.filter(round__run__in=numbers).exclude(metrics={})
    stored = rows.values_list("round_id", "metrics")
    return {key: counted(metrics_of(metrics, metrics)) for key, metrics in stored}


def _judges_of(numbers: Sequence[int]) -> Mapping[int, dict[str, Mapping[str, Decimal]]]:
    """Each board's judges with their final scores, by the round's key. Unreadable ones are left out."""
    found: dict[int, dict[str, Mapping[str, Decimal]]] = defaultdict(dict)
    rows = BoardVerdict.objects.filter(round__run__in=numbers, problem="").select_related("judge")
    for row in rows.order_by("round_id", "seat"):
        scores = revised_scores(row) or scores_by_key(row.scores)
        found[row.round_id][row.judge.name] = {key: Decimal(score) for key, score in scores.items()}
    return found


def _original_rubrics(runs: Iterable[Run]) -> dict[int, tuple[str, int]]:
    """The rubrics that imported runs had in their original project, as far as their files say."""
    imported = [run.pk for run in runs if run.is_imported]
    if not imported:
        return {}
    kept = RunImport.objects.filter(run__in=imported).values_list("run_id", "kept__rubric")
    return {number: (rubric["slug"], rubric["version"]) for number, rubric in kept if rubric["slug"]}


def _deciders_of(numbers: Sequence[int]) -> dict[int, str]:
    """The author of each run's newest decision."""
    rows = Decision.objects.filter(run__in=numbers).order_by("run_id", "number")
    return dict(rows.values_list("run_id", "author_name"))


def _tags_of(numbers: Sequence[int]) -> Mapping[int, list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for run, name in RunTag.objects.filter(run__in=numbers).order_by("name").values_list("run_id", "name"):
        found[run].append(name)
    return found
