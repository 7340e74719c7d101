"""Who may do what: every operation of the OpenAPI document × every role's token.

A new operation needs ONE line in `RULES` below, by its operation id:

    "run_read": Rule("viewer"),                            for viewers and higher roles
    "run_cancel": Rule("editor", body={...}),              with a body that passes the checks of its shape
    "project_list": Rule(None),                            for everybody with a token that works

A parameter of an address that `STAGE` does not know needs a line there: its name, and a function that
makes the row and gives the value. `values` are those of this operation alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest
from django.db import transaction
from django.urls import get_resolver
from django.utils import timezone

from refinement.engine.profiles import rubric_for
from refinement.interchange.rubrics.yaml import rubric_to_fields
from refinement.models import (
    Call,
    Comment,
    Experiment,
    JudgeRecord,
    Project,
    ReviewRequest,
    ReviewRule,
    SavedView,
    Suite,
    User,
)
from refinement.services.rubrics.editing import default_rubrics_install
from refinement.services.trust.judges import judge_ensure
from tests.selectors.experiments.given import a_suite_of, an_experiment
from tests.views.test_role_matrix import (
    bench_in,
    category_in,
    comment_in,
    delivery_in,
    instruction_in,
    invitation_in,
    labels_in,
    member_in,
    review_in,
    run_in,
    share_in,
    walked,
    webhook_in,
)
from wiggum_site.api import api

pytestmark = pytest.mark.django_db
PEOPLE = ("nobody", "outsider", "viewer", "editor", "owner")
ROLES = ("viewer", "editor", "owner")
ROOT = "/api/v1"


LAUNCH = {
    "task": "Say it.",
    "rubric": "wiggum",
    "producer": "ollama/loopback:1b",
    "judge": "ollama/loopback:8b",
}


EXPERIMENT: dict[str, Any] = {
    "name": "Judges in March",
    "suite": "release-notes",
    "configurations": [{"name": "A", **{name: LAUNCH[name] for name in ("rubric", "producer", "judge")}}],
}


@dataclass(frozen=True)
class Rule:
    least: str | None
    body: Any = None
    query: dict[str, Any] = field(default_factory=dict)
    values: dict[str, Callable[[Project], object]] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    authors: bool = False  # for viewers in the document, because authors can do it, too
    told: int | None = None  # the status for those who may, where it is one of those that refuse


RULES: dict[str, Rule] = {
    # --- projects
    "project_list": Rule(None),
    "project_read": Rule("viewer"),
    "project_change": Rule("owner", body={"name": "Alpha"}, headers={"If_Match": '"x"'}),
    # --- failures
    "failures_read": Rule("viewer"),
    "failure_categories": Rule("viewer"),
    "failure_category_issues": Rule("viewer"),
    "failure_category_change": Rule("editor", body={"edition": 1, "name": "No reasons given"}),
    "failure_category_merge": Rule("editor", body={"categories": [1]}),
    "failure_category_separate": Rule("editor"),
    "failure_issues_moved": Rule("editor", body={"issues": [1]}),
    # --- runs
    "run_list": Rule("viewer"),
    "run_launch": Rule("editor", body=LAUNCH),
    "run_read": Rule("viewer"),
    "run_estimated": Rule("editor", body=LAUNCH),
    "run_example": Rule("editor"),
    "runs_compared": Rule("viewer", query={"run": ["1", "2"]}, told=404),
    "runs_changed": Rule("editor", body={"runs": [1], "action": "archive"}),
    "view_list": Rule("viewer"),
    "view_new": Rule("viewer", body={"name": "Failed", "filters": {"outcome": "FAIL"}}),
    "view_removed": Rule("editor", authors=True),
    "share_list": Rule("editor"),
    "share_new": Rule("editor", body={"days": 7}),
    "share_revoked": Rule("editor"),
    "round_list": Rule("viewer"),
    "round_new": Rule("editor", body={"base": 1, "text": "By hand.", "newest": 1}),
    "round_read": Rule("viewer"),
    "round_candidate": Rule("viewer"),
    "verdict_list": Rule("viewer"),
    "feedback_list": Rule("viewer"),
    "feedback_corrected": Rule("editor", body={"round": 1, "kind": "issue", "fate": "open"}, told=404),
    "round_blamed": Rule("viewer"),
    "run_diff": Rule("viewer", query={"a": "1", "b": "1"}),
    "source_list": Rule("viewer"),
    "source_read": Rule("viewer"),
    "evaluator_trial_list": Rule("viewer"),
    "evaluator_trial_new": Rule("editor"),
    "call_list": Rule("viewer"),
    "call_read": Rule("viewer"),
    "event_list": Rule("viewer"),
    "event_stream": Rule("viewer"),
    "run_cancelled": Rule("editor"),
    "run_paused": Rule("editor"),
    "run_resumed": Rule("editor"),
    "run_retried": Rule("editor"),
    "run_continued": Rule("editor", body={"rounds": 1}),
    "run_plateau": Rule("editor", body={"answer": "stop"}),
    "run_archived": Rule("editor"),
    "run_unarchived": Rule("editor"),
    "run_again": Rule("editor"),
    "run_tag": Rule("editor", body={"tags": ["ci"]}),
    "instruction_list": Rule("viewer"),
    "instruction_new": Rule("editor", body={"text": "Say more."}),
    "instruction_withdrawn": Rule("editor", values={"run": lambda project: instruction_in(project).run_id}),
    "decision_list": Rule("viewer"),
    "decision_new": Rule("editor", body={"kind": "approved", "round": 1, "reason": "Good."}),
    "run_export": Rule("viewer", values={"form": lambda project: "json"}),
    "runs_export": Rule("viewer", values={"form": lambda project: "csv"}),
    "runs_training": Rule("viewer", values={"form": lambda project: "sft"}),
    "model_list": Rule("viewer"),
    "import_new": Rule("editor"),
    # --- experiments
    "experiment_list": Rule("viewer"),
    "experiment_new": Rule("editor", body=EXPERIMENT),
    "experiment_estimated": Rule("editor", body=EXPERIMENT),
    "experiment_read": Rule("viewer"),
    "experiment_run_list": Rule("viewer"),
    "experiment_stream": Rule("viewer"),
    "experiment_paused": Rule("editor"),
    "experiment_resumed": Rule("editor"),
    "experiment_cancelled": Rule("editor"),
    "experiment_missing_run": Rule("editor"),
    "configuration_new": Rule("editor", body=EXPERIMENT["configurations"][0]),
    "experiment_baseline": Rule("editor", body={"configuration": 2_000_000_000}, told=404),
    "experiment_budget": Rule("editor", body={"token_budget": 5_000}),
    # --- rubrics
    "rubric_list": Rule("viewer"),
    "gallery_read": Rule("viewer"),
    "rubric_new": Rule("editor", body={"name": "Ours", "profile": "wiggum"}),
    "rubric_read": Rule("viewer"),
    "rubric_save": Rule("editor", body={"definition": rubric_to_fields(rubric_for("wiggum"))}),
    "version_list": Rule("viewer"),
    "version_read": Rule("viewer"),
    "rubric_restored": Rule("editor", body={"version": 1}),
    "rubric_duplicated": Rule("editor", body={"name": "A copy"}),
    "rubric_archived": Rule("editor"),
    "rubric_unarchived": Rule("editor"),
    "rubric_previewed": Rule("viewer", body={"task": "Say it.", "candidate": "Said."}),
    "checks_tried": Rule("editor", body={"text": "Said."}),
    "versions_compared": Rule("viewer"),
    "rubric_file_new": Rule("editor"),
    "rubric_file_read": Rule("viewer"),
    "rubric_file_save": Rule("editor"),
    # --- comments
    "thread_list": Rule("viewer"),
    "thread_new": Rule("viewer", body={"body": "Why?"}),
    "thread_read": Rule("viewer"),
    "thread_resolved": Rule("viewer"),
    "thread_reopened": Rule("viewer"),
    "comment_list": Rule("viewer"),
    "comment_new": Rule("viewer", body={"body": "Because."}),
    "comment_read": Rule("viewer"),
    "comment_changed": Rule("viewer", body={"body": "No."}, headers={"If_Match": '"x"'}),
    "comment_deleted": Rule("owner", authors=True),
    "comment_history": Rule("viewer"),
    # --- people's scores
    "score_list": Rule("viewer"),
    "score_read": Rule("viewer", told=404),
    "score_given": Rule("viewer", body={"scores": []}),
    "blind_begun": Rule("viewer", body={"round": 1}),
    "blind_read": Rule("viewer", told=404),
    "blind_given_up": Rule("viewer", told=404),
    # --- reviews
    "review_list": Rule("viewer"),
    "review_queue": Rule("viewer"),
    "review_taken_back": Rule("owner", authors=True),
    "review_new": Rule("editor", body={"reviewers": [1]}),
    "reviews_new": Rule("editor", body={"runs": [1], "reviewers": [1]}),
    "review_closed": Rule("viewer"),
    "review_rule_list": Rule("viewer"),
    "review_rule_new": Rule("editor", body={"kind": "signal", "reviewers": [1]}),
    "review_rule_ended": Rule("editor"),
    # --- people
    "member_list": Rule("viewer"),
    "member_read": Rule("viewer"),
    "member_changed": Rule("owner", body={"role": "editor"}, headers={"If_Match": '"x"'}),
    "member_removed": Rule("owner"),
    "invitation_list": Rule("owner"),
    "invitation_new": Rule("owner", body={}),
    "invitation_revoked": Rule("owner"),
    "audit_list": Rule("owner"),
    "notice_list": Rule("viewer"),
    "notice_marked": Rule("viewer", body={"read": True}, told=404),
    # --- test bench
    "bench_list": Rule("viewer"),
    "bench_new": Rule("editor", body={"candidate": "A text.", "judge": "ollama/loopback:8b"}),
    "bench_read": Rule("viewer"),
    "benches_compared": Rule("viewer", query={"a": "1", "b": "1"}, told=404),
    "bench_cancelled": Rule("editor"),
    "bench_scored": Rule("editor", body={"scores": {"depth": "7"}}),
    "trial_call_list": Rule("viewer"),
    # --- label sets
    "label_set_list": Rule("viewer"),
    "label_set_new": Rule("editor", body={"name": "March", "rubric": "wiggum"}),
    "label_set_imported": Rule("editor", body={"name": "March", "rubric": "wiggum"}),
    "label_set_read": Rule("viewer"),
    "label_set_saved": Rule("editor", body={"name": "March"}, headers={"If_Match": '"x"'}),
    "label_set_archived": Rule("editor"),
    "label_set_unarchived": Rule("editor"),
    "label_text_list": Rule("viewer"),
    "label_texts_added": Rule("editor", body={"texts": [{"text": "Say it."}]}),
    "label_rater_list": Rule("viewer"),
    "label_list": Rule("viewer"),
    "label_set_export": Rule(
        "viewer", values={"what": lambda project: "ratings", "form": lambda project: "csv"}
    ),
    "label_queue_opened": Rule("viewer"),
    "label_queue_read": Rule("viewer"),
    "label_queue_left": Rule("viewer", told=404),
    "label_read": Rule("viewer", told=404),
    "label_given": Rule("viewer", body={"scores": []}),
    "label_marked_wrong": Rule("editor", body={"criteria": ["depth"]}),
    # --- suites
    "suite_list": Rule("viewer"),
    "suite_new": Rule("editor", body={"name": "Ours", "tasks": [{"task": "Say it."}]}),
    "suite_read": Rule("viewer"),
    "suite_save": Rule("editor", body={"tasks": []}, headers={"If_Match": '"x"'}),
    "suite_version_list": Rule("viewer"),
    "suite_version_read": Rule("viewer"),
    "suite_task_list": Rule("viewer"),
    "suite_task_read": Rule("viewer"),
    "suite_runs_added": Rule("editor", body={"runs": [1]}),
    "suite_restored": Rule("editor", body={"version": 1}, headers={"If_Match": '"x"'}),
    "suite_archived": Rule("editor"),
    "suite_unarchived": Rule("editor"),
    "suite_file_new": Rule("editor"),
    "suite_file_import": Rule("editor", headers={"If_Match": '"x"'}),
    "suite_export": Rule("viewer", values={"form": lambda project: "yaml"}),
    # --- results of experiments
    "experiment_results": Rule("viewer"),
    "experiment_cell": Rule("viewer", query={"task": "none", "configuration": "1"}, told=404),
    "experiments_compared": Rule("viewer", values={"other": lambda project: experiment_in(project).pk}),
    "experiment_export": Rule("viewer", values={"form": lambda project: "runs"}),
    "suite_over_time": Rule("viewer"),
    # --- judges
    "judge_list": Rule("viewer"),
    "judge_read": Rule("viewer"),
    "judge_refresh": Rule("editor"),
    "judges_compared": Rule("viewer", values={"other": lambda project: judge_in(project, "other:8b").pk}),
    # --- webhooks
    "webhook_list": Rule("owner"),
    "webhook_new": Rule("owner", body={"address": "https://hooks.example.org/", "events": ["run.finished"]}),
    "webhook_read": Rule("owner"),
    "webhook_changed": Rule("owner", body={"note": "Ours"}, headers={"If_Match": '"x"'}),
    "webhook_removed": Rule("owner"),
    "webhook_secret": Rule("owner"),
    "webhook_pinged": Rule("owner"),
    "delivery_list": Rule("owner"),
    "delivery_read": Rule("owner"),
    "delivery_resent": Rule("owner"),
    # --- endpoints, for administrators; no member of the test project is one
    "endpoint_list": Rule(None, told=403),
    "endpoint_new": Rule(None, told=403, body={"name": "x", "kind": "ollama", "url": "http://127.0.0.1/"}),
    "endpoint_read": Rule(None, told=403),
    "endpoint_changed": Rule(None, told=403, body={}),
    "endpoint_removed": Rule(None, told=403),
}
STAGE: dict[str, Callable[[Project], object]] = {
    "slug": lambda project: project.slug,
    "run": lambda project: run_in(project).pk,
    "number": lambda project: 1,
    "position": lambda project: 1,
    "call": lambda project: call_in(project).pk,
    "instruction": lambda project: project.runs.order_by("-pk")[0].instructions.get().pk,
    "rubric": lambda project: "wiggum",
    "thread": lambda project: (Comment.objects.first() or comment_in(project)).thread_id,
    "comment": lambda project: (Comment.objects.first() or comment_in(project)).pk,
    "review": lambda project: (ReviewRequest.objects.first() or review_in(project)).pk,
    "rule": lambda project: ReviewRule.objects.create(project=project, kind="signal").pk,
    "person": lambda project: (User.objects.filter(name="Milla Member").first() or member_in(project)).pk,
    "invitation": lambda project: (project.invitations.first() or invitation_in(project)).pk,
    "bench": lambda project: bench_in(project).pk,
    "webhook": lambda project: webhook_in(project).pk,
    "delivery": lambda project: delivery_in(project).pk,
    "endpoint": lambda project: "gpu",
    "view": lambda project: SavedView.objects.create(project=project, name="Ours", shared=True).pk,
    "share": lambda project: share_in(project).pk,
    "notice": lambda project: 1,
    "experiment": lambda project: experiment_in(project).pk,
    "category": lambda project: category_in(project).pk,
    "judge": lambda project: judge_in(project).pk,
    "label_set": lambda project: labels_in(project).item.label_set_id,
    "label": lambda project: labels_in(project).pk,
    "suite": lambda project: suite_in(project).slug,
    "key": lambda project: suite_in(project).versions.first().tasks.first().key,
}


def suite_in(project: Project) -> Suite:
    return project.suites.first() or a_suite_of(project, 2).suite


def experiment_in(project: Project) -> Experiment:
    """A new one: an experiment is not compared with itself."""
    version = project.rubrics.get(slug="wiggum").versions.first()
    return an_experiment(suite_in(project).versions.first(), {"A": [7, 8]}, version=version)


def judge_in(project: Project, model: str = "judge:8b") -> JudgeRecord:
    version = project.rubrics.get(slug="wiggum").versions.first()
    return judge_ensure(project=project, version=version, model=model)


def call_in(project: Project) -> Call:
    """Of the run that was made last, which is the one in the address."""
    now = timezone.now()
    return Call.objects.create(
        run=project.runs.order_by("-pk")[0], round_number=1, role="judge", purpose="score", attempt=1,
        endpoint="ollama", model="x", messages=[], started_at=now, finished_at=now,
    )  # fmt: skip


@cache
def operations() -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Every operation by its id: method, address after the root, and details."""
    return {
        details["operationId"]: (method.upper(), path.removeprefix(ROOT), details)
        for path, methods in api.document["paths"].items()
        for method, details in methods.items()
    }


