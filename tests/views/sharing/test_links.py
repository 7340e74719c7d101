"""Creating, listing and revoking share links of a run."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.models import ShareLink
from refinement.services.runs.shares import share_link_make
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(project):
    return finished_run(project)


@pytest.fixture
def page_of(run, project):
    return f"/p/{project.slug}/runs/{run.pk}/share/"


def test_the_run_page_leads_there_for_those_who_may(as_editor, as_viewer, run, project, page_of):
    address = f"/p/{project.slug}/runs/{run.pk}/"

    assert f'href="{page_of}"' in as_editor.get(address).content.decode()
    assert f'href="{page_of}"' not in as_viewer.get(address).content.decode()


def test_a_link_is_shown_once_and_works(as_editor, anonymous, page_of):
    answer = as_editor.post(page_of, {"days": "7", "note": "For Ada", "show_prompts": "on"})
    assert answer.status_code == 201
    assert "no-store" in answer.headers["Cache-Control"]
    token = re.search(r"/s/([\w-]{43})/", answer.content.decode()).group(1)

    later = as_editor.get(page_of).content.decode()
    assert token not in later
    assert "For Ada" in later
    link = ShareLink.objects.get()
    assert (link.show_prompts, link.show_comments) == (True, False)
    assert anonymous.get(f"/s/{token}/").status_code == 200


@pytest.mark.parametrize(
    "bad", [{"days": "2"}, {"days": ""}, {"days": "7", "note": "x" * 121}, {"days": "7", "note": "a\x00b"}]
)
def test_what_cannot_be_used_is_said_beside_its_field(as_editor, page_of, bad):
    answer = as_editor.post(page_of, bad)

    assert answer.status_code == 422
    assert "errorlist" in answer.content.decode()
    assert not ShareLink.objects.exists()


def test_a_note_is_text_and_never_markup(as_editor, page_of):
    as_editor.post(page_of, {"days": "7", "note": "<script>alert(1)</script>"})

    assert "<script>alert" not in as_editor.get(page_of).content.decode()


def test_revoking_ends_it(as_editor, anonymous, editor, run, project, page_of):
    link, token = share_link_make(run=run, by=editor, days=1)
    revoke = f"/p/{project.slug}/share/{link.pk}/revoke/"

    answer = as_editor.post(revoke, follow=True)
    assert answer.redirect_chain == [(page_of, 302)]
    assert "Link revoked." in answer.content.decode()
    assert anonymous.get(f"/s/{token}/").status_code == 404
    assert "had already expired or been revoked" in as_editor.post(revoke, follow=True).content.decode()


def test_a_link_of_another_project_is_not_found(as_outsider, outsider, other_project, editor, run):
    link, _ = share_link_make(run=run, by=editor, days=1)

    assert as_outsider.post(f"/p/{other_project.slug}/share/{link.pk}/revoke/").status_code == 404
    assert ShareLink.objects.get().revoked_at is None


def test_where_sharing_is_off_it_says_so(as_editor, project, page_of):
    project.sharing = False
    project.save(update_fields=["sharing"])

    assert "An owner can enable it" in as_editor.get(page_of).content.decode()
    answer = as_editor.post(page_of, {"days": "7"})
    assert answer.status_code == 409
    assert not ShareLink.objects.exists()


def test_the_list_has_a_fixed_number_of_queries(as_editor, editor, run, page_of):
    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            as_editor.get(page_of)
        return len(queries)

    share_link_make(run=run, by=editor, days=1)
    asked()  # the session is brought up to date by the first page
    few = asked()
    for _ in range(12):
        share_link_make(run=run, by=editor, days=1)
    assert asked() == few
