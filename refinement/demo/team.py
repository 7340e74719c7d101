"""Activity of demo people on the newest runs: comments, scores, decisions, reviews and notices.

Only a limited number of runs get activity, and it is written with a few statements.
"""

import random
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from django.db import transaction

from refinement.demo import words
from refinement.demo.rows import explicit_times
from refinement.demo.team_rows import TeamRows
from refinement.engine.codec import rubric_from_json
from refinement.engine.types import Rubric
from refinement.models import DecisionKind, Instruction, Membership, Project, Round, Run, RunStatus, User
from refinement.models.reviews.comments import ThreadPlace

MOST_REVIEWED = 60
SHARE = 3  # one of this many runs gets activity
SENTENCE = ". "
OPEN_REQUESTS = 0.45
FAR_FROM_JUDGE = 4  # in every so many runs people score well below the judge
DECISIONS = (
    DecisionKind.APPROVED, DecisionKind.APPROVED, DecisionKind.CHANGES, DecisionKind.REJECTED,
    DecisionKind.RESULT, DecisionKind.RESULT, None, None, None,
)  # fmt: skip


@transaction.atomic
def team_write(project: Project, people: Sequence[User], runs: int, *, after: int, now: datetime) -> None:
    """Adds activity to some of the runs created after the run with this id."""
    rng = random.Random(f"{project.slug}/{runs}/team")  # noqa: S311  demo data, not a secret
    rows = Run.objects.filter(project=project, pk__gt=after, archived_at__isnull=True)
    rows = rows.select_related("created_by").order_by("-pk")
    ended = rows.filter(status=RunStatus.FINISHED, rounds_judged__gt=0)
    chosen = list(ended[: min(MOST_REVIEWED, -(-runs // SHARE))])
    judged_rounds = Round.objects.filter(run__in=chosen, judged_at__isnull=False).prefetch_related(
        "verdicts", "check_results"
    )
    rounds: dict[int, list[Round]] = {}
    for row in judged_rounds.order_by("run_id", "number"):
        rounds.setdefault(row.run_id, []).append(row)
    team, guests = TeamRows(project, now), owners(project, people)
    with explicit_times():
        for run in reversed(chosen):
            RunActivity(team, run, rounds[run.pk], people, guests, rng).add()
        team.write()
        waiting = rows.exclude(status=RunStatus.FINISHED).filter(rounds_judged__gt=0)[:2]
        Instruction.objects.bulk_create([next_instruction(run, people[0], now) for run in waiting])


def owners(project: Project, people: Sequence[User]) -> list[User]:
    """Owners who can sign in: they are mentioned and asked to review, but nothing is done in their name."""
    rows = Membership.objects.filter(project=project, role="owner").exclude(user__in=people)
    return [row.user for row in rows.select_related("user").order_by("pk")[:2]]


def next_instruction(run: Run, person: User, now: datetime) -> Instruction:
    return Instruction(
        run=run, author=person, author_name=person.name, text=words.INSTRUCTIONS[0], created_at=now
    )


class RunActivity:
    """The activity of sample people on one run. `guests` are real people, who do nothing themselves."""

    def __init__(
        self,
        team: TeamRows,
        run: Run,
        rounds: Sequence[Round],
        people: Sequence[User],
        guests: Sequence[User],
        rng: random.Random,
    ) -> None:
        self.team, self.run, self.rounds, self.rng = team, run, rounds, rng
        self.rubric: Rubric = rubric_from_json(run.snapshot)
        self.best = next((row for row in rounds if row.number == run.best_round), rounds[-1])
        self.people, self.guests = rng.sample(list(people), len(people)), list(guests)
        self.moment = run.finished_at or run.created_at

    def later(self) -> datetime:
        """A time after the last activity, never in the future."""
        self.moment += timedelta(minutes=self.rng.randint(4, 170))
        self.moment = min(self.moment, self.team.now - timedelta(minutes=1))
        return self.moment

    def add(self) -> None:
        """Adds review requests, comments, scores and a decision, in this order."""
        asker, *others = self.people
        reviewers = self.rng.sample([*others, *self.guests], self.rng.choice((0, 1, 1, 2)))
        note = self.rng.choice(words.REVIEW_NOTES)
        due = (self.team.now + timedelta(days=self.rng.randint(-1, 9))).date()
        requests = [
            self.team.ask(
                self.run, person, asker, note, due if self.rng.random() < 0.6 else None, self.later()
            )
            for person in reviewers
        ]
        for place in self.rng.sample(list(self.places()), self.rng.choice((0, 1, 2, 3))):
            self.discuss(*place)
        for request in requests:
            if request.reviewer in self.guests or self.rng.random() < OPEN_REQUESTS:
                continue
            self.score(request.reviewer)
            self.team.close(request, self.later())
        kind = self.rng.choice(DECISIONS)
        if kind is not None and self.run.outcome in ("PASS", "FAIL", "DONE"):
            self.decide(kind, others[-1])

    def places(self) -> Iterator[tuple[ThreadPlace, Round | None, dict[str, object], Sequence[str]]]:
        """The places for threads: a sentence, an issue, a score, a round or the whole run."""
        yield ThreadPlace.RUN, None, {}, words.ON_RUNS
        yield ThreadPlace.PASSAGE, self.best, self.team.quoted(self.sentence()), words.ON_PASSAGES
        verdict = next(iter(self.best.verdicts.all()), None)
        if verdict is not None and verdict.issues:
            yield ThreadPlace.ISSUE, self.best, {"position": 0}, words.ON_ISSUES
        if self.rubric.criteria:
            key = self.rng.choice(self.rubric.criteria).key
            yield ThreadPlace.CRITERION, self.best, {"key": key}, words.ON_SCORES
        yield ThreadPlace.ROUND, self.rounds[-1], {}, words.ON_RUNS[1:]

    def sentence(self) -> tuple[str, int, int]:
        """The best text, and the start and end of a random sentence in it."""
        text = self.best.candidate
        prose = [part for part in text.split("\n\n") if part[:1].isalpha()] or [text]
        sentences = self.rng.choice(prose).split(SENTENCE)
        sentence = self.rng.choice(sentences).strip().rstrip(".")
        start = text.index(sentence)
        return text, start, start + len(sentence)

    def discuss(
        self, place: ThreadPlace, row: Round | None, where: dict[str, object], comments: Sequence[str]
    ) -> None:
        speakers = self.rng.sample(self.people, self.rng.randint(1, 3))
        answers = self.rng.sample(words.ANSWERS, len(speakers))
        thread = self.team.thread(self.run, place, row.number if row else None, where, self.later())
        for number, person in enumerate(speakers):
            body = answers[number] if number else self.rng.choice(comments)
            if number == 0 and self.rng.random() < 0.4:
                named = [each for each in (*self.people, *self.guests) if each != person]
                mentioned = self.rng.choice(named)
                body += " " + self.rng.choice(words.CALLS).format(name=f"@{mentioned.display_name}")
                self.team.comment(thread, person, body, self.later(), mentions=mentioned)
            else:
                self.team.comment(thread, person, body, self.later(), answers=speakers[:number])
        if len(speakers) > 1 and self.rng.random() < 0.4:
            thread.resolved_at, thread.resolved_by = self.later(), speakers[-1]

    def score(self, person: User) -> None:
        """Adds scores for the best round, or sometimes for all rounds, blind or not."""
        if not self.rubric.criteria:
            return
        blind = self.rng.random() < 0.5
        rows = self.rounds if self.rng.random() < 0.3 else [self.best]
        began = self.later()
        for row in rows:
            self.team.score(self.rubric, row, person, self.reading(row), blind, self.later())
        if blind:
            self.team.read_blind(self.run, rows[-1].number, person, began, self.moment)

    def reading(self, row: Round) -> dict[str, tuple[str, int]]:
        """For each criterion, a reason and the offset from the judge's score in steps of the scale."""
        offsets = {}
        strict = 3 if self.run.pk % FAR_FROM_JUDGE == 0 else 0
        for criterion in self.rubric.criteria:
            off = self.rng.choice((-2, -1, -1, 0, 0, 0, 1)) - strict
            reasons = words.LESS_THAN_THE_JUDGE if off < 0 else words.NOT_LESS
            offsets[criterion.key] = (self.rng.choice(reasons), off)
        return offsets

    def decide(self, kind: DecisionKind, person: User) -> None:
        others = [row.number for row in self.rounds if row.number != self.run.best_round]
        if kind == DecisionKind.RESULT and not others:
            kind = DecisionKind.APPROVED
        number = None
        if kind in (DecisionKind.RESULT, DecisionKind.APPROVED):
            number = self.rng.choice(others) if kind == DecisionKind.RESULT else self.best.number
        about = self.run.title.rsplit(" the ", 1)[-1].rstrip(".") or "material"
        reason = self.rng.choice(words.REASONS[kind.value]).format(about)
        self.team.decide(self.run, kind, number, reason, person, self.later())
