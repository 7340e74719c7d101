"""Progress output: lines in a file, one bar in a terminal."""

import io

import pytest

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Draft, Feedback, FeedbackStyle, Finish, Judge, Outcome, Revise, StopReason
from refinement.execution.steps.step import StepResult
from refinement.management import progress as progress_module
from refinement.management.progress import Progress
from refinement.models import Run
from refinement.providers.registry import Target
from refinement.services.rubrics.editing import rubric_create
from refinement.services.runs.creating import run_create


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def run(project) -> Run:
    version = rubric_create(project=project, slug="simmer", definition=rubric_for("simmer"))
    return run_create(
        project=project,
        version=version,
        task="Explain.",
        producer=Target("ollama", "writer:1b"),
        judge=Target("ollama", "judge:8b"),
        status="running",
    )


def told(stream: io.StringIO, run: Run) -> str:
    """The output for a draft, a judgement and a revision."""
    shown = Progress(stream, run, rubric_for("simmer"))
    shown.step(Draft())
    shown.text("word")
    shown.step(Judge(1))
    Run.objects.filter(pk=run.pk).update(rounds_judged=1, last="6.5", best="6.5", prompt_tokens=1_500)
    shown.step(Revise(2, 1, Feedback(FeedbackStyle.ASI, 1)))
    shown.waiting(StepResult(reason="the server is away."))
    shown.step(Finish(Outcome.DONE, StopReason.MAX_ROUNDS, "Enough.", 1))
    shown.done("DONE: Enough.")
    return stream.getvalue()


def test_a_line_a_step(run):
    lines = [line.rsplit(" · ", 2) for line in told(io.StringIO(), run).splitlines()]
    assert [line[0] for line in lines] == [
        "round 1: writer:1b is writing the first draft",
        "round 1: judge:8b is judging",
        "round 1: 6.5 (best 6.5)",
        "round 2: writer:1b is revising",
        "waiting to retry: the server is away.",
        "DONE: Enough.",
    ]
    assert lines[0][1:] == ["0 tokens", "0 s"]
    assert lines[3][1] == "1,500 tokens"


def test_a_bar_on_a_terminal(run, monkeypatch):
    monkeypatch.setattr(progress_module, "REDRAW_SECONDS", -1.0)
    text = told(Terminal(), run)
    drawn = text.split("\r\x1b[K")[1:]
    assert drawn[0].startswith("░" * 20 + " round 1: writer:1b is writing the first draft")
    assert " · 1 piece · " in drawn[1]
    assert "round 1: 6.5 (best 6.5)\n" in drawn
    assert any(line.startswith("█" * 5 + "░" * 15 + " round 2: writer:1b is revising") for line in drawn)
    assert drawn[-1] == "DONE: Enough.\n"


def test_a_rubric_of_checks_alone_has_no_judge_to_name(run):
    stream = io.StringIO()
    Progress(stream, run, rubric_for("ralph")).step(Judge(1))
    assert stream.getvalue().startswith("round 1: running checks")
