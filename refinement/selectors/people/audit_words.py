"""Labels for audit entries: what was done, and values as people read them."""

import json
import re
from dataclasses import dataclass

from refinement.models import AuditEntry, DecisionKind, WebhookEvent, WebhookFormat

VALUE_CHARS = 300
OBJECT = re.compile(r"\{(.+?)\}")
NAMED = re.compile(r"\bthe ([^{}]+) \{(an? \1)\}")  # without a name, `the view {a view}` is a view
# What an actor did. The page shows the object's name in place of the words in braces.
ACTIONS = {
    "bench.cancel": "stopped a test of {a rubric}",
    "bench.create": "tested {a rubric} on a text",
    "bench.scores": "entered known scores for a test of {a rubric}",
    "blind.begin": "started to score {a run} blind",
    "blind.give_up": "ended blind scoring of {a run} to see its scores",
    "comment.create": "commented on {a run}",
    "comment.delete": "deleted a comment on {a run}",
    "comment.edit": "edited a comment on {a run}",
    "demo.seed": "added sample data",
    "endpoint.change": "changed the model server {an endpoint}",
    "endpoint.create": "added the model server {an endpoint}",
    "endpoint.remove": "removed the model server {an endpoint}",
    "evaluator.cancel": "cancelled an evaluator trial",
    "evaluator.try": "ran an evaluator on a text",
    "experiment.baseline": "chose another baseline for {an experiment}",
    "experiment.budget": "changed the token budget of {an experiment}",
    "experiment.cancel": "stopped {an experiment}",
    "experiment.configuration_add": "added a configuration to {an experiment}",
    "experiment.create": "launched {an experiment}",
    "experiment.pause": "paused {an experiment}",
    "experiment.resume": "resumed {an experiment}",
    "experiment.run_missing": "ran what was missing in {an experiment}",
    "failures.change": "changed the failure category {a failure category}",
    "failures.dismiss": "dismissed a suggested merge of {a failure category}",
    "failures.merge": "merged failure categories into {a failure category}",
    "failures.move": "moved issues to {a failure category}",
    "failures.name": "had failure categories named by a model",
    "failures.separate": "undid the merge of {a failure category}",
    "feedback.correct": "corrected what became of feedback on {a run}",
    "identity.connect": "linked a sign-in provider account",
    "identity.disconnect": "unlinked a sign-in provider account",
    "invitation.accept": "accepted an invitation",
    "invitation.create": "created an invitation",
    "invitation.revoke": "revoked an invitation",
    "labels.add": "added texts to the label set {a label set}",
    "labels.archive": "archived the label set {a label set}",
    "labels.begin": "started to label texts of {a label set}",
    "labels.change": "changed the label set {a label set}",
    "labels.create": "created the label set {a label set}",
    "labels.import": "imported labels into {a label set}",
    "labels.label": "labelled a text of {a label set}",
    "labels.leave": "stopped labelling {a label set} before the end",
    "labels.relabel": "changed a label in {a label set}",
    "labels.unarchive": "unarchived the label set {a label set}",
    "labels.wrong": "marked scores of a label in {a label set} as wrong",
    "measurement.create": "started {a measurement of a judge}",
    "measurement.delete": "deleted {a measurement of a judge}",
    "measurement.pause": "paused {a measurement of a judge}",
    "measurement.resume": "resumed {a measurement of a judge}",
    "measurement.stop": "stopped {a measurement of a judge}",
    "member.adopt": "became owner of a project without an owner",
    "member.leave": "left the project",
    "member.remove": "removed {a member} from the project",
    "member.role": "changed the role of {a member}",
    "person.close": "deactivated the account of {a user}",
    "person.demote": "removed admin rights from {a user}",
    "person.notices": "changed notification settings",
    "person.open": "reactivated the account of {a user}",
    "person.password": "changed their password",
    "person.promote": "made {a user} an administrator",
    "person.reset": "reset the sign-in of {a user}",
    "price.remove": "removed the price of {a model}",
    "price.set": "set the price of {a model}",
    "project.create": "created the project {a project}",
    "project.settings": "changed the settings of {the project}",
    "review.ask": "requested a review of {a run}",
    "review.done": "reviewed {a run}",
    "review.take_back": "cancelled a review request for {a run}",
    "review_rule.create": "created a review rule",
    "review_rule.end": "deleted a review rule",
    "rubric.archive": "archived {a rubric}",
    "rubric.create": "created {a rubric}",
    "rubric.duplicate": "duplicated {a rubric}",
    "rubric.propose": "asked for a rubric from a text",
    "rubric.restore": "restored a version of {a rubric}",
    "rubric.save": "saved {a rubric}",
    "rubric.unarchive": "unarchived {a rubric}",
    "run.archive": "archived {a run}",
    "run.cancel": "stopped {a run}",
    "run.continue": "added rounds to {a run}",
    "run.create": "created {a run}",
    "run.decide": "decided on {a run}",
    "run.delete": "deleted the prepared example",
    "run.edit": "edited a round of {a run}",
    "run.example": "added {a run} as the prepared example",
    "run.go_on": "cancelled the pause of {a run}",
    "run.import": "imported {a run}",
    "run.instruct": "added an instruction to {a run}",
    "run.launch": "launched runs",
    "run.pause": "paused {a run}",
    "run.pause_later": "asked {a run} to pause after the round",
    "run.plateau_continue": "continued {a run} after its plateau",
    "run.plateau_stop": "stopped {a run} at its plateau",
    "run.rename": "renamed {a run}",
    "run.rerun": "reran {a run}",
    "run.resume": "resumed {a run}",
    "run.retry": "retried {a run}",
    "run.tag": "tagged {a run}",
    "run.unarchive": "unarchived {a run}",
    "run.untag": "removed tags from {a run}",
    "run.withdraw": "withdrew an instruction for {a run}",
    "score.change": "changed their score of {a run}",
    "score.give": "scored {a run}",
    "session.end": "signed out",
    "session.end_others": "signed out other sessions",
    "session.refuse": "failed to sign in as {a user}: wrong password",
    "session.start": "signed in",
    "share.create": "created a share link for {a run}",
    "share.revoke": "revoked a share link for {a run}",
    "suite.archive": "archived {a suite}",
    "suite.create": "created {a suite}",
    "suite.rename": "renamed or described {a suite}",
    "suite.restore": "restored a version of {a suite}",
    "suite.save": "saved {a suite}",
    "suite.unarchive": "unarchived {a suite}",
    "thread.reopen": "reopened a thread on {a run}",
    "thread.resolve": "resolved a thread on {a run}",
    "token.create": "created the API token {an API token}",
    "token.revoke": "revoked the API token {an API token}",
    "two_factor.add": "added a second factor",
    "two_factor.refuse": "failed to sign in as {a user}: wrong code",
    "two_factor.remove": "removed a second factor",
    "two_factor.rename": "renamed a passkey",
    "two_factor.renew": "created new recovery codes",
    "view.delete": "deleted the view {a view}",
    "view.save": "saved the view {a view}",
    "webhook.change": "changed the webhook {a webhook}",
    "webhook.create": "created the webhook {a webhook}",
    "webhook.ping": "tested the webhook {a webhook}",
    "webhook.remove": "deleted the webhook {a webhook}",
    "webhook.resend": "resent a delivery of the webhook {a webhook}",
    "webhook.secret": "created a new secret for the webhook {a webhook}",
}
FIELDS = {
    "by": "method",
    "chars": "characters",
    "composite": "score",
    "judge_model": "judge",
    "mail": "email",
    "producer": "writer",
    "producer_model": "writer",
}
CODES = {**dict(WebhookEvent.choices), **dict(WebhookFormat.choices), **dict(DecisionKind.choices)}
CODE = re.compile(r"[a-z]+(?:_[a-z]+)+")
DECIMAL = re.compile(r"-?\d+\.\d+")
NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Change:
    """A value before and after; None if it was not set."""

    name: str
    before: str | None
    after: str | None


