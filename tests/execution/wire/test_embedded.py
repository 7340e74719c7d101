"""Whole rounds with the bundled model, without Ollama: valid verdicts."""

from dataclasses import replace

import pytest

from refinement.engine.codec import rubric_with
from refinement.engine.profiles import rubric_for
from refinement.engine.types import JudgeMode, Judges, PanelJudge
from refinement.judging import schema
from refinement.judging.boards import replies
from refinement.judging.boards.context import DescribeView
from refinement.judging.boards.prompts import describe_prompt
from refinement.judging.boards.replies import describe_schema, read_change
from refinement.judging.delimiters import new_nonce
from refinement.models import Project
from refinement.providers.base import CallControl, CompletionRequest, Message
from refinement.providers.embedded import DEFAULT_MODEL
from refinement.providers.registry import parse_target
from refinement.selectors.endpoints import provider_for
from refinement.selectors.runs.history import brief_of
from tests.execution.wire.stage import Stage, calls, composites
from tests.loopback.server import LoopbackServer

SEED = (
    "Our backups are made every night at two o'clock. A script copies the database to a second disk "
    "and to a server in another building. Copies are kept for thirty days. Nobody has tried to restore "
    "one since last year, and the script sends no message when it fails."
)
CACHED_SHARE = 0.6
# This model writes every text of its reply to the limit, at 50 tokens a second: a tenth of each will do.
BOUNDS = ("REASONING_CHARS", "IMPROVEMENT_CHARS", "ISSUE_CHARS", "ASI_CHARS")


@pytest.fixture
def embedded_stage(project: Project) -> Stage:
    return Stage(LoopbackServer(), project)


@pytest.fixture(scope="module", autouse=True)
def model_is_let_go():
    """The model's process ends with these tests."""
    yield
    close = getattr(provider_for("embedded"), "close", None)
    assert close is not None
    close()


@pytest.fixture
def _short_texts(monkeypatch):
    for name in BOUNDS:
        monkeypatch.setattr(schema, name, getattr(schema, name) // 10)


@pytest.mark.usefixtures("_short_texts")
def test_two_real_rounds(embedded_stage, record_property):
    """One profile; test_profiles_on_the_wire.py covers the prompts of the others."""
    settings = {
        "policy.max_rounds": "2",
        "policy.producer_tokens": "40",
        "policy.stop_rules": "max_rounds",
    }
    # Two criteria are enough, for the same reason.
    full = rubric_with(rubric_for("simmer"), settings)
    rubric = replace(full, criteria=full.criteria[:2])
    model = parse_target("embedded")
    run = embedded_stage.play(rubric, seed=SEED, producer=model, judge=model)

    assert (run.status, run.stop_reason, run.rounds_judged) == ("finished", "max_rounds", 2), run.why
    assert run.outcome in {"PASS", "FAIL", "DONE"}
    scale = brief_of(run).rubric.scale
    for entry in run.rounds.all():
        scores = entry.verdicts.get().scores
        assert [given["key"] for given in scores] == [criterion.key for criterion in rubric.criteria]
        assert all(scale.admits(type(scale.minimum)(given["score"])) for given in scores)
        assert entry.candidate.strip()
    assert all(scale.minimum <= value <= scale.maximum for value in composites(run))
    judged = [call for call in calls(run) if call.role == "judge" and not call.error_kind]
    shares = [(call.cached_tokens or 0) / call.prompt_tokens for call in judged]
    record_property("cached", [round(share, 2) for share in shares])
    assert len(shares) >= 2
    assert all(share >= CACHED_SHARE for share in shares[1:]), shares


@pytest.fixture
def _short_board_texts(monkeypatch, _short_texts):
    for name in ("REASONING_CHARS", "ASI_CHARS", "ITEM_CHARS"):
        monkeypatch.setattr(replies, name, getattr(replies, name) // 10)
    monkeypatch.setattr(replies, "ITEMS", 1)


@pytest.mark.usefixtures("_short_board_texts")
def test_a_real_round_of_a_board(embedded_stage):
    """Two judges score and deliberate, and the clerk merges; nobody has to be wise."""
    settings = {
        "policy.max_rounds": "1",
        "policy.stop_rules": "max_rounds",
    }
    full = rubric_with(rubric_for("simmer"), settings)
    judges = (
        PanelJudge("Operator", "You run the restore at night, alone."),
        PanelJudge("Newcomer", "You have never seen these servers."),
    )
    rubric = replace(full, criteria=full.criteria[:1], judges=Judges(JudgeMode.BOARD, judges))
    model = parse_target("embedded")
    run = embedded_stage.play(rubric, seed=SEED, producer=model, judge=model)

    assert (run.status, run.outcome, run.stop_reason) == ("finished", "DONE", "max_rounds"), run.why
    scale = brief_of(run).rubric.scale
    for entry in run.rounds.all():
        board = list(entry.board.all())
        assert [row.problem for row in board] == ["", ""]
        assert all(row.stances is not None for row in board)
        assert entry.verdicts.get().judge == "board"
        assert entry.verdicts.get().asi.strip()
        assert scale.minimum <= entry.composite <= scale.maximum
    assert run.rounds_judged == 1
    assert run.calls_made == len(calls(run)) >= 5


def test_a_change_is_described():
    """The clerk's other task, in a round that has one before it."""
    prompt = describe_prompt(DescribeView(new_nonce(), "+ Copies are kept for thirty days.", "Say how long."))
    messages = [Message(each.role, each.content) for each in prompt.messages]
    request = CompletionRequest(DEFAULT_MODEL, messages, schema=describe_schema(), role="clerk")
    reply = provider_for("embedded").complete(request, CallControl())
    assert reply.schema_used
    assert read_change(reply.text).answer
