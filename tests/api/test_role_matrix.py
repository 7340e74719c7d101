"""Who may do what: every operation of the OpenAPI document × every role's token.

A new operation needs ONE line in `RULES` below, by its operation id:

    "run_read": Rule("viewer"),                            for viewers and whoever may do more
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
from django.urls import get_resolver

from refinement.models import Project
from tests.views.test_role_matrix import walked
from wiggum_site.api import api

pytestmark = pytest.mark.django_db
PEOPLE = ("nobody", "outsider", "viewer", "editor", "owner")
ROLES = ("viewer", "editor", "owner")
ROOT = "/api/v1"


@dataclass(frozen=True)
class Rule:
    least: str | None
    body: Any = None
    query: dict[str, str] = field(default_factory=dict)
    values: dict[str, Callable[[Project], object]] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    told: int | None = None  # the status for those who may, where it is one of those that refuse


RULES: dict[str, Rule] = {
    # --- projects
    "project_list": Rule(None),
    "project_read": Rule("viewer"),
    "project_change": Rule("owner", body={"name": "Alpha"}, headers={"If_Match": '"x"'}),
}
STAGE: dict[str, Callable[[Project], object]] = {
    "slug": lambda project: project.slug,
}


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


@pytest.mark.parametrize("name", sorted(operations()))
def test_the_document_tells_the_role(name):
    details, rule = operations()[name][2], RULES[name]
    assert details.get("x-role") == rule.least
    assert details["summary"]


@pytest.mark.parametrize("name", sorted(operations()))
def test_what_creates_takes_an_idempotency_key_and_says_so(name):
    _, _, details = operations()[name]
    named = {entry["name"] for entry in details["parameters"]}
    assert (201 in details["responses"]) == ("Idempotency-Key" in named)


def expected(rule: Rule, person: str) -> str:
    if person == "nobody":
        return "401"
    if rule.least is None:
        return "let in"
    if person == "outsider":
        return "404"
    allowed = ROLES.index(person) >= ROLES.index(rule.least)
    return (str(rule.told) if rule.told else "let in") if allowed else "403"


def told(status: int) -> str:
    return str(status) if status in (401, 403, 404, 405) or status >= 500 else "let in"


@pytest.mark.parametrize("name", sorted(operations()))
def test_only_those_who_may_are_let_in(request, project, name):
    method, address, _ = operations()[name]
    rule, odd = RULES[name], []
    for person in PEOPLE:
        path = filled(address, rule, project)
        script = request.getfixturevalue(f"api_{person}")
        answer = script.ask(method, path, rule.body, query=rule.query or None, **rule.headers)
        said = told(answer.status_code)
        if said != expected(rule, person):
            odd.append(f"{method} {path} by {person}: {said}, not {expected(rule, person)}")
    assert odd == []


def filled(address: str, rule: Rule, project: Project) -> str:
    """The address with the values of its parameters, made afresh: the one before may have used them up."""
    for name in [part.strip("{}") for part in address.split("/") if part.startswith("{")]:
        make = rule.values.get(name) or STAGE[name]
        address = address.replace("{" + name + "}", str(make(project)))
    return address
