"""Simulates demo runs. The engine decides each step and the stop reason."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

from refinement.demo import texts, words
from refinement.engine.codec import rubric_to_json
from refinement.engine.metrics import RunMetrics, run_metrics
from refinement.engine.safeguards import RalphSignal, penalties_for, ralph_signal
from refinement.engine.scoring import assess
from refinement.engine.steps import next_step
from refinement.engine.types import (
    CriterionScore,
    Draft,
    Failure,
    Finish,
    History,
    Instruction,
    Judge,
    Outcome,
    Revise,
    Role,
    Round,
    Rubric,
    StopReason,
    Usage,
    Verdict,
)
from refinement.execution.steps.judging import ASKS
from refinement.execution.steps.record_values import (
    JudgedRound,
    feedback_values,
    judged_values,
    metric_values,
    verdict_values,
)
from refinement.judging.checks import run_checks
from refinement.judging.context import Brief, judge_view, producer_view
from refinement.judging.prompts import Prompt, judge_prompt, producer_prompt, retry_prompt
from refinement.models import RunStatus
from refinement.services.runs.creating import title_of

CHARS_A_TOKEN = 4
STEERED, EDITED = 0.15, 0.15  # shares of revisions with instructions, and of stories with a manual edit
# The quality of each round as a share of the scale; the last value repeats. A course ends as its name says
# if the rubric has such a rule.
COURSES: dict[str, tuple[float, ...]] = {
    "passes": (0.71, 0.84, 0.95, 0.97),
    "passes at once": (0.96,),
    "perfect": (0.85, 1.0),
    "stays below": (0.58, 0.69, 0.74, 0.76),
    "falls": (0.66, 0.78, 0.61),
    "stands still": (0.70, 0.71, 0.70, 0.705),
    "repeats itself": (0.7, 0.7),
}
BREAKS = (
    "cancelled",
    "judge fails",
    "producer fails",
    "internal error",
    "running",
    "waiting",
    "paused",
    "queued",
)
NO_SCORES = "The scores are missing."
SERVER_AWAY = "ollama cannot be reached at 127.0.0.1:11434: connection refused"


@dataclass(frozen=True, slots=True)
class DemoCall:
    """One model call: role, round, prompt and reply."""

    role: str
    round: int
    prompt: Prompt
    seen: list[str]
    withheld: list[str]
    reply: str
    seconds: Decimal
    attempt: int = 1
    complaint: str = ""  # the problem with the reply

    @property
    def prompt_tokens(self) -> int:
        return sum(len(message.content) for message in self.prompt.messages) // CHARS_A_TOKEN

    @property
    def reply_tokens(self) -> int:
        return len(self.reply) // CHARS_A_TOKEN


@dataclass
class Story:
    """A run's task, rounds and ending, as values for its rows."""

    rubric: Rubric
    task: str
    seed: str = ""
    task_type: str = ""
    history: History = field(default_factory=History)
    rounds: list[dict[str, Any]] = field(default_factory=list)
    verdicts: dict[int, dict[str, Any]] = field(default_factory=dict)
    calls: list[DemoCall] = field(default_factory=list)
    signals: int = 0
    cuts: int = 0
    ending: dict[str, Any] = field(default_factory=dict)

    @property
    def trajectory(self) -> list[str]:
        judged = (entry.assessment for entry in self.history.assessed)
        return [str(round(assessment.composite, 6)) for assessment in judged if assessment]

    @cached_property
    def run_values(self) -> dict[str, Any]:
        """Field values for every run of this story. Use only when the story is complete."""
        return {
            "title": title_of(self.task),
            "task": self.task,
            "task_type": self.task_type,
            "seed": self.seed,
            "snapshot": rubric_to_json(replace(self.rubric, calibration_text="", calibration_scores={})),
            **metric_values(self.metrics),
            "trajectory": self.trajectory,
            "signal_rounds": self.signals,
            "penalty_rounds": sum(bool(entry.get("penalties")) for entry in self.rounds),
            "cut_rounds": self.cuts,
            "prompt_tokens": sum(call.prompt_tokens for call in self.calls),
            "completion_tokens": sum(call.reply_tokens for call in self.calls),
            "calls_made": len(self.calls),
            "model_seconds": sum((call.seconds for call in self.calls), Decimal(0)),
        }

    @property
    def metrics(self) -> RunMetrics:
        return run_metrics(self.rubric, self.history)


