"""The held-out judge of a run: it scores the first and the best round when the run ends."""

import logging

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from refinement.engine.codec import rubric_from_json
from refinement.models import Measurement, MeasurementKind, Round, Run, RunStatus
from refinement.selectors.runs.held_out import compared_rounds
from refinement.services.trust.launching import scores_as
from refinement.services.trust.measurements.creating import NewItem, measurement_create

log = logging.getLogger("wiggum.held_out")
SWEPT_RUNS = 500  # of the newest, that are looked at for a held-out judge that was not asked
SWEPT_AT_ONCE = 20


def held_out_start(run: Run) -> Measurement | None:
    """Ask the run's held-out judge about its first and its best round. Safe to repeat.

    Call it in the transaction that ends the run. None if there is no such judge, nothing to compare, or it
    was asked about these rounds before.
    """
    if not run.held_out_model or run.status != RunStatus.FINISHED:
        return None
    pair = compared_rounds(run)
    before = Measurement.objects.filter(run=run, kind=MeasurementKind.HELD_OUT).first()
    if pair is None or (before is not None and asked_about(before) == pair):
        return None
    try:
        with transaction.atomic():
            if before is not None:
                before.delete()  # the run went on and has another best round; what was judged is reused
            return create(run, pair)
    except IntegrityError:
        return None  # another worker was faster
    except ValidationError as refused:
        log.warning("run=%s: its held-out judge was not asked: %s", run.pk, "; ".join(refused.messages))
        return None


def create(run: Run, pair: tuple[int, int]) -> Measurement:
    rows = {row.number: row for row in Round.objects.filter(run=run, number__in=pair)}
    definition = rubric_from_json(run.snapshot)
    version = run.rubric_version
    return measurement_create(
        project=run.project,
        version=version,
        kind=MeasurementKind.HELD_OUT,
        judge=(run.held_out_endpoint, run.held_out_model, ()),
        items=[NewItem(rows[number].candidate, run.task, round=rows[number]) for number in pair],
        definition=None if scores_as(version, definition) else run.snapshot,
        run=run,
        user=run.created_by,
    )


def asked_about(measurement: Measurement) -> tuple[int, ...]:
    rounds = measurement.items.order_by("position").values_list("round__number", flat=True)
    return tuple(number for number in rounds if number is not None)


def held_outs_sweep() -> int:
    """Ask the held-out judges of the newest runs that were not asked, such as for lack of budget."""
    newest = Run.objects.order_by("-pk").values_list("pk", flat=True)[:SWEPT_RUNS]
    runs = Run.objects.filter(pk__in=list(newest), status=RunStatus.FINISHED).exclude(held_out_model="")
    # Without a later best round there is nothing to compare. In any order, so that a project whose budget is
    # used up does not keep those of others waiting.
    gained = runs.filter(best_round__gt=1).order_by("?")
    missing = gained.exclude(measurements__kind=MeasurementKind.HELD_OUT)
    started = 0
    for run in missing.select_related("project", "rubric_version__rubric", "created_by")[:SWEPT_AT_ONCE]:
        started += held_out_start(run) is not None
    return started
