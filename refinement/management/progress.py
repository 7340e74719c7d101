"""Progress of a run in the foreground: a line a step, and a bar on a terminal."""

import time
from typing import TextIO

from refinement.engine.sentences import round_name
from refinement.engine.types import Draft, Finish, Judge, Revise, Rubric, Step
from refinement.execution.step import StepResult
from refinement.models import Run

BAR_CELLS = 20
REDRAW_SECONDS = 0.1


class Progress:
    """Tells on a stream what the run does; redraws one line where the stream is a terminal."""

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
        """A step begins: what the one before brought is in the run's row by now."""
        self.told_result()
        if isinstance(step, Finish):
            return
        self.round, self.pieces = step.round, 0
        self.doing = f"{round_name(self.rubric, step.round)}: {self.words(step)}"
        self.say(self.doing)

    def words(self, step: Draft | Judge | Revise) -> str:
        if isinstance(step, Draft):
            return f"{self.run.producer_model} writes a first draft"
        if isinstance(step, Judge):
            return f"{self.run.judge_model} judges" if self.rubric.criteria else "checks run"
        return f"{self.run.producer_model} revises"

    def told_result(self) -> None:
        """The score of the round just judged, once."""
        before = self.run.rounds_judged
        self.run.refresh_from_db(
            fields=["rounds_judged", "last", "best", "prompt_tokens", "completion_tokens"]
        )
        if self.run.rounds_judged > before and self.run.last is not None and self.run.best is not None:
            places = self.rubric.policy.composite_decimals
            name = round_name(self.rubric, self.run.rounds_judged)
            self.say(f"{name}: {self.run.last:.{places}f} (best {self.run.best:.{places}f})", lasting=True)

    def text(self, piece: str) -> None:
        """The model wrote something."""
        self.pieces += 1
        if self.terminal and time.monotonic() - self.drawn > REDRAW_SECONDS:
            self.draw()

    def waiting(self, result: StepResult) -> None:
        self.say(f"waiting to try again: {result.reason}", lasting=True)

    def say(self, words: str, *, lasting: bool = False) -> None:
        if not self.terminal:
            self.stream.write(f"{words} · {self.account()}\n")
        elif lasting:
            self.stream.write(f"\r\x1b[K{words}\n")
        else:
            self.draw()
        self.stream.flush()

    def draw(self) -> None:
        limit = self.rubric.policy.max_rounds
        full = BAR_CELLS * self.run.rounds_judged // limit
        bar = "█" * full + "░" * (BAR_CELLS - full)
        writing = f" · {self.pieces} piece{'' if self.pieces == 1 else 's'}" if self.pieces else ""
        self.stream.write(f"\r\x1b[K{bar} {self.doing} of {limit}{writing} · {self.account()}")
        self.stream.flush()
        self.drawn = time.monotonic()

    def account(self) -> str:
        return f"{self.run.tokens:,} tokens · {time.monotonic() - self.began:.0f} s"

    def done(self, words: str) -> None:
        self.say(words, lasting=True)
