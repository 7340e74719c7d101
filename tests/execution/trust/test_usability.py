"""How a judge's replies were read, over runs, tests and measurements."""

import json
from dataclasses import replace
from typing import Any

import pytest

from refinement.engine.profiles import rubric_for
from refinement.execution.trials.advancing import trial_advance
from refinement.execution.trust.computing import compute_trust
from refinement.execution.trust.usability import usable_replies
from refinement.models import JudgeRecord
from refinement.services.trust.judges import judge_ensure
from tests.execution.trials.given import JUDGE, Table, advance
from tests.execution.wire.stage import Stage, drafts, verdict
from tests.loopback.replies import Answer, from_lists
from tests.services.trust.measurements.given import a_measurement, carried_out

pytestmark = pytest.mark.django_db
WIGGUM = rubric_for("wiggum")
GOOD = verdict(WIGGUM, 7)
FENCED = f"Here it is:\n```json\n{GOOD}\n```"
NONSENSE = "I do not know."


def record_of(table: Table) -> JudgeRecord:
    return judge_ensure(project=table.project, version=table.version, model=JUDGE.model)


def told(table: Table, *replies: str | Answer) -> dict[str, Any]:
    table.server.replies = from_lists({"judge": replies})
    table.server._asked.clear()
    table.bench(repeats=sum(reply is not NONSENSE for reply in replies) or 1)
    advance(table.version.benches.latest("pk"))
    found = usable_replies(record_of(table))
    assert found is not None
    return found


def test_replies_are_counted_by_how_they_were_read(table: Table):
    found = told(table, GOOD, FENCED, NONSENSE, GOOD)
    assert found["rungs"] == {
        **dict.fromkeys(["dirtyjson", "json_repair", "lines", "unscored"], 0),
        "strict": 1,
        "embedded": 1,
        "asked_again": 1,
    }
    assert (found["n"], found["repaired"]) == (3, 1)
    assert found["usable"]["value"] == found["usable"]["high"] == 1
    assert found["usable"]["low"] == pytest.approx(0.4385, abs=1e-4)
    assert found["form"]["plain"] == {**found["form"]["plain"], "n": 3, "hits": 1}
    assert found["form"]["thinking"] is None


def test_a_judgement_that_was_given_up_is_unscored(table: Table):
    found = told(table, NONSENSE, NONSENSE, NONSENSE)
    assert (found["n"], found["rungs"]["unscored"], found["usable"]["value"]) == (1, 1, 0)


def test_replies_with_thinking_are_told_apart(table: Table):
    found = told(table, Answer(GOOD, thinking="Let me see."), Answer(FENCED, thinking="So."), GOOD)
    assert (found["form"]["thinking"]["n"], found["form"]["thinking"]["hits"]) == (2, 1)
    assert (found["form"]["plain"]["n"], found["form"]["plain"]["hits"]) == (1, 1)


def test_a_judgement_under_way_does_not_count_yet(table: Table):
    table.server.replies = from_lists({"judge": [NONSENSE]})
    trial_advance(table.bench(repeats=1).trials.get().pk)
    assert usable_replies(record_of(table)) is None


def test_a_board_is_counted_by_model(table: Table):
    panel = [
        {"name": "A", "lens": "Truth", "endpoint": "ollama", "model": "loopback:8b"},
        {"name": "B", "lens": "Form", "endpoint": "ollama", "model": "loopback:1b"},
    ]
    table.server.replies = lambda asked: GOOD if asked.body["model"] == "loopback:8b" else FENCED
    carried_out(a_measurement(table, "One.", "Two.", judge=(JUDGE.endpoint, JUDGE.model, panel)))
    found = usable_replies(JudgeRecord.objects.get())
    assert [(entry["model"], entry["n"], entry["rungs"]["strict"]) for entry in found["models"]] == [
        ("loopback:1b", 2, 0),
        ("loopback:8b", 2, 2),
    ]
    assert usable_replies(record_of(table)) is None  # the board's calls are not those of its model alone


def test_reused_verdicts_and_other_versions_do_not_count(table: Table):
    table.server.replies = lambda asked: GOOD
    carried_out(a_measurement(table, "One."))
    carried_out(a_measurement(table, "One."))
    record = JudgeRecord.objects.get()
    assert usable_replies(record)["n"] == 1
    table.rubric(replace(WIGGUM, background="Another one."))
    assert usable_replies(record_of(table)) is None


def test_calls_of_runs_count(table: Table):
    stage = Stage(table.server, table.project)
    best = verdict(WIGGUM, 10)
    stage.says(judge=[GOOD, NONSENSE, FENCED.replace(GOOD, best)], producer=drafts(2))
    run = stage.play(WIGGUM)
    assert run.outcome == "PASS"
    record = judge_ensure(project=run.project, version=run.rubric_version, model=run.judge_model)
    found = usable_replies(record)
    assert found["n"] == 2
    assert (found["rungs"]["strict"], found["rungs"]["asked_again"]) == (1, 1)
    assert compute_trust(record.pk)["usable"] == found
    assert json.dumps(found)
