"""The steps of a board: compose, score, deliberate, merge; and describing what a round changed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from refinement.engine.boards import merged_verdict, spokesperson, spreads
from refinement.engine.panels import USUAL_JUDGES, panel_for
from refinement.engine.types import (
    BoardVerdict,
    Compose,
    CriterionStance,
    Deliberate,
    Describe,
    History,
    Merge,
    PanelJudge,
    Role,
    Score,
    Verdict,
)
from refinement.execution.boards.asking import OnAnswer, OnProblem, Progress, Question, ask_all
from refinement.execution.boards.recording import (
    answer_record,
    change_record,
    panel_record,
    stances_record,
)
from refinement.execution.calls import Caller, Request, Speaker
from refinement.execution.steps.judging import Evidence, assessed, checks_of, evidence_of, judged_round
from refinement.execution.steps.record_values import BoardResult
from refinement.execution.steps.recording import Recorder
from refinement.execution.windows import max_reply_tokens, sources_size, window_for
from refinement.judging.boards.context import (
    compose_view,
    deliberation_view,
    describe_view,
    merge_view,
)
from refinement.judging.boards.prompts import (
    compose_prompt,
    deliberation_prompt,
    describe_prompt,
    merge_prompt,
)
from refinement.judging.boards.replies import (
    COMPOSE_TOKENS,
    DESCRIBE_TOKENS,
    MERGE_TOKENS,
    STANCE_TOKENS,
    Merged,
    Read,
    compose_schema,
    describe_schema,
    merge_schema,
    read_change,
    read_merge,
    read_panel,
    read_stances,
    stances_schema,
)
from refinement.judging.context import Brief, JudgeView, judge_view
from refinement.judging.parsing import read_reply
from refinement.judging.prompts import Prompt, judge_prompt
from refinement.judging.schema import reply_limit_tokens, reply_schema
from refinement.models import Call, CallPurpose, Round
from refinement.providers.base import Schema


@dataclass(frozen=True, slots=True)
class Form:
    """The shape of a reply: its schema, its length and its reader."""

    schema: Schema
    tokens: int
    read: Callable[[str], Read[Any]]


class BoardRound:
    """One step of a board for the newest round: its questions, and how their answers are recorded."""

    def __init__(self, caller: Caller, recorder: Recorder, brief: Brief, history: History) -> None:
        self.caller = caller
        self.recorder = recorder
        self.brief = brief
        self.rubric = brief.rubric
        self.history = history
        self.number = history.rounds[-1].number

    def ask(self, *questions: Question) -> History:
        return ask_all(self.caller, self.recorder, self.history, questions)

    def question(
        self,
        speaker: Speaker,
        purpose: str,
        prompt: Prompt,
        form: Form,
        on_answer: OnAnswer,
        on_problem: OnProblem,
        view: JudgeView | None = None,
    ) -> Question:
        """A question at temperature 0, within the context window of the speaker's model."""

        def build() -> Request:
            window = window_for(self.caller, self.brief, speaker, self.number, purpose)
            sources = sources_size(self.brief, Role.JUDGE) if view is not None else 0
            return Request(
                speaker=speaker,
                purpose=purpose,
                round_number=self.number,
                prompt=prompt,
                max_tokens=max_reply_tokens(prompt, form.tokens, window, role=speaker.role, sources=sources),
                temperature=0.0,
                schema=form.schema,
                context_tokens=window,
                seen=[kind.value for kind in view.seen] if view else [],
                withheld=[kind.value for kind in view.withheld] if view else [],
            )

        return Question(speaker, purpose, build, form.read, on_answer, on_problem)

    # --- compose ---------------------------------------------------------------------------------

    def compose(self) -> History:
        """The clerk composes the panel. If it cannot, the gallery's panel for the artifact type is used."""
        judges = USUAL_JUDGES
        prompt = compose_prompt(compose_view(self.brief, self.history, judges))

        def composed(call: Call, panel: tuple[PanelJudge, ...], progress: Progress) -> History:
            return panel_record(self.recorder, call, panel, after=progress.history)

        def not_composed(call: Call | None, problem: str, progress: Progress) -> History:
            panel = panel_for(self.rubric.artifact_type)
            return panel_record(self.recorder, call, panel, problem=problem, after=progress.history)

        return self.ask(
            self.question(
                Speaker(Role.CLERK),
                CallPurpose.COMPOSE,
                prompt,
                Form(compose_schema(judges), COMPOSE_TOKENS, partial(read_panel, judges=judges)),
                composed,
                not_composed,
            )
        )

    # --- score -----------------------------------------------------------------------------------

    def score(self, seats: tuple[int, ...]) -> History:
        """The judges in these seats score alone, all at once."""
        evidence = evidence_of(self.caller, self.recorder, self.rubric, self.history)
        if isinstance(evidence, History):
            return evidence
        return self.ask(*(self.score_question(seat, evidence) for seat in seats))

    def judge_view(self, seat: int, evidence: Evidence) -> JudgeView:
        return judge_view(
            self.brief,
            self.history,
            self.number,
            evidence.output,
            contract_violation=evidence.violation,
            lens=self.history.panel[seat - 1],
        )

    def score_question(self, seat: int, evidence: Evidence) -> Question:
        view = self.judge_view(seat, evidence)
        with self.caller.heartbeat():
            prompt = judge_prompt(view)
        seen = view.candidate.seen_chars if view.candidate else None

        def scored(call: Call, verdict: Verdict, progress: Progress) -> History:
            answer = BoardVerdict(seat, replace(verdict, judge=self.history.panel[seat - 1].name))
            return self.answered(call, answer, seen, progress)

        def left_out(call: Call | None, problem: str, progress: Progress) -> History:
            return self.answered(call, BoardVerdict(seat, None, problem), None, progress)

        form = Form(reply_schema(self.rubric), reply_limit_tokens(self.rubric), self.read_verdict)
        speaker = Speaker(Role.JUDGE, seat)
        return self.question(speaker, CallPurpose.SCORE, prompt, form, scored, left_out, view)

    def answered(
        self, call: Call | None, answer: BoardVerdict, seen: int | None, progress: Progress
    ) -> History:
        return answer_record(
            self.recorder,
            call,
            self.number,
            answer,
            seen_chars=seen,
            slots=progress.slots,
            after=progress.history,
        )

    def read_verdict(self, text: str) -> Read[Verdict]:
        reading = read_reply(text, self.rubric)
        return Read(reading.verdict, reading.rung, reading.complaint, reading.thinking)

    # --- deliberate ------------------------------------------------------------------------------

    def deliberate(self, seats: tuple[int, ...]) -> History:
        """The judges in these seats read the others' scores and reasoning and answer once, all at once."""
        evidence = evidence_of(self.caller, self.recorder, self.rubric, self.history)
        if isinstance(evidence, History):
            return evidence
        return self.ask(*(self.deliberation_question(seat, evidence) for seat in seats))

    def deliberation_question(self, seat: int, evidence: Evidence) -> Question:
        view = self.judge_view(seat, evidence)
        board = self.history.rounds[-1].board
        deliberation = deliberation_view(self.brief, self.history.panel, board, seat)
        with self.caller.heartbeat():
            prompt = deliberation_prompt(judge_prompt(view), deliberation, self.rubric)

        def stated(call: Call, stances: tuple[CriterionStance, ...], progress: Progress) -> History:
            return self.deliberated(call, seat, stances, "", progress)

        def silent(call: Call | None, problem: str, progress: Progress) -> History:
            return self.deliberated(call, seat, (), problem, progress)

        read = partial(read_stances, rubric=self.rubric, own=deliberation.own)
        form = Form(stances_schema(self.rubric), STANCE_TOKENS * (1 + len(self.rubric.criteria)), read)
        speaker = Speaker(Role.JUDGE, seat)
        return self.question(speaker, CallPurpose.DELIBERATE, prompt, form, stated, silent, view)

    def deliberated(
        self,
        call: Call | None,
        seat: int,
        stances: tuple[CriterionStance, ...],
        problem: str,
        progress: Progress,
    ) -> History:
        return stances_record(
            self.recorder,
            call,
            self.number,
            seat,
            stances,
            problem=problem,
            slots=progress.slots,
            after=progress.history,
        )

    # --- merge -----------------------------------------------------------------------------------

    def merge(self, *, describes: bool) -> History:
        """The board's scores become the round's, and the clerk distils one suggested change."""
        evidence = evidence_of(self.caller, self.recorder, self.rubric, self.history)
        if isinstance(evidence, History):
            return evidence
        newest = self.history.rounds[-1]
        checks = checks_of(self.caller, self.rubric, newest.number, newest.candidate)
        board = self.history.rounds[-1].board
        prompt = merge_prompt(merge_view(self.brief, self.history.panel, board, self.history))

        def record(call: Call | None, asi: str, result: BoardResult, progress: Progress) -> History:
            verdict = merged_verdict(self.rubric, board, asi)
            judged = judged_round(
                self.rubric,
                progress.history,
                verdict,
                checks,
                evidence,
                seen_chars=self.seen_chars(),
                attempts=progress.asks,
            )
            judged = replace(judged, board=result)
            after = assessed(progress.history, judged)
            summed = replace(after.rounds[-1], summary=result.summary)
            after = replace(after, rounds=(*after.rounds[:-1], summed))
            return self.recorder.assessment(call, judged, slots=progress.slots, after=after)

        def merged(call: Call, found: Merged, progress: Progress) -> History:
            result = BoardResult(spreads(self.rubric, board), found.summary)
            return record(call, found.asi, result, progress)

        def not_merged(call: Call | None, problem: str, progress: Progress) -> History:
            speaker = spokesperson(self.rubric, board)
            assert speaker.verdict is not None
            name = self.history.panel[speaker.seat - 1].name
            note = f"The suggestions could not be merged, so {name}'s is used. {problem}"
            result = BoardResult(spreads(self.rubric, board), None, note)
            return record(call, speaker.verdict.asi, result, progress)

        form = Form(merge_schema(), MERGE_TOKENS, read_merge)
        clerk = Speaker(Role.CLERK)
        questions = [self.question(clerk, CallPurpose.MERGE, prompt, form, merged, not_merged)]
        return self.ask(*questions, *([self.describe_question()] if describes else []))

    def seen_chars(self) -> int | None:
        """How much of the candidate the judges saw; all of them see the same."""
        view = self.judge_view(1, Evidence("", None))
        return view.candidate.seen_chars if view.candidate else None

    # --- describe --------------------------------------------------------------------------------

    def describe(self) -> History:
        """The clerk names what the round changed."""
        return self.ask(self.describe_question())

    def describe_question(self) -> Question:
        before, after, feedback = self.revision()
        prompt = describe_prompt(describe_view(self.brief, before, after, feedback))

        def named(call: Call, change: str, progress: Progress) -> History:
            return self.changed(call, change, progress)

        def unnamed(call: Call | None, problem: str, progress: Progress) -> History:
            # Empty: only a change that the clerk named counts as one.
            return self.changed(call, "", progress)

        form = Form(describe_schema(), DESCRIBE_TOKENS, read_change)
        return self.question(Speaker(Role.CLERK), CallPurpose.DESCRIBE, prompt, form, named, unnamed)

    def changed(self, call: Call | None, change: str, progress: Progress) -> History:
        return change_record(
            self.recorder, call, self.number, change, slots=progress.slots, after=progress.history
        )

    def revision(self) -> tuple[str, str, dict[str, Any] | None]:
        """The text that the round started from, its candidate and the feedback in between."""
        rows = Round.objects.filter(run_id=self.caller.run.pk)
        row = rows.only("base_round", "candidate", "feedback").get(number=self.number)
        # A revision that starts from the original task is compared with the round before it.
        before = rows.values_list("candidate", flat=True).get(number=row.base_round or self.number - 1)
        return before, row.candidate, row.feedback


def board_carry_out(
    caller: Caller,
    recorder: Recorder,
    brief: Brief,
    history: History,
    step: Compose | Score | Deliberate | Merge | Describe,
) -> History:
    """Carries out a board's step and records its answers; returns the history after it.

    Raises JudgeGaveUp if the round cannot be judged, and CallFailed, ProviderError, NoFreeSlot, Cancelled or
    LeaseLost.
    """
    board = BoardRound(caller, recorder, brief, history)
    if isinstance(step, Compose):
        return board.compose()
    if isinstance(step, Score):
        return board.score(step.seats)
    if isinstance(step, Deliberate):
        return board.deliberate(step.seats)
    if isinstance(step, Merge):
        return board.merge(describes=step.describes)
    return board.describe()
