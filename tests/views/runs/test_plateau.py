"""A run that stopped improving: what its page says, and an editor's answer to it."""

import re

import pytest

from refinement.models import Run
from tests.views.runs.board_guide import at_plateau
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
ANSWERS = {
    "stop": ("The run stops at its best round.", {"plateau_accepted": True, "escalated_after": 0}),
    "continue": ("A board judges 2 more rounds.", {"plateau_accepted": False, "escalated_after": 4}),
}


def home(run: Run) -> str:
    return f"/p/{run.project.slug}/runs/{run.pk}/"


def address(run: Run) -> str:
    return f"{home(run)}plateau/"


def test_the_page_says_what_happened_and_offers_both_answers(as_editor, project):
    run = at_plateau(project)
    text = as_editor.get(home(run)).content.decode()
    for words in (
        "Paused on a plateau, 4 of max. 8 rounds judged. Decide how to go on.",
        "None of the last 3 rounds is better than round 2 (7.3).",
        "Run 2 more rounds with a board",
        "Stop here",
        "About 19 model calls.",
        f'action="{address(run)}"',
        f'hx-post="{address(run)}"',
    ):
        assert words in text, words
    assert "act-resume" not in text  # it would ask again at once
    assert re.search(rf'href="{home(run)}rounds/2/"[^>]* aria-current="true"', text)  # the best


def test_a_run_with_a_board_goes_on_with_it(as_editor, project):
    text = as_editor.get(home(at_plateau(project, board=True))).content.decode()
    assert "Run 2 more rounds</button>" in text
    assert "with a board" not in text


def test_a_viewer_reads_it_without_buttons(as_viewer, project):
    text = as_viewer.get(home(at_plateau(project))).content.decode()
    assert "An editor decides how the run continues." in text
    assert "Stop here" not in text


def test_a_run_that_does_not_ask_has_no_such_part(as_editor, project):
    asked = at_plateau(project)
    Run.objects.filter(pk=asked.pk).update(plateau_asked=False)
    for run in (asked, finished_run(project)):
        assert "plateau-head" not in as_editor.get(home(run)).content.decode()


@pytest.mark.parametrize("script", [False, True], ids=["plain", "htmx"])
@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_is_taken(as_editor, project, answer, script):
    run = at_plateau(project)
    headers = HTMX if script else {}
    page = as_editor.post(address(run), {"answer": answer}, headers=headers, follow=not script)
    words, fields = ANSWERS[answer]
    assert page.status_code == 200
    assert words in page.content.decode()
    assert ("<html" in page.content.decode()) is not script
    run.refresh_from_db()
    assert (run.status, run.plateau_asked) == ("queued", False)
    assert {name: getattr(run, name) for name in fields} == fields


@pytest.mark.parametrize("script", [False, True], ids=["plain", "htmx"])
def test_the_second_of_two_people_is_told(as_editor, as_owner, project, script):
    run = at_plateau(project)
    as_owner.post(address(run), {"answer": "stop"})
    late = as_editor.post(address(run), {"answer": "continue"}, headers=HTMX if script else {})
    assert late.status_code == 422
    assert "does not wait for a decision" in late.content.decode()
    run.refresh_from_db()
    assert run.plateau_accepted


@pytest.mark.parametrize("answer", ["", "perhaps"])
def test_another_answer_changes_nothing(as_editor, project, answer):
    run = at_plateau(project)
    page = as_editor.post(address(run), {"answer": answer})
    assert page.status_code == 422
    assert "Choose whether the run stops or continues." in page.content.decode()
    run.refresh_from_db()
    assert run.plateau_asked


def test_only_editors_answer(as_viewer, as_outsider, anonymous, as_editor, project):
    run = at_plateau(project)
    assert as_viewer.post(address(run), {"answer": "stop"}).status_code == 403
    assert as_outsider.post(address(run), {"answer": "stop"}).status_code == 404
    assert anonymous.post(address(run), {"answer": "stop"}).status_code == 302
    assert as_editor.get(address(run)).status_code == 405
    run.refresh_from_db()
    assert run.plateau_asked