@dataclass(slots=True)
class StoryBuilder:
    """Runs one task through the loop, with scores from a course instead of a judge."""

    story: Story
    about: texts.Subject
    course: tuple[float, ...]
    ends: str  # how the run breaks off, or empty
    breaks_after: int
    chars: int
    rng: random.Random
    invents: bool
    repeats: bool  # the judge repeats its issues although the text changed
    people_rng: random.Random  # separate, so that people do not affect the rest of the story
    people: Sequence[str] = ()
    by_hand: int = 0  # the round that a person writes, or 0

    def build(self) -> Story:
        story = self.story
        while True:
            step = next_step(story.rubric, story.history)
            if isinstance(step, Finish):
                story.ending = finished(step)
                return story
            # Stories have no validation command and no board.
            assert isinstance(step, (Draft, Judge, Revise))
            judged = len(story.history.assessed)
            if self.stops_at(step, judged):
                story.ending = self.broken_off(judged)
                return story
            if isinstance(step, Judge):
                self.judge(step)
            elif isinstance(step, Revise) and step.round == self.by_hand:
                self.edit(step)
            else:
                self.write(self.steered(step) if isinstance(step, Revise) else step)
            spent = sum(entry.prompt_tokens + entry.reply_tokens for entry in story.calls)
            usage = Usage(spent, sum((entry.seconds for entry in story.calls), Decimal(0)), len(story.calls))
            story.history = replace(story.history, usage=usage)

    def stops_at(self, step: Draft | Judge | Revise, judged: int) -> bool:
        """Whether the run breaks off now. Judge and producer fail only in their own steps."""
        if not self.ends or judged < self.breaks_after:
            return False
        if self.ends == "judge fails":
            if isinstance(step, Judge) and self.story.rubric.criteria:
                self.fail_judging(step)
                return True
            return False
        return self.ends != "producer fails" or not isinstance(step, Judge)

    def fail_judging(self, step: Judge) -> None:
        """Adds failed attempts of a judge that never gives a score."""
        view = judge_view(self.brief, self.story.history, step.round)
        prompt = judge_prompt(view)
        for attempt in range(1, ASKS + 1):
            self.call("judge", step.round, prompt, view, texts.NO_VERDICT)
            self.story.calls[-1] = replace(self.story.calls[-1], attempt=attempt, complaint=NO_SCORES)
            prompt = retry_prompt(prompt, texts.NO_VERDICT, NO_SCORES)

    def steered(self, step: Revise) -> Revise:
        """The step, sometimes with an instruction from a person."""
        if not self.people or self.people_rng.random() > STEERED:
            return step
        instruction = Instruction(
            0, self.people_rng.choice(self.people), self.people_rng.choice(words.INSTRUCTIONS)
        )
        return replace(step, feedback=replace(step.feedback, instructions=(instruction,)))

    def edit(self, step: Revise) -> None:
        """Adds a round edited by a person."""
        base = self.story.history.rounds[-1]
        text = texts.revised(self.people_rng, base.candidate, self.about)
        entry = Round(step.round, text, None, base.number, by_hand=True)
        self.add(entry, None, origin="hand")
        self.story.rounds[-1]["author_name"] = self.people_rng.choice(self.people)

    def write(self, step: Draft | Revise) -> None:
        story, rng = self.story, self.rng
        if isinstance(step, Draft):
            text = texts.candidate(rng, self.about, self.chars)
        else:
            base = story.history.rounds[(step.base_round or len(story.history.rounds)) - 1]
            text = texts.revised(rng, base.candidate, self.about, much=self.repeats)
        if self.invents and "```" not in text:
            text = f"{text}\n\n{texts.INVENTED_CODE.format(*self.about.words)}"
        view = producer_view(self.brief, story.history, step)
        self.call("producer", step.round, producer_prompt(view), view, text)
        base_round = None if isinstance(step, Draft) else step.base_round
        self.add(Round(step.round, text, None, base_round), None if isinstance(step, Draft) else step)

    def add(self, entry: Round, step: Revise | None, origin: str = "") -> None:
        story = self.story
        story.history = replace(story.history, rounds=(*story.history.rounds, entry))
        story.rounds.append(
            {
                "number": entry.number,
                "origin": origin or ("revision" if step else "draft"),
                "base_round": entry.base_round,
                "feedback": feedback_values(step.feedback if step else None),
                "candidate": entry.candidate,
                "candidate_chars": len(entry.candidate),
            }
        )

    def judge(self, step: Judge) -> None:
        story = self.story
        entry = story.history.rounds[-1]
        view = judge_view(self.brief, story.history, step.round)
        verdict = self.verdict(step.round) if story.rubric.criteria else None
        if verdict:
            self.call("judge", step.round, judge_prompt(view), view, reply_of(verdict))
        penalties = penalties_for(story.rubric, entry.candidate)
        assessment = assess(
            story.rubric, verdict, run_checks(story.rubric.checks, entry.candidate), penalties
        )
        assessed = replace(entry, assessment=assessment)
        before = story.history.rounds[-2] if len(story.history.rounds) > 1 else None
        signal: RalphSignal | None = ralph_signal(assessed, before) if before else None
        story.history = replace(story.history, rounds=(*story.history.rounds[:-1], assessed))
        seen = view.candidate.seen_chars if verdict and view.candidate else None
        cut = seen is not None and seen < len(entry.candidate)
        judged = JudgedRound(step.round, assessment, story.metrics, signal, seen, cut, int(bool(verdict)))
        story.rounds[-1] |= {**judged_values(judged, None), "parse_rung": "strict" if verdict else ""}
        story.signals, story.cuts = story.signals + (signal is not None), story.cuts + cut
        if verdict:
            story.verdicts[step.round] = verdict_values(verdict)

    def verdict(self, number: int) -> Verdict:
        rng, rubric, words = self.rng, self.story.rubric, self.about.words
        share = self.course[min(number, len(self.course)) - 1]
        steady = random.Random(17) if self.repeats else rng  # noqa: S311  demo data, not a secret
        spread = 0 if "repeats" in self.ends or share == 1.0 or len(set(self.course)) == 1 else 0.04
        scores = tuple(
            CriterionScore(
                criterion.key,
                on_scale(rubric, share + rng.uniform(-spread, spread)),
                steady.choice(texts.REASONINGS),
                texts.DIRECTIONS[place % len(texts.DIRECTIONS)].format(*words),
            )
            for place, criterion in enumerate(rubric.criteria)
        )
        count = 3 if self.repeats else max(0, 4 - number)
        chosen = steady.sample(texts.ISSUES, count)
        issues = tuple(steady.choice(wordings).format(*words) for wordings in chosen)
        return Verdict(scores, issues, steady.choice(texts.DIRECTIONS).format(*words))

    @property
    def brief(self) -> Brief:
        return Brief(self.story.task, self.story.rubric, "d0e1f2a3b4c5", self.story.seed)

    def call(self, role: str, number: int, prompt: Prompt, view: Any, reply: str) -> None:
        seen, withheld = ([kind.value for kind in kinds] for kinds in (view.seen, view.withheld))
        seconds = Decimal(self.rng.randint(900, 24_000)) / 1000
        self.story.calls.append(DemoCall(role, number, prompt, seen, withheld, reply, seconds))

    def broken_off(self, judged: int) -> dict[str, Any]:
        """The fields of a run that broke off."""
        after = f" after round {judged}" if judged else " before any round was judged"
        if self.ends == "cancelled":
            return ended(Outcome.CANCELLED, StopReason.CANCELLED, f"Stopped by Edgar Holm{after}.")
        if self.ends == "internal error":
            why = "A step failed three times in a row. See the server log for details."
            return ended(Outcome.ERROR, StopReason.INTERNAL_ERROR, why)
        if "fails" in self.ends:
            role = Role.JUDGE if self.ends.startswith("judge") else Role.PRODUCER
            message = f"did not return valid scores ({ASKS} tries)."
            if role is Role.PRODUCER:
                message = "Model not found: qwen3:14b. Pull it, or choose another."
            failed = replace(self.story.history, failure=Failure(role, message))
            step = next_step(self.story.rubric, failed)
            assert isinstance(step, Finish)
            return {**finished(step), "failure_role": role.value, "failure_message": message}
        if self.ends == "waiting":
            return {"status": RunStatus.WAITING, "waiting_for": SERVER_AWAY, "waiting_endpoint": "ollama"}
        return {"status": RunStatus(self.ends)}


