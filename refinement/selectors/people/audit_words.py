"""Labels for audit entries."""

import json
from dataclasses import dataclass

from refinement.models import AuditEntry

VALUE_CHARS = 300
ACTIONS = {
    "bench.cancel": "cancelled a rubric test",
    "bench.create": "tested a rubric on a text",
    "bench.scores": "entered known scores for a test",
    "blind.begin": "started scoring a run blind",
    "blind.give_up": "ended blind scoring to see a run’s scores",
    "comment.create": "commented on a run",
    "comment.delete": "deleted a comment",
    "comment.edit": "edited a comment",
    "endpoint.change": "changed an endpoint",
    "endpoint.create": "added an endpoint",
    "endpoint.remove": "deleted an endpoint",
    "evaluator.cancel": "cancelled an evaluator trial",
    "evaluator.try": "ran an evaluator on a text",
    "identity.connect": "linked a sign-in provider account",
    "identity.disconnect": "unlinked a sign-in provider account",
    "invitation.accept": "accepted an invitation",
    "invitation.create": "created an invitation",
    "invitation.revoke": "revoked an invitation",
    "member.adopt": "became owner of a project without an owner",
    "member.leave": "left the project",
    "member.remove": "removed a member",
    "member.role": "changed a member’s role",
    "person.close": "deactivated an account",
    "person.demote": "removed a user’s admin rights",
    "person.notices": "changed notification settings",
    "person.open": "reactivated an account",
    "person.password": "changed a password",
    "person.promote": "made a user an administrator",
    "person.reset": "reset a user’s sign-in",
    "price.remove": "removed a model’s price",
    "price.set": "set a model’s price",
    "project.create": "created the project",
    "project.settings": "changed the project’s settings",
    "review.ask": "requested a review",
    "review.done": "reviewed a run",
    "review.take_back": "cancelled a review request",
    "review_rule.create": "created a review rule",
    "review_rule.end": "deleted a review rule",
    "rubric.archive": "archived a rubric",
    "rubric.create": "created a rubric",
    "rubric.duplicate": "duplicated a rubric",
    "rubric.restore": "restored a version of a rubric",
    "rubric.save": "saved a rubric",
    "rubric.unarchive": "unarchived a rubric",
    "run.archive": "archived a run",
    "run.cancel": "cancelled a run",
    "run.continue": "added rounds to a run",
    "run.create": "created a run",
    "run.decide": "made a decision on a run",
    "run.delete": "deleted the prepared example",
    "run.edit": "edited a round by hand",
    "run.example": "added the prepared example",
    "run.import": "imported a run",
    "run.instruct": "added an instruction to a run",
    "run.launch": "launched runs",
    "run.pause": "paused a run",
    "run.plateau_continue": "continued a run after its plateau",
    "run.plateau_stop": "stopped a run at its plateau",
    "run.rename": "renamed a run",
    "run.rerun": "reran a run",
    "run.resume": "resumed a run",
    "run.retry": "retried a run",
    "run.unarchive": "unarchived a run",
    "run.withdraw": "withdrew an instruction",
    "score.change": "changed their score of a round",
    "score.give": "scored a round",
    "session.end": "signed out",
    "session.end_others": "signed out other sessions",
    "session.refuse": "failed to sign in: wrong password",
    "session.start": "signed in",
    "share.create": "created a share link",
    "share.revoke": "revoked a share link",
    "thread.reopen": "reopened a thread",
    "thread.resolve": "resolved a thread",
    "token.create": "created an API token",
    "token.revoke": "revoked an API token",
    "two_factor.add": "added a second factor",
    "two_factor.refuse": "failed to sign in: wrong code",
    "two_factor.remove": "removed a second factor",
    "two_factor.rename": "renamed a passkey",
    "two_factor.renew": "created new recovery codes",
    "view.delete": "deleted a saved view",
    "view.save": "saved a view",
    "webhook.change": "changed a webhook",
    "webhook.create": "created a webhook",
    "webhook.ping": "tested a webhook",
    "webhook.remove": "deleted a webhook",
    "webhook.resend": "resent a webhook delivery",
    "webhook.secret": "rotated a webhook’s secret",
}


@dataclass(frozen=True, slots=True)
class Change:
    """A value before and after; None if it was not set."""

    name: str
    before: str | None
    after: str | None


def action_label(action: str) -> str:
    """The label of an action; for an unknown action, its two parts."""
    noun, _, verb = action.partition(".")
    return ACTIONS.get(action) or f"{noun}: {verb.replace('_', ' ')}".removesuffix(": ")


def object_label(entry: AuditEntry) -> str:
    """The object, such as "run 12"; for people, their name."""
    named = next(
        (entry.after.get(key) or entry.before.get(key) for key in NAMED.get(entry.object_type, ())), None
    )
    return str(named)[:120] if named else f"{entry.object_type} {entry.object_id}"


NAMED = {"member": ("member",), "person": ("person",), "session": ("person",)}


def changes_of(entry: AuditEntry) -> list[Change]:
    """The values that changed; unchanged ones are left out."""
    before, after = _pairs(entry.before), _pairs(entry.after)
    return [
        Change(name.replace("_", " "), before.get(name), after.get(name))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name) and name not in NAMED.get(entry.object_type, ())
    ]


def _pairs(values: object) -> dict[str, str]:
    return {name: value_text(value) for name, value in values.items()} if isinstance(values, dict) else {}


def value_text(value: object) -> str:
    """A value as one short line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = ", ".join(value)
    words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if words in ("", "null"):
        return "nothing"
    return words if len(words) <= VALUE_CHARS else f"{words[:VALUE_CHARS]}…"