def action_label(action: str) -> str:
    """The label of an action; for an unknown action, its two parts."""
    noun, _, verb = action.partition(".")
    words = ACTIONS.get(action) or f"{noun}: {verb.replace('_', ' ')}".removesuffix(": ")
    return OBJECT.sub(r"\1", NAMED.sub(r"\2", words))


def changes_of(entry: AuditEntry, *, without: frozenset[str] = frozenset()) -> list[Change]:
    """The values that changed, apart from those that the sentence already says."""
    before, after = _pairs(entry.before), _pairs(entry.after)
    names = [name for name in dict.fromkeys([*before, *after]) if name not in without]
    return [
        Change(FIELDS.get(name, name.replace("_", " ")), before.get(name), after.get(name))
        for name in names
        if before.get(name, NOTHING) != after.get(name, NOTHING)
    ]


def _pairs(values: object) -> dict[str, str]:
    return {name: value_text(value) for name, value in values.items()} if isinstance(values, dict) else {}


def value_text(value: object) -> str:
    """A value as one short line, without codes and trailing zeros."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"
    if isinstance(value, list) and all(isinstance(part, str | int) for part in value):
        return value_text(", ".join(value_text(part) for part in value))
    if isinstance(value, dict) and all(isinstance(part, str | int | float) for part in value.values()):
        return value_text(", ".join(f"{name} {value_text(part)}" for name, part in value.items()))
    words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if words in ("", "null"):
        return NOTHING
    if CODE.fullmatch(words) or words in CODES:
        return str(CODES.get(words, words.replace("_", " ")))
    if DECIMAL.fullmatch(words):
        return words.rstrip("0").rstrip(".")
    return words if len(words) <= VALUE_CHARS else f"{words[:VALUE_CHARS]}…"
