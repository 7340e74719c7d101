"""Rows for the activity of demo people, collected first and then written table by table."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from refinement.anchoring import Passage, quotation_at
from refinement.engine.types import Rubric
from refinement.models import (
    AuditEntry,
    BlindReading,
    Comment,
    Decision,
    DecisionKind,
    HumanScore,
    Notice,
    NoticeKind,
    Project,
    ReviewRequest,
    Round,
    Run,
    Thread,
    User,
)
from refinement.models.reviews.comments import ThreadPlace
from refinement.services.notices.creating import DECIDED, run_label
from refinement.services.reviews.human_scores import Reading, checked
from refinement.services.reviews.people_gap import people_gap_store

UNREAD = 5  # newest notices per person that stay unread


@dataclass
class TeamRows:
    """Collects rows of threads, scores, decisions, reviews and notices."""

    project: Project
    now: datetime
    threads: list[Thread] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    mentions: list[tuple[Comment, User]] = field(default_factory=list)
    scores: list[HumanScore] = field(default_factory=list)
    readings: list[BlindReading] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    requests: list[ReviewRequest] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)

    def thread(
        self, run: Run, place: ThreadPlace, number: int | None, where: Mapping[str, Any], at: datetime
    ) -> Thread:
        made = Thread(project=self.project, run=run, place=place, round_number=number, created_at=at, **where)
        self.threads.append(made)
        return made

    def quoted(self, sentence: tuple[str, int, int]) -> dict[str, object]:
        """The fields of a thread for a passage."""
        text, start, end = sentence
        quotation = quotation_at(Passage(start, end), text)
        return {
            "quote": quotation.text, "quote_before": quotation.before, "quote_after": quotation.after,
            "quote_start": quotation.start,
        }  # fmt: skip

    def comment(
        self,
        thread: Thread,
        person: User,
        body: str,
        at: datetime,
        *,
        mentions: User | None = None,
        answers: Sequence[User] = (),
    ) -> None:
        made = Comment(
            thread=thread, run=thread.run, author=person, author_name=person.display_name, body=body,
            created_at=at,
        )  # fmt: skip
        self.comments.append(made)
        about = run_label(thread.run)
        if mentions is not None and mentions != person:
            self.mentions.append((made, mentions))
            text = f"{person.display_name} mentioned you in a comment on {about}."
            self.notify(mentions, NoticeKind.MENTION, thread.run, person, text, at, made)
        for other in answers:
            text = f"{person.display_name} replied in your thread on {about}."
            self.notify(other, NoticeKind.REPLY, thread.run, person, text, at, made)

    def ask(
        self, run: Run, reviewer: User, asker: User, note: str, due: date | None, at: datetime
    ) -> ReviewRequest:
        made = ReviewRequest(
            project=self.project, run=run, reviewer=reviewer, asked_by=asker, note=note, due_on=due,
            asked_at=at,
        )  # fmt: skip
        self.requests.append(made)
        day = f" It is due on {due:%-d %B %Y}." if due else ""
        text = f"{asker.display_name} requested your review of {run_label(run)}.{day}"
        self.notify(reviewer, NoticeKind.REVIEW, run, asker, text, at)
        return made

    def close(self, request: ReviewRequest, at: datetime) -> None:
        request.closed_at = at

    def score(
        self,
        rubric: Rubric,
        row: Round,
        person: User,
        offsets: Mapping[str, tuple[str, int]],
        blind: bool,
        at: datetime,
    ) -> None:
        """Adds a human score: the judge's scores plus an offset in steps of the scale."""
        scale = rubric.scale
        step = scale.step or (scale.maximum - scale.minimum) / 20
        scores = {
            key: min(
                scale.maximum, max(scale.minimum, Decimal((row.scores or {})[key]) + step * Decimal(off))
            )
            for key, (_, off) in offsets.items()
        }
        reading = Reading(scores, {key: reason for key, (reason, _) in offsets.items()})
        self.scores.append(
            HumanScore(
                run_id=row.run_id, round=row, author=person, author_name=person.display_name, blind=blind,
                submitted_at=at, **(checked(rubric, row, reading)),
            )
        )  # fmt: skip

    def read_blind(self, run: Run, number: int, person: User, began: datetime, ended: datetime) -> None:
        self.readings.append(
            BlindReading(run=run, reader=person, round_number=number, began_at=began, ended_at=ended)
        )

    def decide(
        self, run: Run, kind: DecisionKind, number: int | None, reason: str, person: User, at: datetime
    ) -> None:
        self.decisions.append(
            Decision(
                run=run, number=1, kind=kind, round_number=number, reason=reason, author=person,
                author_name=person.display_name, at=at,
            )
        )  # fmt: skip
        run.decision, run.chosen_round = kind.value, number
        if run.created_by is not None and run.created_by != person:
            text = f"{person.display_name} {DECIDED[kind]} {run_label(run)}."
            self.notify(run.created_by, NoticeKind.DECISION, run, person, text, at)

    def notify(
        self,
        person: User,
        kind: NoticeKind,
        run: Run,
        actor: User,
        text: str,
        at: datetime,
        comment: Comment | None = None,
    ) -> None:
        """Adds a notice to the inbox, without an email."""
        self.notices.append(
            Notice(
                user=person, project=self.project, run=run, comment=comment, kind=kind,
                actor_name=actor.display_name, text=text, created_at=at,
                mail_due=False,
            )
        )  # fmt: skip

    def write(self) -> None:
        """Writes all rows, referenced ones first."""
        Thread.objects.bulk_create(self.threads)
        Comment.objects.bulk_create(self.comments)
        through = Comment.mentioned.through
        through.objects.bulk_create(
            [through(comment_id=comment.pk, user_id=person.pk) for comment, person in self.mentions]
        )
        HumanScore.objects.bulk_create(self.scores)
        BlindReading.objects.bulk_create(self.readings)
        Decision.objects.bulk_create(self.decisions)
        Run.objects.bulk_update([made.run for made in self.decisions], ["decision", "chosen_round"])
        scored = Run.objects.filter(pk__in={score.run_id for score in self.scores})
        people_gap_store(*scored.select_related("rubric_version"))
        ReviewRequest.objects.bulk_create(self.requests)
        Notice.objects.bulk_create(self.sorted_notices())
        AuditEntry.objects.bulk_create(sorted(self.audited(), key=lambda row: row.at))

    def sorted_notices(self) -> list[Notice]:
        """The notices in order. All but the newest of each person are read."""
        rows = sorted(self.notices, key=lambda row: row.created_at)
        newer = Counter[int]()
        for row in reversed(rows):
            newer[row.user_id] += 1
            row.read_at = row.created_at if newer[row.user_id] > UNREAD else None
        return rows

    def audited(self) -> list[AuditEntry]:
        """The audit log entries for these rows."""
        rows = [
            self.entry("comment.create", "comment", row.pk, row.author, row.created_at, run=row.run_id)
            for row in self.comments
        ]
        rows += [
            self.entry("score.give", "run", row.run_id, row.author, row.submitted_at, round=row.round.number)
            for row in self.scores
        ]
        rows += [
            self.entry(
                "run.decide", "run", row.run_id, row.author, row.at, decision=row.kind, reason=row.reason
            )
            for row in self.decisions
        ]
        for row in self.requests:
            about = {"reviewer": row.reviewer.email, "run": row.run_id}
            rows.append(self.entry("review.ask", "review", row.pk, row.asked_by, row.asked_at, **about))
            if row.closed_at:
                rows.append(
                    self.entry("review.done", "review", row.pk, row.reviewer, row.closed_at, run=row.run_id)
                )
        return rows

    def entry(
        self, action: str, kind: str, number: int, person: User | None, at: datetime, **after: object
    ) -> AuditEntry:
        return AuditEntry(
            action=action, object_type=kind, object_id=str(number), project=self.project, user=person,
            actor=person.display_name if person else "", at=at, after=after,
        )  # fmt: skip
