"""Scoring a round: the page, responses, people next to the judge, and scores as an example."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.engine.profiles import rubric_for
from refinement.models import HumanScore, Membership, User
from refinement.services.rubrics.editing import rubric_create
from tests.views.rubrics.given import HOSTILE
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def run(project):
    return finished_run(project)


def address(run, number=2, rest=""):
    return f"/p/{run.project.slug}/runs/{run.pk}/score/{number}/{rest}"


def filled(run, score="6", version="0", **more):
    keys = [entry["key"] for entry in run.snapshot["criteria"]]
    return {"version": version, **{f"score-{key}": score for key in keys}, **more}


def text_of(answer):
    return answer.content.decode()


def test_the_page_has_task_candidate_and_criteria(as_viewer, run):
    text = text_of(as_viewer.get(address(run)))
    for words in (run.task, "Version 1: deploy ingest 1.", "numbers from 0 to 10", "10 means:", "Ctrl"):
        assert words in text, words
    assert 'name="score-depth"' in text
    assert 'min="0" max="10" step="any"' in text


def test_lines_and_whole_texts(as_viewer, run):
    assert 'class="raw-line"' in text_of(as_viewer.get(f"{address(run)}?view=raw"))
    whole = as_viewer.get(f"{address(run)}?form=text")
    assert whole["Content-Type"].startswith("text/plain")
    assert whole.content.startswith(b"Version 1")
    assert text_of(as_viewer.get(f"{address(run)}?form=task")) == run.task


def test_a_viewer_scores_and_sees_it_beside_the_judge(as_viewer, run):
    sent = as_viewer.post(
        address(run), filled(run, "6.5", note="Good start.", **{"reason-depth": "Too thin."})
    )
    assert sent.status_code == 302
    assert sent["Location"] == f"/p/alpha/runs/{run.pk}/score/2/?scored=2"
    text = text_of(as_viewer.get(sent["Location"]))
    for words in ("You are 2.10 below the judge", "8.60", "6.50", "−2.10", "Open the run"):
        assert words in text, words
    assert "Review next" not in text
    text = text_of(as_viewer.get(f"/p/alpha/runs/{run.pk}/rounds/2/"))
    for words in ("Good start.", "Too thin.", "Vera Viewer", "(you)", ">Change</a>", "−2.10", "6.50"):
        assert words in text, words


def test_what_cannot_be_kept_comes_back_with_everything_typed(as_viewer, run):
    sent = as_viewer.post(address(run), filled(run, "6", note="My note") | {"score-depth": "11"})
    text = text_of(sent)
    assert sent.status_code == 422
    assert "11 is not on the scale" in text
    assert "My note" in text
    assert not HumanScore.objects.exists()


@pytest.mark.parametrize("given", ["", "seven", "NaN", "1e400", "6.1234567", "9" * 400])
def test_a_score_that_is_no_number_is_never_an_error(as_viewer, run, given):
    sent = as_viewer.post(address(run), filled(run) | {"score-depth": given})
    assert sent.status_code == 422


def test_a_megabyte_is_refused_in_words(as_viewer, run):
    sent = as_viewer.post(address(run), filled(run, note="x" * 1_000_000))
    assert sent.status_code == 422
    assert "at most 4,000 characters" in text_of(sent)


def test_a_second_window_is_told_and_keeps_what_was_typed(as_viewer, run):
    as_viewer.post(address(run), filled(run, "4"))
    as_viewer.post(address(run), filled(run, "5", version="1"))
    late = as_viewer.post(address(run), filled(run, "9", version="1", note="Typed here"))
    text = text_of(late)
    assert late.status_code == 409
    for words in ("Nothing was saved.", "version 2", "Typed here", 'name="version" value="2"'):
        assert words in text, words
    as_viewer.post(address(run), filled(run, "9", version="2", note="Typed here"))
    assert HumanScore.objects.get().version == 3


def test_hostile_words_are_text_everywhere(as_viewer, as_editor, run):
    as_viewer.post(address(run), filled(run, note=HOSTILE[:3000], **{"reason-depth": HOSTILE[:1500]}))
    for page in (f"/p/alpha/runs/{run.pk}/rounds/2/", address(run)):
        for client in (as_viewer, as_editor):
            text = text_of(client.get(page))
            assert "<script>alert" not in text
            assert "<img src=x" not in text


def test_a_run_of_another_project_is_not_found(as_viewer, as_outsider, other_project, run):
    other = finished_run(other_project)
    assert as_viewer.get(f"/p/alpha/runs/{other.pk}/score/1/").status_code == 404
    assert as_outsider.post(address(run), filled(run)).status_code == 404


def test_a_rubric_without_criteria_says_so(as_viewer, project):
    run = finished_run(project, ["0.4", "0.9"], definition=rubric_for("ralph"))
    assert "nothing to score" in text_of(as_viewer.get(address(run, 1)))
    assert as_viewer.post(address(run, 1), {"version": "0"}).status_code == 422
    assert 'id="round-people"' not in text_of(as_viewer.get(f"/p/alpha/runs/{run.pk}/"))


# --- beside the judge ------------------------------------------------------------------------------
def reviewers(run, count, number=2, score="6"):
    keys = [entry["key"] for entry in run.snapshot["criteria"]]
    row = run.rounds.get(number=number)
    for index in range(count):
        user, made = User.objects.get_or_create(
            email=f"r{number}-{index}@example.org", defaults={"name": f"Reviewer {index}"}
        )
        if made:
            Membership.objects.create(project=run.project, user=user, role="viewer")
        HumanScore.objects.create(
            run=run, round=row, author=user, author_name=user.name, composite=score, note="A note.",
            scores=[{"key": key, "score": score, "reason": "Because."} for key in keys],
        )  # fmt: skip


def queries(client, page):
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(page).status_code == 200
    return len(captured)


def test_twenty_reviewers_cost_no_more_queries_than_one(as_editor, project):
    one, many = finished_run(project), finished_run(project)
    reviewers(one, 1)
    for number in (1, 2, 3):
        reviewers(many, 20, number)
    for run in (one, many):  # the first visit is remembered
        as_editor.get(f"/p/alpha/runs/{run.pk}/")
    assert queries(as_editor, f"/p/alpha/runs/{one.pk}/") == queries(as_editor, f"/p/alpha/runs/{many.pk}/")


def test_more_than_twenty_are_in_the_mean_and_counted(as_viewer, run):
    reviewers(run, 23)
    text = text_of(as_viewer.get(f"/p/alpha/runs/{run.pk}/rounds/2/"))
    assert text.count('class="number person"') == 20
    assert "3 more people have scored this round" in text


def test_too_few_rounds_say_nothing_about_agreement(as_viewer, run):
    reviewers(run, 5)
    text = text_of(as_viewer.get(f"/p/alpha/runs/{run.pk}/rounds/2/"))
    assert "1 round was scored by the judge and by people. Agreement is reported from 3 rounds." in text


def test_agreement_is_told_from_three_rounds_on(as_viewer, run):
    for number, score in ((1, "7"), (2, "8"), (3, "7.5")):
        reviewers(run, 2, number, score)
    text = text_of(as_viewer.get(f"/p/alpha/runs/{run.pk}/rounds/1/"))
    for words in (
        "3 rounds were scored by the judge and by people (6 scores).",
        "differ by 0.52 on average",
        "The judge is 0.52 more lenient than people.",
        "100 % of the 36 single scores differ by 1 or less.",
        "rank the rounds almost identically",
    ):
        assert words in text, words


# --- as the rubric's calibration example ------------------------------------------------------------
def test_an_editor_is_led_to_the_calibration_page_and_nothing_is_saved_yet(as_editor, as_viewer, run):
    as_viewer.post(address(run), filled(run, "6"))
    score = HumanScore.objects.get()
    link = f"/p/alpha/rubrics/{run.rubric.slug}/calibration/?score={score.pk}"
    assert f'href="{link}"' in text_of(as_editor.get(f"/p/alpha/runs/{run.pk}/rounds/2/"))
    assert "Use as calibration example" not in text_of(as_viewer.get(f"/p/alpha/runs/{run.pk}/rounds/2/"))
    page = text_of(as_editor.get(link))
    assert f"{score.round.candidate}</textarea>" in page
    assert page.count('value="6"') == len(rubric_for("wiggum").criteria)
    assert f"Calibration example from round 2 of run {run.pk}, as Vera Viewer scored it." in page
    assert "not saved yet" in page
    assert run.rubric.versions.count() == 1


def test_scores_of_other_rubrics_are_not_taken(as_editor, as_viewer, run, project):
    as_viewer.post(address(run), filled(run, "6"))
    rubric_create(project=project, slug="second", definition=rubric_for("wiggum"))
    link = f"/p/alpha/rubrics/second/calibration/?score={HumanScore.objects.get().pk}"
    assert as_editor.get(link).status_code == 404
    assert as_editor.get(f"/p/alpha/rubrics/{run.rubric.slug}/calibration/?score=x").status_code == 404
