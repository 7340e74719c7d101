"""Model server failures in whole runs: the error of the call, waiting or ending, and never a score."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Rubric
from refinement.execution.leases import lease_take
from refinement.execution.loop import run_loop
from refinement.execution.steps.step import StepOptions
from refinement.models import Endpoint, Run, RunStatus
from refinement.providers.base import ErrorKind
from refinement.providers.registry import Target
from tests.execution.wire.stage import Stage, calls, composites, drafts, figures, texts, verdict
from tests.loopback.faults import Fault
from tests.loopback.replies import Answer

RUBRIC = rubric_for("wiggum")
SEED = "# A seed to be judged."


def short(rounds: int = 1) -> Rubric:
    return replace(RUBRIC, policy=replace(RUBRIC.policy, max_rounds=rounds))


def one_step(run: Run, **options: object):
    """One step as a worker takes it."""
    lease = lease_take(Run, run.pk, "a test")
    assert lease is not None
    result = run_loop(lease, StepOptions(sends=True, turn_over=lambda: True, **options))
    run.refresh_from_db()
    return result


# fault, sorted error, whether the run waits for another try, words of the sentence
FAULTS = [
    (Fault("drop"), "unreachable", True, "cannot be reached"),
    (Fault("reset"), "bad_reply", True, "in the middle of its reply"),
    (Fault("cut"), "bad_reply", True, "in the middle of its reply"),
    (Fault("truncated_line"), "bad_reply", True, "unreadable reply"),
    (Fault("error_object"), "bad_reply", True, "llama runner process has terminated"),
    (Fault("status"), "bad_reply", True, "status 500"),
    (Fault("status", status=503), "unreachable", True, "busy or temporarily unavailable"),
    (Fault("status", status=401), "refused", False, "refused the request"),
    (Fault("rate_limit", retry_after="7"), "unreachable", True, "status 429"),
    (Fault("hang"), "timeout", True, "within 0.4 seconds"),
    (Fault("html"), "bad_reply", False, "web page"),
    (Fault("unknown_model"), "model_missing", False, "ollama pull"),
    (Fault("context_exceeded"), "context_exceeded", False, "9031 tokens"),
    (Fault("empty"), "bad_reply", True, "empty reply"),
]
each_fault = pytest.mark.parametrize(
    ("fault", "kind", "waits", "words"),
    FAULTS,
    ids=[f"{row[0].kind}-{row[0].status}-{row[1]}" for row in FAULTS],
)


@pytest.mark.parametrize("role", ["judge", "producer"])
@each_fault
def test_a_fault_is_kept_sorted_and_never_becomes_a_score(stage, role, fault, kind, waits, words):
    stage.server.faults = [replace(fault, seen=0)]
    run = stage.launch(RUBRIC, seed=SEED if role == "judge" else "")
    result = one_step(run, deadline_seconds=0.4 if fault.kind == "hang" else 60)

    call = run.calls.get()
    assert (call.role, call.error_kind, call.attempt) == (role, kind, 1)
    assert words in call.error_message
    assert (call.messages, run.calls_made) == (stage.server.chats[0].body["messages"], 1)
    assert [entry.composite for entry in run.rounds.all()] == ([None] if role == "judge" else [])
    assert figures(run) == (None, None, None, None)
    if waits:
        assert (run.status, run.waiting_for, run.failure_message) == ("waiting", call.error_message, "")
        assert run.next_try_at == result.next_try_at
        assert run.lease_owner == ""
    else:
        assert (run.status, run.failure_role, run.failure_message) == ("finished", role, call.error_message)
        who = "judge" if role == "judge" else "producer"
        assert (run.outcome, run.stop_reason) == ("ERROR", f"{who}_failed")
        assert run.why == f"The {'judge' if role == 'judge' else 'writer'} failed: {call.error_message}"


def test_a_server_that_is_away_is_waited_for_by_workers_without_end(stage):
    run = stage.launch(RUBRIC, seed=SEED)
    stage.server.go_offline()
    for attempt in range(1, 8):
        before = timezone.now()
        one_step(run)
        assert (run.status, run.calls.count()) == ("waiting", attempt)
        assert run.next_try_at > before
        Run.objects.filter(pk=run.pk).update(next_try_at=timezone.now())
    assert set(run.calls.values_list("error_kind", flat=True)) == {"unreachable"}
    assert composites(run) == [None]


def test_a_server_that_is_away_is_given_up_in_the_foreground(stage):
    stage.server.go_offline()
    run = stage.play(RUBRIC, seed=SEED)
    assert (run.outcome, run.stop_reason) == ("ERROR", "judge_failed")
    assert (run.calls.count(), len(stage.waits)) == (4, 3)
    assert f"127.0.0.1:{stage.server.port}" in run.why
    assert composites(run) == [None]


@pytest.mark.parametrize("fault", ["hang", "reset", "empty", "status"])
def test_what_fails_for_a_reason_is_tried_three_times(stage, fault):
    stage.server.faults = [Fault(fault)]
    run = stage.play(RUBRIC, seed=SEED, options={"deadline_seconds": 0.3 if fault == "hang" else 60})
    assert (run.outcome, run.stop_reason) == ("ERROR", "judge_failed")
    assert [call.attempt for call in calls(run)] == [1, 2, 3]
    assert composites(run) == [None]


def test_retry_after_decides_the_next_try(stage):
    stage.server.faults = [Fault("rate_limit", retry_after="37")]
    run = stage.launch(RUBRIC, seed=SEED)
    before = timezone.now()
    one_step(run)
    assert before + timedelta(seconds=36.9) < run.next_try_at < timezone.now() + timedelta(seconds=45)


def test_a_run_that_waits_is_not_due_before_its_time(stage):
    stage.server.faults = [Fault("rate_limit")]
    run = stage.launch(RUBRIC, seed=SEED)
    one_step(run)
    Run.objects.filter(pk=run.pk).update(next_try_at=timezone.now() + timedelta(seconds=60))
    assert lease_take(Run, run.pk, "too early") is None
    Run.objects.filter(pk=run.pk).update(next_try_at=timezone.now())
    assert lease_take(Run, run.pk, "in time") is not None


BEFORE_THE_REPLY = ["status", "rate_limit", "hang"]
IN_THE_REPLY = ["reset", "cut", "empty", "truncated_line", "error_object"]


@pytest.mark.parametrize("role", ["judge", "producer"])
@pytest.mark.parametrize("fault", BEFORE_THE_REPLY + IN_THE_REPLY)
def test_after_a_fault_once_the_run_ends_as_an_undisturbed_one(stage, role, fault):
    def played() -> Run:
        said = [verdict(RUBRIC, score) for score in (5, 6, 7)]
        stage.says(judge=said, producer=drafts(3))
        if fault in IN_THE_REPLY and stage.server.faults:
            stage.says(**with_a_spare(said, role))
        return stage.play(RUBRIC, options={"deadline_seconds": 3 if fault == "hang" else 60})

    calm = played()
    stage.server.faults = [Fault(fault, nth=(2,), role=role)]
    run = played()
    assert (run.outcome, run.stop_reason, run.why) == (calm.outcome, calm.stop_reason, calm.why)
    assert figures(run) == figures(calm)
    same = ("number", "origin", "base_round", "candidate", "composite", "scores", "judge_attempts")
    assert list(run.rounds.values_list(*same)) == list(calm.rounds.values_list(*same))
    assert run.calls_made == calm.calls_made + 1
    failed = run.calls.exclude(error_kind="").get()
    assert (failed.role, failed.attempt) == (role, 1)
    assert [result.reason for result in stage.waits] == [failed.error_message]


def with_a_spare(said: list[str], role: str) -> dict[str, list[str]]:
    """The lists with the second text of a role twice: the first of the two is lost to the fault."""
    lists = {"judge": said, "producer": drafts(3)}
    lists[role] = [lists[role][0], lists[role][1], *lists[role][1:]]
    return lists


def test_a_server_that_comes_back_is_asked_for_the_window_again(stage):
    stage.says(judge=[verdict(RUBRIC, 9.5)])
    run = stage.launch(RUBRIC, seed=SEED)
    stage.server.go_offline()
    one_step(run)
    assert run.judge_context is None
    stage.server.go_online()
    Run.objects.filter(pk=run.pk).update(next_try_at=timezone.now())
    one_step(run)
    assert run.judge_context
    assert [entry.body["options"]["num_ctx"] for entry in stage.server.chats] == [run.judge_context]


def test_no_call_is_made_without_a_window_where_the_server_could_not_tell_its_length(stage):
    """Ollama would use a small window of its own and cut the prompt without a word."""
    stage.says(judge=[verdict(RUBRIC, 9.5)])
    stage.server.faults = [Fault("status", role="/api/tags", status=503, message="loading")]
    run = stage.launch(RUBRIC, seed=SEED)
    one_step(run)
    assert stage.server.chats == []
    assert (run.status, composites(run)) == ("waiting", [None])
    stage.server.faults = []
    Run.objects.filter(pk=run.pk).update(next_try_at=timezone.now())
    one_step(run)
    assert [entry.body["options"].get("num_ctx") for entry in stage.server.chats] == [run.judge_context]
    assert composites(run) == [9.5]


def test_a_model_the_server_does_not_have_is_said_before_any_call(stage):
    run = stage.play(RUBRIC, seed=SEED, judge=Target("ollama", "nobody:7b"))
    assert (run.outcome, run.stop_reason, run.calls_made) == ("ERROR", "judge_failed", 0)
    assert "nobody:7b" in run.why
    assert "ollama pull nobody:7b" in run.why
    assert composites(run) == [None]


def test_a_prompt_beyond_the_models_context_is_not_sent(stage):
    stage.server.context_length = 2_048
    run = stage.play(RUBRIC, seed="word " * 4_000)
    assert (run.outcome, run.stop_reason) == ("ERROR", "judge_failed")
    assert stage.server.chats == []
    assert "2,048" in run.why
    assert composites(run) == [None]


def test_a_reply_that_filled_the_window_is_no_verdict(stage):
    stage.server.replies = lambda asked: Answer(verdict(RUBRIC, 10), prompt_tokens=10**6)
    run = stage.play(RUBRIC, seed=SEED)
    assert (run.outcome, calls(run)[0].error_kind) == ("ERROR", "context_exceeded")
    assert "left out" in run.why
    assert composites(run) == [None]


@pytest.mark.parametrize("text", ["   \n ", "<think>What shall I write?</think>", "```markdown\n\n```"])
def test_an_empty_candidate_is_an_error_and_no_round(stage, text):
    stage.says(judge=[verdict(RUBRIC, 5)], producer=[text] * 3)
    run = stage.play(RUBRIC)
    assert (run.outcome, run.stop_reason) == ("ERROR", "producer_failed")
    assert run.rounds.count() == 0
    assert [call.error_kind for call in calls(run)] == [ErrorKind.BAD_REPLY.value] * 3
    assert "empty" in run.why


def test_an_empty_revision_keeps_the_round_before_as_the_result(stage):
    stage.says(judge=[verdict(RUBRIC, 5)], producer=["<think>hm</think>"] * 3)
    run = stage.play(RUBRIC, seed=SEED)
    assert (run.outcome, run.best_round, composites(run)) == ("ERROR", 1, [5])
    assert run.calls.filter(role="producer").first().reply == "<think>hm</think>"


def test_a_cut_verdict_is_said_to_be_cut(stage):
    whole = verdict(RUBRIC, 7)
    stage.says(judge=[Answer(whole[:150], finish_reason="length"), whole])
    run = stage.play(short(), seed=SEED)
    first, second = calls(run)
    assert (first.finish_reason, second.rung) == ("length", "strict")
    assert first.complaint.startswith("The reply was cut off")
    assert "answer more briefly" in texts(stage.server.chats[1])[3]
    assert composites(run) == [7]


def test_a_fault_between_two_asks_does_not_repeat_the_first(stage):
    stage.says(judge=["no verdict", verdict(RUBRIC, 7)])
    stage.server.faults = [Fault("reset", nth=(2,))]
    stage.server.replies = lambda asked: verdict(RUBRIC, 7) if asked.number > 1 else "no verdict"
    run = stage.play(short(), seed=SEED)
    assert [bool(call.error_kind) for call in calls(run)] == [False, True, False]
    assert [len(entry.body["messages"]) for entry in stage.server.chats] == [2, 4, 4]
    assert stage.server.chats[1].body["messages"] == stage.server.chats[2].body["messages"]
    assert (composites(run), run.rounds.get().judge_attempts) == ([7], 2)


def test_an_endpoint_that_was_taken_away_ends_the_run_in_words(stage):
    Endpoint.objects.create(name="spare", kind="ollama", url=stage.server.address)
    stage.says(judge=[verdict(RUBRIC, 5)], producer=drafts(2))
    run = stage.launch(RUBRIC, seed=SEED, judge=Target("spare", "loopback:8b"))
    Endpoint.objects.update(enabled=False)
    stage.carry_on(run)
    assert (run.outcome, run.stop_reason) == ("ERROR", "judge_failed")
    assert "there is no model server named 'spare'" in run.why
    assert composites(run) == [None]


def test_a_run_that_is_taken_away_in_mid_generation_writes_nothing_more(stage):
    stage.server.chunk_delay = 0.2
    stage.says(judge=[verdict(RUBRIC, 5)])
    run = stage.launch(RUBRIC, seed=SEED)
    taken = []

    def take_away(piece: str) -> None:
        if not taken:
            taken.append(Run.objects.filter(pk=run.pk).update(status=RunStatus.PAUSED))

    result = one_step(run, on_text=take_away)
    assert result.lost
    assert (run.status, run.calls.count(), composites(run)) == ("paused", 0, [None])
    stage.server.wait_for(lambda: stage.server.chats[0].aborted)


def played_with(stage: Stage, judge: list[object], producer: list[str]) -> Run:
    stage.says(judge=judge, producer=producer)
    return stage.play(short(2))


def test_what_no_database_column_holds_is_replaced_in_every_text(stage):
    odd = "nul \\u0000 and half \\ud83d of a pair"
    reply = verdict(RUBRIC, 5, issues=["ISSUE"], asi="ASI", reasoning="REASON")
    for word in ("ISSUE", "ASI", "REASON"):
        reply = reply.replace(word, f"{word} {odd}")
    nonsense = f'<think>nul \x00 thought</think>{{"criteria": {{"odd": "{odd} \x00"}}}}'
    run = played_with(
        stage,
        [nonsense, reply, verdict(RUBRIC, 6)],
        ["A draft with a NUL \x00 in it and half \ud83d of a pair.", "A second text."],
    )
    assert composites(run) == [5, 6]
    kept = run.rounds.get(number=1)
    texts_kept = [kept.candidate, str(kept.verdicts.get().scores), kept.verdicts.get().asi]
    for call in calls(run):
        texts_kept += [call.reply, call.thinking, call.complaint, str(call.messages)]
    texts_kept.append(str(run.rounds.get(number=2).feedback))
    for text in texts_kept:
        text.encode()
        assert "\x00" not in text
    assert "ISSUE" in str(run.rounds.get(number=2).feedback)


@pytest.mark.parametrize(("status", "state"), [(500, "waiting"), (401, "finished")])
def test_an_odd_error_message_is_stored_all_the_same(stage, status, state):
    stage.server.faults = [Fault("status", status=status, message="nul \x00 and half \ud83d of a pair")]
    run = stage.launch(RUBRIC, seed=SEED)
    one_step(run)
    assert run.status == state
    for text in (run.waiting_for + run.failure_message, run.calls.get().error_message):
        assert "of a pair" in text
        assert "\x00" not in text
