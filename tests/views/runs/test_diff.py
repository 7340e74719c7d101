"""Two rounds compared on a page."""

import re

import pytest

from refinement.diffing import Request
from refinement.selectors.runs.rounds import rewritten
from refinement.selectors.runs.texts.diff_lines import ShownPiece, diff_lines
from tests.views.runs.finished import finished_run
from tests.views.runs.guide import guide_run

pytestmark = pytest.mark.django_db


def address(run, rest=""):
    return f"/p/{run.project.slug}/runs/{run.pk}/diff/{rest}"


def compared(client, run, rest=""):
    answer = client.get(address(run, rest), follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def test_changes_moves_and_who_asked(as_viewer, stage):
    text = compared(as_viewer, guide_run(stage), "?a=1&b=2")
    assert "<ins>" in text
    assert "<del>" in text
    assert "moved here" in text
    assert "moved away" in text
    assert (
        '<span class="asked" title="The port on which the service listens is missing.">issue 1</span>' in text
    )
    assert "nobody asked for this" in text
    assert "unexplained." in text


def test_where_nothing_can_be_traced_it_is_said_once(as_viewer, stage, monkeypatch):
    monkeypatch.setattr(
        "refinement.selectors.runs.texts.diffs.matching_request", lambda passage, requests: None
    )
    text = compared(as_viewer, guide_run(stage), "?a=1&b=2")
    assert "No change matches the feedback" in text
    assert "nobody asked for this" not in text


def test_side_by_side(as_viewer, stage):
    text = compared(as_viewer, guide_run(stage), "?a=1&b=2&view=sides")
    assert 'role="columnheader">Round 1<' in text
    assert "<ins>" in text


def open_tab(text):
    return re.search(r'aria-current="true">([^<]*)<', text.split('id="pane-tabs"')[1])[1]


def test_without_numbers_it_is_the_best_against_the_round_before(as_viewer, stage, project):
    text = compared(as_viewer, guide_run(stage))
    assert '<option value="1" selected>Round 1 (starting text)</option>' in text
    assert 'aria-label="Text of round 2"' in text
    text = compared(as_viewer, finished_run(project, ["5", "6", "7"]))
    assert '<option value="2" selected>Round 2' in text
    assert open_tab(text) == "Changes from round 2"


@pytest.mark.parametrize(
    ("base", "tab"), [(1, "From the start"), (2, "Changes from round 2"), (3, "Changes from round 3")]
)
def test_the_open_tab_names_the_round_of_the_comparison(as_viewer, project, base, tab):
    run = finished_run(project, ["5", "6", "7", "8"])
    text = compared(as_viewer, run, f"?a={base}&b=4")
    assert open_tab(text) == tab
    assert f'<option value="{base}" selected>' in text


def test_the_share_of_changed_text_is_that_of_the_round_before(as_viewer, project):
    run = finished_run(project, ["5", "6"], candidates=["one two three four", "one two 3 four"])
    text = compared(as_viewer, run)
    assert "25 % changed" in text
    assert rewritten(*run.rounds.all()) == ["25 % of the text changed from round 1 to 2."]


def test_a_suggestion_that_was_not_sent_is_not_a_change_that_nobody_asked_for(as_viewer, stage):
    run = guide_run(stage)
    for view in ("changes", "blame"):
        text = as_viewer.get(f"/p/{run.project.slug}/runs/{run.pk}/rounds/2/?view={view}").content.decode()
        assert "suggested by the judge, not sent to the writer" in text, view


def test_over_several_rounds_every_request_names_its_round(as_viewer, stage):
    text = compared(as_viewer, guide_run(stage), "?a=1&b=3")
    assert "issue 1 of round 1" in text
    assert "issue 1 of round 2" in text


def test_backwards_and_equal(as_viewer, stage):
    run = guide_run(stage)
    assert "so changes are not matched to feedback" in compared(as_viewer, run, "?a=2&b=1")
    assert "The two texts are the same." in compared(as_viewer, run, "?a=2&b=2")


def test_a_long_text_says_how_it_was_compared(as_viewer, project):
    long = "\n".join(f"Line {n} of a long text that goes on and on." for n in range(6000))
    run = finished_run(project, ["5", "6"], candidates=[long, long.replace("Line 7 of", "Line seven of")])
    text = compared(as_viewer, run, "?a=1&b=2")
    assert "sentence by sentence" in text
    assert "characters unchanged" in text
    assert len(text) < 400_000


def test_a_round_without_a_change_says_so(as_viewer, project):
    run = finished_run(project, ["5", "5"], candidates=["The same text.", "The same text."])
    text = as_viewer.get(f"/p/{run.project.slug}/runs/{run.pk}/rounds/2/?view=changes").content.decode()
    assert "<b>No change.</b> Round 2 has the same text as round 1." in text


def test_headings_look_like_headings_but_comments_in_code_do_not():
    text = "# Head\n\nOne.\n```\n# a comment\n```\n## Next"
    lines = diff_lines([ShownPiece("same", text)])
    assert [(line.kind, "".join(piece.text for piece in line.pieces)) for line in lines] == [
        ("heading", "Head"),
        ("blank", ""),
        ("text", "One."),
        ("code", "```"),
        ("code", "# a comment"),
        ("code", "```"),
        ("heading", "Next"),
    ]


def test_signs_of_markdown_are_not_shown():
    (line,) = diff_lines([ShownPiece("same", "- **Bold** and `x` * y")])
    assert line.pieces[0].runs == (("", "• "), ("strong", "Bold"), ("", " and "), ("code", "x"), ("", " * y"))


def test_a_request_stays_with_the_last_words_of_its_change():
    asked = Request("issue 1", "Name the port.")
    pieces = [
        ShownPiece("same", "Start "),
        ShownPiece("inserted", "one\ntwo", 1, asked, last=True, tail=" \n"),
        ShownPiece("same", "End"),
    ]
    shown = [[(piece.text, piece.asked) for piece in line.pieces] for line in diff_lines(pieces)]
    assert shown == [[("Start ", None), ("one", None)], [("two", asked)], [("End", None)]]


@pytest.mark.parametrize("rest", ["?a=1&b=9", "?a=x&b=1", "?a=1&b=99999999999999"])
def test_there_is_no_such_round(as_viewer, project, rest):
    assert as_viewer.get(address(finished_run(project), rest), follow=True).status_code == 404


def test_the_wrong_person_and_the_wrong_method(as_outsider, as_owner, project):
    run = finished_run(project)
    assert as_outsider.get(address(run)).status_code == 404
    assert as_owner.post(address(run)).status_code == 405
