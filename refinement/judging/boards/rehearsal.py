"""Previews the prompts of a board and the clerk without sending them, built by the same code as in a run."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from refinement.engine.boards import has_board, judge_mode, names_changes, quorum, readable
from refinement.engine.kinds import Information, JudgeMode, Role
from refinement.engine.panels import USUAL_JUDGES, panel_for
from refinement.engine.types import BoardVerdict, Feedback, History, PanelJudge, Round
from refinement.judging.boards.context import compose_view, deliberation_view, describe_view, merge_view
from refinement.judging.boards.provenance import (
    trace_compose,
    trace_deliberation,
    trace_describe,
    trace_merge,
)
from refinement.judging.context import Brief, JudgeView, judge_view
from refinement.judging.contracts import contract_violation
from refinement.judging.provenance import trace_judge
from refinement.judging.visibility import RolePrompt, clerk_prompt, role_prompt

# What the clerk may see, whatever the rubric's rules are.
MERGE_SEES = frozenset({Information.CRITERIA, Information.PANEL_SUMMARY})
COMPOSE_SEES = frozenset({Information.TASK, Information.CRITERIA, Information.CANDIDATE})
DESCRIBE_SEES = frozenset({Information.CANDIDATE, Information.FEEDBACK})


@dataclass(frozen=True, slots=True)
class BoardRehearsal:
    """The prompts of a board in the last round of the history. Each is built when it is asked for."""

    brief: Brief
    history: History  # as it was when the round was judged
    answers: tuple[BoardVerdict, ...]
    assumes_answers: bool  # no board has judged the round
    assumes_panel: bool  # the clerk has not composed the panel yet
    violation: str = ""  # of the output contract, as code found it

    @property
    def panel(self) -> tuple[PanelJudge, ...]:
        return self.history.panel

    @property
    def seats(self) -> range:
        return range(1, len(self.panel) + 1)

    @property
    def deliberates(self) -> tuple[int, ...]:
        """The seats whose judges answer the others."""
        if not self.brief.rubric.judges.deliberation:
            return ()
        return tuple(answer.seat for answer in readable(self.answers))

    @property
    def composes(self) -> bool:
        """Whether the clerk composes the panel, because the rubric has none."""
        return not self.brief.rubric.judges.panel

    def score(self, seat: int) -> RolePrompt:
        """What the judge in this seat gets to score alone."""
        view = self._view(seat)
        return role_prompt(Role.JUDGE, view, trace_judge(view))

    def deliberation(self, seat: int) -> RolePrompt:
        """The same conversation after the others have scored."""
        view = self._view(seat)
        others = deliberation_view(self.brief, self.panel, self.answers, seat)
        return role_prompt(Role.JUDGE, view, trace_deliberation(view, others, self.brief.rubric))

    def merge(self) -> RolePrompt:
        """What the clerk gets to merge the verdicts."""
        view = merge_view(self.brief, self.panel, self.answers, self.history)
        return clerk_prompt(trace_merge(view), MERGE_SEES)

    def compose(self) -> RolePrompt:
        """What the clerk got before the board's first round, to compose the panel."""
        first = next(
            place
            for place, entry in enumerate(self.history.rounds, start=1)
            if has_board(self.brief.rubric, self.history, entry.number)
        )
        history = replace(self.history, rounds=self.history.rounds[:first])
        return clerk_prompt(trace_compose(compose_view(self.brief, history, USUAL_JUDGES)), COMPOSE_SEES)

    def _view(self, seat: int) -> JudgeView:
        number, lens = self.history.rounds[-1].number, self.panel[seat - 1]
        return judge_view(self.brief, self.history, number, contract_violation=self.violation, lens=lens)


def board_rehearsal(brief: Brief, history: History) -> BoardRehearsal | None:
    """The board of the last round; None if a single judge or checks alone assess it.

    Without a panel of its own, the run's is assumed to be the gallery's. Without the judges' own verdicts,
    each is assumed to have given the round's.
    """
    resolved = resolved_mode(brief, history)
    last = history.rounds[-1]
    if not has_board(resolved.rubric, history, last.number):
        return None
    rubric = resolved.rubric
    panel = history.panel or rubric.judges.panel or panel_for(rubric.artifact_type)
    answered = _is_answered(last, len(panel))
    return BoardRehearsal(
        brief=resolved,
        history=replace(history, panel=panel),
        answers=last.board if answered else _assumed_answers(last, len(panel)),
        assumes_answers=not answered,
        assumes_panel=not history.panel and not rubric.judges.panel,
        violation=contract_violation(rubric, last.candidate),
    )


def resolved_mode(brief: Brief, history: History) -> Brief:
    """The brief with `auto` resolved as for a run that starts from the first round's text."""
    rubric = brief.rubric
    if rubric.judges.mode is not JudgeMode.AUTO:
        return brief
    mode = judge_mode(rubric, len(brief.seed or history.rounds[0].candidate))
    return replace(brief, rubric=replace(rubric, judges=replace(rubric.judges, mode=mode)))


def _is_answered(entry: Round, judges: int) -> bool:
    return len(entry.board) == judges and len(readable(entry.board)) >= quorum(judges)


def _assumed_answers(entry: Round, judges: int) -> tuple[BoardVerdict, ...]:
    assert entry.assessment is not None
    (verdict, *_) = entry.assessment.verdicts
    return tuple(BoardVerdict(seat, verdict, stances=()) for seat in range(1, judges + 1))


def describe_prompt_of(
    brief: Brief, history: History, feedback: Mapping[str, Any] | None
) -> RolePrompt | None:
    """What the clerk gets to name what the last round changed; None if nobody asks it to."""
    last = history.rounds[-1]
    brief = resolved_mode(brief, history)
    if last.number == 1 or last.by_hand or not names_changes(brief.rubric, history, last.number):
        return None
    base = last.base_round or last.number - 1
    before = next(entry.candidate for entry in history.rounds if entry.number == base)
    return clerk_prompt(trace_describe(describe_view(brief, before, last.candidate, feedback)), DESCRIBE_SEES)


def stored_feedback(feedback: Feedback) -> dict[str, Any]:
    """The parts of a revision's feedback that name its change, as they are stored with a round."""
    return {
        "asi": feedback.asi,
        "issues": list(feedback.issues),
        "failure_texts": [f"{result.message} {result.suggestion}".strip() for result in feedback.failures],
        "instructions": [{"text": entry.text} for entry in feedback.instructions],
    }
