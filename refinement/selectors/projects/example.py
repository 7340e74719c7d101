"""The prepared example on the home page, and played step by step. Needs no database."""

from dataclasses import dataclass
from decimal import Decimal

from refinement.charts import Mark, Series, TrajectoryChart, trajectory_chart
from refinement.demo.example.story import Example, ExampleRound, example
from refinement.engine.boards import final_score
from refinement.engine.types import BoardVerdict, CheckResult, Stance
from refinement.rendering import markdown
from refinement.selectors.score_words import composite_text, score_text

STAGES = ("Write", "Check", "Judge", "Deliberate", "Merge")
FIX = "**Set `INGEST_DB` first.**"  # starts the line of round 2 that answers the first suggested change


@dataclass(frozen=True, slots=True)
class Hero:
    """What the home page shows of the example."""

    title: str
    chart: TrajectoryChart
    narrow: TrajectoryChart  # for a phone
    suggested: str
    fix: str


@dataclass(frozen=True, slots=True)
class ShownScore:
    score: str
    revised: str  # after the deliberation; empty if it did not change


@dataclass(frozen=True, slots=True)
class ShownJudge:
    name: str
    scores: tuple[ShownScore, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """What a judge says in the deliberation."""

    name: str
    criterion: str
    stance: str
    reasoning: str


@dataclass(frozen=True, slots=True)
class Frame:
    """One step of playing the example. What a later step shows is empty."""

    step: int
    last: int
    round: int
    rounds: int
    stage: str
    lines: tuple[tuple[str, bool], ...]  # of the text, each with whether it is new
    prose: str  # the text as HTML, once it is written
    asked: str  # the suggested change that led to this round
    checks: tuple[CheckResult, ...]
    criteria: tuple[str, ...]
    judges: tuple[ShownJudge, ...]
    moves: tuple[Move, ...]
    score: str
    suggested: str
    chart: TrajectoryChart | None
    narrow: TrajectoryChart | None  # for a phone
    is_end: bool

    @property
    def stages(self) -> list[tuple[str, str]]:
        """Each stage with its state: done, now or empty."""
        now = STAGES.index(self.stage)
        return [
            (name, "done" if place < now or self.is_end else "now" if place == now else "")
            for place, name in enumerate(STAGES)
        ]


def hero() -> Hero:
    story = example()
    text = story.rounds[1].round.candidate
    fix = next(line for line in text.splitlines() if line.startswith(FIX))
    rounds = len(story.rounds)
    chart = chart_of(story, rounds, width=520, height=190, name="hero")
    narrow = chart_of(story, rounds, width=320, height=170, name="hero-narrow")
    return Hero(
        story.title, chart, narrow, story.rounds[0].verdict.asi, fix.replace("**", "").replace("`", "")
    )


def frame_at(step: int) -> Frame:
    """The frame of a step; the nearest one if there is no such step."""
    story = example()
    last = len(story.rounds) * len(STAGES) - 1
    step = max(0, min(step, last))
    place, stage = divmod(step, len(STAGES))
    now, before = story.rounds[place], story.rounds[place - 1] if place else None
    merged = place + (stage == len(STAGES) - 1)
    return Frame(
        step=step,
        last=last,
        round=now.round.number,
        rounds=len(story.rounds),
        stage=STAGES[stage],
        lines=_lines(now, before),
        prose=(markdown(now.round.candidate) or "") if stage else "",
        asked=before.verdict.asi if before else "",
        checks=now.round.assessment.checks if stage >= 1 and now.round.assessment else (),
        criteria=tuple(criterion.name for criterion in story.rubric.criteria),
        judges=_judges(story, now, deliberated=stage >= 3) if stage >= 2 else (),
        moves=_moves(story, now) if stage >= 3 else (),
        score=composite_text(now.composite, 2) if stage == len(STAGES) - 1 else "",
        suggested=now.verdict.asi if stage == len(STAGES) - 1 and step < last else "",
        chart=chart_of(story, merged, width=520, height=190, name="player") if merged else None,
        narrow=chart_of(story, merged, width=320, height=170, name="player-narrow") if merged else None,
        is_end=step == last,
    )


def chart_of(story: Example, rounds: int, *, width: int, height: int, name: str) -> TrajectoryChart:
    """The composites of the first rounds. The axis has room for all of them."""
    values: list[Decimal | None] = [
        entry.composite if entry.round.number <= rounds else None for entry in story.rounds
    ]
    shown = [value for value in values if value is not None]
    best = values.index(max(shown))
    return trajectory_chart(
        [Series("Score", values, 0, strong=True)],
        story.rubric.scale,
        story.rubric.policy.pass_threshold,
        [Mark("best" if place == best else "score", place) for place in range(len(shown))],
        labels=[f"Round {entry.round.number}" for entry in story.rounds],
        width=width,
        height=height,
        name=name,
        title="Scores of the example by round",
    )


def _lines(now: ExampleRound, before: ExampleRound | None) -> tuple[tuple[str, bool], ...]:
    known = set(before.round.candidate.splitlines()) if before else None
    return tuple(
        (line, known is not None and bool(line.strip()) and line not in known)
        for line in now.round.candidate.splitlines()
    )


def _judges(story: Example, now: ExampleRound, *, deliberated: bool) -> tuple[ShownJudge, ...]:
    keys = [criterion.key for criterion in story.rubric.criteria]
    return tuple(
        ShownJudge(
            story.rubric.judges.panel[answer.seat - 1].name,
            tuple(_score(answer, key, deliberated=deliberated) for key in keys),
        )
        for answer in now.round.board
    )


def _score(answer: BoardVerdict, key: str, *, deliberated: bool) -> ShownScore:
    assert answer.verdict is not None
    own = next(entry.score for entry in answer.verdict.scores if entry.key == key)
    final = final_score(answer, key)
    return ShownScore(score_text(own), score_text(final) if deliberated and final != own else "")


def _moves(story: Example, now: ExampleRound) -> tuple[Move, ...]:
    names = {criterion.key: criterion.name for criterion in story.rubric.criteria}
    return tuple(
        Move(
            story.rubric.judges.panel[answer.seat - 1].name,
            names[each.key],
            each.stance.value,
            each.reasoning,
        )
        for answer in now.round.board
        for each in answer.stances or ()
        if each.stance is not Stance.AGREE
    )
