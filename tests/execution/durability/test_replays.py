"""A replay of 500 rounds with killed workers: recorded judgements are not repeated."""

import json
import re
import signal
from collections import Counter
from collections.abc import Iterator

import pytest

from benchmarks.instance import wait_for
from tests.execution.durability.stage import PATIENCE, Stage, stage_set
from tests.loopback.replies import valid_replies

LEASE = ("--lease", "3")
ROUNDS = 500
SET_UP = """
from decimal import Decimal
from django.utils import timezone
from refinement.models import Round, Run, Verdict
from refinement.providers.registry import Target
from refinement.selectors.rubrics.definitions import version_named
from refinement.services.projects.local import local_project
from refinement.services.runs.creating import run_create
project = local_project()
version = version_named(project, "wiggum")
judge = Target("ollama", "loopback:1b")
for first in range(1, 501, 5):
    run = run_create(project=project, version=version, task="Replayed.", producer=judge, judge=judge)
    now, keys = timezone.now(), [criterion["key"] for criterion in run.snapshot["criteria"]]
    Round.objects.bulk_create(
        Round(
            run=run, number=place + 1, origin="revision" if place else "seed", judged_at=now,
            candidate=f"# Text number {first + place} ends here.", candidate_chars=40,
            composite=Decimal(8), scores=dict.fromkeys(keys, "8"),
        )
        for place in range(5)
    )
    said = [{"key": key, "score": "8", "reasoning": "", "improvement": ""} for key in keys]
    Verdict.objects.bulk_create(
        Verdict(round=row, judge="loopback:1b", scores=said) for row in run.rounds.all()
    )
    Run.objects.filter(pk=run.pk).update(
        status="finished", finished_at=now, outcome="FAIL", stop_reason="max_rounds", best=8, best_round=1
    )
"""
REPLAY = """
from refinement.models import MeasurementKind, Round
from refinement.selectors.rubrics.definitions import version_named
from refinement.services.projects.local import local_project
from refinement.services.trust.measurements.creating import NewItem, measurement_create
project = local_project()
rounds = Round.objects.filter(run__task="Replayed.").order_by("pk").select_related("run")
measurement_create(
    project=project, version=version_named(project, "wiggum"), kind=MeasurementKind.REPLAY,
    judge=("ollama", "loopback:8b", ()),
    items=[NewItem(row.candidate, row.run.task, round=row) for row in rounds],
)
"""
DONE = "SELECT count(*) FROM refinement_benchtrial WHERE status = 'done'"
FINISHED = "SELECT count(*) FROM refinement_measurement WHERE status = 'finished'"
REPORTED = "SELECT count(*) FROM refinement_report WHERE kind = 'replay' AND status = 'done'"


@pytest.fixture
def stage() -> Iterator[Stage]:
    with stage_set("sqlite") as stage:
        stage.server.replies = valid_replies()
        stage.server.chunk_delay = 0.005
        yield stage


def replay(stage: Stage) -> None:
    stage.app.manage("shell", "-v0", "--no-imports", "-c", REPLAY)


def asked(stage: Stage) -> Counter[str]:
    """How often the model server was asked about each text."""
    bodies = (json.dumps(entry.body["messages"][-1]) for entry in stage.server.chats)
    # What stands before the text it is asked about are earlier rounds.
    return Counter(re.findall(r"Text number (\d+) ends here", body)[-1] for body in bodies)


def test_a_replay_of_500_rounds_repeats_nothing(stage: Stage) -> None:
    stage.app.manage("shell", "-v0", "--no-imports", "-c", SET_UP)
    replay(stage)
    in_flight = 0
    for done in (100, 300):
        worker = stage.worker(*LEASE)
        wait_for(lambda done=done: stage.rows.one(DONE) >= done, PATIENCE)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        in_flight += sum(asked(stage).values()) - stage.rows.one(DONE) - in_flight
        stage.forget_messages()
    with stage.working(*LEASE):
        wait_for(lambda: stage.rows.one(FINISHED) == stage.rows.one(REPORTED) == 1, PATIENCE)
        calls = asked(stage)
        assert (len(calls), stage.rows.one(DONE)) == (ROUNDS, ROUNDS)
        assert max(calls.values()) <= 3  # at most once more for each kill
        assert sum(calls.values()) == ROUNDS + in_flight
        replay(stage)
        wait_for(lambda: stage.rows.one(FINISHED) == 2, PATIENCE)
    assert stage.rows.one(DONE) == 2 * ROUNDS
    assert asked(stage) == calls