def test_every_operation_has_a_rule_and_every_rule_an_operation():
    found = operations()
    assert [name for name in found if name not in RULES] == []
    assert [name for name in RULES if name not in found] == []


def test_no_two_operations_share_an_id():
    total = sum(len(methods) for methods in api.document["paths"].values())
    assert total == len(operations())


def test_every_address_of_the_api_is_in_the_document():
    """What is not, would have no test; but for the document itself and the root, which is nothing."""
    routes = [route for route, pattern in walked(get_resolver()) if route.startswith("api/v1/")]
    documented = {path.removeprefix("/") for path in api.document["paths"]}
    shown = {plain(route) for route in routes}
    assert shown - documented == {"api/v1/", "api/v1/docs", "api/v1/openapi.json"}


def plain(route: str) -> str:
    return "/".join(
        "{" + part.strip("<>").rpartition(":")[2] + "}" if part.startswith("<") else part
        for part in route.split("/")
    )


def test_the_document_tells_the_role():
    told_roles = {name: details.get("x-role") for name, (_, _, details) in operations().items()}
    ruled = {name: "viewer" if RULES[name].authors else RULES[name].least for name in told_roles}
    assert told_roles == ruled


def test_what_creates_takes_an_idempotency_key_and_says_so():
    for name, (_, _, details) in operations().items():
        named = {entry["name"] for entry in details["parameters"]}
        assert (201 in details["responses"]) == ("Idempotency-Key" in named), name


