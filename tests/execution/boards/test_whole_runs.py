"""Whole runs with a board: medians, spread, concessions and one suggestion."""

import json
from decimal import Decimal

import pytest

from refinement.engine.panels import panel_for
from refinement.engine.types import PanelJudge
from refinement.models import EventKind
from tests.execution.boards.given import (
    MERGED,
    NAMES,
    UNREADABLE,
    Script,
    answers,
    board_rubric,
    by_step,
    calls_of,
    ended,
    most_at_once,
    panel,
    requests,
    scores_of,
    speakers,
    together,
)
from tests.execution.lifecycle.given import Scene, kinds
from tests.execution.wire.stage import texts

SCORES = {"Ada": [8], "Ben": [3], "Cleo": [6], "Dov": [5], "Eve": [9]}


@pytest.mark.parametrize(("count", "median", "spread"), [(2, 3, 5), (3, 6, 5), (5, 6, 6)])
def test_a_board_scores_deliberates_and_merges(scene: Scene, count, median, spread):
    rubric = board_rubric(panel(count))
    scene.server.replies = Script(rubric, SCORES)
    run = ended(scene.launch(rubric))
    assert (run.outcome, run.stop_reason, run.calls_made) == ("DONE", "max_rounds", 2 * count + 1)
    seats = range(1, count + 1)
    assert by_step(run) == [
        *((1, "score", seat) for seat in seats),
        *((1, "deliberate", seat) for seat in seats),
        (1, "merge", 0),
    ]
    entry = run.rounds.get()
    assert entry.composite == run.best == median
    keys = [criterion.key for criterion in rubric.criteria]
    assert {key: Decimal(score) for key, score in entry.scores.items()} == dict.fromkeys(keys, median)
    assert {key: Decimal(each) for key, each in entry.spread.items()} == dict.fromkeys(keys, spread)
    assert [scores_of(row)[0] for row in answers(run)] == [SCORES[name][0] for name in NAMES[:count]]
    merged = entry.verdicts.get()
    assert (merged.judge, merged.asi) == ("board", MERGED["asi"])
    assert entry.summary == {
        "working": MERGED["working"],
        "not_working": MERGED["not_working"],
        "direction": MERGED["direction"],
        "problem": "",
    }


def test_the_judges_of_a_board_are_asked_at_once(scene: Scene):
    rubric = board_rubric(panel(3))
    scene.server.replies = together(3, scene.server, Script(rubric))
    ended(scene.launch(rubric))
    for purpose in ("score", "deliberate"):
        assert most_at_once(requests(scene.server, purpose)) == 3
        assert speakers(scene.server, purpose) == ["Ada", "Ben", "Cleo"]
    first_stance = min(entry.started for entry in requests(scene.server, "deliberate"))
    assert all(entry.finished < first_stance for entry in requests(scene.server, "score"))


def test_a_concession_moves_the_median_and_is_kept_with_its_reason(scene: Scene):
    rubric = board_rubric(panel(3))
    scores = {"Ada": [[8, 8, 8]], "Ben": [[3, 3, 3]], "Cleo": [[5, 5, 5]]}
    scene.server.replies = Script(rubric, scores, stances={"Ben": [{0: 7}], "Cleo": [{0: 7, 2: 4}]})
    run = ended(scene.launch(rubric))
    entry, keys = run.rounds.get(), [criterion.key for criterion in rubric.criteria]
    assert [Decimal(entry.scores[key]) for key in keys] == [7, 5, 4]
    assert [Decimal(entry.spread[key]) for key in keys] == [1, 5, 5]
    ada, ben, cleo = answers(run)
    assert [stance["stance"] for stance in ada.stances] == ["agree"] * 3
    assert [Decimal(stance["score"]) for stance in ada.stances] == [8, 8, 8], (
        "only a concession changes a score"
    )
    assert [stance["stance"] for stance in ben.stances] == ["concede", "agree", "agree"]
    assert ben.stances[0] == {
        "key": keys[0],
        "stance": "concede",
        "score": "7",
        "reasoning": "Ben thought again.",
    }
    assert scores_of(cleo) == [5, 5, 5], "a judge's first scores are kept"
    said = entry.verdicts.get().scores
    assert [given["reasoning"] for given in said] == [
        "Ben thought again.",
        "Cleo saw it.",
        "Cleo thought again.",
    ]


