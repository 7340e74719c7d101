"""The ledger and the blame view of realistic runs: boards, edits, instructions, restored rounds."""

from dataclasses import replace

import pytest

from refinement.engine.codec import rubric_from_json
from refinement.engine.profiles import rubric_for
from refinement.models import FeedbackFate
from refinement.selectors.runs.ledger import item_texts, ledger_of
from refinement.selectors.runs.texts.blame import round_blame
from refinement.services.runs.hand_rounds import Edit, round_edit
from refinement.services.runs.ledger import feedback_correct, ledger_store
from refinement.services.runs.lifecycle import run_continue
from refinement.services.runs.steering import instruction_give
from tests.execution.wire.conftest import stage
from tests.execution.wire.stage import verdict
from tests.loopback.fixtures import ollama_server
from tests.views.runs.board_guide import MERGED, board_run

__all__ = ["ollama_server", "stage"]
pytestmark = pytest.mark.django_db(transaction=True)

SEED = "# Backups\n\nMade every night.\n"
WORSE = "# Backups\n\nThey exist somewhere on a disk in the basement of the building.\n"
RESTORE = "Restore the database from the newest backup with the script."
WAREHOUSE = "Call the warehouse staff before you restore anything on a weekday."


def definition(run):
    return rubric_from_json(run.snapshot)


def blamed(run, number):
    """The passages of a round by their first words: the round, the person and what asked for it."""
    found = round_blame(run, definition(run), number)
    assert "".join(passage.text for passage in found.passages) == run.rounds.get(number=number).candidate
    return {
        passage.words.strip().splitlines()[0]: (
            passage.round,
            passage.author,
            passage.asked.label if passage.asked else "",
        )
        for passage in found.passages
        if passage.words.strip()
    }


def test_a_boards_merged_feedback_is_in_the_ledger_and_can_be_corrected(stage, editor):
    run = board_run(stage)
    ledger_store(run)
    lines, said = ledger_of(run, definition(run)).lines, item_texts(run)
    assert lines
    assert {line.fate for line in lines.values()} <= set(FeedbackFate.values)
    assert {said[key][0] for key in lines} <= {MERGED["asi"], "“No data is lost” is not supported."}
    number, kind, position = next(iter(lines))
    feedback_correct(
        run=run, number=number, kind=kind, position=position, fate="overtaken", version="0", user=editor
    )
    assert ledger_of(run, definition(run)).lines[number, kind, position].fate == "overtaken"


def test_blame_of_a_boards_run_names_its_rounds(stage):
    run = board_run(stage)
    rounds = {number for number, _, _ in blamed(run, run.rounds_judged).values()}
    assert rounds <= set(range(1, run.rounds_judged + 1))
    assert run.rounds_judged in rounds


def test_a_restored_round_leads_past_the_one_that_was_given_up(stage):
    """Simmer goes back to the best round after a regression: what the worse one wrote is nobody's."""
    rubric = rubric_for("simmer")
    rubric = replace(rubric, policy=replace(rubric.policy, max_rounds=3))
    stage.says(
        judge=[verdict(rubric, 6), verdict(rubric, 4), verdict(rubric, 7)],
        producer=[WORSE, f"{SEED}\n{RESTORE}\n"],
    )
    run = stage.play(rubric, seed=SEED)
    assert run.rounds.get(number=3).base_round == 1
    assert {number for number, _, _ in blamed(run, 3).values()} == {1, 3}
    ledger_store(run)
    fates = {key[0]: line.fate for key, line in ledger_of(run, definition(run)).lines.items()}
    assert set(fates) == {1, 2}  # the feedback on both drove a revision
    assert fates[2] in ("overtaken", "open")


def test_an_edit_by_hand_and_an_instruction_have_their_persons(stage, editor, owner):
    rubric = rubric_for("wiggum")
    rubric = replace(rubric, policy=replace(rubric.policy, max_rounds=1, stop_rules=()))
    stage.says(judge=[verdict(rubric, 5, issues=["Name the owner of the service."])], producer=[])
    run = stage.play(rubric, seed=SEED)
    edited = f"{SEED}\n{RESTORE}\n"
    stage.says(judge=[verdict(rubric, 6, issues=["Name the owner of the service."])], producer=[])
    round_edit(run=run, edit=Edit(base=1, text=edited, newest=1, rounds=1), user=editor)
    run = stage.carry_on(run)
    instruction_give(run=run, text=f"Tell them: {WAREHOUSE}", user=owner)
    stage.says(judge=[verdict(rubric, 7, issues=[])], producer=[f"{edited}\n{WAREHOUSE}\n"])
    run_continue(run=run, rounds=1)
    run = stage.carry_on(run)
    found = blamed(run, 3)
    assert found[RESTORE] == (2, editor.display_name, "")
    assert found[WAREHOUSE] == (3, "", f"instruction by {owner.display_name}")
    ledger_store(run)
    lines = ledger_of(run, definition(run)).lines
    # Nobody was asked to revise round 1: a person edited it. Round 2 drove the revision that follows.
    assert {key[0] for key in lines} == {2}
