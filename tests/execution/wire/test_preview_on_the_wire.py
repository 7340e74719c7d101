"""The preview of a run is exactly what the run sent."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.profiles import rubric_for
from refinement.judging.rehearsal import AssumedScores, rehearse
from refinement.judging.sources import SourceText
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.rubrics.rehearsals import preview_history
from tests.execution.wire.stage import Stage, calls, drafts, verdict

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("profile", ["wiggum", "simmer"])
def test_every_message_of_a_run_is_as_the_preview_has_it(stage: Stage, profile):
    rubric = replace(
        rubric_for(profile),
        background="Readers are new.",
        output_contract="Markdown.",
        calibration_text="A known text.",
        calibration_scores={rubric_for(profile).criteria[0].key: Decimal(3)},
    )
    scores = (4, 6, 5)
    stage.says(judge=[verdict(rubric, score) for score in scores] * 2, producer=drafts(6))
    run = stage.play(rubric, sources=[SourceText("notes.txt", "Kept for four weeks.")])
    sent = {(call.role, call.round_number): call.messages for call in calls(run)}
    version = run.rubric_version
    assumed = AssumedScores(rubric.scale.maximum)
    compared = 0
    for number in run.rounds.values_list("number", flat=True):
        borrowed = preview_history(run, version, definition_of(version), number, assumed)
        rehearsal = rehearse(borrowed.brief, borrowed.history)
        assert borrowed.assumed == ()
        acts = {("judge", number): rehearsal.judge, ("producer", number + 1): rehearsal.revision}
        for key, act in {**acts, ("producer", 1): rehearsal.draft}.items():
            if key in sent:
                shown = [
                    {"role": message.role, "content": message.content} for message in act.prompt.messages
                ]
                assert shown == sent[key]
                compared += 1
    assert compared >= 2 * run.rounds.count()
