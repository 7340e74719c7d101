"""The counts in the top bar, which open pages poll."""

import re

import pytest

from refinement.models import Notice, ReviewRequest
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
ADDRESS = "/p/alpha/counts/"


def counted(page: str) -> dict[str, str]:
    return dict(re.findall(r'id="(\w+)-count" hx-swap-oob="true">(\d+)', page))


def test_an_open_page_hears_of_new_notices_and_reviews(as_editor, editor, owner, project):
    assert counted(as_editor.get(ADDRESS, headers=HTMX).content.decode()) == {}
    run = finished_run(project)
    Notice.objects.create(user=editor, project=project, run=run, kind="finished", text="Run 1 ended.")
    ReviewRequest.objects.create(project=project, run=run, reviewer=editor, asked_by=owner)
    expected = {"reviews": "1", "inbox": "1"}
    assert counted(as_editor.get(ADDRESS, headers=HTMX).content.decode()) == expected
    merged = as_editor.get(f"/p/alpha/runs/{run.pk}/?part=page", headers=HTMX).content.decode()
    assert counted(merged) == expected


def test_only_members_ask_and_only_by_script(as_viewer, as_outsider, anonymous):
    assert as_viewer.get(ADDRESS).url == "/p/alpha/"
    assert as_outsider.get(ADDRESS, headers=HTMX).status_code == 404
    assert anonymous.get(ADDRESS).status_code == 302
    assert as_viewer.post(ADDRESS).status_code == 405
