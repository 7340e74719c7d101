"""How long a run may take, from measured calls."""

from dataclasses import replace

import pytest

from refinement.engine.profiles import rubric_for
from refinement.engine.types import JudgeMode, Judges, PanelJudge
from refinement.providers.registry import EndpointSpec, Target
from refinement.selectors.launch.estimates import Range, estimate_of
from refinement.selectors.launch.judging import judging_of
from refinement.selectors.launch.paces import duration_words, paces_in, seconds_of
from tests.execution.wire.conftest import ollama_server, stage
from tests.loopback.replies import valid_replies

__all__ = ["ollama_server", "stage"]

WRITER, JUDGE, OTHER = Target("ollama", "writer"), Target("ollama", "judge"), Target("lab", "judge")
PACES = {("producer", WRITER): 10.0, ("judge", JUDGE): 4.0, ("judge", OTHER): 6.0, ("clerk", JUDGE): 2.0}
FREE = [EndpointSpec("ollama", "ollama"), EndpointSpec("lab", "ollama")]
ONE = [EndpointSpec("ollama", "ollama", concurrency=1), EndpointSpec("lab", "ollama")]


def rubric(*models: str, mode=JudgeMode.BOARD):
    panel = tuple(PanelJudge(f"Judge {seat}", "A lens.", model) for seat, model in enumerate(models, 1))
    return replace(rubric_for("wiggum"), judges=Judges(mode, panel))


@pytest.mark.parametrize(
    ("given", "specs", "paces", "seconds"),
    [
        # One judge: three judgements and two revisions.
        (rubric(mode=JudgeMode.SINGLE), FREE, PACES, Range(4, 3 * 4 + 2 * 10)),
        # A board: the judges at once, twice; the clerk names the change while it merges.
        (rubric("", ""), FREE, PACES, Range(2 * 4 + 2, 3 * (2 * 4 + 2) + 2 * 10)),
        # The slowest judge is waited for.
        (rubric("", "lab/judge"), FREE, PACES, Range(2 * 6 + 2, 3 * (2 * 6 + 2) + 2 * 10)),
        # One call at a time: three judges wait for each other.
        (rubric("", "", ""), ONE, PACES, Range(6 * 4 + 2, 3 * (6 * 4 + 2) + 2 * 10)),
        # Composed once.
        (rubric(), FREE, PACES, Range(2 * 4 + 2 + 2, 3 * (2 * 4 + 2) + 2 * 10 + 2)),
        (rubric("", "lab/unknown"), FREE, PACES, None),
        (rubric(mode=JudgeMode.SINGLE), FREE, {}, None),
    ],
)
def test_calls_one_after_another(given, specs, paces, seconds):
    judging = judging_of(given, seed_chars=900, judge=JUDGE)
    estimate = estimate_of(given, task_chars=100, seed_chars=900, judging=judging)
    assert seconds_of(estimate, judging, WRITER, paces, specs, drafts=0) == seconds


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (Range(20, 20), "20 s"),
        (Range(20, 80), "20 to 80 s"),
        (Range(20, 100), "1 to 2 min"),
        (Range(360, 720), "6 to 12 min"),
        (Range(3_600, 9_000), "1.0 to 2.5 h"),
    ],
)
def test_durations_are_read_at_a_glance(seconds, words):
    assert duration_words(seconds) == words


@pytest.mark.django_db
def test_paces_are_measured_in_the_projects_runs(stage, project, other_project, django_assert_num_queries):
    stage.server.replies = valid_replies()
    stage.play(rubric_for("wiggum"), seed="A first text.")
    with django_assert_num_queries(1):
        found = paces_in(project)
    assert set(found) == {
        ("judge", Target("ollama", "loopback:8b")),
        ("producer", Target("ollama", "loopback:1b")),
    }
    assert paces_in(other_project) == {}
