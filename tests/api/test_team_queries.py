"""Lists of reviews, comments and members have a fixed number of queries."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.models import HumanScore, Round
from refinement.providers.registry import Target
from refinement.services.people.invitations import invitation_make
from refinement.services.reviews.requests import reviews_ask
from refinement.services.reviews.rules import review_rule_create
from refinement.services.rubrics.bench import Candidate, bench_create
from refinement.services.webhooks.hooks import HookValues, webhook_create, webhook_ping
from tests.conftest import member
from tests.views.comments.given import answer, say
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HOOK = HookValues("https://hooks.example.org/", ["run.waiting"])


def more_of_everything(project, run, comment, hook, owner, number):
    """One more row in every list, by and for somebody new."""
    person = member(project, "editor", f"p{number}@example.org", f"Person {number}")
    say(run, person, "@Olivia Owner, look.")
    answer(comment, person, "@Olivia Owner, again.")
    first = Round.objects.get(run=run, number=1)
    HumanScore.objects.create(run=run, round=first, author=person, author_name="P", scores=[], composite=5)
    reviews_ask(run=run, reviewers=[person], user=owner)
    reviews_ask(run=finished_run(project), reviewers=[owner], user=person)
    review_rule_create(project=project, kind="signal", reviewers=[person], user=person)
    invitation_make(project=project, role="viewer", days=1, by=owner)
    judge, text = Target("ollama", "loopback:8b"), Candidate("A text.")
    bench_create(version=run.rubric_version, candidate=text, judge=judge, repeats=2, user=person)
    webhook_ping(webhook=hook, by=owner)
    webhook_create(project=project, by=owner, values=HOOK)


def test_lists_have_a_fixed_number_of_queries(api_owner, project, owner):
    run = finished_run(project)
    comment = say(run, owner)
    hook, _ = webhook_create(project=project, by=owner, values=HOOK)
    lists = [
        f"runs/{run.pk}/threads",
        f"runs/{run.pk}/threads/{comment.thread_id}/comments",
        f"runs/{run.pk}/rounds/1/scores",
        "reviews",
        "reviews/queue",
        "review-rules",
        "members",
        "invitations",
        f"rubrics/{run.rubric.slug}/benches",
        "webhooks",
        f"webhooks/{hook.pk}/deliveries",
    ]

    def asked(address: str) -> tuple[int, int]:
        with CaptureQueriesContext(connection) as queries:
            told = api_owner.get(f"/projects/alpha/{address}")
        return len(told.json()["items"]), len(queries)

    more_of_everything(project, run, comment, hook, owner, 0)
    asked("members")  # the token's use is noted by the first request
    few = {address: asked(address) for address in lists}
    for number in range(1, 4):
        more_of_everything(project, run, comment, hook, owner, number)
    many = {address: asked(address) for address in lists}

    assert [address for address in lists if many[address][0] < few[address][0] + 3] == []
    assert [address for address in lists if many[address][1] != few[address][1]] == []
