"""Two rounds compared on a page."""

import pytest

from tests.views.runs.finished import finished_run
from tests.views.runs.guide import guide_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def address(run, rest=""):
    return f"/p/{run.project.slug}/runs/{run.pk}/diff/{rest}"


def test_changes_moves_and_who_asked(as_viewer, stage):
    text = as_viewer.get(address(guide_run(stage), "?a=1&b=2")).content.decode()
    assert "<ins>" in text
    assert "<del>" in text
    assert "moved here" in text
    assert "moved away" in text
    assert (
        '<span class="asked" title="The port on which the service listens is missing.">issue 1</span>' in text
    )
    assert "not traced" in text
    assert "unexplained." in text


def test_where_nothing_can_be_traced_it_is_said_once(as_viewer, stage, monkeypatch):
    monkeypatch.setattr("refinement.selectors.runs.diffs.matching_request", lambda passage, requests: None)
    text = as_viewer.get(address(guide_run(stage), "?a=1&b=2")).content.decode()
    assert "No change matches the feedback" in text
    assert "not traced" not in text


def test_side_by_side(as_viewer, stage):
    text = as_viewer.get(address(guide_run(stage), "?a=1&b=2&view=sides")).content.decode()
    assert 'role="columnheader">Round 1<' in text
    assert "<ins>" in text


def test_without_numbers_it_is_the_best_against_the_first(as_viewer, stage):
    text = as_viewer.get(address(guide_run(stage))).content.decode()
    assert '<option value="1" selected>Round 1 (starting text)</option>' in text
    assert '<option value="2" selected>Round 2 ★ best</option>' in text


def test_over_several_rounds_every_request_names_its_round(as_viewer, stage):
    text = as_viewer.get(address(guide_run(stage), "?a=1&b=3")).content.decode()
    assert "issue 1 of round 1" in text
    assert "issue 1 of round 2" in text


def test_backwards_and_equal(as_viewer, stage):
    run = guide_run(stage)
    assert (
        "so changes are not matched to feedback" in as_viewer.get(address(run, "?a=2&b=1")).content.decode()
    )
    assert "The two texts are the same." in as_viewer.get(address(run, "?a=2&b=2")).content.decode()


def test_a_long_text_says_how_it_was_compared(as_viewer, project):
    long = "\n".join(f"Line {n} of a long text that goes on and on." for n in range(6000))
    run = finished_run(project, ["5", "6"], candidates=[long, long.replace("Line 7 of", "Line seven of")])
    text = as_viewer.get(address(run, "?a=1&b=2")).content.decode()
    assert "sentence by sentence" in text
    assert "characters unchanged" in text
    assert len(text) < 400_000


def test_htmx_gets_the_comparison_alone(as_viewer, stage):
    text = as_viewer.get(address(guide_run(stage), "?a=1&b=2"), headers=HTMX).content.decode()
    assert "<html" not in text
    assert text.count('id="round-text"') == 1


@pytest.mark.parametrize("rest", ["?a=1&b=9", "?a=x&b=1", "?a=1&b=99999999999999"])
def test_there_is_no_such_round(as_viewer, project, rest):
    assert as_viewer.get(address(finished_run(project), rest)).status_code == 404


def test_the_wrong_person_and_the_wrong_method(as_outsider, as_owner, project):
    run = finished_run(project)
    assert as_outsider.get(address(run)).status_code == 404
    assert as_owner.post(address(run)).status_code == 405
