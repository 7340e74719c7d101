"""Permissions outside projects: every other URL × every method × every person.

The addresses are found by walking the URL configuration, those under `p/<slug:slug>/` are in
`test_role_matrix.py`, the API's operations in `tests/api/test_role_matrix.py`. A new address needs ONE line
in `RULES` below, by its name:

    "account": Rule(read=PERSON, write=PERSON),            GET, HEAD and POST for every signed-in person
    "theme": Rule(write=ANYONE),                           POST alone, and for everybody
    "administration": Rule(read=ADMINISTRATOR),            GET and HEAD for administrators

`confirm` says that one must first prove again who one is. `odd` names what is answered to somebody for a
reason of its own, with the reason beside it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse
from django.utils.http import urlencode

from refinement.models import Endpoint, Notice, Project, SessionInfo, User
from refinement.services.people.invitations import invitation_make
from refinement.services.rubrics.editing import default_rubrics_install
from refinement.services.runs.shares import share_link_make
from tests.views.test_role_matrix import PREFIX, run_in, told, walked

pytestmark = pytest.mark.django_db
ANYONE, PERSON, ADMINISTRATOR = "anonymous", "person", "administrator"
PEOPLE = (ANYONE, PERSON, ADMINISTRATOR)
METHODS = ("GET", "HEAD", "POST", "PATCH", "DELETE")
API = "api/v1/"


@dataclass(frozen=True)
class Rule:
    read: str | None = None
    write: str | None = None
    confirm: bool = False
    data: dict[str, str] = field(default_factory=dict)
    odd: dict[str, str] = field(default_factory=dict)

    def least(self, method: str) -> str | None:
        return {"GET": self.read, "HEAD": self.read, "POST": self.write}.get(method)


OWN = Rule(read=PERSON, write=PERSON)
CONFIRMED = Rule(read=PERSON, write=PERSON, confirm=True)
FORM = Rule(read=ANYONE, write=ANYONE)
NOT_THEIRS = dict.fromkeys([PERSON, ADMINISTRATOR], "404")  # they have none, or it is somebody else's
LEADS_TO_SIGN_IN = {ANYONE: "sign in", f"POST {PERSON}": "sign in", f"POST {ADMINISTRATOR}": "sign in"}
RULES: dict[str, Rule] = {
    "healthz": Rule(read=ANYONE),
    "readyz": Rule(read=ANYONE, odd=dict.fromkeys(PEOPLE, "503")),  # no worker runs here
    "metrics": Rule(read=ADMINISTRATOR, odd={ANYONE: "sign in"}),  # or Prometheus with its token
    "api_docs": Rule(read=PERSON),
    "home": Rule(read=ANYONE, odd={ANYONE: "sign in"}),  # or how to set up, before there is an account
    "project_new": Rule(read=ADMINISTRATOR, write=ADMINISTRATOR),
    "theme": Rule(write=ANYONE, data={"theme": "dark"}),
    "welcome": FORM,
    "join": FORM,
    "shared_run": Rule(read=ANYONE),
    "shared_round": Rule(read=ANYONE),
    "help": Rule(read=PERSON),
    "help_page": Rule(read=PERSON),
    "inbox": Rule(read=PERSON),
    "inbox_read_all": Rule(write=PERSON),
    "inbox_open": Rule(read=PERSON, odd=NOT_THEIRS),
    "inbox_read": Rule(write=PERSON, odd=NOT_THEIRS),
    "notice_settings": OWN,
    "account": OWN,
    "account_login": FORM,
    "account_logout": Rule(read=ANYONE, write=ANYONE, odd=LEADS_TO_SIGN_IN),
    "account_inactive": Rule(read=ANYONE),
    "account_signup": Rule(read=ANYONE, write=ANYONE, odd=dict.fromkeys(PEOPLE, "403")),  # closed to all
    "account_reauthenticate": OWN,
    "account_change_password": OWN,
    "account_set_password": OWN,
    "account_reset_password": FORM,
    "account_reset_password_done": Rule(read=ANYONE),
    "account_reset_password_from_key_done": Rule(read=ANYONE),
    "account_reset_password_from_key": FORM,
    # There is no provider in these tests: nobody finds anything.
    "openid_begin": Rule(read=ANYONE, odd=dict.fromkeys(PEOPLE, "404")),
    "openid_callback": Rule(read=ANYONE, odd=dict.fromkeys(PEOPLE, "404")),
    "openid_disconnect": Rule(write=PERSON, confirm=True),
    "mfa_index": Rule(read=PERSON),
    "mfa_authenticate": Rule(read=ANYONE, write=ANYONE, odd={ANYONE: "sign in"}),  # after a password alone
    "mfa_reauthenticate": CONFIRMED,  # with the means that one has
    "mfa_activate_totp": CONFIRMED,
    "mfa_deactivate_totp": Rule(read=PERSON, write=PERSON, odd=NOT_THEIRS),
    "mfa_view_recovery_codes": Rule(read=PERSON, odd=NOT_THEIRS),
    "mfa_generate_recovery_codes": CONFIRMED,
    "mfa_list_webauthn": Rule(read=PERSON),
    "mfa_add_webauthn": CONFIRMED,
    "mfa_login_webauthn": Rule(read=ANYONE, write=ANYONE, odd={ANYONE: "sign in"}),
    "mfa_reauthenticate_webauthn": CONFIRMED,
    "mfa_edit_webauthn": CONFIRMED,
    "mfa_remove_webauthn": CONFIRMED,
    "session_end": Rule(write=PERSON),
    "sessions_end_others": Rule(write=PERSON),
    "administration": Rule(read=ADMINISTRATOR),
    "person_account": Rule(write=ADMINISTRATOR, data={"active": "yes"}),
    "person_administrator": Rule(write=ADMINISTRATOR, data={"administrator": "no"}),
    "person_sign_in_reset": Rule(write=ADMINISTRATOR, confirm=True),
    "administration_projects": Rule(read=ADMINISTRATOR),
    "project_adopt": Rule(write=ADMINISTRATOR),
    "administration_system": Rule(read=ADMINISTRATOR),
    "connect": Rule(read=PERSON, write=ADMINISTRATOR),
    "endpoint_new": Rule(read=ADMINISTRATOR, write=ADMINISTRATOR),
    "endpoint_page": Rule(read=ADMINISTRATOR, write=ADMINISTRATOR),
    "endpoint_remove": Rule(write=ADMINISTRATOR),
    "administration_prices": Rule(read=ADMINISTRATOR, write=ADMINISTRATOR),
    "price_remove": Rule(write=ADMINISTRATOR),
    "administration_audit": Rule(read=ADMINISTRATOR),
    "administration_audit_export": Rule(read=ADMINISTRATOR),
}


def invited(project: Project, owner: User) -> str:
    return invitation_make(project=project, role="viewer", days=1, by=owner)[1]


def shared(project: Project, owner: User) -> str:
    default_rubrics_install(project=project)
    return share_link_make(run=run_in(project), by=owner, days=1)[1]


def passkey_of(project: Project, owner: User) -> int:
    data = {"name": "Hers", "credential": {}}
    return Authenticator.objects.create(user=owner, type="webauthn", data=data).pk


def notice_of(project: Project, owner: User) -> int:
    default_rubrics_install(project=project)
    run = run_in(project)
    return Notice.objects.create(user=owner, project=project, run=run, kind="mention", text="Hers.").pk


# The value of each parameter: by the address's name where one name stands for several things.
STAGE: dict[str, Callable[[Project, User], Any]] = {
    "welcome.token": lambda project, owner: "spent",
    "join.token": invited,
    "shared_run.token": shared,
    "shared_round.token": shared,
    "uidb36": lambda project, owner: "1",
    "key": lambda project, owner: "spent-key",
    "number": lambda project, owner: 1,
    "pk": passkey_of,
    "notice": notice_of,
    "page": lambda project, owner: "loop",
    "session": lambda project, owner: SessionInfo.objects.create(user=owner, session_key="x").pk,
    "person": lambda project, owner: owner.pk,
    "project": lambda project, owner: project.pk,
    "price": lambda project, owner: 1,
    "endpoint": lambda project, owner: (
        Endpoint.objects.get_or_create(name="gpu", defaults={"kind": "ollama", "url": "http://127.0.0.1:1"})[
            0
        ].name
    ),
}


def addresses() -> dict[str, set[str]]:
    """Every address outside projects by name, with the names of its parameters."""
    return {
        pattern.name or route: set(pattern.pattern.regex.groupindex)
        for route, pattern in walked(get_resolver())
        if is_ours(route, pattern)
    }


def is_ours(route: str, pattern: URLPattern) -> bool:
    """Not a project's, and no operation of the API; its page of documentation is one like others."""
    return not route.startswith((PREFIX, API)) or pattern.name == "api_docs"


