"""Messages that have a worker start a measurement's next judgements. Lost or doubled ones do no harm."""

from refinement.execution.waking import message_send
from refinement.models import MeasurementItem


def measurement_wake(measurement_id: int) -> None:
    """Has a worker start the next judgements, once the caller's transaction is committed."""
    # Imported here: the actors import services.
    from refinement.actors import advance_measurement

    message_send(advance_measurement, measurement_id)


def measurement_follow(bench_id: int) -> None:
    """Has the measurement go on of which this bench is a part, if there is one."""
    found = MeasurementItem.objects.filter(bench=bench_id).values_list("measurement", flat=True).first()
    if found is not None:
        measurement_wake(found)
