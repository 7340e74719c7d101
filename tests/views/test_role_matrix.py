"""Permissions in projects: every URL × every method × every person.

The addresses are found by walking the URL configuration. A new address under `p/<slug:slug>/` needs
ONE line in `RULES` below, by its name:

    "rubric_page": Rule(read="viewer"),                    GET and HEAD for viewers, nothing else
    "rubric_edit": Rule(read="editor", write="editor"),    POST as well
    "rubric_archive": Rule(write="editor"),                POST alone

`read` and `write` are the least role for GET and HEAD, and for POST; None means the method is refused
with 405. A parameter of an address that `STAGE` does not know needs a line there: its name, and a
function that makes the row and gives the value; `values` are those of this address alone. `data` is what a
POST is sent, where an empty one would not do.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone
from django.utils.http import urlencode

from refinement.engine.codec import rubric_to_json
from refinement.judging.sources import SourceText
from refinement.models import (
    ApiToken,
    Bench,
    Comment,
    EvaluatorTrial,
    Experiment,
    FailureCategory,
    FailureSuggestion,
    ImportBatch,
    Instruction,
    Invitation,
    JudgeRecord,
    Label,
    LabelItem,
    LabelSet,
    Measurement,
    Membership,
    Project,
    ReviewRequest,
    ReviewRule,
    RubricProposal,
    RubricVersion,
    Run,
    SavedView,
    ShareLink,
    Suite,
    ThreadPlace,
    User,
    Webhook,
    WebhookDelivery,
)
from refinement.providers.registry import Target
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.people.tokens import token_make
from refinement.services.reviews.comment_spots import Spot
from refinement.services.reviews.comments import comment_edit, thread_open
from refinement.services.rubrics.bench import Candidate, bench_create
from refinement.services.rubrics.editing import default_rubrics_install
from refinement.services.runs.creating import run_create
from refinement.services.trust.judges import judge_ensure
from refinement.services.trust.measurements.creating import NewItem, measurement_create
from tests.selectors.experiments.given import a_suite_of, an_experiment
from tests.services.suites.given import a_suite
from tests.services.trust.given import a_label_set

pytestmark = pytest.mark.django_db

PREFIX = "p/<slug:slug>/"
PEOPLE = ("anonymous", "outsider", "viewer", "editor", "owner")
ROLES = ("viewer", "editor", "owner")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# HEAD is answered as GET is, and the others are refused for everybody: two people show it.
ASKED_BY_ALL = ("GET", "POST")


@dataclass(frozen=True)
class Rule:
    read: str | None = None
    write: str | None = None
    data: dict[str, str] = field(default_factory=dict)
    authors: bool = False  # for who wrote it alone; nobody here did
    values: dict[str, str] = field(default_factory=dict)

    def least(self, method: str) -> str | None:
        return {"GET": self.read, "HEAD": self.read, "POST": self.write}.get(method)


RULES: dict[str, Rule] = {
    "project_home": Rule(read="viewer"),
    "prepared_open": Rule(write="viewer"),
    "prepared_play": Rule(read="viewer"),
    "prepared_delete": Rule(write="editor"),
    "project_jump": Rule(read="viewer"),
    "project_counts": Rule(read="viewer"),
    "member_list": Rule(read="viewer"),
    "member_leave": Rule(write="viewer"),
    "member_role": Rule(write="owner", data={"role": "editor"}),
    "member_remove": Rule(write="owner"),
    "invitation_create": Rule(write="owner", data={"role": "viewer", "days": "7"}),
    "invitation_revoke": Rule(write="owner"),
    "audit_log": Rule(read="owner"),
    "audit_export": Rule(read="owner"),
    "project_settings": Rule(read="owner", write="owner", data={"name": "Alpha", "seen": "x"}),
    "webhook_list": Rule(read="owner", write="owner"),
    "webhook_page": Rule(read="owner", write="owner"),
    "webhook_secret": Rule(write="owner"),
    "webhook_ping": Rule(write="owner"),
    "webhook_remove": Rule(write="owner"),
    "webhook_delivery": Rule(read="owner"),
    "webhook_resend": Rule(write="owner"),
    "token_list": Rule(read="viewer", write="viewer", data={"name": "CI", "role": "viewer", "days": "7"}),
    "token_revoke": Rule(write="owner"),
    "run_share": Rule(read="editor", write="editor"),
    "share_revoke": Rule(write="editor"),
    "run_list": Rule(read="viewer"),
    "run_training": Rule(read="viewer"),
    "run_training_file": Rule(read="viewer", values={"form": "sft"}),
    "run_import": Rule(read="editor", write="editor"),
    "run_import_batch": Rule(read="editor", write="editor", authors=True),
    "run_columns": Rule(write="viewer"),
    "run_bulk": Rule(write="viewer"),
    "run_view_save": Rule(write="viewer"),
    "run_view_delete": Rule(write="editor"),
    "suite_list": Rule(read="viewer"),
    "suite_new": Rule(read="editor", write="editor"),
    "suite_import": Rule(read="editor", write="editor"),
    "suite_collect": Rule(read="editor", write="editor"),
    "suite_page": Rule(read="viewer"),
    "suite_version": Rule(read="viewer"),
    "suite_edit": Rule(read="editor", write="editor", data={"edited_from": "1"}),
    "suite_merge": Rule(write="editor"),
    "suite_settings": Rule(read="editor", write="editor"),
    "suite_archive": Rule(write="editor"),
    "suite_restore": Rule(write="editor"),
    "suite_versions": Rule(read="viewer"),
    "suite_compare": Rule(read="viewer"),
    "suite_export": Rule(read="viewer", values={"form": "yaml"}),
    "suite_task": Rule(read="viewer"),
    "suite_task_new": Rule(read="editor", write="editor", data={"edited_from": "1"}),
    "suite_task_edit": Rule(read="editor", write="editor", data={"edited_from": "1"}),
    "label_set_list": Rule(read="viewer"),
    "label_set_new": Rule(read="editor", write="editor"),
    "label_set_import": Rule(read="editor", write="editor"),
    "label_set_page": Rule(read="viewer"),
    "label_set_edit": Rule(read="editor", write="editor"),
    "label_set_archive": Rule(write="editor", data={"archived": "no"}),
    "label_set_add": Rule(read="editor", write="editor"),
    "label_set_export": Rule(read="viewer", values={"what": "ratings", "form": "csv"}),
    "label_queue": Rule(read="viewer", write="viewer"),
    "label_queue_leave": Rule(write="viewer"),
    "label_item_page": Rule(read="viewer"),
    "label_wrong": Rule(write="editor", data={"criterion": "depth"}),
    "rubric_bench": Rule(read="viewer", write="editor"),
    "rubric_bench_compare": Rule(read="viewer"),
    "rubric_bench_trial": Rule(read="viewer"),
    "rubric_bench_said": Rule(read="viewer"),
    "rubric_bench_cancel": Rule(write="editor"),
    "rubric_bench_scores": Rule(write="editor"),
    "rubric_list": Rule(read="viewer"),
    "rubric_gallery": Rule(read="editor", write="editor"),
    "rubric_page": Rule(read="viewer"),
    "rubric_version": Rule(read="viewer"),
    "rubric_versions": Rule(read="viewer"),
    "rubric_compare": Rule(read="viewer"),
    "rubric_restore": Rule(write="editor"),
    "rubric_duplicate": Rule(write="editor"),
    "rubric_archive": Rule(write="editor"),
    "rubric_preview": Rule(read="viewer", write="viewer"),
    "rubric_import": Rule(read="editor", write="editor"),
    "rubric_export": Rule(read="viewer"),
    "rubric_calibration": Rule(read="viewer", write="editor", data={"edited_from": "1"}),
    "rubric_edit": Rule(read="editor", write="editor", data={"edited_from": "1"}),
    "rubric_try_check": Rule(write="editor", data={"edited_from": "1"}),
    "rubric_try_evaluator": Rule(write="editor"),
    "rubric_sample": Rule(read="editor", write="editor"),
    "rubric_proposal": Rule(read="editor"),
    "rubric_proposal_edit": Rule(read="editor", write="editor"),
    "rubric_proposal_cancel": Rule(write="editor"),
    "evaluator_trial": Rule(read="editor"),
    "evaluator_trial_cancel": Rule(write="editor"),
    "run_evaluator": Rule(read="viewer"),
    "run_evaluator_again": Rule(write="editor"),
    "mention_names": Rule(read="viewer"),
    "run_threads": Rule(read="viewer", write="viewer"),
    "thread_reply": Rule(write="viewer"),
    "thread_resolve": Rule(write="viewer"),
    "thread_instruct": Rule(write="editor"),
    "comment_page": Rule(read="viewer"),
    "comment_edit": Rule(read="viewer", write="viewer", authors=True),
    "comment_delete": Rule(write="owner"),
    "comment_history": Rule(read="viewer"),
    "review_list": Rule(read="viewer"),
    "review_next": Rule(read="viewer"),
    "review_ask": Rule(read="editor", write="editor"),
    "review_rules": Rule(read="viewer", write="editor"),
    "review_rule_end": Rule(write="editor"),
    "review_take_back": Rule(write="viewer"),
    "review_close": Rule(write="viewer"),
    "run_instruct": Rule(write="editor"),
    "run_feedback": Rule(write="editor", data={"correction": "issue:0:0:lovely"}),
    "run_instruction_withdraw": Rule(write="editor"),
    "run_round_edit": Rule(read="editor", write="editor"),
    "run_page": Rule(read="viewer"),
    "run_round": Rule(read="viewer"),
    "run_score": Rule(read="viewer", write="viewer"),
    "run_score_blind": Rule(write="viewer"),
    "run_score_reveal": Rule(write="viewer"),
    "run_decide": Rule(
        write="editor", data={"kind": "approved", "round": "1", "reason": "Good.", "seen": "0"}
    ),
    "run_diff": Rule(read="viewer"),
    "run_source": Rule(read="viewer"),
    "run_calls": Rule(read="viewer"),
    "run_chart": Rule(read="viewer"),
    "run_action": Rule(write="editor"),
    "run_plateau": Rule(write="editor"),
    "run_new": Rule(read="editor", write="editor"),
    "run_estimate": Rule(write="editor"),
    "run_example": Rule(write="editor"),
    "run_live": Rule(read="viewer"),
    "run_events": Rule(read="viewer"),
    "run_compare": Rule(read="viewer"),
    "run_export": Rule(read="viewer"),
    "run_export_many": Rule(read="viewer", values={"form": "csv"}),
    "experiment_list": Rule(read="viewer"),
    "experiment_new": Rule(read="editor", write="editor"),
    "experiment_estimate": Rule(write="editor"),
    "experiment_compare": Rule(read="viewer"),
    "experiment_page": Rule(read="viewer"),
    "experiment_events": Rule(read="viewer"),
    "experiment_export": Rule(read="viewer", values={"form": "runs"}),
    "experiment_cell": Rule(read="viewer"),
    "experiment_baseline": Rule(write="editor"),
    "experiment_action": Rule(write="editor", values={"action": "pause"}),
    "measurement_list": Rule(read="viewer"),
    "retest_new": Rule(read="viewer", write="editor"),
    "planted_new": Rule(read="viewer", write="editor"),
    "replay_new": Rule(read="viewer", write="editor"),
    "measurement_page": Rule(read="viewer"),
    "measurement_action": Rule(write="editor", values={"action": "pause"}),
    "measurement_save_draft": Rule(write="editor"),
    "configuration_new": Rule(read="editor", write="editor"),
    "suite_history": Rule(read="viewer"),
    "failure_page": Rule(read="viewer"),
    "failure_unplaced": Rule(read="viewer"),
    "failure_category": Rule(read="viewer"),
    "failure_export": Rule(read="viewer", values={"form": "csv"}),
    "failure_update": Rule(write="editor"),
    "failure_names": Rule(write="editor"),
    "failure_bulk": Rule(write="editor"),
    "failure_issues_move": Rule(write="editor", data={"to": "none"}),
    "failure_dismiss": Rule(write="editor"),
    "failure_edit": Rule(write="editor", data={"edition": "1"}),
    "failure_pin": Rule(write="editor"),
    "failure_dismiss_category": Rule(write="editor"),
    "failure_merge": Rule(write="editor", data={"into": "1"}),
    "failure_separate": Rule(write="editor"),
    "trust_home": Rule(read="viewer"),
    "trust_compare": Rule(read="viewer"),
    "trust_page": Rule(read="viewer"),
    "trust_compute": Rule(write="editor"),
    "trust_disagreements": Rule(read="viewer"),
    "trust_case": Rule(read="viewer"),
    "trust_label_wrong": Rule(write="editor"),
}


def proposal_in(project: Project) -> RubricProposal:
    return RubricProposal.objects.create(
        project=project, goal="Clear.", sample="A text.", nonce="0123456789ab"
    )


def trial_in(project: Project) -> EvaluatorTrial:
    return EvaluatorTrial.objects.create(project=project, definition={}, text="A text.")


def bench_in(project: Project) -> Bench:
    version = RubricVersion.objects.get(rubric__project=project, rubric__slug="wiggum")
    judge = Target("ollama", "loopback:8b")
    return bench_create(version=version, candidate=Candidate("A text."), judge=judge, repeats=1)


def run_in(project: Project) -> Run:
    version = RubricVersion.objects.get(rubric__project=project, rubric__slug="wiggum")
    model = Target("ollama", "loopback:8b")
    return run_create(
        project=project, version=version, task="Say it.", seed="It.", producer=model, judge=model,
        sources=[SourceText("notes.txt", "It is said.")],
    )  # fmt: skip


def measurement_in(project: Project) -> Measurement:
    """A replay of a draft."""
    version = RubricVersion.objects.get(rubric__project=project, rubric__slug="wiggum")
    return measurement_create(
        project=project,
        version=version,
        kind="replay",
        judge=("ollama", "loopback:8b", ()),
        items=[NewItem("It.")],
        definition=rubric_to_json(definition_of(version)),
    )


def member_in(project: Project) -> User:
    user = User.objects.create_user("milla@example.org", name="Milla Member")
    Membership.objects.create(project=project, user=user, role="owner")
    return user


def invitation_in(project: Project) -> Invitation:
    until = timezone.now() + timedelta(days=1)
    return Invitation.objects.create(project=project, role="viewer", digest="0" * 64, expires_at=until)


def share_in(project: Project) -> ShareLink:
    until = timezone.now() + timedelta(days=1)
    return ShareLink.objects.create(
        project=project, run=run_in(project), digest="0" * 64, prefix="000000", expires_at=until
    )


def webhook_in(project: Project) -> Webhook:
    return project.webhooks.first() or Webhook.objects.create(
        project=project, address="https://hooks.example.org/", events=["run.finished"], sealed_secret="x"
    )


def delivery_in(project: Project) -> WebhookDelivery:
    now = timezone.now()
    return WebhookDelivery.objects.create(
        webhook=webhook_in(project),
        event="ping",
        payload="{}",
        most_tries=1,
        next_try_at=now,
        status="failed",
    )


def token_in(project: Project) -> ApiToken:
    """Created by somebody else."""
    return token_make(project=project, by=member_in(project), name="CI", role="viewer", days=7)[0]


def the_run(project: Project) -> Run:
    """The one that other rows of the stage are about, whichever of them comes first."""
    return project.runs.first() or run_in(project)


def comment_in(project: Project) -> Comment:
    """Created by somebody else, and changed once."""
    author = member_in(project)
    comment = thread_open(run=the_run(project), spot=Spot(ThreadPlace.RUN), body="One.", user=author)
    return comment_edit(comment=comment, body="Two.", version=1, user=author)


def review_in(project: Project) -> ReviewRequest:
    reviewer = User.objects.create_user("rita@example.org", name="Rita Reviewer")
    return ReviewRequest.objects.create(project=project, run=run_in(project), reviewer=reviewer)


def instruction_in(project: Project) -> Instruction:
    return Instruction.objects.create(run=run_in(project), author_name="Ines", text="Say more.")


def category_in(project: Project) -> FailureCategory:
    return FailureCategory.objects.create(project=project, criterion="depth", automatic_name="No reasons")


def suggestion_in(project: Project) -> FailureSuggestion:
    first, second = category_in(project), category_in(project)
    return FailureSuggestion.objects.create(project=project, first=first, second=second, likeness=0.5)


def experiment_in(project: Project) -> Experiment:
    version = RubricVersion.objects.filter(rubric__project=project, rubric__slug="wiggum").first()
    return an_experiment(a_suite_of(project, 1), {"A": [7.0]}, version=version)


def judge_in(project: Project) -> JudgeRecord:
    version = RubricVersion.objects.filter(rubric__project=project, rubric__slug="wiggum").earliest("pk")
    return judge_ensure(project=project, version=version, model="loopback:8b")


def label_item_in(project: Project) -> LabelItem:
    version = RubricVersion.objects.filter(rubric__project=project, rubric__slug="wiggum").earliest("pk")
    label_set, _ = LabelSet.objects.get_or_create(
        project=project, rubric=version.rubric, rubric_version=version, name="October"
    )
    return label_set.items.first() or LabelItem.objects.create(label_set=label_set, position=1, key="a")


# The value of each parameter that an address can have.
def batch_in(project: Project) -> ImportBatch:
    report = {"counts": {"new": 0}, "runs": [], "more_runs": 0, "notes": [], "more_notes": 0}
    person, _ = User.objects.get_or_create(email="uploader@example.org")
    return ImportBatch.objects.create(project=project, created_by=person, report=report)


def suite_in(project: Project) -> Suite:
    return project.suites.first() or a_suite(project).suite


def labels_in(project: Project) -> Label:
    """A label of the first text of the project's label set."""
    found = Label.objects.filter(item__label_set__project=project).order_by("pk").first()
    if found is None:
        a_label_set(project, "item,criterion,rater,score\na,depth,Ada,7\n", rubric="wiggum")
        found = Label.objects.get()
    return found


