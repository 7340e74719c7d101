"""The preview of a board: a judge, its deliberation or the clerk, chosen by a button."""

import html
import re

import pytest

from refinement.engine.types import JudgeMode, Judges, PanelJudge
from tests.views.rubrics.given import HOSTILE, MARKUP, a_rubric
from tests.views.rubrics.test_preview import HTMX, PAGE, asked, fates, prompts

pytestmark = pytest.mark.django_db

PANEL = (PanelJudge("Ada", "You count words."), PanelJudge("Ben", "You doubt."))


@pytest.fixture
def board(project):
    return a_rubric(project, "simmer", judges=Judges(JudgeMode.BOARD, PANEL))


def choices(page: str) -> dict[str, bool]:
    """The labels that can be chosen, and which one is."""
    found = re.findall(r'<button [^>]*name="show"[^>]*aria-pressed="(true|false)"[^>]*>(.*?)</button>', page)
    return {label: pressed == "true" for pressed, label in found}


def titles(page: str) -> list[str]:
    return [html.unescape(title) for title in re.findall(r'<h2 id="[a-z0-9-]+-head">(.*?)</h2>', page)][1:]


PRODUCER = ["Writer, first draft", "Writer, revision"]


@pytest.mark.parametrize(
    ("show", "chosen", "shown"),
    [
        ("", "Judge 1", ["Judge 1: Ada"]),
        ("nobody", "Judge 1", ["Judge 1: Ada"]),
        ("judge-2", "Judge 2", ["Judge 2: Ben"]),
        ("judge-3", "Judge 1", ["Judge 1: Ada"]),
        ("deliberation", "Deliberation", ["Deliberation, judge 1: Ada", "Deliberation, judge 2: Ben"]),
        ("clerk", "Clerk", ["Clerk, merging", "Clerk, key change"]),
    ],
)
def test_one_of_those_who_are_asked_is_shown(as_viewer, board, show, chosen, shown):
    for answer in (as_viewer.post(PAGE, asked(show=show)), as_viewer.post(PAGE, asked(show=show), **HTMX)):
        page = answer.content.decode()
        assert answer.status_code == 200
        assert [label for label, pressed in choices(page).items() if pressed] == [chosen]
        assert list(choices(page)) == ["Judge 1", "Judge 2", "Deliberation", "Clerk"]
        assert titles(page) == shown + PRODUCER


def test_the_choice_is_kept_by_the_form_and_by_an_address(as_viewer, board):
    page = as_viewer.get(PAGE, {"show": "clerk"}).content.decode()
    assert '<input type="hidden" name="show" value="clerk">' in page
    assert titles(page) == ["Clerk, merging", *PRODUCER]  # round 1 has changed nothing


def test_a_judge_has_its_lens_and_a_deliberation_the_others(as_viewer, board):
    judge = prompts(as_viewer.post(PAGE, asked(show="judge-2")).content.decode())[1]
    assert "Your seat: Ben.\nYou doubt.\n" in judge
    page = as_viewer.post(PAGE, asked(show="deliberation")).content.decode()
    own, others = prompts(page)[:2]
    assert own.startswith('{\n  "criteria"')
    assert "Ben\n- clarity: 5." in others
    assert "The direction." not in others
    assert "Follows the messages of judge 1, which are sent again unchanged." in page
    assert "Every judge of the board is assumed to have given the same verdict." in page


def test_the_clerk_is_shown_what_it_may_see(as_viewer, board):
    page = as_viewer.post(PAGE, asked(show="clerk")).content.decode()
    merge, describe = prompts(page)[1], prompts(page)[3]
    assert "Suggested change: The direction." in merge
    assert "The candidate itself." not in merge
    assert "-The earlier text.\n+The candidate itself." in describe
    assert fates(page, "merge")["Text"] == "hidden"
    assert fates(page, "merge")["Criteria"] == "seen"
    assert fates(page, "describe")["Feedback"] == "seen"
    assert fates(page, "describe")["First version&#x27;s scores"] == "hidden"


def test_without_a_panel_the_clerk_composes_it(as_viewer, project):
    a_rubric(project, "simmer", judges=Judges(JudgeMode.BOARD))
    page = as_viewer.post(PAGE, asked(show="clerk")).content.decode()
    assert titles(page)[:3] == ["Clerk, composing", "Clerk, merging", "Clerk, key change"]
    assert "The earlier text." in prompts(page)[1]
    assert "the clerk composes the board" in page


def test_without_deliberation_there_is_none_to_choose(as_viewer, project):
    a_rubric(project, "simmer", judges=Judges(JudgeMode.BOARD, PANEL, deliberation=False))
    assert list(choices(as_viewer.get(PAGE).content.decode())) == ["Judge 1", "Judge 2", "Clerk"]


def test_a_single_judge_has_nothing_to_choose_unless_changes_are_named(as_viewer, project):
    a_rubric(project, "simmer")
    assert choices(as_viewer.post(PAGE, asked()).content.decode()) == {}
    a_rubric(project, "simmer", slug="second", judges=Judges(clerk="ollama/m"))
    page = as_viewer.post(PAGE.replace("own", "second"), asked(show="clerk")).content.decode()
    assert choices(page) == {"Judge": False, "Clerk": True}
    assert titles(page) == ["Clerk, key change", *PRODUCER]


def test_hostile_names_and_lenses_are_text(as_viewer, project):
    panel = (PanelJudge(MARKUP[:60], HOSTILE), PANEL[1])
    a_rubric(project, "simmer", judges=Judges(JudgeMode.BOARD, panel))
    for show in ("judge-1", "deliberation", "clerk"):
        page = as_viewer.post(PAGE, asked(show=show)).content.decode()
        assert "<script>alert" not in page
        assert "<img src=x" not in page
