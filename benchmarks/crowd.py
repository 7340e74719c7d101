"""A busy run: 500 comments, scores and review requests of twenty members."""

from typing import Any

PEOPLE, THREADS, COMMENTS = 20, 50, 500


def add_discussion(project: Any, run: Any) -> int:
    """Adds comments, scores and review requests to the run's best round; returns its number."""
    from refinement.models import Comment, HumanScore, ReviewRequest, Round, Thread, ThreadPlace

    people = members_create(project)
    best = Round.objects.get(run=run, number=run.best_round or 1)
    threads = Thread.objects.bulk_create(
        Thread(project=project, run=run, place=ThreadPlace.ROUND, round_number=best.number)
        for _ in range(THREADS)
    )
    Comment.objects.bulk_create(
        Comment(
            thread=threads[number % THREADS],
            run=run,
            author=people[number % PEOPLE],
            author_name=people[number % PEOPLE].name,
            body=f"**Reading {number}**: the second paragraph repeats the first, and names no version. " * 3,
        )
        for number in range(COMMENTS)
    )
    ReviewRequest.objects.bulk_create(
        ReviewRequest(project=project, run=run, reviewer=person, asked_by=people[0]) for person in people
    )
    scores = [{"key": key, "score": "7", "reason": "As it is."} for key in best.scores or {}]
    HumanScore.objects.bulk_create(
        HumanScore(run=run, round=best, author=person, author_name=person.name, scores=scores, composite=7)
        for person in people
    )
    number: int = best.number
    return number


def members_create(project: Any) -> list[Any]:
    from refinement.models import Membership, User

    people = User.objects.bulk_create(
        User(email=f"reader{number}@example.org", name=f"Reader {number}") for number in range(PEOPLE)
    )
    Membership.objects.bulk_create(Membership(project=project, user=each, role="viewer") for each in people)
    return people
