"""The list of rubrics: rows, search, archive, pages and the number of queries."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from refinement.selectors.rubrics import lists as rubric_lists
from refinement.services.rubrics.editing import default_rubrics_install, rubric_archive
from tests.views.rubrics.given import a_finished_run, a_rubric, saved_again

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def address(project):
    return reverse("rubric_list", args=[project.slug])


def listed(answer):
    return [entry.version.rubric.slug for entry in answer.context["rubrics"]]


def test_a_line_says_what_there_is_to_know(as_viewer, address, project, editor):
    first = a_rubric(project, purpose="For release notes.")
    second = saved_again(first, user=editor, purpose="For release notes and more.")
    a_finished_run(project, first, "FAIL", "6.5")
    a_finished_run(project, second, "PASS", "9.25")
    a_finished_run(project, second, "CANCELLED", "3.0")

    answer = as_viewer.get(address)
    [entry] = answer.context["rubrics"]

    assert (entry.purpose, entry.criteria, entry.checks, entry.runs) == (
        "For release notes and more.",
        6,
        1,
        3,
    )
    assert (entry.results.pass_percent, entry.results.finished) == (50, 2)
    page = answer.content.decode()
    for words in ("Our own", "For release notes and more.", "6 criteria", "50 %", "of 2"):
        assert words in page


def test_runs_are_counted_up_to_a_limit(as_viewer, address, project, monkeypatch):
    monkeypatch.setattr(rubric_lists, "MOST_COUNTED", 2)
    version = a_rubric(project)
    for _ in range(3):
        a_finished_run(project, version)
    assert "2+" in as_viewer.get(address).content.decode()


def test_results_come_from_the_latest_runs_alone(as_viewer, address, project, monkeypatch):
    monkeypatch.setattr(rubric_lists, "LATEST_RUNS", 1)
    old, new = a_rubric(project, slug="old"), a_rubric(project, slug="new-one", name="Newer")
    a_finished_run(project, old)
    a_finished_run(project, new)
    answer = as_viewer.get(address)
    results = {entry.version.rubric.slug: entry.results for entry in answer.context["rubrics"]}
    assert results["old"] is None
    assert results["new-one"].pass_percent == 100
    assert "not lately" in answer.content.decode()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("TONE", ["mail"]),
        ("rollback", ["guides"]),
        ("guid", ["guides"]),
        ("nothing like it", []),
        ("\x00", None),
    ],
)
def test_search_looks_at_names_and_purposes(as_viewer, address, project, query, found):
    a_rubric(project, slug="mail", name="Tone of mail", purpose="x")
    a_rubric(project, slug="guides", name="Guides", purpose="Names the rollback.")
    answer = as_viewer.get(address, {"q": query})
    assert answer.status_code == 200
    assert sorted(listed(answer)) == (["guides", "mail"] if found is None else found)
    if found == []:
        assert "Nothing matches" in answer.content.decode()


def test_only_the_newest_version_is_searched(as_viewer, address, project):
    saved_again(a_rubric(project, purpose="About whales."), purpose="About ships.")
    assert listed(as_viewer.get(address, {"q": "whales"})) == []
    assert listed(as_viewer.get(address, {"q": "ships"})) == ["own"]


def test_archived_rubrics_are_shown_on_request(as_owner, owner, address, project):
    kept, gone = a_rubric(project, slug="kept"), a_rubric(project, slug="gone")
    rubric_archive(rubric=gone.rubric, user=owner)
    answer = as_owner.get(address)
    assert listed(answer) == [kept.rubric.slug]
    assert "Show 1 archived" in answer.content.decode()
    assert listed(as_owner.get(address, {"archived": "1"})) == ["gone"]


def test_rubrics_of_other_projects_are_not_there(as_owner, address, other_project):
    a_rubric(other_project)
    answer = as_owner.get(address)
    assert listed(answer) == []
    assert "No rubrics yet" in answer.content.decode()


def test_an_empty_archive_says_so(as_viewer, address):
    assert "The archive is empty" in as_viewer.get(address, {"archived": "1"}).content.decode()


@pytest.mark.parametrize(
    ("person", "offered"), [("as_viewer", False), ("as_editor", True), ("as_owner", True)]
)
def test_only_editors_are_offered_new_rubrics(request, person, offered, address, project):
    a_rubric(project)
    page = request.getfixturevalue(person).get(address).content.decode()
    assert (reverse("rubric_gallery", args=[project.slug]) in page) is offered


def test_outsiders_find_nothing(as_outsider, address):
    assert as_outsider.get(address).status_code == 404


def test_the_list_is_only_read(as_owner, address):
    assert as_owner.post(address).status_code == 405


def test_htmx_gets_the_list_alone_and_a_boosted_request_the_page(as_viewer, address, project):
    a_rubric(project)
    partial = as_viewer.get(address, headers=HTMX).content.decode()
    assert partial.lstrip().startswith("<section")
    assert "Our own" in partial
    boosted = as_viewer.get(address, headers={**HTMX, "HX-Boosted": "true"}).content.decode()
    assert "<!doctype html>" in boosted


def test_the_list_has_pages(as_viewer, address, project, monkeypatch):
    monkeypatch.setattr(rubric_lists, "PAGE_SIZE", 2)
    for number in range(3):
        a_rubric(project, slug=f"r{number}", name=f"Rubric {number}")
    assert listed(as_viewer.get(address)) == ["r0", "r1"]
    assert listed(as_viewer.get(address, {"page": "2"})) == ["r2"]
    assert listed(as_viewer.get(address, {"page": "no number"})) == ["r0", "r1"]
    assert listed(as_viewer.get(address, {"page": "99"})) == ["r2"]


def queries(client, address):
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(address).status_code == 200
    return len(captured)


def test_the_number_of_queries_does_not_grow(as_owner, owner, address, project):
    version = a_rubric(project)
    a_finished_run(project, version)
    as_owner.get(address)
    small = queries(as_owner, address)

    default_rubrics_install(project=project, user=owner)
    for number in range(20):
        saved_again(version, user=owner, note=f"{number}")
        a_finished_run(project, version)

    assert queries(as_owner, address) == small


def test_long_texts_stay_in_the_database(as_owner, address, project):
    a_rubric(project, purpose="p" * 1_000_000, background="b" * 1_000_000)
    with CaptureQueriesContext(connection) as captured:
        answer = as_owner.get(address)
    assert len(answer.content) < 50_000
    assert not any('"refinement_rubricversion"."background"' in entry["sql"] for entry in captured)
    # One number of the policy is asked for, never all of it.
    whole = re.compile(r'(?<!\()"refinement_rubricversion"\."policy"')
    assert not any(whole.search(entry["sql"]) for entry in captured)