def expected(rule: Rule, person: str) -> str:
    if person == "nobody":
        return "401"
    if rule.least is None:
        return str(rule.told or "let in")
    if person == "outsider":
        return "404"
    allowed = ROLES.index(person) >= ROLES.index(rule.least)
    return (str(rule.told) if rule.told else "let in") if allowed else "403"


def told(status: int) -> str:
    return str(status) if status in (401, 403, 404, 405) or status >= 500 else "let in"


def test_only_those_who_may_are_let_in(request, project):
    """One after the other, each as if the others had not been."""
    default_rubrics_install(project=project)
    scripts = {person: request.getfixturevalue(f"api_{person}") for person in PEOPLE}
    odd = []
    for name, (method, address, _) in operations().items():
        rule = RULES[name]
        with transaction.atomic():
            path = filled(address, rule, project)
            for person, script in scripts.items():
                with transaction.atomic():
                    answer = script.ask(method, path, rule.body, query=rule.query or None, **rule.headers)
                    transaction.set_rollback(True)
                said = told(answer.status_code)
                if said != expected(rule, person):
                    odd.append(f"{name} by {person}: {said}, not {expected(rule, person)}")
            transaction.set_rollback(True)
    assert odd == []


def filled(address: str, rule: Rule, project: Project) -> str:
    """The address with the values of its parameters."""
    for name in [part.strip("{}") for part in address.split("/") if part.startswith("{")]:
        make = rule.values.get(name) or STAGE[name]
        address = address.replace("{" + name + "}", str(make(project)))
    return address