def finished(step: Finish) -> dict[str, Any]:
    return {**ended(step.outcome, step.reason, step.why), "passed_in_round": step.passed_in_round}


def ended(outcome: Outcome, reason: StopReason, why: str) -> dict[str, Any]:
    return {"status": RunStatus.FINISHED, "outcome": outcome, "stop_reason": reason, "why": why}


def on_scale(rubric: Rubric, share: float) -> Decimal:
    """The score at this share of the rubric's scale, rounded to its step."""
    scale = rubric.scale
    step = scale.step or (scale.maximum - scale.minimum) / 20
    steps = round((scale.maximum - scale.minimum) * Decimal(str(min(max(share, 0.0), 1.0))) / step)
    return min(scale.maximum, scale.minimum + steps * step)


def reply_of(verdict: Verdict) -> str:
    criteria = {
        entry.key: {
            "reasoning": entry.reasoning,
            "score": float(entry.score),
            "improvement": entry.improvement,
        }
        for entry in verdict.scores
    }
    return json.dumps({"criteria": criteria, "issues": verdict.issues, "asi": verdict.asi}, indent=1)


def story_make(
    rubric: Rubric,
    rng: random.Random,
    *,
    chars: int,
    rounds: int | None = None,
    people: Sequence[str] = (),
) -> Story:
    """A random story; with `rounds`, one with exactly this many rounds.

    People, by name, add instructions to some revisions and write some rounds.
    """
    about = texts.subject(rng)
    seeded = rng.random() < 0.4
    ends = rng.choice(BREAKS) if rng.random() < 0.22 and rounds is None else ""
    seed = texts.candidate(rng, about, chars) if seeded and ends != "producer fails" else ""
    people_rng = random.Random(f"{about.words}{about.task}{seed}")  # noqa: S311  demo data, not a secret
    builder = StoryBuilder(
        story=Story(rubric, about.task, seed, about.task_type),
        about=about,
        course=COURSES["stays below"] if rounds else COURSES[rng.choice(list(COURSES))],
        ends=ends,
        breaks_after=0 if ends == "queued" else rng.randint(0, 2),
        chars=chars,
        rng=rng,
        invents=rng.random() < 0.12,
        repeats=rng.random() < 0.12,
        people_rng=people_rng,
        people=people,
        by_hand=people_rng.choice((2, 3)) if people and people_rng.random() < EDITED else 0,
    )
    if seed:
        builder.add(Round(1, seed), None, origin="seed")
    return builder.build()
