"""A project's settings: name, blind scores, sharing and its links."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.models import AuditEntry, Project
from refinement.services.runs.shares import share_link_make
from tests.append_only import audit_emptied
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(project):
    return f"/p/{project.slug}/settings/"


def seen(page):
    return re.search(r'name="seen" value="(\w+)"', page).group(1)


def form_of(client, address, **values):
    """The form as the page gives it, with these fields changed."""
    return {"name": "Alpha", "sharing": "on", "seen": seen(client.get(address).content.decode()), **values}


def test_an_owner_changes_them(as_owner, owner, project, address):
    audit_emptied()
    answer = as_owner.post(
        address, form_of(as_owner, address, name=" Alpha two ", blind_scores="on"), follow=True
    )

    assert "Settings saved." in answer.content.decode()
    project.refresh_from_db()
    assert (project.name, project.blind_scores, project.sharing, project.slug) == (
        "Alpha two", True, True, "alpha",
    )  # fmt: skip
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.user, entry.project) == ("project.settings", owner, project)
    budget = {"monthly_cost": None, "monthly_tokens": None}
    budget |= {"gate_labels": None, "gate_kappa": None, "gate_like_people": False}
    assert entry.before == {"name": "Alpha", "blind_scores": False, "sharing": True, **budget}
    assert entry.after == {"name": "Alpha two", "blind_scores": True, "sharing": True, **budget}


def test_saving_the_same_writes_nothing(as_owner, address):
    audit_emptied()
    answer = as_owner.post(address, form_of(as_owner, address), follow=True)

    assert "No changes." in answer.content.decode()
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("name", ["", "  ", "x" * 121, "a\x00b"])
def test_a_bad_name_is_said_beside_the_field(as_owner, project, address, name):
    answer = as_owner.post(address, form_of(as_owner, address, name=name))

    assert answer.status_code == 422
    assert 'id="id_name_error"' in answer.content.decode()
    assert Project.objects.get(pk=project.pk).name == "Alpha"


def test_the_second_of_two_owners_is_told_and_loses_nothing(as_owner, project, address):
    mine = form_of(as_owner, address, name="Mine")
    as_owner.post(address, form_of(as_owner, address, name="Theirs", sharing=""))

    answer = as_owner.post(address, mine)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert 'value="Mine"' in page
    assert "Name: <bdi>Theirs</bdi>" in page
    assert Project.objects.get(pk=project.pk).name == "Theirs"

    as_owner.post(address, {**mine, "seen": seen(page)})
    assert Project.objects.get(pk=project.pk).name == "Mine"


def test_a_form_without_its_mark_overwrites_nothing(as_owner, project, address):
    answer = as_owner.post(address, {"name": "Blind save"})

    assert answer.status_code == 409
    assert Project.objects.get(pk=project.pk).name == "Alpha"


def test_all_links_of_the_project_are_listed_and_revoked_here(as_owner, editor, project, address):
    runs = [finished_run(project, task=f"Task {n}") for n in range(3)]
    links = [share_link_make(run=run, by=editor, days=30, note=f"note {run.pk}")[0] for run in runs]
    page = as_owner.get(address).content.decode()
    assert [f"note {run.pk}" in page for run in runs] == [True] * 3

    answer = as_owner.post(
        f"/p/{project.slug}/share/{links[0].pk}/revoke/", {"from": "settings"}, follow=True
    )
    assert answer.redirect_chain == [(address, 302)]
    assert "revoked" in answer.content.decode()


def test_the_list_has_a_fixed_number_of_queries(as_owner, editor, project, address):
    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            as_owner.get(address)
        return len(queries)

    share_link_make(run=finished_run(project), by=editor, days=1)
    asked()  # the session is brought up to date by the first page
    few = asked()
    for _ in range(6):
        share_link_make(run=finished_run(project), by=editor, days=1)
    assert asked() == few


def test_an_owner_sets_a_budget_and_sees_what_is_used(as_owner, project, address):
    assert "Used this month" not in as_owner.get(address).content.decode()
    audit_emptied()
    saved = as_owner.post(address, form_of(as_owner, address, monthly_cost="12.50"), follow=True)
    assert "Used this month: $0.00 of $12.50." in saved.content.decode()
    entry = AuditEntry.objects.get()
    assert (entry.before["monthly_cost"], entry.after["monthly_cost"]) == (None, "12.50")
    assert as_owner.post(address, form_of(as_owner, address, monthly_cost="0")).status_code == 422


def test_an_owner_sets_what_a_judge_needs(as_owner, project, address):
    form = form_of(as_owner, address, gate_labels="100", gate_kappa="0.6", gate_like_people="on")
    assert "Settings saved." in as_owner.post(address, form, follow=True).content.decode()
    project.refresh_from_db()
    assert (project.gate_labels, str(project.gate_kappa), project.gate_like_people) == (100, "0.600", True)
    page = as_owner.get(address).content.decode()
    assert 'name="gate_labels" value="100"' in page
    as_owner.post(address, form_of(as_owner, address))
    project.refresh_from_db()
    assert (project.gate_labels, project.gate_kappa, project.gate_like_people) == (None, None, False)


@pytest.mark.parametrize(
    "wrong", [{"gate_labels": "0"}, {"gate_labels": "many"}, {"gate_kappa": "1.1"}, {"gate_kappa": "0.1234"}]
)
def test_a_bad_gate_is_said_beside_the_field(as_owner, project, address, wrong):
    answer = as_owner.post(address, form_of(as_owner, address, **wrong))
    assert answer.status_code == 422
    project.refresh_from_db()
    assert (project.gate_labels, project.gate_kappa) == (None, None)


def test_only_owners_set_it(as_editor, project, address):
    assert as_editor.post(address, {"name": "Alpha", "gate_labels": "1"}).status_code in (403, 404)
    project.refresh_from_db()
    assert project.gate_labels is None