STAGE: dict[str, Callable[[Project], object]] = {
    "slug": lambda project: project.slug,
    "batch": lambda project: batch_in(project).pk,
    "rubric": lambda project: "wiggum",
    "suite": lambda project: suite_in(project).slug,
    "key": lambda project: "restore",
    "number": lambda project: 1,
    "position": lambda project: 1,
    "label_set": lambda project: labels_in(project).item.label_set_id,
    "label": lambda project: labels_in(project).pk,
    "what": lambda project: "ratings",
    "bench": lambda project: bench_in(project).pk,
    "trial": lambda project: trial_in(project).pk,
    "proposal": lambda project: proposal_in(project).pk,
    "view": lambda project: SavedView.objects.create(project=project, name="Ours", shared=True).pk,
    "run": lambda project: the_run(project).pk,
    "thread": lambda project: comment_in(project).thread_id,
    "comment": lambda project: comment_in(project).pk,
    "member": lambda project: member_in(project).pk,
    "invitation": lambda project: invitation_in(project).pk,
    "link": lambda project: share_in(project).pk,
    "review": lambda project: review_in(project).pk,
    "webhook": lambda project: webhook_in(project).pk,
    "delivery": lambda project: delivery_in(project).pk,
    "token": lambda project: token_in(project).pk,
    "rule": lambda project: ReviewRule.objects.create(project=project, kind="signal").pk,
    "instruction": lambda project: instruction_in(project).pk,
    "form": lambda project: "json",
    "action": lambda project: "archive",
    "experiment": lambda project: experiment_in(project).pk,
    "measurement": lambda project: measurement_in(project).pk,
    "category": lambda project: category_in(project).pk,
    "suggestion": lambda project: suggestion_in(project).pk,
    "judge": lambda project: judge_in(project).pk,
    "criterion": lambda project: "depth",
    "item": lambda project: f"label-{label_item_in(project).pk}",
}


