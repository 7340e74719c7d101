"""Audit entries in words."""

import json
from dataclasses import dataclass

from refinement.models import AuditEntry

VALUE_CHARS = 300
ACTIONS = {
    "bench.cancel": "cancelled a trial of a rubric",
    "bench.create": "tried a rubric on a text",
    "bench.scores": "gave known scores to a trial",
    "blind.begin": "began to score a run blind",
    "blind.give_up": "asked to be shown the scores of a run",
    "comment.create": "commented on a run",
    "comment.delete": "deleted a comment",
    "comment.edit": "changed a comment",
    "endpoint.change": "changed an endpoint",
    "endpoint.create": "added an endpoint",
    "endpoint.remove": "removed an endpoint",
    "identity.connect": "connected an account with the sign-in provider",
    "identity.disconnect": "disconnected an account from the sign-in provider",
    "invitation.accept": "joined by an invitation",
    "invitation.create": "made an invitation",
    "invitation.revoke": "revoked an invitation",
    "member.adopt": "became owner of a project that had none",
    "member.leave": "left the project",
    "member.remove": "removed a member",
    "member.role": "changed a member’s role",
    "person.close": "closed an account",
    "person.demote": "took administration from a person",
    "person.notices": "chose what to be told about",
    "person.open": "opened an account again",
    "person.password": "changed a password",
    "person.promote": "made a person administrator",
    "person.reset": "reset a person’s sign-in",
    "project.create": "made the project",
    "project.settings": "changed the project’s settings",
    "review.ask": "asked for a review",
    "review.done": "reviewed a run",
    "review.take_back": "took a request for review back",
    "review_rule.create": "made a review rule",
    "review_rule.end": "ended a review rule",
    "rubric.archive": "archived a rubric",
    "rubric.create": "made a rubric",
    "rubric.duplicate": "duplicated a rubric",
    "rubric.restore": "restored a version of a rubric",
    "rubric.save": "saved a rubric",
    "rubric.unarchive": "brought a rubric back",
    "run.archive": "archived a run",
    "run.cancel": "cancelled a run",
    "run.create": "made a run",
    "run.decide": "decided about a run",
    "run.edit": "edited a round by hand",
    "run.import": "imported a run",
    "run.instruct": "gave a run an instruction",
    "run.launch": "launched runs",
    "run.pause": "paused a run",
    "run.rerun": "ran a run again",
    "run.resume": "resumed a run",
    "run.retry": "retried a run",
    "run.unarchive": "brought a run back",
    "run.withdraw": "withdrew an instruction",
    "score.change": "changed their score of a round",
    "score.give": "scored a round",
    "session.end": "signed out",
    "session.end_others": "signed out other browsers",
    "session.refuse": "was refused: wrong password",
    "session.start": "signed in",
    "share.create": "made a share link",
    "share.revoke": "revoked a share link",
    "thread.reopen": "opened a thread again",
    "thread.resolve": "resolved a thread",
    "token.create": "made an API token",
    "token.revoke": "revoked an API token",
    "two_factor.add": "added a second factor",
    "two_factor.refuse": "was refused: wrong code",
    "two_factor.remove": "removed a second factor",
    "two_factor.rename": "renamed a passkey",
    "two_factor.renew": "made new recovery codes",
    "view.delete": "deleted a saved view",
    "view.save": "saved a view",
    "webhook.change": "changed a webhook",
    "webhook.create": "made a webhook",
    "webhook.ping": "tried a webhook out",
    "webhook.remove": "removed a webhook",
    "webhook.resend": "sent a webhook’s message again",
    "webhook.secret": "gave a webhook a new secret",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One value before and after; None where there was none."""

    name: str
    before: str | None
    after: str | None


def action_words(action: str) -> str:
    """What somebody did, in words; for an action without any, its two parts."""
    noun, _, verb = action.partition(".")
    return ACTIONS.get(action) or f"{noun}: {verb.replace('_', ' ')}".removesuffix(": ")


def object_words(entry: AuditEntry) -> str:
    """Which object, such as run 12; for people, who."""
    named = next(
        (entry.after.get(key) or entry.before.get(key) for key in NAMED.get(entry.object_type, ())), None
    )
    return str(named)[:120] if named else f"{entry.object_type} {entry.object_id}"


NAMED = {"member": ("member",), "person": ("person",), "session": ("person",)}


def changes_of(entry: AuditEntry) -> list[Change]:
    """What was different before, value by value; what stayed the same is left out."""
    before, after = _pairs(entry.before), _pairs(entry.after)
    return [
        Change(name.replace("_", " "), before.get(name), after.get(name))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name) and name not in NAMED.get(entry.object_type, ())
    ]


def _pairs(values: object) -> dict[str, str]:
    return {name: value_words(value) for name, value in values.items()} if isinstance(values, dict) else {}


def value_words(value: object) -> str:
    """A value in one short line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = ", ".join(value)
    words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if words in ("", "null"):
        return "nothing"
    return words if len(words) <= VALUE_CHARS else f"{words[:VALUE_CHARS]}…"