def test_every_address_has_a_rule_and_every_rule_an_address():
    found = addresses()
    assert len(found) > 30
    assert [name for name in found if name not in RULES] == []
    assert [name for name in RULES if name not in found] == []


def test_no_two_addresses_share_a_name():
    found = [pattern.name for route, pattern in walked(get_resolver()) if is_ours(route, pattern)]
    assert sorted(found) == sorted(addresses())


def test_what_needs_no_login_says_so_and_nothing_else_does():
    """The middleware asks everybody to sign in but where a view is marked."""
    open_views = {
        pattern.name
        for route, pattern in walked(get_resolver())
        if is_ours(route, pattern) and not getattr(pattern.callback, "login_required", True)
    }
    ruled = {name for name, rule in RULES.items() if ANYONE in (rule.read, rule.write)} | {"metrics"}
    assert open_views == ruled


def expected(rule: Rule, method: str, person: str, is_open: bool) -> str:
    least = rule.least(method)
    if person == ANYONE and not is_open:
        return "sign in"
    if least is None:
        return "405"
    odd = rule.odd.get(f"{method} {person}") or rule.odd.get(person)
    if odd:
        return odd
    if PEOPLE.index(person) < PEOPLE.index(least):
        return "403"
    return "confirm" if rule.confirm else "let in"


