"""Real rounds on the model that comes along: a fresh machine, no Ollama, verdicts that hold."""

from dataclasses import replace

import pytest

from refinement.engine.codec import rubric_with
from refinement.engine.profiles import rubric_for
from refinement.judging import schema
from refinement.models import Project
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
# This model writes every text of its reply to the limit, at 50 tokens a second: a quarter of each will do.
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
        monkeypatch.setattr(schema, name, getattr(schema, name) // 4)


@pytest.mark.usefixtures("_short_texts")
def test_three_real_rounds(embedded_stage, record_property):
    """One profile; test_profiles_on_the_wire.py covers the prompts of the others."""
    settings = {
        "policy.max_rounds": "3",
        "policy.producer_tokens": "120",
        "policy.stop_rules": "max_rounds",
    }
    # Two criteria are enough, for the same reason.
    full = rubric_with(rubric_for("simmer"), settings)
    rubric = replace(full, criteria=full.criteria[:2])
    model = parse_target("embedded")
    run = embedded_stage.play(rubric, seed=SEED, producer=model, judge=model)

    assert (run.status, run.stop_reason, run.rounds_judged) == ("finished", "max_rounds", 3), run.why
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
    assert len(shares) >= 3
    assert all(share >= CACHED_SHARE for share in shares[2:]), shares
