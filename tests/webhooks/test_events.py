"""When webhooks are sent, and what they contain and never contain."""

import json

import pytest
from django.db import transaction

from refinement.execution.signals import run_asking
from refinement.models import Run, WebhookDelivery
from refinement.services.reviews.comments import comment_edit
from refinement.services.reviews.requests import reviews_ask
from refinement.services.runs.lifecycle import run_cancel
from refinement.services.webhooks.hooks import HookValues, webhook_change, webhook_create
from tests.execution.lifecycle.conftest import scene
from tests.execution.lifecycle.given import advance, now_due
from tests.loopback.fixtures import ollama_server
from tests.views.comments.given import say
from tests.views.runs.finished import finished_run

__all__ = ["ollama_server", "scene"]
pytestmark = pytest.mark.django_db
# About the judge: neither noise nor a rule of the project.
NOTHING_KNOWN = dict.fromkeys(("judge_proven", "unproven_reason", "within_noise", "smallest_difference"))


def told() -> list[dict]:
    return [json.loads(row.payload) for row in WebhookDelivery.objects.order_by("id")]


def test_a_run_that_ends_is_told_with_its_figures(hook, scene, project):
    scene.says(7, 9.5)
    run = scene.launch()
    advance(run)

    (message,) = told()
    assert message["event"] == "run.finished"
    assert message["project"] == {"slug": "alpha", "name": "Alpha"}
    assert message["run"] == {
        "id": run.pk,
        "title": run.title,
        "task_type": "",
        "status": "finished",
        "link": f"https://wiggum.example.org/p/alpha/runs/{run.pk}/",
        "outcome": "PASS",
        "stop_reason": "passed",
        "rounds": 2,
        "r1": "7.000000",
        "best": "9.500000",
        "last": "9.500000",
        "improvement": "2.500000",
        "best_round": 2,
        "passed_in_round": 2,
        **NOTHING_KNOWN,
    }
    assert message["id"] == str(WebhookDelivery.objects.get().key)


def test_a_run_that_waits_is_told_once_and_so_is_its_cancelling(hook, scene, editor):
    run = scene.launch()
    scene.server.go_offline()
    advance(run, 1)
    now_due(run)
    advance(run, 1)

    assert [message["event"] for message in told()] == ["run.waiting"]
    assert told()[0]["waiting"] == {"endpoint": "ollama"}
    run_cancel(run=run, user=editor)
    assert [message["event"] for message in told()] == ["run.waiting", "run.finished"]
    assert told()[1]["run"]["outcome"] == "CANCELLED"


@pytest.mark.parametrize("blind", [False, True])
def test_a_run_that_asks_is_told(hook, project, blind):
    project.blind_scores = blind
    project.save(update_fields=["blind_scores"])
    run = finished_run(project)
    run_asking.send(Run, run=run, round=3)

    (message,) = told()
    assert (message["event"], message["run"]["id"]) == ("run.asking", run.pk)
    assert ("rounds" in message["run"]) is not blind


def test_a_review_is_told_without_the_note(hook, project, editor, viewer):
    run = finished_run(project)
    reviews_ask(run=run, reviewers=[viewer], user=editor, note="Is 8.6 not too much?")

    (message,) = told()
    assert message["event"] == "review.asked"
    assert message["review"] | {"id": 0} == {
        "id": 0,
        "reviewer": "Vera Viewer",
        "asked_by": "Edgar Editor",
        "due_on": None,
    }
    assert "too much" not in json.dumps(message)


def test_a_comment_is_told_once_and_without_its_words(hook, project, editor):
    comment = say(finished_run(project), editor, "The canary sings.")
    comment_edit(comment=comment, body="It does not.", version=1, user=editor)

    (message,) = told()
    assert message["comment"] == {
        "id": comment.pk,
        "thread": comment.thread_id,
        "author": "Edgar Editor",
        "link": f"https://wiggum.example.org/p/alpha/runs/{comment.run_id}/comments/{comment.pk}/",
    }
    assert "canary" not in json.dumps(message)


def test_where_people_score_blind_nothing_says_how_a_run_went(hook, scene, project, editor, viewer):
    project.blind_scores = True
    project.save(update_fields=["blind_scores"])
    scene.says(7.31, 9.57)
    run = scene.launch()
    advance(run)
    run.refresh_from_db()
    reviews_ask(run=run, reviewers=[viewer], user=editor)
    say(run, editor)

    assert [set(message["run"]) for message in told()] == [{"id", "title", "task_type", "status", "link"}] * 3
    raw = "".join(WebhookDelivery.objects.values_list("payload", flat=True))
    assert not [word for word in ("7.3", "9.5", "PASS", "passed", "outcome", "best") if word in raw]


def test_only_those_who_want_to_hear_of_it_and_are_active_are_told(hook, project, owner, editor, receiver):
    values = HookValues(receiver.address, ["run.finished"])
    webhook_create(project=project, by=owner, values=values)
    webhook_change(
        webhook=hook, by=owner, values=HookValues(hook.address, hook.events, active=False), version=1
    )
    say(finished_run(project), editor)
    assert told() == []


def test_other_projects_hear_nothing(hook, other_project, outsider):
    say(finished_run(other_project), outsider)
    assert told() == []


def test_what_is_undone_is_not_told(hook, project, editor, work):
    run = finished_run(project)
    with transaction.atomic():
        say(run, editor)
        transaction.set_rollback(True)
    assert (told(), work()) == ([], 0)


def test_without_webhooks_an_event_costs_one_question(project, editor, django_assert_num_queries):
    from refinement.services.webhooks.events import hook_run_finished

    run = Run.objects.get(pk=finished_run(project).pk)
    with django_assert_num_queries(1):
        hook_run_finished(run)


def test_without_an_address_of_its_own_links_are_paths(hook, project, editor, settings):
    settings.SITE_URL = ""
    run = finished_run(project)
    say(run, editor)
    assert told()[0]["run"]["link"] == f"/p/alpha/runs/{run.pk}/"
