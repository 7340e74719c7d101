"""Messages for Slack, Microsoft Teams and Discord."""

import json

import pytest

from refinement.models import WebhookDelivery, WebhookEvent, WebhookFormat
from refinement.services.reviews.requests import reviews_ask
from refinement.services.webhooks.events import hook_run_finished
from refinement.services.webhooks.hooks import HookValues, webhook_create, webhook_ping
from refinement.webhooks.formats import CHATS, HEADLINES, body_of, message_of
from tests.views.runs.listed import runs_of
from tests.webhooks.conftest import EVERYTHING

pytestmark = pytest.mark.django_db
PROJECT = {"slug": "docs", "name": "Docs"}
RUN = {
    "id": 12, "title": "Write <!channel> *the* guide", "link": "https://wiggum.example.org/p/docs/runs/12/",
    "outcome": "PASS", "stop_reason": "passed", "rounds": 3, "r1": "5.100000", "best": "8.250000",
    "best_round": 3,
}  # fmt: skip
FINISHED = {"event": "run.finished", "project": PROJECT, "run": RUN}


def test_slack_gets_one_section_with_the_link_and_no_mention():
    body = body_of("slack", FINISHED)
    (block,) = body["blocks"]
    text = block["text"]["text"]

    assert body["text"] == "Run finished: Write &lt;!channel&gt; *the* guide"
    assert block["text"]["type"] == "mrkdwn"
    assert "<https://wiggum.example.org/p/docs/runs/12/|Write &lt;!channel&gt; *the* guide>" in text
    assert "Outcome: *PASS* · Score: *5.1 → 8.25* · Rounds: *3 (best: 3)*" in text


def test_teams_gets_an_adaptive_card_whose_texts_are_not_markdown():
    (attachment,) = body_of("teams", FINISHED)["attachments"]
    card = attachment["content"]
    texts = [inline["text"] for block in card["body"] for inline in block["inlines"]]

    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert {block["type"] for block in card["body"]} == {"RichTextBlock"}
    assert texts[:2] == ["Run finished", RUN["title"]]
    assert card["actions"] == [{"type": "Action.OpenUrl", "title": "Open", "url": RUN["link"]}]


def test_discord_gets_an_embed_that_mentions_nobody():
    body = body_of("discord", FINISHED)
    (embed,) = body["embeds"]

    assert body["allowed_mentions"] == {"parse": []}
    assert (embed["title"], embed["url"]) == (RUN["title"], RUN["link"])
    assert {"name": "Score", "value": "5.1 → 8.25", "inline": True} in embed["fields"]


def test_without_an_address_of_the_instance_there_is_no_link():
    payload = FINISHED | {"run": RUN | {"link": "/p/docs/runs/12/"}}

    assert "url" not in body_of("discord", payload)["embeds"][0]
    assert body_of("teams", payload)["attachments"][0]["content"]["actions"] == []
    assert "</p/docs" not in json.dumps(body_of("slack", payload))


@pytest.mark.parametrize(
    ("more", "headline"),
    [
        ({"event": "ping", "run": {}}, "Test message from Wiggum"),
        ({"event": "run.waiting", "waiting": {"endpoint": "gpu"}}, "Run is waiting for the model server gpu"),
        ({"event": "run.asking"}, "Run needs a decision: stop or continue?"),
        (
            {
                "event": "review.asked",
                "review": {"reviewer": "Mo", "asked_by": "Nina", "due_on": "2026-03-31"},
            },
            "Review requested from Mo by Nina, due 2026-03-31",
        ),
        (
            {"event": "review.asked", "review": {"reviewer": "Mo", "asked_by": None, "due_on": None}},
            "Review requested from Mo",
        ),
        ({"event": "comment.created", "comment": {"author": "Nina", "link": "/x"}}, "New comment by Nina"),
    ],
)
def test_each_event_has_a_headline(more, headline):
    assert message_of(FINISHED | more).headline == headline


def test_every_event_and_format_is_known():
    assert set(HEADLINES) == {*WebhookEvent.values, "ping"}
    assert set(CHATS) == set(WebhookFormat.values)


def test_a_cancelled_run_says_so():
    assert message_of(FINISHED | {"run": RUN | {"stop_reason": "cancelled"}}).outcome == "Stopped"


@pytest.mark.parametrize("name", ["slack", "teams", "discord"])
def test_it_arrives_unsigned_over_a_socket(allowed, project, owner, receiver, work, name):
    values = HookValues(receiver.address, EVERYTHING, format=name)
    hook, _ = webhook_create(project=project, by=owner, values=values)
    run = runs_of(project, title="Upload service")[0]
    hook_run_finished(run)
    webhook_ping(webhook=hook, by=owner)

    assert work() == 2
    first, second = receiver.received
    assert json.loads(first.body) == json.loads(WebhookDelivery.objects.earliest("pk").payload)
    assert b"Upload service" in first.body
    assert b"Test message" in second.body
    assert first.headers["Content-Type"].startswith("application/json")
    assert not [header for header in first.headers if header.lower().startswith("wiggum")]
    assert set(WebhookDelivery.objects.values_list("status", flat=True)) == {"delivered"}


def test_with_blind_scores_a_chat_learns_nothing_about_the_result(allowed, project, owner, editor, receiver):
    project.blind_scores = True
    project.save()
    webhook_create(project=project, by=owner, values=HookValues(receiver.address, EVERYTHING, format="slack"))
    run = runs_of(project, title="Upload service")[0]
    hook_run_finished(run)
    reviews_ask(run=run, reviewers=[editor], user=owner)

    for delivery in WebhookDelivery.objects.all():
        assert "Outcome" not in delivery.payload
        assert "Score" not in delivery.payload
