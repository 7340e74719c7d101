"""Messages that make a worker start a measurement's next judgements. Duplicates change nothing."""

from refinement.execution.waking import message_send
from refinement.models import MeasurementItem


def measurement_wake(measurement_id: int) -> None:
    """Makes a worker start the next judgements after the caller's transaction has committed."""
    # Imported here: the actors import services.
    from refinement.actors import advance_measurement

    message_send(advance_measurement, measurement_id)


def measurement_follow(bench_id: int) -> None:
    """Continues the measurement that this bench belongs to, if there is one."""
    found = MeasurementItem.objects.filter(bench=bench_id).values_list("measurement", flat=True).first()
    if found is not None:
        measurement_wake(found)
