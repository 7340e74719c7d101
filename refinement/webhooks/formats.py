"""The body of a message, by the webhook's format: our own JSON, or one short message for a chat."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

Values = Mapping[str, Any]
TITLE_CHARS = 200
GREEN, RED, AMBER, BLUE = 0x116A42, 0xAD231B, 0x7C5000, 0x1D5BC9
COLOURS = {"PASS": GREEN, "FAIL": RED, "ERROR": AMBER}  # of Discord's embeds


@dataclass(frozen=True, slots=True)
class Message:
    """What a chat shows: a headline, the run's or experiment's title with its link, and facts."""

    headline: str
    title: str
    link: str  # empty if the instance does not know its own address
    facts: tuple[tuple[str, str], ...]
    outcome: str = ""


def body_of(format_name: str, payload: Values) -> Values:
    """The payload in this format. Raises KeyError for an unknown format."""
    chat = CHATS[format_name]
    return payload if chat is None else chat(message_of(payload))


def message_of(payload: Values) -> Message:
    """The payload in a few words."""
    if "experiment" in payload:
        return experiment_message(payload)
    run: Values = payload.get("run", {})
    outcome = _outcome(run) if payload["event"] == "run.finished" else ""
    return Message(
        headline=HEADLINES[payload["event"]](payload),
        title=str(run.get("title") or (f"Run {run['id']}" if run else "The webhook works."))[:TITLE_CHARS],
        link=_linked(payload.get("comment", run)),
        facts=(("Project", str(payload["project"]["name"])), *_facts(run, outcome)),
        outcome=outcome,
    )


def experiment_message(payload: Values) -> Message:
    experiment: Values = payload["experiment"]
    done, runs = experiment["done"], experiment["runs"]
    return Message(
        headline=HEADLINES[payload["event"]](payload),
        title=str(experiment["name"])[:TITLE_CHARS],
        link=_linked(experiment),
        facts=(
            ("Project", str(payload["project"]["name"])),
            ("Suite", f"{experiment['suite']} @ v{experiment['suite_version']}"),
            ("Configurations", str(experiment["configurations"])),
            ("Runs with a result", str(done) if done == runs else f"{done} of {runs}"),
        ),
    )


def _linked(values: Values) -> str:
    """The link, unless the instance does not know its own address."""
    link = str(values.get("link", ""))
    return link if link.startswith(("http://", "https://")) else ""


def _outcome(run: Values) -> str:
    return "Stopped" if run.get("stop_reason") == "cancelled" else str(run.get("outcome") or "")


def _facts(run: Values, outcome: str) -> list[tuple[str, str]]:
    facts = [("Outcome", outcome)] if outcome else []
    if run.get("best") is not None:
        first, best = _score(run.get("r1", run["best"])), _score(run["best"])
        facts.append(("Score", f"{first} → {best}" if run.get("rounds", 1) > 1 else best))
    if run.get("rounds"):
        facts.append(("Rounds", f"{run['rounds']} (best: {run.get('best_round')})"))
    return facts


def _score(value: object) -> str:
    return f"{Decimal(str(value)):.2f}".rstrip("0").rstrip(".")


def _review(payload: Values) -> str:
    review = payload["review"]
    by = f" by {review['asked_by']}" if review["asked_by"] else ""
    due = f", due {review['due_on']}" if review["due_on"] else ""
    return f"Review requested from {review['reviewer']}{by}{due}"


HEADLINES: dict[str, Callable[[Values], str]] = {
    "ping": lambda payload: "Test message from Wiggum",
    "run.finished": lambda payload: "Run finished",
    "run.waiting": lambda payload: f"Run is waiting for the model server {payload['waiting']['endpoint']}",
    "run.asking": lambda payload: "Run needs a decision: stop or continue?",
    "review.asked": _review,
    "experiment.finished": lambda payload: (
        f"Experiment {'stopped' if payload['experiment']['status'] == 'cancelled' else 'finished'}"
    ),
    "comment.created": lambda payload: f"New comment by {payload['comment']['author']}",
}


def slack(message: Message) -> Values:
    """A message for Slack's incoming webhooks, with a fallback text for notifications."""
    title = _slack_text(message.title)
    linked = f"<{message.link}|{title}>" if message.link else f"*{title}*"
    facts = " · ".join(f"{name}: *{_slack_text(value)}*" for name, value in message.facts)
    text = f"*{_slack_text(message.headline)}*\n{linked}\n{facts}"
    return {
        "text": _slack_text(f"{message.headline}: {message.title}"),
        "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": text}}],
    }


def _slack_text(text: str) -> str:
    """Without Slack's control characters, so that nobody's words are a link or a mention."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def teams(message: Message) -> Values:
    """A message with an Adaptive Card, for the Workflows webhooks of Microsoft Teams."""
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [
            _teams_text(message.headline, weight="Bolder"),
            _teams_text(message.title),
            *(_teams_text(f"{name}: {value}", isSubtle=True) for name, value in message.facts),
        ],
        "actions": [{"type": "Action.OpenUrl", "title": "Open", "url": message.link}] if message.link else [],
    }
    attachment = {
        "contentType": "application/vnd.microsoft.card.adaptive",
        "contentUrl": None,
        "content": card,
    }
    return {"type": "message", "attachments": [attachment]}


def _teams_text(text: str, **look: object) -> Values:
    """A text run, because a text block would read Markdown in people's words."""
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, **look}]}


def discord(message: Message) -> Values:
    """An embed for Discord's webhooks that mentions nobody."""
    embed = {
        "title": message.title,
        **({"url": message.link} if message.link else {}),
        "color": COLOURS.get(message.outcome, BLUE),
        "fields": [{"name": name, "value": value, "inline": True} for name, value in message.facts],
    }
    return {
        "username": "Wiggum",
        "content": message.headline,
        "embeds": [embed],
        "allowed_mentions": {"parse": []},
    }


CHATS: dict[str, Callable[[Message], Values] | None] = {
    "wiggum": None,
    "slack": slack,
    "teams": teams,
    "discord": discord,
}
