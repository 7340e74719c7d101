"""Reads the example's texts and lets the engine take them through the loop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from refinement.engine.boards import merged_verdict, spreads
from refinement.engine.profiles import rubric_for
from refinement.engine.scoring import assess
from refinement.engine.steps import next_step
from refinement.engine.types import (
    BoardVerdict,
    Check,
    CheckResult,
    Criterion,
    CriterionScore,
    CriterionStance,
    Feedback,
    FeedbackStyle,
    Finish,
    History,
    Instruction,
    JudgeMode,
    Judges,
    PanelJudge,
    PanelSummary,
    Revise,
    Round,
    Rubric,
    Severity,
    Stance,
    Verdict,
)
from refinement.judging.checks.running import finding

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class ExampleRound:
    """A round as the engine sees it, and what led to it."""

    round: Round
    feedback: Feedback | None
    verdict: Verdict  # the board's
    spread: Mapping[str, Decimal]

    @property
    def composite(self) -> Decimal:
        assert self.round.assessment is not None
        return self.round.assessment.composite


@dataclass(frozen=True, slots=True)
class Example:
    """The whole example. `people` is what people say, as in the file."""

    task: str
    task_type: str
    source: str
    rubric: Rubric
    rounds: tuple[ExampleRound, ...]
    history: History
    end: Finish
    people: Mapping[str, Any]

    @property
    def title(self) -> str:
        return self.task.splitlines()[0].rstrip(".")


@cache
def example() -> Example:
    """The example, read once a process. Takes some milliseconds."""
    data = yaml.safe_load((FOLDER / "run.yaml").read_text(encoding="utf-8"))
    rubric = _rubric(data["rubric"], data["panel"])
    history, rounds = History(panel=rubric.judges.panel), []
    for number, said in enumerate(data["rounds"], start=1):
        step = next_step(rubric, replace(history, instructions=_instructions(data, number)))
        made = _round(rubric, number, said, step.feedback if isinstance(step, Revise) else None)
        history = replace(history, rounds=(*history.rounds, made.round))
        rounds.append(made)
    end = next_step(rubric, history)
    assert isinstance(end, Finish)
    source = (FOLDER / "source.md").read_text(encoding="utf-8")
    people = {name: data[name] for name in ("instructions", "threads", "scores", "decision")}
    return Example(data["task"], data["task_type"], source, rubric, tuple(rounds), history, end, people)


def _rubric(data: Mapping[str, Any], panel: Sequence[Sequence[str]]) -> Rubric:
    wiggum = rubric_for("wiggum")
    criteria = (
        Criterion(key, name, about, ideal, Decimal(weight))
        for key, name, about, ideal, weight in data["criteria"]
    )
    checks = (
        Check(key, kind, parameters, Severity(severity), suggestion=suggestion)
        for key, kind, parameters, severity, suggestion in data["checks"]
    )
    policy = replace(wiggum.policy, max_rounds=4, feedback=FeedbackStyle.ASI)
    return replace(
        wiggum,
        name=data["name"],
        purpose=data["purpose"],
        criteria=tuple(criteria),
        checks=tuple(checks),
        policy=replace(policy, penalties=replace(policy.penalties, criterion=None)),
        judges=Judges(JudgeMode.BOARD, tuple(PanelJudge(name, lens) for name, lens in panel)),
    )


def _instructions(data: Mapping[str, Any], number: int) -> tuple[Instruction, ...]:
    return tuple(
        Instruction(0, author, text) for used, author, text in data["instructions"] if used == number
    )


def _round(rubric: Rubric, number: int, said: Mapping[str, Any], feedback: Feedback | None) -> ExampleRound:
    text = (FOLDER / f"round_{number}.md").read_text(encoding="utf-8")
    board = tuple(_answer(rubric, seat, entry) for seat, entry in enumerate(said["judges"], start=1))
    verdict = merged_verdict(rubric, board, said["asi"])
    checks = tuple(_checked(check, text) for check in rubric.checks)
    entry = Round(
        number,
        text,
        assess(rubric, verdict, checks),
        base_round=number - 1 or None,
        board=board,
        summary=PanelSummary(
            tuple(said["summary"]["working"]),
            tuple(said["summary"]["not_working"]),
            said["summary"]["direction"],
        ),
        key_change=said.get("change"),
    )
    return ExampleRound(entry, feedback, verdict, spreads(rubric, board))


def _answer(rubric: Rubric, seat: int, said: Mapping[str, Any]) -> BoardVerdict:
    scores = tuple(
        CriterionScore(key, Decimal(str(score)), reasoning, improvement)
        for key, (score, reasoning, improvement) in said["scores"].items()
    )
    stances = said.get("stances", {})
    answers = tuple(
        CriterionStance(entry.key, Stance(kind), Decimal(str(score)), reasoning)
        for entry in scores
        for kind, score, reasoning in [stances.get(entry.key, ("agree", entry.score, ""))]
    )
    return BoardVerdict(seat, Verdict(scores, tuple(said["issues"]), said["asi"]), stances=answers)


def _checked(check: Check, text: str) -> CheckResult:
    # These checks are our own, so they need no process of their own.
    found = finding(check, text)
    suggestion = "" if found.passed else check.suggestion
    return CheckResult(
        check.key, found.passed, found.message, check.severity, check.weight, suggestion, found.place
    )
