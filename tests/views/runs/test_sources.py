"""The sources of a run on its pages: listed, read, quoted, and permissions."""

import re
from dataclasses import replace

import pytest
from django.urls import reverse
from django.utils.html import escape

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Information
from refinement.judging.sources import SourceText
from refinement.services.reviews.blind_readings import blind_reading_begin
from refinement.services.runs.shares import share_link_make
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
NOTES = SourceText("notes.txt", "Backups are made\nevery night at 02:00, and kept for four weeks.")
HOSTILE = SourceText(
    "<b>evil</b>.md", "<script>alert(1)</script> & [x](javascript:alert(1))\n<mark id=source-quote>"
)
SAID = (
    'It claims mornings, but notes.txt says "made every night at 02:00" and so "<script>alert(1)</script>".'
)


@pytest.fixture
def run(project):
    return finished_run(project, said=SAID, sources=[NOTES, HOSTILE])


def address(run, position=1, query=""):
    return f"/p/alpha/runs/{run.pk}/sources/{position}/{query}"


# --- the source -----------------------------------------------------------------------------------
def test_a_page_of_its_own_works_without_script(as_viewer, run):
    page = as_viewer.get(address(run)).content.decode()
    assert "<html" in page
    assert escape(NOTES.text) in page
    assert address(run, 2) in page  # the other one to switch to


def test_htmx_gets_the_text_alone(as_viewer, run):
    answer = as_viewer.get(address(run), headers=HTMX)
    assert "<html" not in answer.content.decode()
    assert NOTES.text in answer.content.decode()
    assert "HX-Request" in answer.headers["Vary"]


def test_the_whole_text_is_plain_text(as_viewer, run):
    answer = as_viewer.get(address(run, 2, "?form=text"))
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.content.decode() == HOSTILE.text


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
def test_names_and_texts_are_escaped(as_viewer, run, headers):
    page = as_viewer.get(address(run, 2), headers=headers).content.decode()
    assert escape(HOSTILE.text) in page
    assert escape(HOSTILE.name) in page
    assert "<b>evil" not in page
    assert "<script>alert" not in page
    assert "<mark" not in page


def test_a_passage_is_marked(as_viewer, run):
    page = as_viewer.get(address(run, 1, "?start=0&end=7")).content.decode()
    assert '<mark id="source-quote">Backups</mark> are made' in page


@pytest.mark.parametrize(
    "query", ["?start=9&end=3", "?start=0&end=99999", "?start=x&end=-1", "?start=&end=²"]
)
def test_odd_places_mark_nothing(as_viewer, run, query):
    answer = as_viewer.get(address(run, 1, query))
    assert answer.status_code == 200
    assert "<mark" not in answer.content.decode()


def test_what_is_not_there(as_viewer, as_outsider, anonymous, run):
    assert as_viewer.get(address(run, 3)).status_code == 404
    assert as_viewer.get(f"/p/alpha/runs/{run.pk + 1}/sources/1/").status_code == 404
    for answer in (as_outsider.get(address(run)), anonymous.get(address(run))):
        assert answer.status_code in (302, 404)
        assert "Backups are made" not in answer.content.decode()


def test_a_run_of_another_project_is_not_there(as_viewer, other_project):
    run = finished_run(other_project, sources=[NOTES])
    assert as_viewer.get(address(run)).status_code == 404


# --- the run's page -------------------------------------------------------------------------------
def test_the_run_lists_them_and_loads_their_texts_when_asked(as_viewer, run):
    page = as_viewer.get(f"/p/alpha/runs/{run.pk}/").content.decode()
    assert f'href="{address(run)}" hx-get="{address(run)}" hx-target="#source-open"' in page
    assert f"{len(NOTES.text)} characters" in page
    assert escape(HOSTILE.name) in page
    assert "kept for four weeks" not in page


def test_a_quotation_leads_to_its_place(as_viewer, run):
    page = as_viewer.get(f"/p/alpha/runs/{run.pk}/rounds/2/").content.decode()
    start = NOTES.text.index("made")
    found = re.findall(r'<a class="quoted-source" href="([^"]+)"[^>]*>([^<]+)</a>', page)
    place = f"{address(run)}?start={start}&amp;end={start + 25}#source-quote"
    assert (place, "made every night at 02:00") in found
    assert escape("<script>alert(1)</script>") in [words for _, words in found]
    read = as_viewer.get(place.replace("&amp;", "&").partition("#")[0]).content.decode()
    assert '<mark id="source-quote">made\nevery night at 02:00</mark>' in read
    assert "<script>alert" not in page


def test_a_run_without_sources_links_nothing(as_viewer, project):
    run = finished_run(project, said=SAID)
    page = as_viewer.get(f"/p/alpha/runs/{run.pk}/").content.decode()
    assert "quoted-source" not in page
    assert '<h3 class="small soft">Sources</h3>' not in page


def test_what_the_roles_did_not_see_is_said(as_viewer, project):
    base = rubric_for("wiggum")
    cut = replace(base, policy=replace(base.policy, source_limit_chars=1_000))
    hidden = replace(base.context, judge=base.context.judge - {Information.SOURCES})
    long = SourceText("long.txt", "word " * 1_000)
    run = finished_run(project, definition=cut, sources=[long])
    shown = run.sources.get().shown_chars
    page = as_viewer.get(f"/p/alpha/runs/{run.pk}/").content.decode()
    assert f"judge and writer saw {shown:,} of 5,000 characters" in page
    run = finished_run(project, definition=replace(cut, context=hidden), sources=[long])
    page = as_viewer.get(f"/p/alpha/runs/{run.pk}/").content.decode()
    assert f"writer saw {shown:,} of 5,000 characters; hidden from the judge" in page


# --- who else ---------------------------------------------------------------------------------------
def test_who_scores_blind_reads_the_sources_and_no_score(as_viewer, viewer, run):
    blind_reading_begin(run=run, number=1, user=viewer)
    assert as_viewer.get(f"/p/alpha/runs/{run.pk}/").status_code == 302
    score = as_viewer.get(reverse("run_score", args=["alpha", run.pk, 1])).content.decode()
    assert f'href="{address(run)}"' in score
    page = as_viewer.get(address(run)).content.decode()
    assert NOTES.text in page
    for secret in ("7.15", "8.6", "It claims mornings", "FAIL"):
        assert secret not in page


def test_a_shared_page_has_no_sources(anonymous, editor, run):
    token = share_link_make(run=run, by=editor, days=7)[1]
    page = anonymous.get(f"/s/{token}/").content.decode()
    assert "It claims mornings" in page
    assert "kept for four weeks" not in page
    assert "sources/1/" not in page