def addresses() -> dict[str, set[str]]:
    """Every address of a project by name, with the names of its parameters."""
    return {
        pattern.name or route: set(pattern.pattern.converters)
        for route, pattern in walked(get_resolver())
        if route.startswith(PREFIX)
    }


def walked(resolver: URLResolver, before: str = "") -> Iterator[tuple[str, URLPattern]]:
    for entry in resolver.url_patterns:
        route = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from walked(entry, route)
        else:
            yield route, entry


def expected(rule: Rule, method: str, person: str) -> set[str]:
    if person == "anonymous":
        return {"sign in"}
    least = rule.least(method)
    if least is None:
        return {"405"}
    if person == "outsider":
        return {"404"}
    if rule.authors:
        return {"403"}
    return {"let in"} if ROLES.index(person) >= ROLES.index(least) else {"403"}


def told(answer) -> str:
    """What an answer means for the one who asked."""
    if answer.status_code == 302 and answer.headers["Location"].startswith("/account/login/"):
        return "sign in"
    if answer.status_code in (403, 404, 405) or answer.status_code >= 500:
        return str(answer.status_code)
    return "let in"


def test_every_address_of_a_project_has_a_rule():
    found = addresses()
    assert len(found) > 5
    assert [name for name in found if name not in RULES] == []
    assert {parameter for names in found.values() for parameter in names} <= set(STAGE)


