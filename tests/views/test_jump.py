"""The command palette's results, as a partial and as a page."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.models import Membership, Project, SavedView
from refinement.selectors.projects.jump import RECENT_RUNS
from refinement.services.rubrics.editing import default_rubrics_install
from tests.views.runs.listed import runs_of

pytestmark = pytest.mark.django_db
JUMP = "/p/alpha/jump/"
HTMX = {"HX-Request": "true"}


def found(client, words, address=JUMP):
    text = client.get(address, {"q": words}, headers=HTMX).content.decode()
    return re.findall(r'href="([^"]+)"', text)


def test_without_words_it_offers_recent_runs_pages_and_actions(as_viewer, as_editor, project):
    run = runs_of(project, title="Notes for 2.4")[0]
    text = as_editor.get(JUMP, headers=HTMX).content.decode()

    assert f"/p/alpha/runs/{run.pk}/" in text
    assert "Notes for 2.4" in text
    assert "New run" in text
    assert "New run" not in as_viewer.get(JUMP, headers=HTMX).content.decode()
    assert "<html" not in text


def test_without_script_it_is_a_page(as_viewer):
    text = as_viewer.get(JUMP, {"q": "rubrics"}).content.decode()

    assert "<h1>Search</h1>" in text
    assert 'value="rubrics"' in text
    assert "/p/alpha/rubrics/" in text


def test_runs_are_found_by_part_of_a_title_by_a_word_of_a_text_and_by_number(as_viewer, project):
    first, second = runs_of(project, 2, title="Upload service", task="Explain the zeppelin")

    assert f"/p/alpha/runs/{first.pk}/" in found(as_viewer, "oad serv")
    assert f"/p/alpha/runs/{first.pk}/" in found(as_viewer, "zeppelin")
    assert f"/p/alpha/runs/{second.pk}/" in found(as_viewer, f"#{second.pk}")
    assert found(as_viewer, "9" * 40) == ["/p/alpha/runs/?q=" + "9" * 40]


def test_rubrics_views_and_other_projects_are_found_by_name(as_viewer, viewer, owner, project):
    default_rubrics_install(project=project)
    rubric = project.rubrics.first()
    SavedView.objects.create(project=project, name="Failing drafts", query="outcome=FAIL", shared=True)
    SavedView.objects.create(project=project, name="Failing, private", created_by=owner)
    beta = Project.objects.create(name="Beta team", slug="beta")
    Project.objects.create(name="Beta of others", slug="gamma")
    Membership.objects.create(project=beta, user=viewer, role="viewer")

    assert f"/p/alpha/rubrics/{rubric.slug}/" in found(as_viewer, rubric.name[1:])
    assert found(as_viewer, "failing") == ["/p/alpha/runs/?outcome=FAIL"]
    assert found(as_viewer, "beta") == ["/p/beta/"]


def test_runs_of_other_projects_are_not_found(as_viewer, project):
    other = Project.objects.create(name="Other", slug="other")
    foreign = runs_of(other, title="Secret plans", task="Secret plans")[0]

    assert found(as_viewer, "secret") == ["/p/alpha/runs/?q=secret"]
    assert found(as_viewer, str(foreign.pk)) == [f"/p/alpha/runs/?q={foreign.pk}"]
    assert as_viewer.get("/p/other/jump/").status_code == 404


def test_only_owners_are_offered_invitations_and_only_administrators_the_system(
    as_editor, as_owner, owner, project
):
    assert found(as_editor, "invite") == ["/p/alpha/runs/?q=invite"]
    assert found(as_owner, "invite") == ["/p/alpha/members/"]
    assert found(as_owner, "system status") == ["/p/alpha/runs/?q=system%20status"]
    owner.is_superuser = True
    owner.save()
    assert found(as_owner, "system status") == ["/administration/system/"]


def test_the_tour_is_found_and_administrators_find_the_way_to_a_model(as_viewer, as_owner, owner):
    for words in ("example", "tour", "play"):
        assert "/p/alpha/tour/play/?play=1" in found(as_viewer, words)
    text = as_viewer.get(JUMP, {"q": "example"}, headers=HTMX).content.decode()
    assert '<form method="post" action="/p/alpha/tour/">' in text
    assert "/connect/" not in found(as_owner, "connect")
    owner.is_superuser = True
    owner.save()
    assert "/connect/" in found(as_owner, "connect")
    assert "/connect/" in found(as_owner, "model")


def test_a_theme_can_be_chosen(as_viewer):
    text = as_viewer.get(JUMP, {"q": "dark"}, headers=HTMX).content.decode()

    assert 'action="/theme/"' in text
    assert 'value="dark"' in text


def test_what_is_searched_and_found_is_escaped(as_viewer, project):
    runs_of(project, title="<b>bold</b>")

    assert "<b>" not in as_viewer.get(JUMP, {"q": "<b>"}).content.decode()


def test_the_queries_are_few_whatever_is_found(as_viewer, project):
    as_viewer.get(JUMP, headers=HTMX)
    counts = []
    for number in (1, 12):
        runs_of(project, number, title="Upload service", task="Upload service")
        with CaptureQueriesContext(connection) as queries:
            as_viewer.get(JUMP, {"q": "upload"}, headers=HTMX)
        counts.append(len(queries))

    assert counts[1] <= counts[0] <= 11
    assert RECENT_RUNS <= 1_000


def test_it_finds_failures_and_experiments(as_viewer):
    assert "/p/alpha/failures/" in found(as_viewer, "failures")
    assert "/p/alpha/experiments/" in found(as_viewer, "experiments")
