"""A single judge's plateau: a board takes over, a person is asked, or the run stops."""

from dataclasses import replace

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Judges, OnPlateau, Rubric
from refinement.models import EventKind
from refinement.services.runs.plateau import plateau_answer
from tests.execution.boards.given import (
    MERGED,
    NAMES,
    Script,
    answers,
    by_step,
    ended,
    lens_of,
    panel,
    requests,
)
from tests.execution.lifecycle.given import Scene, advance, kinds
from tests.execution.wire.stage import texts, verdict
from tests.loopback.replies import Asked, purpose_by_schema

SINGLE = (7, 5, 6, 7)  # the best of the last three rounds is no better than the first


def on_plateau(what: OnPlateau, judges: int = 3) -> Rubric:
    """Simmer with one judge, and a panel for the board that may take over."""
    base = rubric_for("simmer")
    policy = replace(base.policy, on_plateau=what)
    return replace(base, judges=Judges(panel=panel(judges)), policy=policy)


class Plateau(Script):
    """The single judge's scores first; then the board's."""

    def __call__(self, asked: Asked) -> str:
        if purpose_by_schema(asked.body) == "score" and not any(
            lens_of(name) in asked.prompt for name in NAMES
        ):
            score = self.next("single", SINGLE, None)
            return verdict(self.rubric, score, asi="The single judge suggests a change.")
        return super().__call__(asked)


def test_a_board_takes_over_on_a_plateau_for_two_more_rounds(scene: Scene):
    rubric = on_plateau(OnPlateau.BOARD)
    scores = {"Ada": [8, 9], "Ben": [6, 7], "Cleo": [7, 8]}
    scene.server.replies = Plateau(rubric, scores)
    run = ended(scene.launch(rubric))
    assert (run.outcome, run.stop_reason, run.rounds_judged) == ("DONE", "max_rounds", 6)
    assert run.escalated_after == 4
    composites = [int(entry.composite) for entry in run.rounds.order_by("number")]
    assert composites == [7, 5, 6, 7, 7, 8]
    assert run.best_round == 6
    judged_by = list(run.rounds.order_by("number").values_list("verdicts__judge", flat=True))
    assert judged_by == ["loopback:8b"] * 4 + ["board"] * 2
    assert [len(answers(run, number)) for number in range(1, 7)] == [0, 0, 0, 0, 3, 3]
    assert kinds(run).count(EventKind.ESCALATED) == 1
    seats = (1, 2, 3)
    for number in (5, 6):
        assert [entry for entry in by_step(run) if entry[0] == number] == [
            (number, "revise", 0),
            *((number, "score", seat) for seat in seats),
            *((number, "deliberate", seat) for seat in seats),
            (number, "merge", 0),
            (number, "describe", 0),
        ]


def test_the_first_round_of_a_board_starts_from_the_best_round_and_its_suggestion(scene: Scene):
    rubric = on_plateau(OnPlateau.BOARD)
    scene.server.replies = Plateau(rubric)
    run = ended(scene.launch(rubric))
    assert run.rounds.get(number=5).base_round == 1
    written = requests(scene.server, "write")
    assert "A first text about backups." in texts(written[3])[-1]
    assert "The single judge suggests a change." in texts(written[3])[-1]
    assert MERGED["asi"] in texts(written[4])[-1]


def test_a_panel_is_composed_when_the_board_takes_over(scene: Scene):
    rubric = replace(on_plateau(OnPlateau.BOARD), judges=Judges())
    composed = [{"name": name, "lens": lens_of(name)} for name in NAMES[:3]]
    scene.server.replies = Plateau(rubric, compose=[{"judges": composed}])
    run = ended(scene.launch(rubric))
    assert (run.outcome, run.rounds_judged) == ("DONE", 6)
    assert [entry[:2] for entry in by_step(run) if entry[1] == "compose"] == [(5, "compose")]
    assert list(run.panel.values_list("name", flat=True)) == list(NAMES[:3])


def test_a_plateau_stops_the_run_where_the_rubric_says_so(scene: Scene):
    rubric = on_plateau(OnPlateau.STOP)
    scene.server.replies = Plateau(rubric)
    run = ended(scene.launch(rubric))
    assert (run.stop_reason, run.rounds_judged, run.escalated_after) == ("plateau", 4, 0)
    assert requests(scene.server, "merge") == []


def test_a_run_that_asks_is_paused_and_goes_on_with_a_board_when_a_person_says_so(scene: Scene):
    rubric = on_plateau(OnPlateau.ASK)
    scene.server.replies = Plateau(rubric, {"Ada": [8], "Ben": [8], "Cleo": [8]})
    run = scene.launch(rubric)
    advance(run)
    assert (run.status, run.plateau_asked, run.rounds_judged) == ("paused", True, 4)
    assert kinds(run).count(EventKind.ASKED) == 1
    plateau_answer(run=run, answer="continue")
    run = ended(run)
    assert (run.outcome, run.rounds_judged, run.escalated_after, run.best) == ("DONE", 6, 4, 8)
    assert [len(answers(run, number)) for number in (4, 5, 6)] == [0, 3, 3]


def test_a_run_that_asks_stops_when_a_person_says_so(scene: Scene):
    rubric = on_plateau(OnPlateau.ASK)
    scene.server.replies = Plateau(rubric)
    run = scene.launch(rubric)
    advance(run)
    calls = run.calls_made
    plateau_answer(run=run, answer="stop")
    advance(run)
    assert (run.status, run.stop_reason, run.rounds_judged) == ("finished", "plateau", 4)
    assert run.calls_made == calls == 7
