"""Editing who judges: mode, panel, gallery, clerk and plateau, without scripts."""

import re
from dataclasses import replace
from html import unescape

import pytest
from django.urls import reverse

from refinement.engine.codec import rubric_to_json
from refinement.engine.kinds import JudgeMode, OnPlateau
from refinement.engine.panels import PANELS, Judges, PanelJudge
from refinement.forms.rubrics.initial import form_fields
from refinement.providers.base import ModelInfo
from refinement.selectors.launch.available_models import Offer
from refinement.selectors.rubrics.definitions import definition_of
from tests.views.rubrics.given import MARKUP, a_rubric
from tests.views.rubrics.test_edit_conflict import hidden

pytestmark = pytest.mark.django_db
OFFERS = [
    Offer("ollama", (ModelInfo("qwen3:14b"), ModelInfo("small:latest"))),
    Offer("rack", (ModelInfo(MARKUP),)),
    Offer("away", problem="Not responding."),
]
BOARD = {
    "judges-mode": "board",
    "judges-clerk": " ollama/small ",
    "policy-on_plateau": "ask",
    "judge-0-name": " Reader ",
    "judge-0-lens": "You read it once.\r\nThen you stop.",
    "judge-0-model": "ollama/qwen3:14b",
    "judge-0-order": "2",
    "judge-1-name": "Editor",
    "judge-1-lens": "You look at the whole.",
    "judge-1-model": "",
    "judge-1-order": "1",
}


@pytest.fixture(autouse=True)
def _models(monkeypatch):
    monkeypatch.setattr("refinement.views.rubrics.editor.models_offered", lambda: OFFERS)


@pytest.fixture
def version(project):
    return a_rubric(project)


@pytest.fixture
def address(project, version):
    return reverse("rubric_edit", args=[project.slug, "own"])


def typed(version, **changes):
    fields = form_fields(rubric_to_json(definition_of(version))) | {"edited_from": str(version.number)}
    return fields | {"act": "save"} | changes


def without(fields, *names):
    return {name: value for name, value in fields.items() if name not in names}


def page_of(answer):
    return unescape(answer.content.decode())


def test_a_board_is_saved_and_shown_again(as_editor, project, address, version):
    board = without(typed(version, **BOARD), "judges-deliberation")
    assert as_editor.post(address, board).status_code == 302
    newest = version.rubric.versions.get(number=2)
    found = definition_of(newest)
    assert found.policy.on_plateau is OnPlateau.ASK
    assert found.judges == Judges(
        JudgeMode.BOARD,
        (
            PanelJudge("Editor", "You look at the whole."),
            PanelJudge("Reader", "You read it once.\nThen you stop.", "ollama/qwen3:14b"),
        ),
        False,
        "ollama/small",
    )
    editor = page_of(as_editor.get(address))
    assert 'name="judge-1-model" id="judge-1-model" value="ollama/qwen3:14b"' in editor
    assert 'value="board" checked' in editor
    assert "2 judges: 3 calls per round" in editor
    assert as_editor.post(address, typed(newest)).status_code == 302
    assert version.rubric.versions.count() == 2  # nothing is lost by saving again


def test_nothing_changes_for_a_single_judge(as_editor, address, version):
    page = page_of(as_editor.get(address))
    assert "1 judge: 1 call per round" in page
    assert 'value="single" checked' in page
    as_editor.post(address, typed(version))
    assert version.rubric.versions.count() == 1


@pytest.mark.parametrize(
    ("changes", "price"),
    [
        ({"judges-mode": "board"}, "3 judges: 7 calls per round"),
        ({"judges-mode": "auto"}, "1 call per round, or 7 with a board of 3"),
        ({"policy-on_plateau": "board"}, "1 judge: 1 call per round, 7 after a plateau"),
        (BOARD, "2 judges: 5 calls per round"),
    ],
)
def test_the_price_is_shown(as_editor, address, version, changes, price):
    page = page_of(as_editor.post(address, typed(version, **changes, act="show")))
    assert f"data-price>{price}</output>" in page


def test_a_judge_is_added_and_removed_without_script(as_editor, address, version):
    added = page_of(as_editor.post(address, typed(version, **BOARD, act="add-judge")))
    assert 'name="judge-2-name" id="judge-2-name" value=""' in added
    removed = page_of(
        as_editor.post(address, typed(version, **BOARD, act="show", **{"judge-0-remove": "on"}))
    )
    assert 'name="judge-0-name"' not in removed
    assert 'name="judge-1-name"' in removed
    assert version.rubric.versions.count() == 1


