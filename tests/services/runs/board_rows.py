"""A finished run that a board judged, written as rows without any model."""

from dataclasses import replace
from typing import Any

from django.utils import timezone

from refinement.engine.profiles import rubric_for
from refinement.engine.types import JudgeMode, Judges, PanelJudge, Rubric
from refinement.models import BoardVerdict, Call, Project, Round, Run, Verdict
from tests.views.runs.finished import finished_run

PANEL = (
    PanelJudge("Reader", "You read it once.", "ollama/reader:1b"),
    PanelJudge("Expert", "You know the subject."),
    PanelJudge("Editor", "You look at the whole."),
)
SUMMARY = {"working": ["short"], "not_working": ["lists"], "direction": "Be concrete.", "problem": ""}


def board_rubric() -> Rubric:
    """Simmer's with a board of three."""
    return replace(rubric_for("simmer"), judges=Judges(JudgeMode.BOARD, PANEL))


def board_run(project: Project, **fields: Any) -> Run:
    """Two rounds of a board. The reader concedes in each; the editor's reply in the second is unreadable."""
    run = finished_run(project, ("5", "7"), definition=board_rubric(), **fields)
    for row in run.rounds.order_by("number"):
        add_board(run, row, unread=row.number == 2)
    first = run.rounds.get(number=1)
    Round.objects.filter(pk=first.pk).update(key_change=None)
    return run


def add_board(run: Run, row: Round, *, unread: bool) -> None:
    """A board's answers on a round, whose median is the round's score."""
    assert row.scores is not None
    for judge in run.panel.order_by("seat"):
        seat = judge.seat
        if unread and seat == 3:
            BoardVerdict.objects.create(round=row, judge=judge, seat=seat, problem="The reply has no scores.")
        else:
            answer_of(row, judge, row.scores)
        call_of(run, row, "judge", "score", seat)
        call_of(run, row, "judge", "deliberate", seat)
    call_of(run, row, "clerk", "merge", 0)
    Verdict.objects.filter(round=row).update(judge="board")
    Round.objects.filter(pk=row.pk).update(
        spread=dict.fromkeys(row.scores, "2"),
        summary=SUMMARY,
        key_change=f"adds example {row.number}",
        penalties=[],
    )


def answer_of(row: Round, judge: Any, scores: dict[str, str]) -> None:
    own = [
        {"key": key, "score": "3", "reasoning": f"{judge.name} says so.", "improvement": "More."}
        for key in scores
    ]
    stances = [
        {
            "key": key,
            "stance": "concede" if judge.seat == 1 else "challenge",
            "score": score if judge.seat == 1 else "3",
            "reasoning": f"{judge.name} answers.",
        }
        for key, score in scores.items()
    ]
    BoardVerdict.objects.create(
        round=row, judge=judge, seat=judge.seat, scores=own, issues=["No example."], seen_chars=10,
        asi=f"{judge.name} wants an example.", stances=stances, deliberated_at=timezone.now(),
    )  # fmt: skip


def call_of(run: Run, row: Round, role: str, purpose: str, seat: int) -> None:
    now = timezone.now()
    Call.objects.filter(run=run, round_number=row.number, purpose="score", seat=0).delete()
    Call.objects.create(
        run=run, round_number=row.number, role=role, purpose=purpose, seat=seat, attempt=1,
        endpoint="ollama", model="gemma3:27b", messages=[{"role": "user", "content": purpose}], reply="{}",
        started_at=now, finished_at=now,
    )  # fmt: skip
