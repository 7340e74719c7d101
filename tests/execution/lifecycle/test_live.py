"""The live text of a reply: visible while it is written, saved once, deleted afterwards."""

import threading
from functools import partial

import pytest
from django.db import connection

from refinement.execution import live_text as live
from refinement.execution.leases import Lease, lease_take
from refinement.models import LiveText, Run
from refinement.services.runs.lifecycle import run_cancel
from tests.execution.lifecycle.given import Scene, at_once, rubric
from tests.loopback.faults import Fault
from tests.stepping import run_step

TEXT = "".join(f"Sentence {number} of a long revision. " for number in range(60)).strip()


def shown(run: Run) -> str:
    """What a page reads."""
    attempt = Run.objects.values_list("attempt", flat=True).get(pk=run.pk)
    return "".join(run.live_texts.filter(attempt=attempt).order_by("position").values_list("text", flat=True))


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces are kept as they come."""
    monkeypatch.setattr(live, "FLUSH_EVERY", 0.0)


def slowly(scene: Scene) -> Run:
    """A run whose first draft takes a few seconds to be written."""
    scene.says(5.0, texts=[TEXT])
    scene.server.chunks, scene.server.chunk_delay = 40, 0.05
    return scene.launch(rubric(1), seed="")


@pytest.mark.django_db(transaction=True)
def test_a_candidate_can_be_read_while_it_is_written(scene: Scene):
    run = slowly(scene)

    def watch() -> list[str]:
        scene.server.wait_for(lambda: shown(run))
        seen = [shown(run)]
        scene.server.wait_for(lambda: len(shown(run)) > len(seen[0]) or run.rounds.exists())
        return [*seen, shown(run)]

    _, seen = at_once(partial(run_step, run.pk), watch)
    assert isinstance(seen, list), seen
    assert all(TEXT.startswith(text) for text in seen)
    assert 0 < len(seen[0]) < len(TEXT)
    assert run.rounds.get().candidate == TEXT
    assert not LiveText.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_it_is_gone_after_a_cancellation(scene: Scene, hasty: None):
    run = slowly(scene)

    def cancel_while_it_writes() -> None:
        scene.server.wait_for(lambda: shown(run))
        run_cancel(run=run)

    step, problem = at_once(partial(run_step, run.pk), cancel_while_it_writes)
    assert (step.lost, problem) == (True, None)
    assert not LiveText.objects.exists()


@pytest.fixture
def lease(scene: Scene) -> Lease:
    run = scene.launch()
    taken = lease_take(Run, run.pk, "a worker")
    assert taken is not None
    return taken


@pytest.mark.django_db
@pytest.mark.parametrize("pieces", [10, 100, 400])
def test_every_character_is_written_once(lease: Lease, hasty: None, pieces: int):
    heard: list[str] = []
    written: list[int] = []

    def note(execute, sql, params, many, context):
        if sql.startswith('INSERT INTO "refinement_livetext"'):
            written.append(sum(len(value) for value in params if isinstance(value, str)))
        assert not sql.startswith('UPDATE "refinement_livetext"'), "a piece is never written again"
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note), live.live_text(lease, heard.append) as write:
        for number in range(pieces):
            write(f"{number:09d} ")
        assert shown(lease.row) == "".join(f"{number:09d} " for number in range(pieces)) == "".join(heard)
    assert sum(written) == 10 * pieces
    assert not LiveText.objects.exists()


@pytest.mark.django_db
def test_a_reply_that_is_there_in_a_moment_costs_no_row(lease: Lease, django_assert_num_queries, monkeypatch):
    monkeypatch.setattr(live, "FLUSH_EVERY", 60.0)  # a moment of a busy machine
    with django_assert_num_queries(0), live.live_text(lease, lambda piece: None) as write:
        for _ in range(1000):
            write("word ")


@pytest.mark.django_db
def test_pieces_of_a_lost_holder_are_not_shown_and_go_with_the_next_reply(lease: Lease, hasty: None):
    LiveText.objects.create(run=lease.row, attempt=lease.attempt - 1, position=0, text="Lost. ")
    with live.live_text(lease, lambda piece: None) as write:
        write("New.")
        assert shown(lease.row) == "New."
    assert not LiveText.objects.exists()


@pytest.mark.django_db
def test_it_is_gone_after_a_failure(scene: Scene, hasty: None):
    scene.says(5.0, texts=[TEXT])
    scene.server.faults = [Fault("reset", role="producer")]
    run = scene.launch(rubric(1), seed="")
    run_step(run.pk)
    run.refresh_from_db()
    assert run.status == "waiting"
    assert not LiveText.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_runs_that_write_at_once_keep_their_texts_apart(scene: Scene, hasty: None):
    leases = [lease_take(Run, scene.launch().pk, f"worker {number}") for number in range(2)]
    both_wrote = threading.Barrier(2)

    def write_all(lease: Lease, word: str) -> str:
        with live.live_text(lease, lambda piece: None) as write:
            for _ in range(20):
                write(word)
            both_wrote.wait(60)
            text = shown(lease.row)
            both_wrote.wait(60)
            return text

    texts = at_once(*[partial(write_all, lease, word) for lease, word in zip(leases, "ab", strict=True)])
    assert texts == ["a" * 20, "b" * 20]
    assert not LiveText.objects.exists()
