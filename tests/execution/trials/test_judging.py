"""A trial is judged like a run's round: same prompt, same parsing, same composite."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError

from refinement.engine.codec import rubric_with
from refinement.engine.types import Check
from refinement.judging.same_text import fingerprint
from refinement.models import AuditEntry, Bench, BenchCall
from refinement.services.rubrics.bench import Candidate, bench_create
from refinement.services.runs.creating import run_create
from tests.execution.lifecycle.given import advance as run_through
from tests.execution.trials.given import (
    EXAMPLE,
    JUDGE,
    TASK,
    TEXT,
    Table,
    advance,
    calibrated,
    definition,
    messages,
    trials,
)
from tests.execution.wire.stage import verdict
from tests.loopback.replies import Answer, from_lists

pytestmark = pytest.mark.django_db


def test_every_trial_is_sent_to_a_worker(table: Table, editor):
    bench = table.bench(repeats=4, user=editor)
    assert [messages(trial) for trial in trials(bench)] == [1, 1, 1, 1]
    assert (bench.status, bench.created_by, bench.candidate_sha256) == ("running", editor, fingerprint(TEXT))
    assert AuditEntry.objects.filter(action="bench.create", object_id=str(bench.pk)).count() == 1


def test_scores_issues_and_direction_are_kept(table: Table):
    bench = table.judged([8, 7, 7, 6, 9, 8], 9)
    first, second = trials(bench)
    assert (bench.status, bench.finished_at is not None) == ("finished", True)
    assert [entry["score"] for entry in first.said] == ["8", "7", "7", "6", "9", "8"]
    assert first.composite == Decimal("7.4")
    assert second.composite == 9
    assert (first.issues, first.asi) == (["The restore is not explained."], "Explain the restore.")
    assert (first.parse_rung, first.calls_made, first.seen_chars) == ("strict", 1, len(TEXT))
    assert first.prompt_tokens > 0
    assert first.completion_tokens > 0


def test_what_was_said_is_kept_whole(table: Table):
    bench = table.judged(8)
    call = BenchCall.objects.get(trial__bench=bench)
    assert [message["role"] for message in call.messages] == ["system", "user"]
    assert TEXT in call.messages[1]["content"]
    assert call.reply == verdict(definition(), 8)
    assert call.options["temperature"] == 0
    assert call.options["schema_used"] is True
    assert "candidate" in call.seen


def test_the_judge_is_sent_what_a_run_would_send(table: Table):
    table.judged(8)
    run = run_create(
        project=table.project, version=table.version, task=TASK, seed=TEXT, producer=JUDGE, judge=JUDGE
    )
    rubric = definition()
    table.server.replies = from_lists({"judge": [verdict(rubric, 9.5)]})
    table.server._asked.clear()
    run_through(run, 1)
    ours, theirs = [entry.body for entry in table.server.chats]
    nonces = Bench.objects.get().nonce, run.nonce
    for body, nonce in zip((ours, theirs), nonces, strict=True):
        for message in body["messages"]:
            message["content"] = message["content"].replace(nonce, "NONCE")
    assert ours == theirs


def test_repeats_differ_in_nothing_that_is_sent(table: Table):
    table.judged(8, 8, 8)
    bodies = [entry.body for entry in table.server.chats]
    assert len(bodies) == 3
    assert bodies[0] == bodies[1] == bodies[2]


def test_a_temperature_is_passed_on(table: Table):
    table.judged(8, temperature=Decimal("0.7"))
    assert table.server.chats[0].body["options"]["temperature"] == 0.7


def test_the_window_is_chosen_once(table: Table):
    bench = table.judged(8, 8)
    assert bench.context_tokens
    windows = {entry.body["options"]["num_ctx"] for entry in table.server.chats}
    assert windows == {bench.context_tokens}


def test_checks_and_penalties_count_as_in_a_run(table: Table):
    text = "```python\nclient.generate_contextual_embedding_chain()\n```"
    rubric = replace(
        definition(),
        checks=(Check("no_todo", "not_contains", {"texts": ["TODO"]}),),
    )
    table.rubric(rubric)
    bench = table.judged(8, text=text)
    (trial,) = trials(bench)
    assert trial.penalties[0]["criterion"] == "depth"
    assert (trial.scores["depth"], trial.said[0]["score"]) == ("7", "8")
    assert trial.composite == Decimal("7.75")
    assert [check["key"] for check in trial.checks] == ["no_todo"]


def test_a_long_candidate_is_said_to_be_cut(table: Table):
    table.rubric(rubric_with(definition(), {"policy.judge_limit_chars": "1000"}))
    bench = table.judged(8, text="word " * 1000)
    (trial,) = trials(bench)
    assert trial.seen_chars is not None
    assert trial.seen_chars <= 1000 < bench.candidate_chars


def test_the_calibration_example_is_not_shown_unless_asked_for(table: Table):
    table.rubric(calibrated())
    table.judged(8)
    assert EXAMPLE not in str(table.server.chats[0].body)


def test_an_example_in_view_is_shown_with_its_scores(table: Table):
    table.rubric(calibrated())
    table.judged(8, anchored=True)
    sent = table.server.chats[0].body["messages"][1]["content"]
    assert EXAMPLE in sent
    assert "CALIBRATION SCORES" in sent


def test_thinking_is_set_aside_and_kept(table: Table):
    table.server.replies = from_lists({"judge": [Answer(verdict(definition(), 8), thinking="Hm, eight.")]})
    bench = table.bench(repeats=1)
    advance(bench)
    assert BenchCall.objects.get().thinking == "Hm, eight."


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"text": "  \n "}, "candidate"),
        ({"text": "x" * 1_000_001}, "candidate"),
        ({"task": "x" * 100_001}, "task"),
        ({"repeats": 0}, "__all__"),
        ({"repeats": 11}, "__all__"),
        ({"anchored": True}, "anchored"),
    ],
)
def test_what_cannot_be_judged_is_refused(table: Table, changes, field):
    with pytest.raises(ValidationError) as refusal:
        table.bench(**changes)
    assert field in refusal.value.message_dict
    assert Bench.objects.count() == 0


def test_the_example_itself_is_never_shown_its_own_scores(table: Table):
    table.rubric(calibrated())
    with pytest.raises(ValidationError, match="see the answer"):
        table.bench(text=EXAMPLE, anchored=True)


def test_a_rubric_without_criteria_has_no_judge_to_try(table: Table):
    rubric = replace(definition("ralph", criteria=()), checks=(Check("short", "length", {"maximum": 900}),))
    with pytest.raises(ValidationError, match="no criteria for a judge"):
        bench_create(version=table.rubric(rubric), candidate=Candidate(TEXT), judge=JUDGE, repeats=1)


def test_line_ends_of_a_form_are_no_part_of_the_text(table: Table):
    bench = table.bench(text=TEXT.replace("\n", "\r\n"))
    assert bench.candidate == TEXT
    assert fingerprint(TEXT.replace("\n", "\r\n") + "\n") == bench.candidate_sha256


def test_a_template_that_cannot_be_rendered_fails_the_trial_once(table: Table):
    table.rubric(definition(templates={"judge": "{{ 9**(9**9) }}"}))
    bench = table.judged(8)
    (trial,) = trials(bench)
    assert (bench.status, trial.status, trial.calls_made) == ("finished", "failed", 0)
    assert "Pow is not available" in trial.error


def test_a_check_that_never_ends_fails_and_the_trial_is_scored(table: Table):
    unique = Check("unique", "json-schema", {"schema": {"uniqueItems": True}})
    table.rubric(replace(definition(), checks=(unique,)))
    bench = table.judged(8, text=json.dumps([{"a": number} for number in range(5_000)]))
    (trial,) = trials(bench)
    assert (trial.status, trial.composite) == ("done", 8)
    assert "takes longer than" in trial.checks[0]["message"]
