"""Reflect: stable wins, failed changes, and the options that were tried."""

from dataclasses import replace

import pytest

from refinement.engine.reflect import Exploration, Reflection, exploration_of, options_of, reflect
from refinement.engine.types import History, Round
from tests.engine.given import rubric, scored, verdict


def named(*entries: tuple[str, str, int | None]) -> History:
    """Rounds by composite, key change and base."""
    return History(
        tuple(
            Round(number, "text", scored(composite), base, key_change=change or None)
            for number, (composite, change, base) in enumerate(entries, start=1)
        )
    )


def test_nothing_is_known_before_the_first_round():
    assert reflect(rubric("simmer"), History()) == Reflection()


def test_a_win_is_stable_once_a_later_round_keeps_it():
    of = rubric("simmer")
    state = named(("5", "", None), ("6", "a table", 1), ("7", "an example", 2))
    found = reflect(of, state)
    assert found.best_round == 3
    assert found.wins == ((2, "a table"),)
    assert found.failed == ()
    assert not found.regressed


def test_a_change_that_lost_ground_did_not_work():
    found = reflect(rubric("simmer"), named(("5", "", None), ("7", "a table", 1), ("6", "a joke", 2)))
    assert (found.best_round, found.wins, found.failed, found.regressed) == (2, (), ((3, "a joke"),), True)


def test_a_win_that_a_later_round_started_over_from_is_not_stable():
    state = named(("5", "", None), ("6", "a table", 1), ("7", "a list", 1))
    assert reflect(rubric("simmer"), state).wins == ()
    kept = named(("5", "", None), ("6", "a table", 1), ("5", "a joke", 2), ("6", "a list", 3))
    assert reflect(rubric("simmer"), kept).wins == ((2, "a table"),)


def test_a_round_without_a_base_starts_from_the_one_before():
    state = named(("5", "", None), ("6", "a table", None), ("6", "a list", None))
    assert reflect(rubric("simmer"), state).wins == ((2, "a table"),)


def test_changes_that_nobody_named_are_left_out():
    state = named(("5", "", None), ("6", "", 1), ("7", "", 2), ("4", "", 3))
    found = reflect(rubric("simmer"), state)
    assert (found.wins, found.failed, found.regressed) == ((), (), True)


def test_only_rounds_before_a_number_count():
    state = named(("5", "", None), ("7", "a table", 1), ("6", "a joke", 2))
    assert reflect(rubric("simmer"), state, before=3).failed == ()


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("", ()),
        ("Models to try:\n- llama 8b\n- qwen 14b\n", ("llama 8b", "qwen 14b")),
        ("1. few-shot examples\n2) chain of thought", ("few-shot examples", "chain of thought")),
        ("few-shot examples\nchain of thought", ("few-shot examples", "chain of thought")),
        (
            "few-shot examples; chain of thought; few-shot examples.",
            ("few-shot examples", "chain of thought"),
        ),
    ],
)
def test_options_are_bullets_lines_or_parts(text, options):
    assert options_of(text) == options


def test_an_option_is_tried_once_most_of_its_words_were_said():
    space = "- few-shot examples\n- larger model\n- xy"
    assert exploration_of(space, ["Add three few-shot examples to the prompt."]) == Exploration(
        ("few-shot examples",), ("larger model", "xy")
    )


def test_suggestions_that_led_to_a_round_count_as_tried():
    of = replace(rubric("simmer"), search_space="larger model; shorter prompt; caching")
    state = named(("5", "", None), ("6", "shorter prompt", 1))
    first = state.rounds[0]
    suggested = replace(first.assessment, verdicts=(verdict(asi="Use a larger model."),))
    state = replace(state, rounds=(replace(first, assessment=suggested), state.rounds[1]))
    assert reflect(of, state).exploration == Exploration(("larger model", "shorter prompt"), ("caching",))


def test_a_suggestion_is_tried_once_there_is_a_round_after_it_judged_or_not():
    of = replace(rubric("simmer"), search_space="larger model; shorter prompt")
    first = named(("5", "", None)).rounds[0]
    judged = replace(
        first, assessment=replace(first.assessment, verdicts=(verdict(asi="Use a larger model."),))
    )
    assert reflect(of, History((judged,))).exploration.tried == ()
    waiting = History((judged, Round(2, "text")))
    assert reflect(of, waiting, before=2).exploration.tried == ("larger model",)


def test_a_board_that_took_over_is_not_compared_with_the_judge_before_it():
    state = named(("8", "", None), ("9", "a table", 1), ("6", "a list", 2), ("7", "an example", 3))
    found = reflect(rubric("simmer"), replace(state, escalated_after=2))
    assert (found.best_round, found.failed, found.regressed) == (2, (), False)
    assert reflect(rubric("simmer"), state).failed == ((3, "a list"), (4, "an example"))
