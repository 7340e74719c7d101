"""Progress of a foreground run: one line per step, and a bar on a terminal."""

import time
from typing import TextIO

from refinement.engine.sentences import round_name
from refinement.engine.types import (
    AskPlateau,
    BoardStep,
    Compose,
    Deliberate,
    Describe,
    Draft,
    Escalate,
    Finish,
    Judge,
    Merge,
    Repair,
    Revise,
    Rubric,
    Score,
    Step,
)
from refinement.execution.steps.step import StepResult, WorkStep
from refinement.models import Run

BAR_CELLS = 20
REDRAW_SECONDS = 0.1


class Progress:
    """Prints the run's progress. On a terminal, it redraws one line."""

    def __init__(self, stream: TextIO, run: Run, rubric: Rubric) -> None:
        self.stream = stream
        self.run = run
        self.rubric = rubric
        self.terminal = stream.isatty()
        self.began = time.monotonic()
        self.drawn = 0.0
        self.pieces = 0
        self.doing = ""
        self.round = 1

    def step(self, step: Step) -> None:
        """A step starts. The previous step's result is already in the run's row."""
        self.print_result()
        if isinstance(step, (Finish, Escalate, AskPlateau)):
            return
        self.round, self.pieces = step.round, 0
        self.doing = f"{round_name(step.round)}: {self.description(step)}"
        self.say(self.doing)

    def description(self, step: WorkStep) -> str:
        if isinstance(step, Draft):
            return f"{self.run.producer_model} is writing the first draft"
        if isinstance(step, Judge):
            return f"{self.run.judge_model} is judging" if self.rubric.criteria else "running checks"
        if isinstance(step, Repair):
            return f"{self.run.producer_model} is repairing a text that failed validation"
        if isinstance(step, Revise):
            return f"{self.run.producer_model} is revising"
        return self.board_description(step)

    def board_description(self, step: BoardStep | Describe) -> str:
        if isinstance(step, Compose):
            return f"{self.run.clerk_model} is composing a board"
        if isinstance(step, Score):
            return f"{len(step.seats)} judge{'' if len(step.seats) == 1 else 's'} scoring"
        if isinstance(step, Deliberate):
            return f"{len(step.seats)} judge{'' if len(step.seats) == 1 else 's'} deliberating"
        if isinstance(step, Merge):
            return f"{self.run.clerk_model} is merging the verdicts"
        return f"{self.run.clerk_model} is naming the change"

    def print_result(self) -> None:
        """Print the score of a newly judged round."""
        before = self.run.rounds_judged
        self.run.refresh_from_db(
            fields=["rounds_judged", "last", "best", "prompt_tokens", "completion_tokens"]
        )
        if self.run.rounds_judged > before and self.run.last is not None and self.run.best is not None:
            places = self.rubric.policy.composite_decimals
            name = round_name(self.run.rounds_judged)
            self.say(f"{name}: {self.run.last:.{places}f} (best {self.run.best:.{places}f})", lasting=True)

    def text(self, piece: str) -> None:
        """The model has written another piece of text."""
        self.pieces += 1
        if self.terminal and time.monotonic() - self.drawn > REDRAW_SECONDS:
            self.draw()

    def waiting(self, result: StepResult) -> None:
        self.say(f"waiting to retry: {result.reason}", lasting=True)

    def say(self, message: str, *, lasting: bool = False) -> None:
        if not self.terminal:
            self.stream.write(f"{message} · {self.usage()}\n")
        elif lasting:
            self.stream.write(f"\r\x1b[K{message}\n")
        else:
            self.draw()
        self.stream.flush()

    def draw(self) -> None:
        limit = self.rubric.policy.max_rounds
        full = BAR_CELLS * self.run.rounds_judged // limit
        bar = "█" * full + "░" * (BAR_CELLS - full)
        writing = f" · {self.pieces} piece{'' if self.pieces == 1 else 's'}" if self.pieces else ""
        self.stream.write(f"\r\x1b[K{bar} {self.doing} of {limit}{writing} · {self.usage()}")
        self.stream.flush()
        self.drawn = time.monotonic()

    def usage(self) -> str:
        return f"{self.run.tokens:,} tokens · {time.monotonic() - self.began:.0f} s"

    def done(self, message: str) -> None:
        self.say(message, lasting=True)
