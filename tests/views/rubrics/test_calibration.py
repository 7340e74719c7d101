"""The calibration example: members read it, editors set it, copy it from a round, and remove it."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from refinement.engine.profiles import context_rules_for, rubric_for
from refinement.engine.types import ContextRules, Information
from refinement.models import AuditEntry, Round, RubricVersion, Verdict
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics.calibration import MAX_CALIBRATION_CHARS
from tests.models.given import a_run
from tests.views.rubrics.given import HOSTILE, MARKUP, a_rubric, saved_again

pytestmark = pytest.mark.django_db

PAGE = "/p/alpha/rubrics/own/calibration/"
KEYS = [criterion.key for criterion in rubric_for("wiggum").criteria]
EXAMPLE = {"calibration_text": "An old example.", "calibration_scores": {"depth": Decimal("4.5")}}


def filled(text="A middling text.", edited_from=1, note="", action="save", **scores):
    given = scores or dict.fromkeys(KEYS, "5.5")
    return {
        "text": text,
        "edited_from": str(edited_from),
        "note": note,
        "action": action,
        **{f"score-{key}": score for key, score in given.items()},
    }


def a_judged_round(project, version, text="A judged text.", score="6.5", **changes):
    run = a_run(project, version, seed=text, **changes)
    entries = [{"key": key, "score": score} for key in KEYS]
    scores = {**dict.fromkeys(KEYS, score), "depth": "4.5"}  # after penalties
    Round.objects.filter(run=run).update(judged_at=timezone.now(), composite=6, scores=scores)
    Verdict.objects.create(round=run.rounds.get(), judge="judge:8b", scores=entries)
    return run


def newest(version):
    return version.rubric.versions.order_by("-number").first()


def test_it_says_what_it_is_for(as_viewer, project):
    a_rubric(project)
    page = as_viewer.get(PAGE).content.decode()
    assert "gets the example and its scores in every round" in page
    assert "On the test bench" in page
    assert "This rubric has no calibration example" in page
    assert '<form class="form"' not in page


def test_everyone_reads_it(as_viewer, project):
    a_rubric(project, **EXAMPLE)
    page = as_viewer.get(PAGE).content.decode()
    assert "An old example." in page
    assert ">4.5</td>" in page


def test_an_editor_sets_it_as_a_new_version(as_editor, editor, project):
    version = a_rubric(project)
    answer = as_editor.post(
        PAGE, filled("Zeile\r\nzwei ", note="Scored by two.", depth="7", relevance="3.25")
    )
    assert answer.headers["Location"] == PAGE
    saved = newest(version)
    definition = definition_of(saved)
    assert (saved.number, saved.note, saved.created_by) == (2, "Scored by two.", editor)
    assert definition.calibration_text == "Zeile\nzwei "
    assert definition.calibration_scores == {"depth": Decimal(7), "relevance": Decimal("3.25")}
    assert definition.criteria == definition_of(version).criteria
    assert AuditEntry.objects.filter(action="rubric.save", user=editor).exists()
    page = as_editor.get(PAGE).content.decode()
    assert "Calibration example saved: version 2." in page
    assert 'value="3.25"' in page


def test_saving_it_unchanged_adds_no_version(as_editor, project):
    version = a_rubric(project, **EXAMPLE)
    answer = as_editor.post(PAGE, filled("An old example.", depth="4.50"), follow=True)
    assert "No changes to save." in answer.content.decode()
    assert version.rubric.versions.count() == 1


def test_an_editor_removes_it(as_editor, project):
    version = a_rubric(project, **EXAMPLE)
    assert "Remove</button>" in as_editor.get(PAGE).content.decode()
    # Whatever stands in the fields: for a removal it does not matter.
    answer = as_editor.post(PAGE, filled("", action="remove", depth="nonsense"))
    assert answer.status_code == 302
    assert definition_of(newest(version)).calibration_text == ""
    assert newest(version).note == "Removed the calibration example."
    again = as_editor.post(PAGE, filled(edited_from=2, action="remove"), follow=True)
    assert "There is no example to remove." in again.content.decode()
    assert version.rubric.versions.count() == 2


def test_it_is_filled_from_a_judged_round_with_what_the_judge_said(as_editor, project):
    version = a_rubric(project)
    run = a_judged_round(project, version)
    assert f"Run {run.pk}, round 1, score 6.00" in as_editor.get(PAGE).content.decode()
    page = as_editor.get(f"{PAGE}?round={run.pk}-1").content.decode()
    assert "A judged text.</textarea>" in page
    assert page.count('value="6.5"') == len(KEYS)  # before points were taken off
    assert f"Calibration example from round 1 of run {run.pk}." in page
    assert "not saved yet" in page
    assert version.rubric.versions.count() == 1


def test_a_round_of_an_older_version_with_other_criteria_fills_what_it_can(as_editor, project):
    version = a_rubric(project)
    run = a_judged_round(project, version)
    saved_again(version, criteria=rubric_for("wiggum").criteria[:2], name="Fewer")
    page = as_editor.get(f"{PAGE}?round={run.pk}-1").content.decode()
    assert page.count('value="6.5"') == 2


@pytest.mark.parametrize("named", ["0-0", "x", "1-", "-1", "99999-1", "1-1-1", "²-1", "9" * 30 + "-1", "<b>"])
def test_a_round_that_is_not_there_is_not_found(as_editor, project, named):
    a_judged_round(project, a_rubric(project), text="Only round.")
    assert as_editor.get(PAGE, {"round": named}).status_code == 404


def test_rounds_of_other_rubrics_and_projects_are_neither_offered_nor_given(
    as_editor, project, other_project
):
    a_rubric(project)
    other = a_judged_round(project, a_rubric(project, slug="second"), text="Of another rubric.")
    theirs = a_judged_round(other_project, a_rubric(other_project), text="Of another project.")
    page = as_editor.get(PAGE).content.decode()
    assert "Use a judged round" not in page
    for run in (other, theirs):
        assert as_editor.get(PAGE, {"round": f"{run.pk}-1"}).status_code == 404


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"text": ""}, "The text is empty. Paste the text that the scores belong to."),
        ({"text": " \n "}, "The text is empty. Paste the text that the scores belong to."),
        (
            {"text": "x" * (MAX_CALIBRATION_CHARS + 1)},
            "The text has 200,001 characters; 200,000 are allowed.",
        ),
        ({"text": "x" * 1_000_000}, "The text has 1,000,000 characters; 200,000 are allowed."),
        ({"score-depth": "11"}, "11 is not on the scale. Allowed: numbers from 0 to 10."),
        ({"score-depth": "-1"}, "-1 is not on the scale"),
        ({"score-depth": "seven"}, "Enter a number, such as 7.5."),
        ({"score-depth": "NaN"}, "Enter a number, such as 7.5."),
        ({"score-depth": "1e400"}, "no more than"),
        ({f"score-{key}": "" for key in KEYS}, "Score at least one criterion."),
        ({"note": "n" * 401}, "at most 400 characters"),
    ],
)
def test_bad_input_is_told_beside_its_field_and_everything_typed_is_kept(as_editor, project, sent, words):
    version = a_rubric(project)
    answer = as_editor.post(PAGE, {**filled(f"Kept {MARKUP}", note="Kept note"), **sent})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert words in page
    assert "<script>alert" not in page
    if "note" not in sent:
        assert 'value="Kept note"' in page
    if "text" not in sent:
        assert "Kept &lt;script&gt;" in page
    assert version.rubric.versions.count() == 1


def test_a_whole_number_scale_takes_no_halves(as_editor, project):
    a_rubric(project, "simmer")
    answer = as_editor.post(PAGE, filled(clarity="5.5"))
    assert "5.5 is not on the scale. Allowed: whole numbers from 1 to 10." in answer.content.decode()


@pytest.mark.parametrize("action", ["save", "remove"])
def test_somebody_saved_meanwhile(as_editor, owner, project, action):
    version = a_rubric(project, **EXAMPLE)
    saved_again(version, user=owner, note="Theirs.", background="New background.", **EXAMPLE)
    answer = as_editor.post(PAGE, filled("My text.", note="My note.", action=action))
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Version 2 was saved while you were editing" in page
    assert "Olivia Owner has saved since" in page
    assert "My text.</textarea>" in page
    assert 'value="My note."' in page
    assert 'name="edited_from" value="2"' in page
    assert "/p/alpha/rubrics/own/compare/?a=1&amp;b=2" in page
    assert version.rubric.versions.count() == 2
    # Saving again is their choice, and keeps what the other one changed.
    assert as_editor.post(PAGE, filled("My text.", edited_from=2)).status_code == 302
    assert definition_of(newest(version)).background == "New background."
    assert definition_of(newest(version)).calibration_text == "My text."


@pytest.mark.parametrize("edited_from", ["", "0", "x", "-1", "9" * 30])
def test_a_form_without_its_version_is_refused(as_editor, project, edited_from):
    version = a_rubric(project)
    assert as_editor.post(PAGE, {**filled(), "edited_from": edited_from}).status_code == 422
    assert version.rubric.versions.count() == 1


def test_it_warns_when_the_judge_may_not_see_it(as_viewer, project):
    rules = context_rules_for("wiggum")
    hidden = ContextRules(rules.judge - {Information.CALIBRATION_SCORES}, rules.producer)
    a_rubric(project, context=hidden)
    assert "This rubric hides its scores from the judge" in as_viewer.get(PAGE).content.decode()
    a_rubric(project, slug="seen")
    assert "does not get it all" not in as_viewer.get("/p/alpha/rubrics/seen/calibration/").content.decode()


def test_a_rubric_without_criteria_needs_none(as_editor, project):
    version = a_rubric(project, "ralph")
    assert "No calibration example needed" in as_editor.get(PAGE).content.decode()
    answer = as_editor.post(PAGE, filled())
    assert answer.status_code == 422
    assert version.rubric.versions.count() == 1


def test_hostile_text_is_shown_as_text(as_viewer, as_editor, project):
    a_rubric(project, calibration_text=HOSTILE, calibration_scores={"depth": Decimal(1)})
    for client in (as_viewer, as_editor):
        page = client.get(PAGE).content.decode()
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert" in page


@pytest.mark.parametrize(("client", "status"), [("as_viewer", 403), ("as_outsider", 404), ("anonymous", 302)])
def test_only_editors_change_it(request, project, client, status):
    version = a_rubric(project, **EXAMPLE)
    for action in ("save", "remove"):
        answer = request.getfixturevalue(client).post(PAGE, filled(action=action))
        assert answer.status_code == status
    assert version.rubric.versions.count() == 1


def test_a_viewer_is_given_no_round_of_a_run_to_edit(as_viewer, project):
    run = a_judged_round(project, a_rubric(project), text="Only for the form.")
    page = as_viewer.get(PAGE, {"round": f"{run.pk}-1"}).content.decode()
    assert "Only for the form." not in page


def test_the_queries_do_not_grow_and_no_candidate_is_read_for_the_list(as_editor, project):
    version = a_rubric(project)

    def queries():
        with CaptureQueriesContext(connection) as captured:
            assert as_editor.get(PAGE).status_code == 200
        assert not any('"candidate"' in query["sql"] for query in captured)
        return len(captured)

    a_judged_round(project, version)
    as_editor.get(PAGE)
    few = queries()
    for number in range(6):
        a_judged_round(project, version, task=f"Task {number} " + "long " * 200)
        saved_again(version, name=f"Version {number}")
    assert queries() == few
    assert RubricVersion.objects.count() == 7
