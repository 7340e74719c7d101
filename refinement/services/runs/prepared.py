"""The prepared example as an ordinary run of a project: archived, read-only, and deletable.

Its people are names only. They have no accounts, cannot sign in and are not members.
"""

import secrets
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from refinement.anchoring import Passage, quotation_at
from refinement.demo.example.story import Example, ExampleRound, example
from refinement.engine.codec import rubric_to_json
from refinement.engine.metrics import run_metrics
from refinement.engine.scoring import assess
from refinement.engine.types import CriterionScore, Verdict
from refinement.execution.boards.recording import board_values, panel_rows, stance_values
from refinement.execution.steps.record_values import (
    BoardResult,
    JudgedRound,
    check_rows,
    feedback_values,
    judged_values,
    metric_values,
    verdict_values,
)
from refinement.judging.sources import SourceText
from refinement.models import (
    BoardVerdict,
    CheckResult,
    Comment,
    Decision,
    HumanScore,
    Instruction,
    PanelJudge,
    Project,
    Round,
    Rubric,
    RubricVersion,
    Run,
    RunSource,
    RunStatus,
    Thread,
    User,
)
from refinement.models import Verdict as VerdictRow
from refinement.services.audit import audit_record
from refinement.services.reviews.people_gap import people_gap_store
from refinement.services.rubrics.editing import rubric_create
from refinement.services.runs.sources import sources_create

SLUG = "prepared-example"
NO_MODEL = "no model"
AGE = timedelta(hours=3)  # how long ago it was launched
# Minutes after that.
ROUND_TAKES, JUDGED_AFTER, COMMENT_AFTER, INSTRUCTED_BEFORE = 10, 5, 7, 2
SCORED_AT, DECIDED_AT = 60, 80


def prepared_run(project: Project) -> Run | None:
    """The project's prepared example, if it has one."""
    return Run.objects.filter(project=project, source=RunSource.EXAMPLE).first()


@transaction.atomic
def example_open(*, project: Project, user: User) -> Run:
    """The project's prepared example, written on first use."""
    # Locks the project, so that two requests at once write it once.
    Project.objects.select_for_update().get(pk=project.pk)
    return prepared_run(project) or _write(project, user, example())


@transaction.atomic
def example_delete(*, project: Project, user: User) -> bool:
    """Delete the prepared example with its rubric. Return False if there was none."""
    run = prepared_run(project)
    if run is None:
        return False
    audit_record(action="run.delete", object_type="run", object_id=run.pk, project=project, user=user)
    run.delete()
    if not Run.objects.filter(rubric__project=project, rubric__slug=SLUG).exists():
        Rubric.objects.filter(project=project, slug=SLUG).delete()
    return True


def _write(project: Project, user: User, story: Example) -> Run:
    at = timezone.now() - AGE
    version = _version(project, user, story)
    run = Run.objects.create(
        **_run_values(story, at), project=project, rubric_version=version, rubric=version.rubric
    )
    Run.objects.filter(pk=run.pk).update(created_at=at)
    sources_create(
        run=run,
        sources=[SourceText("ingest-notes.md", story.source)],
        limit=story.rubric.policy.source_limit_chars,
    )
    panel = PanelJudge.objects.bulk_create(panel_rows(run, story.rubric.judges.panel))
    instructions = [
        Instruction.objects.create(run=run, author_name=name, text=text, used_in_round=number)
        for number, name, text in story.people["instructions"]
    ]
    rounds = {
        entry.round.number: _round_write(run, story, entry, panel, instructions) for entry in story.rounds
    }
    _people_write(run, story, rounds, at)
    _date(run, at)
    audit_record(action="run.example", object_type="run", object_id=run.pk, project=project, user=user)
    return run


def _began(at: datetime, number: int) -> datetime:
    """When a round began. The first one begins with the run."""
    return at + timedelta(minutes=ROUND_TAKES * (number - 1))


def _date(run: Run, at: datetime) -> None:
    """Dates rounds and instructions, in the order of the story."""
    for row in run.rounds.all():
        began = _began(at, row.number)
        judged = began + timedelta(minutes=JUDGED_AFTER)
        Round.objects.filter(pk=row.pk).update(created_at=began, judged_at=judged)
        BoardVerdict.objects.filter(round=row).update(scored_at=judged, deliberated_at=judged)
    for said in run.instructions.all():
        assert said.used_in_round is not None
        said.created_at = _began(at, said.used_in_round) - timedelta(minutes=INSTRUCTED_BEFORE)
        said.save(update_fields=["created_at"])


def _version(project: Project, user: User, story: Example) -> RubricVersion:
    rubric = Rubric.objects.filter(project=project, slug=SLUG).first()
    if rubric is not None:
        return rubric.versions.order_by("-number")[0]
    version = rubric_create(
        project=project, slug=SLUG, definition=story.rubric, user=user, note="For the prepared example."
    )
    # Archived, so that it is offered nowhere.
    Rubric.objects.filter(pk=version.rubric_id).update(archived_at=timezone.now())
    return version