def test_a_panel_of_five_takes_no_sixth(as_editor, address, version):
    five = {f"judge-{n}-{part}": f"{part} {n}" for n in range(5) for part in ("name", "lens")}
    page = page_of(as_editor.post(address, typed(version, **five, act="add-judge")))
    assert 'id="judge-4-name"' in page
    assert 'id="judge-5-name"' not in page


@pytest.mark.parametrize("kind", PANELS)
def test_a_panel_of_the_gallery_replaces_the_rows(as_editor, address, version, kind):
    answer = as_editor.post(address, typed(version, **BOARD, act="use-panel", **{"panel-type": kind}))
    rows = answer.context["judges"]
    assert [(row["name"], row["lens"], row["model"]) for row in rows] == [
        (judge.name, judge.lens, "") for judge in PANELS[kind]
    ]
    assert re.search(rf'<option value="{kind}" selected>', answer.content.decode())
    fields = {f"{row['id']}-{part}": row[part] for row in rows for part in ("name", "lens", "model")}
    assert as_editor.post(address, typed(version, **fields)).status_code == 302
    assert definition_of(version.rubric.versions.get(number=2)).judges.panel == PANELS[kind]


def test_an_unknown_panel_changes_nothing(as_editor, address, version):
    answer = as_editor.post(address, typed(version, **BOARD, act="use-panel", **{"panel-type": "<b>"}))
    assert [row["name"].strip() for row in answer.context["judges"]] == ["Editor", "Reader"]


def test_the_menu_begins_with_the_panel_for_the_kind_of_work(as_editor, address, version):
    page = page_of(as_editor.post(address, typed(version, artifact_type="code", act="show")))
    assert '<option value="code" selected>Code: Correctness reviewer, Next maintainer' in page


@pytest.mark.parametrize(
    ("changes", "field", "label", "words"),
    [
        ({"judge-0-name": " "}, "judge-0-name", "Judge 2, name", "Enter a name, such as Domain expert."),
        ({"judge-0-name": "eDITOR"}, "judge-0-name", "Judge 2 (eDITOR), name", "Another judge has the same"),
        ({"judge-0-name": "n" * 61}, "judge-0-name", "Judge 2", "61 characters; at most 60 are allowed"),
        ({"judge-1-lens": " \n"}, "judge-1-lens", "Judge 1 (Editor), lens", "Enter how this judge looks"),
        ({"judge-1-lens": "l" * 601}, "judge-1-lens", "Judge 1 (Editor), lens", "at most 600 are allowed"),
        ({"judge-1-model": "small"}, "judge-1-model", "Judge 1 (Editor), model", "Enter ENDPOINT/MODEL"),
        ({"judges-clerk": "small/"}, "judges-clerk", "Clerk's model", "Enter ENDPOINT/MODEL, such as"),
        ({"judges-mode": "jury"}, "judges-mode", "Judges", "Choose one of the options."),
        ({"policy-on_plateau": "panic"}, "policy-on_plateau", "On a plateau", "Choose one of the options."),
    ],
)
def test_errors_stand_at_their_fields(as_editor, address, version, changes, field, label, words):
    answer = as_editor.post(address, typed(version, **BOARD | changes))
    page = page_of(answer)
    assert answer.status_code == 422
    assert list(answer.context["errors"]) == [field]
    assert words in page.split(f'id="{field}-error">')[1].split("</ul>")[0]
    assert f'<a href="#{field}">{label}' in page
    assert version.rubric.versions.count() == 1


@pytest.mark.parametrize("judges", [1, 6])
def test_a_panel_of_the_wrong_size_is_refused(as_editor, address, version, judges):
    rows = {f"judge-{n}-{part}": f"{part} {n}" for n in range(judges) for part in ("name", "lens")}
    answer = as_editor.post(address, typed(version, **rows))
    words = "A board needs at least 2 judges." if judges == 1 else "6 judges; at most 5 are allowed."
    assert answer.status_code == 422
    assert f'<a href="#panel">Judges</a>: {words}' in page_of(answer)