def test_no_two_addresses_share_a_name():
    """One of them would have no test."""
    found = [pattern.name for route, pattern in walked(get_resolver()) if route.startswith(PREFIX)]
    assert sorted(found) == sorted(addresses())


def test_every_rule_is_of_an_address_that_exists():
    found = addresses()
    assert [name for name in RULES if name not in found] == []
    parameters = {parameter for names in found.values() for parameter in names}
    assert [parameter for parameter in STAGE if parameter not in parameters] == []


@pytest.mark.parametrize("name", sorted(addresses()))
def test_only_those_who_may_are_let_in(request, project, name):
    default_rubrics_install(project=project)
    rule = RULES[name]
    values = {
        parameter: rule.values.get(parameter) or STAGE[parameter](project) for parameter in addresses()[name]
    }
    address = reverse(name, kwargs=values)
    clients = {
        person: request.getfixturevalue(person if person == "anonymous" else f"as_{person}")
        for person in PEOPLE
    }

    odd = [
        f"{method} by {person}: {said}, not {' or '.join(wanted)}"
        for method in METHODS
        for person in (PEOPLE if method in ASKED_BY_ALL else ("anonymous", "owner"))
        for wanted in [expected(rule, method, person)]
        for _ in [put_back(project, values)]
        for said in [told(clients[person].generic(method, address, **sent(rule, method)))]
        if said not in wanted
    ]

    assert odd == []


def put_back(project: Project, values: dict[str, object]) -> None:
    """What the one before was let to delete is there again for the next."""
    if "view" in values:
        shared = {"name": "Ours", "shared": True}
        SavedView.objects.get_or_create(pk=values["view"], project=project, defaults=shared)
    if "webhook" in values and not project.webhooks.exists():
        Webhook.objects.create(pk=values["webhook"], project=project, address="https://hooks.example.org/")


def sent(rule: Rule, method: str) -> dict[str, str]:
    """The body of a request, as a form sends it."""
    if method != "POST":
        return {}
    return {"data": urlencode(rule.data), "content_type": "application/x-www-form-urlencoded"}