def answered(answer) -> str:
    if answer.status_code == 302 and answer.headers["Location"].startswith("/account/confirm/"):
        return "confirm"
    return told(answer)


def clients_of(viewer: User) -> dict[str, Client]:
    administrator = User.objects.create_superuser("ada@example.org", "x", name="Ada Administrator")
    clients = {ANYONE: Client(), PERSON: Client(), ADMINISTRATOR: Client()}
    clients[PERSON].force_login(viewer)
    clients[ADMINISTRATOR].force_login(administrator)
    return clients


@pytest.mark.parametrize("name", sorted(addresses()))
def test_only_those_who_may_are_let_in(project, owner, viewer, name):
    User.objects.filter(pk=owner.pk).update(is_superuser=True)
    rule, is_open = RULES[name], ANYONE in (RULES[name].read, RULES[name].write) or name == "metrics"
    values = {
        parameter: (STAGE.get(f"{name}.{parameter}") or STAGE[parameter])(project, owner)
        for parameter in addresses()[name]
    }
    address = reverse(name, kwargs=values)
    odd = []
    for method in METHODS:
        for person, client in clients_of(viewer).items():
            said = answered(client.generic(method, address, **sent(rule, method)))
            wanted = expected(rule, method, person, is_open)
            if said != wanted:
                odd.append(f"{method} by {person}: {said}, not {wanted}")
        User.objects.filter(email="ada@example.org").delete()
    assert odd == []


def sent(rule: Rule, method: str) -> dict[str, str]:
    if method != "POST":
        return {}
    return {"data": urlencode(rule.data), "content_type": "application/x-www-form-urlencoded"}
