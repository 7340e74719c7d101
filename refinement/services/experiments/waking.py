"""Messages that have a worker start an experiment's next runs. A lost or doubled one changes nothing."""

from refinement.execution.waking import message_send


def experiment_wake(experiment_id: int) -> None:
    """Has a worker start the experiment's next runs, once the caller's transaction is committed."""
    # Imported here: the actors import services.
    from refinement.actors import advance_experiment

    message_send(advance_experiment, experiment_id)