def _run_values(story: Example, at: datetime) -> dict[str, Any]:
    ended = _began(at, len(story.rounds)) + timedelta(minutes=JUDGED_AFTER)
    return {
        "source": RunSource.EXAMPLE,
        "title": story.title,
        "task": story.task,
        "task_type": story.task_type,
        "archived_at": ended,
        "finished_at": ended,
        "woken_at": at,
        "nonce": secrets.token_hex(6),
        "producer_model": NO_MODEL,
        "judge_model": NO_MODEL,
        "snapshot": rubric_to_json(story.rubric),
        "status": RunStatus.FINISHED,
        "outcome": story.end.outcome,
        "stop_reason": story.end.reason,
        "why": story.end.why,
        "passed_in_round": story.end.passed_in_round,
        "trajectory": [str(round(entry.composite, 6)) for entry in story.rounds],
        "decision": story.people["decision"]["kind"],
        **metric_values(run_metrics(story.rubric, story.history)),
    }


def _round_write(
    run: Run, story: Example, entry: ExampleRound, panel: list[PanelJudge], instructions: list[Instruction]
) -> Round:
    made = entry.round
    assert made.assessment is not None
    judged = JudgedRound(
        number=made.number,
        assessment=made.assessment,
        metrics=run_metrics(story.rubric, story.history),
        signal=None,
        seen_chars=len(made.candidate),
        cut=False,
        attempts=1,
        board=BoardResult(entry.spread, made.summary),
    )
    row = Round.objects.create(
        run=run,
        number=made.number,
        origin="revision" if entry.feedback else "draft",
        base_round=made.base_round,
        feedback=_feedback(entry, instructions),
        candidate=made.candidate,
        candidate_chars=len(made.candidate),
        key_change=made.key_change,
        **judged_values(judged, None),
    )
    VerdictRow.objects.create(round=row, **verdict_values(entry.verdict))
    CheckResult.objects.bulk_create(check_rows(row.pk, made.assessment))
    BoardVerdict.objects.bulk_create(
        BoardVerdict(
            round=row,
            judge=panel[answer.seat - 1],
            seat=answer.seat,
            seen_chars=len(made.candidate),
            stances=[stance_values(stance) for stance in answer.stances or ()],
            deliberated_at=row.judged_at,
            **board_values(answer.verdict),
        )
        for answer in made.board
        if answer.verdict is not None
    )
    return row


def _feedback(entry: ExampleRound, instructions: list[Instruction]) -> dict[str, Any] | None:
    """The feedback with the numbers of the instructions that this round used."""
    if entry.feedback is None:
        return None
    used = [row for row in instructions if row.used_in_round == entry.round.number]
    numbered = tuple(
        replace(each, number=row.pk) for each, row in zip(entry.feedback.instructions, used, strict=True)
    )
    return feedback_values(replace(entry.feedback, instructions=numbered))


def _people_write(run: Run, story: Example, rounds: dict[int, Round], at: datetime) -> None:
    comments = [
        comment
        for thread in story.people["threads"]
        for comment in _thread(
            run, thread, rounds, _began(at, thread["round"]) + timedelta(minutes=COMMENT_AFTER)
        )
    ]
    Comment.objects.bulk_update(comments, ["created_at"])
    for number, name, blind, scores, note, reasons in story.people["scores"]:
        HumanScore.objects.create(
            run=run,
            round=rounds[number],
            author_name=name,
            scores=[
                {"key": key, "score": str(score), "reason": reasons.get(key, "")}
                for key, score in scores.items()
            ],
            composite=_composite(story, scores),
            note=note,
            blind=blind,
        )
    HumanScore.objects.filter(run=run).update(submitted_at=at + timedelta(minutes=SCORED_AT))
    decision = story.people["decision"]
    made = Decision.objects.create(
        run=run, number=1, kind=decision["kind"], reason=decision["reason"], author_name=decision["by"]
    )
    Decision.objects.filter(pk=made.pk).update(at=at + timedelta(minutes=DECIDED_AT))
    people_gap_store(run)


def _composite(story: Example, scores: dict[str, float]) -> Decimal:
    given = tuple(CriterionScore(key, Decimal(str(score))) for key, score in scores.items())
    return assess(story.rubric, Verdict(given), ()).composite


def _thread(run: Run, said: dict[str, Any], rounds: dict[int, Round], at: datetime) -> list[Comment]:
    values: dict[str, Any] = {"place": said.get("place", "passage"), "round_number": said["round"]}
    if quote := said.get("quote"):
        text = rounds[said["round"]].candidate
        start = text.index(quote)
        found = quotation_at(Passage(start, start + len(quote)), text)
        values |= {
            "quote": found.text,
            "quote_before": found.before,
            "quote_after": found.after,
            "quote_start": found.start,
        }
    thread = Thread.objects.create(
        project_id=run.project_id,
        run=run,
        resolved_at=at + timedelta(minutes=ROUND_TAKES) if said.get("resolved") else None,
        **values,
    )
    comments = [
        Comment.objects.create(thread=thread, run=run, author_name=name, body=body)
        for name, body in said["comments"]
    ]
    for place, comment in enumerate(comments):
        comment.created_at = at + timedelta(minutes=2 * place)
    return comments