def test_the_others_scores_and_reasons_reach_a_judge_and_their_suggestions_do_not(scene: Scene):
    rubric = board_rubric(panel(3))
    scene.server.replies = Script(rubric, SCORES)
    ended(scene.launch(rubric))
    (first,) = [entry for entry in requests(scene.server, "score") if "Ada does" in json.dumps(entry.body)]
    (again,) = [
        entry for entry in requests(scene.server, "deliberate") if "Ada does" in json.dumps(entry.body)
    ]
    assert again.body["messages"][: len(first.body["messages"])] == first.body["messages"]
    said = "\n".join(texts(again)[len(first.body["messages"]) :])
    assert "Ben saw it." in said
    assert "Cleo saw it." in said
    assert "suggests a change" not in said
    (merge,) = requests(scene.server, "merge")
    assert all(f"{name} suggests a change." in texts(merge)[-1] for name in NAMES[:3])
    assert "A first text about backups" not in json.dumps(merge.body), "the clerk gets no candidate"


def test_the_producer_gets_the_one_suggestion_and_the_clerk_names_what_it_changed(scene: Scene):
    rubric = board_rubric(panel(2), rounds=2)
    scene.server.replies = Script(rubric, SCORES)
    run = ended(scene.launch(rubric))
    assert run.calls_made == 5 + 1 + 6
    assert sorted(by_step(run)[-2:]) == [(2, "describe", 0), (2, "merge", 0)]
    (written,) = requests(scene.server, "write")
    assert MERGED["asi"] in texts(written)[-1]
    assert "suggests a change" not in json.dumps(written.body)
    assert "A longer introduction." in json.dumps(written.body), "what does not work is told"
    first, second = run.rounds.order_by("number")
    assert (first.key_change, second.key_change) == (None, "Added a restore")
    (merge,) = requests(scene.server, "merge")[1:]
    assert MERGED["direction"] in texts(merge)[-1], "the clerk gets its last summary"


def test_without_deliberation_the_first_scores_stand(scene: Scene):
    rubric = board_rubric(panel(3), deliberation=False)
    scene.server.replies = Script(rubric, SCORES)
    run = ended(scene.launch(rubric))
    assert by_step(run) == [(1, "score", 1), (1, "score", 2), (1, "score", 3), (1, "merge", 0)]
    assert run.rounds.get().composite == 6
    assert [row.stances for row in answers(run)] == [None] * 3


# --- the panel ----------------------------------------------------------------------------------
def test_the_clerk_composes_a_panel_once_and_it_is_kept(scene: Scene):
    rubric = board_rubric(rounds=2)
    composed = [{"name": name, "lens": f"Look at it the way {name} does."} for name in NAMES[:3]]
    scene.server.replies = Script(rubric, SCORES, compose=[{"judges": composed}])
    run = ended(scene.launch(rubric))
    assert run.outcome == "DONE"
    assert len(calls_of(run, "compose")) == 1
    seats = list(run.panel.values_list("seat", "name", "by_clerk", "endpoint", "model"))
    assert seats == [(n, name, True, "ollama", "loopback:8b") for n, name in enumerate(NAMES[:3], start=1)]
    assert run.calls_made == 1 + 7 + 1 + 8
    assert kinds(run).count(EventKind.COMPOSED) == 1
    (asked,) = requests(scene.server, "compose")
    assert "A first text about backups" in texts(asked)[-1]


def test_a_panel_that_cannot_be_read_is_the_gallerys(scene: Scene):
    rubric = board_rubric()
    gallery = panel_for(rubric.artifact_type)
    script = Script(rubric, compose=[UNREADABLE])
    scene.server.replies = lambda asked: in_gallery(script, asked, gallery)
    run = ended(scene.launch(rubric))
    assert run.outcome == "DONE"
    assert len(calls_of(run, "compose")) == 3
    assert list(run.panel.values_list("name", "by_clerk")) == [(judge.name, False) for judge in gallery]
    (event,) = run.events.filter(kind=EventKind.COMPOSED)
    assert event.data["problem"].startswith("No valid reply after 3 tries.")


def in_gallery(script: Script, asked, gallery: tuple[PanelJudge, ...]) -> str:
    """The script's reply for a panel whose lenses it does not know."""
    body = json.dumps(asked.body)
    for judge, name in zip(gallery, NAMES, strict=False):
        body = body.replace(json.dumps(judge.lens)[1:-1], f"Look at it the way {name} does.")
    return script(type(asked)(asked.protocol, asked.role, asked.number, json.loads(body)))
