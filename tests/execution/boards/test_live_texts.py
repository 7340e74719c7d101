"""The replies of a board's judges are visible while they are written, and removed afterwards."""

from functools import partial

import pytest

from refinement.execution import live_text as live
from refinement.execution.leases import lease_take
from refinement.execution.live_text import LiveWriter
from refinement.models import BoardVerdict, LiveText, Run
from refinement.selectors.runs.boards.live import live_board, texts_of_judges
from refinement.selectors.runs.live.page import live_states, text_under_way
from tests.execution.boards.given import Script, board_rubric, ended, panel
from tests.execution.lifecycle.given import Scene, at_once
from tests.stepping import run_step

pytestmark = pytest.mark.django_db(transaction=True)


def test_each_judge_can_be_read_while_it_writes(scene: Scene, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(live, "FLUSH_EVERY", 0.0)
    rubric = board_rubric(panel(3))
    scene.server.replies = Script(rubric, {"Ada": [8], "Ben": [6], "Cleo": [3]})
    scene.server.chunks, scene.server.chunk_delay = 40, 0.05
    run = scene.launch(rubric)

    def watch() -> dict[int, str]:
        scene.server.wait_for(lambda: set(texts_of_judges(run.pk)) == {1, 2, 3})
        return texts_of_judges(run.pk)

    _, seen = at_once(partial(run_step, run.pk), watch)
    assert isinstance(seen, dict), seen
    assert all(text.startswith("{") for text in seen.values())
    assert BoardVerdict.objects.filter(round__run=run).count() == 3
    assert not LiveText.objects.exists()
    assert ended(run).outcome == "DONE"
    assert not LiveText.objects.exists()


def test_the_page_shows_what_each_judge_says_now_and_not_the_reply_of_a_single_judge(scene: Scene):
    rubric = board_rubric(panel(2))
    run = scene.launch(rubric)
    lease = lease_take(Run, run.pk, "a worker")
    assert lease is not None
    writer = LiveWriter(lease, str, seat=2)
    writer.collect('{"criteria": [{"key": "clarity", "reasoning": "The second step')
    writer.flush()
    writer.collect(" is <b>missing</b>")
    writer.flush()
    board = live_board(run, live_states([run.pk])[run.pk].board)
    assert board is not None
    first, second = board.judges
    assert (first.works, first.said) == (True, None)
    assert second.said is not None
    assert (second.said.title, second.said.parts) == ("Clarity", [("", "The second step is <b>missing</b>")])
    assert text_under_way(run) == ""
    writer.erase()
    assert not LiveText.objects.exists()