def test_errors_come_in_the_order_of_the_page(as_editor, address, version):
    wrong = {"policy-pass_threshold": "x", "judge-0-name": "", "criterion-0-weight": "0", "judges-clerk": "x"}
    answer = as_editor.post(address, typed(version, **BOARD | wrong))
    assert list(answer.context["errors"]) == [
        "criterion-0-weight",
        "judges-clerk",
        "judge-0-name",
        "policy-pass_threshold",
    ]


def test_known_models_are_offered_and_others_are_marked(as_editor, address, version):
    models = {"judge-0-model": "gone/x", "judge-1-model": "ollama/none", "judges-clerk": "ollama/small"}
    answer = as_editor.post(address, typed(version, **BOARD | models, act="show"))
    page = page_of(answer)
    assert answer.context["known_models"] == ["ollama/qwen3:14b", "ollama/small:latest", f"rack/{MARKUP}"]
    assert 'id="judge-0-model-warning">This instance has no model server named gone.' in page
    assert 'id="judge-1-model-warning">Model not found on this model server.' in page
    assert "judges-clerk-warning" not in page  # :latest is understood
    assert as_editor.post(address, typed(version, **BOARD | models)).status_code == 302  # it can be saved


def test_a_model_of_a_server_that_is_away_is_not_marked(as_editor, address, version):
    page = page_of(as_editor.post(address, typed(version, **BOARD | {"judges-clerk": "away/x"}, act="show")))
    assert "judges-clerk-warning" not in page


def test_markup_is_text(as_editor, project):
    hostile = PanelJudge(MARKUP[:60], MARKUP, f"e/{MARKUP}")
    board = Judges(JudgeMode.BOARD, (hostile, PanelJudge("B", "b")), clerk=f"{MARKUP}/x")
    a_rubric(project, slug="odd", judges=board)
    for name in ("rubric_edit", "rubric_page", "rubric_compare"):
        page = as_editor.get(reverse(name, args=[project.slug, "odd"])).content.decode()
        assert "<script>alert" not in page, name
        assert "<img src=x" not in page, name


def conflict_of(as_owner, as_editor, project, hers, mine):
    """Both start from a board of three; she saves first, the answer to the second is returned."""
    first = a_rubric(project, slug="shared", judges=Judges(JudgeMode.BOARD, PANELS["document"]))
    address = reverse("rubric_edit", args=[project.slug, "shared"])
    assert as_owner.post(address, typed(first, **hers)).status_code == 302
    return first, address, as_editor.post(address, typed(first, **mine))


def test_two_people_edit_one_panel(as_owner, as_editor, project):
    hers = {"judge-0-lens": "Hers.", "judge-2-remove": "on", "judges-mode": "auto"}
    mine = {"judge-0-lens": "Mine.", "judge-1-model": "rack/x", "policy-on_plateau": "ask"}
    first, address, answer = conflict_of(as_owner, as_editor, project, hers, mine)
    page = page_of(answer)
    labels = {
        side: [entry.label for entry in answer.context[side]]
        for side in ("choices", "their_changes", "my_changes")
    }
    assert answer.status_code == 409
    assert labels == {
        "choices": ["Judge “First-time reader”: lens"],
        "their_changes": ["Judges", "Judge “Editor”"],
        "my_changes": ["On a plateau", "Judge “Domain expert”: model"],
    }
    for words in ("Hers.", "Mine.", "Automatic", "Pause and ask", "rack/x"):
        assert words in page, words
    choice = {"act": "merge", "choose.panel.First-time reader.lens": "theirs"}
    assert as_editor.post(address, hidden(answer) | choice).status_code == 302
    found = definition_of(first.rubric.versions.first())
    reader, expert, _ = PANELS["document"]
    panel = (replace(reader, lens="Hers."), replace(expert, model="rack/x"))
    assert (found.judges, found.policy.on_plateau) == (Judges(JudgeMode.AUTO, panel), OnPlateau.ASK)


def test_two_edits_that_leave_one_judge_are_shown_to_be_put_right(as_owner, as_editor, project):
    hers, mine = {"judge-0-remove": "on"}, {"judge-1-remove": "on"}
    first, address, answer = conflict_of(as_owner, as_editor, project, hers, mine)
    answer = as_editor.post(address, hidden(answer) | {"act": "merge"})
    assert answer.status_code == 422
    assert "A board needs at least 2 judges." in page_of(answer)
    assert [row["name"] for row in answer.context["judges"]] == ["Editor"]
    assert first.rubric.versions.count() == 2
