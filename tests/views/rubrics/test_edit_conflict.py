"""Two people edit one rubric: the second sees the first one's changes and chooses; nothing is lost."""

import re
from decimal import Decimal
from html import unescape

import pytest
from django.urls import reverse

from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics import editing as rubrics
from tests.views.rubrics.given import a_rubric, saved_again
from tests.views.rubrics.test_edit import HTMX, typed

pytestmark = pytest.mark.django_db


@pytest.fixture
def first(project):
    return a_rubric(project)


@pytest.fixture
def address(project, first):
    return reverse("rubric_edit", args=[project.slug, "own"])


def hidden(answer):
    """What the conflict page sends on, as a browser without script would."""
    page = answer.content.decode()
    fields = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', page)
    return {unescape(name): unescape(value) for name, value in fields if name != "csrfmiddlewaretoken"}


@pytest.fixture
def conflict(as_owner, as_editor, address, first):
    """The owner saved first; the editor, who started from the same version, saves too."""
    as_owner.post(address, typed(first, purpose="Hers.", name="Her name", note="Names."))
    mine = typed(first, purpose="Mine.", **{"criterion-0-weight": "18", "note": "My note", "draft": "d-1"})
    return as_editor.post(address, mine)


def newest(first):
    return first.rubric.versions.first()


def test_the_second_is_shown_both_edits_and_nothing_is_written(conflict, first):
    page = unescape(conflict.content.decode())

    assert conflict.status_code == 409
    assert newest(first).number == 2
    assert "Olivia Owner saved version 2 while you were editing version 1" in page
    assert [entry.label for entry in conflict.context["choices"]] == ["What it is for"]
    assert [entry.label for entry in conflict.context["their_changes"]] == ["Name"]
    assert [entry.label for entry in conflict.context["my_changes"]] == ["Criterion “Depth”: weight"]
    for words in ("Hers.", "Mine.", "Her name", "0.9", "Names."):
        assert words in page


def test_ones_own_other_window_is_told_as_such(as_editor, address, first):
    as_editor.post(address, typed(first, purpose="One."))

    page = as_editor.post(address, typed(first, purpose="Two.")).content.decode()

    assert "You, in another window, saved version 2 while you were editing version 1" in page


@pytest.mark.parametrize(("side", "purpose"), [("mine", "Mine."), ("theirs", "Hers.")])
def test_the_choice_is_saved_on_top_of_the_newest(as_editor, editor, address, conflict, first, side, purpose):
    answer = as_editor.post(address, hidden(conflict) | {"act": "merge", "choose.purpose": side})

    assert answer.headers["Location"] == f"{address}?saved=d-1"
    version = newest(first)
    found = definition_of(version)
    assert (version.number, version.note, version.created_by) == (3, "My note", editor)
    assert (found.name, found.purpose, str(found.criteria[0].weight)) == ("Her name", purpose, "0.9")


def test_the_joined_edit_can_be_looked_over_first(as_editor, address, conflict, first):
    answer = as_editor.post(address, hidden(conflict) | {"act": "merge-edit", "choose.purpose": "theirs"})

    assert answer.status_code == 200
    assert newest(first).number == 2
    assert answer.context["version"].number == 2
    fields = answer.context["fields"]
    assert (fields["purpose"], fields["name"], fields["criterion-0-weight"]) == ("Hers.", "Her name", "18")
    assert (fields["note"], fields["draft"]) == ("My note", "d-1")


def test_a_third_save_in_between_is_shown_again(as_owner, as_editor, address, conflict, first):
    as_owner.post(address, typed(newest(first), background="A third thing."))

    answer = as_editor.post(address, hidden(conflict) | {"act": "merge", "choose.purpose": "theirs"})

    assert answer.status_code == 409
    assert newest(first).number == 3
    assert [entry.label for entry in answer.context["their_changes"]] == ["Name", "Background"]
    assert "choose.purpose" in answer.context["chosen_theirs"]
    as_editor.post(address, hidden(answer) | {"act": "merge", "choose.purpose": "mine"})
    found = definition_of(newest(first))
    assert (found.purpose, found.background, found.name) == ("Mine.", "A third thing.", "Her name")


def test_a_save_in_the_very_moment_is_noticed(as_editor, address, conflict, first, monkeypatch):
    """Between reading the newest version and writing, somebody else may write."""

    def late(**values):
        raise rubrics.NewerVersion(3)

    monkeypatch.setattr("refinement.views.rubrics.editor.version_create", late)

    answer = as_editor.post(address, hidden(conflict) | {"act": "merge", "choose.purpose": "mine"})

    assert answer.status_code == 409


def test_a_merge_that_breaks_a_rule_is_shown_with_its_problem(as_owner, as_editor, address, first):
    as_owner.post(address, typed(first, **{"scale-maximum": "9.5"}))
    conflict = as_editor.post(address, typed(first, **{"policy-pass_threshold": "9.8"}))

    answer = as_editor.post(address, hidden(conflict) | {"act": "merge"})

    assert conflict.status_code == 409
    assert answer.status_code == 422
    assert list(answer.context["errors"]) == ["policy-pass_threshold"]
    assert answer.context["fields"]["policy-pass_threshold"] == "9.8"
    assert answer.context["version"].number == 2


def test_a_seed_that_the_other_set_is_kept(as_owner, as_editor, address, first):
    saved_again(
        first, calibration_text="Seed.", calibration_scores={"depth": Decimal(3), "grounded": Decimal(4)}
    )
    conflict = as_editor.post(address, typed(first, **{"criterion-0-key": "deep"}))

    as_editor.post(address, hidden(conflict) | {"act": "merge"})

    version = newest(first)
    assert (version.number, version.calibration_text) == (3, "Seed.")
    assert version.calibration_scores == {"deep": "3", "grounded": "4"}


def test_htmx_gets_the_choice_alone(as_owner, as_editor, address, first):
    as_owner.post(address, typed(first, purpose="Hers."))

    answer = as_editor.post(address, typed(first, purpose="Mine."), headers=HTMX)

    assert answer.status_code == 409
    assert answer.content.decode().lstrip().startswith("<form")


def test_others_cannot_choose(as_viewer, as_outsider, address, conflict, first):
    sent = hidden(conflict) | {"act": "merge"}

    assert as_viewer.post(address, sent).status_code == 403
    assert as_outsider.post(address, sent).status_code == 404
    assert newest(first).number == 2


def test_problems_come_before_the_choice(as_owner, as_editor, address, first):
    as_owner.post(address, typed(first, purpose="Hers."))

    answer = as_editor.post(address, typed(first, name=""))

    assert answer.status_code == 422
    assert "Version 2 was saved since you opened version 1" in answer.content.decode()
