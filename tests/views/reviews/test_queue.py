"""The review queue: its content, navigation, and cheap counts."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from refinement.models import BlindReading, ReviewRequest, Run
from refinement.services.reviews.requests import reviews_ask
from tests.conftest import member
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
LIST = "/p/alpha/reviews/"


def ask(run: Run, reviewer, asker, **more) -> ReviewRequest:
    return reviews_ask(run=run, reviewers=[reviewer], user=asker, **more)[0]


def overdue(request: ReviewRequest, days: int = 3) -> None:
    ReviewRequest.objects.filter(pk=request.pk).update(due_on=timezone.localdate() - timedelta(days=days))


@pytest.fixture
def runs(project) -> list[Run]:
    return [finished_run(project) for _ in range(3)]


def titled(run: Run, title: str) -> Run:
    Run.objects.filter(pk=run.pk).update(title=title)
    run.title = title
    return run


def test_what_waits_for_me_what_others_owe_and_what_is_done(as_viewer, viewer, editor, owner, runs):
    for run, title in zip(runs, ("title-mine", "title-theirs", "title-done"), strict=True):
        titled(run, title)
    ask(runs[0], viewer, editor, note="note-<i>mine")
    ask(runs[1], owner, editor)
    ask(runs[2], viewer, editor)
    as_viewer.post(f"/p/alpha/runs/{runs[2].pk}/reviewed/")
    text = as_viewer.get(LIST).content.decode()
    places = [text.index(words) for words in ("Waiting for you", "title-mine", "Waiting for others")]
    places += [text.index(words) for words in ("title-theirs", "Recently closed", "title-done")]
    assert places == sorted(places)
    assert "note-&lt;i&gt;mine" in text
    assert "asked by <bdi>Edgar Editor</bdi>" in text


def test_the_most_urgent_comes_first_and_overdue_is_marked(as_viewer, viewer, editor, runs):
    today = timezone.localdate()
    for run, title in zip(runs, ("no-date", "later", "late"), strict=True):
        titled(run, title)
    ask(runs[0], viewer, editor)
    ask(runs[1], viewer, editor, due_on=today + timedelta(days=2))
    overdue(ask(runs[2], viewer, editor, due_on=today))
    text = as_viewer.get(LIST).content.decode()
    assert text.index(">late<") < text.index(">later<") < text.index(">no-date<")
    assert text.count("overdue by 3 days") == 2  # the next one is also named above the list


def test_an_empty_queue_says_what_to_do(as_viewer, as_editor, viewer, project):
    assert "You’re all caught up." in as_viewer.get(LIST).content.decode()
    assert "choose “Ask…”" in as_editor.get(LIST).content.decode()


def test_the_navigation_counts_what_waits_here_without_a_query_more(as_viewer, viewer, editor, runs, project):
    address = "/p/alpha/members/"

    def asked_for() -> tuple[int, str]:
        with CaptureQueriesContext(connection) as seen:
            text = as_viewer.get(address).content.decode()
        return len(seen), text

    asked_for()
    none, text = asked_for()
    assert 'id="reviews-count" hidden>' in text
    for run in runs:
        ask(run, viewer, editor)
    many, text = asked_for()
    assert 'id="reviews-count">3<' in text
    assert many == none


def test_the_bar_counts_and_leads_through_the_queue(as_viewer, viewer, editor, runs):
    for run in runs:
        ask(run, viewer, editor)
    first, second, third = (f"/p/alpha/runs/{run.pk}/" for run in runs)
    text = as_viewer.get(f"{second}?review=1").content.decode()
    assert "2 of 3" in text
    assert f'href="{first}?review=1" data-review-key="k"' in text
    assert f'href="{third}?review=1" data-review-key="j"' in text
    assert 'data-review-key="s"' in text
    # It stays while the reader goes on, and goes when they leave.
    assert "3 of 3" in as_viewer.get(third).content.decode()
    as_viewer.get(LIST)
    assert "review-bar" not in as_viewer.get(third).content.decode()


def test_the_bar_is_not_on_runs_that_nobody_asked_to_review(as_viewer, viewer, editor, runs):
    ask(runs[0], viewer, editor)
    assert "review-bar" in as_viewer.get(f"/p/alpha/runs/{runs[0].pk}/?review=1").content.decode()
    assert "review-bar" not in as_viewer.get(f"/p/alpha/runs/{runs[1].pk}/").content.decode()


def test_a_saved_score_leads_to_the_next_review(as_viewer, viewer, editor, runs):
    for run in runs[:2]:
        ask(run, viewer, editor)
    keys = [entry["key"] for entry in runs[0].snapshot["criteria"]]
    scores = {"version": "0", **{f"score-{key}": "6" for key in keys}}
    answer = as_viewer.post(f"/p/alpha/runs/{runs[0].pk}/score/2/", scores, follow=True)
    text = answer.content.decode()
    assert f'href="{LIST}next/">Next review</a> <span class="soft small">1 left</span>' in text
    following = as_viewer.get(f"{LIST}next/")
    assert following.headers["Location"] == f"/p/alpha/runs/{runs[1].pk}/?review=1"
    as_viewer.post(f"/p/alpha/runs/{runs[1].pk}/reviewed/")
    assert as_viewer.get(f"{LIST}next/").headers["Location"] == LIST


def test_where_the_project_scores_blind_a_review_begins_with_scoring(
    as_viewer, viewer, editor, runs, project
):
    project.blind_scores = True
    project.save(update_fields=["blind_scores"])
    ask(runs[0], viewer, editor)
    answer = as_viewer.get(f"{LIST}next/", follow=True)
    assert answer.redirect_chain[-1] == (f"/p/alpha/runs/{runs[0].pk}/score/2/", 302)
    assert "Start scoring" in answer.content.decode()
    assert as_viewer.get(f"/p/alpha/runs/{runs[0].pk}/").status_code == 200


def test_done_leads_to_the_next_and_in_the_end_back_to_the_list(as_viewer, viewer, editor, runs):
    for run in runs:
        ask(run, viewer, editor)
    page = "/p/alpha/runs/{}/reviewed/"
    answer = as_viewer.post(page.format(runs[1].pk))
    assert answer.headers["Location"] == f"/p/alpha/runs/{runs[2].pk}/?review=1"
    answer = as_viewer.post(page.format(runs[2].pk))
    assert answer.headers["Location"] == f"/p/alpha/runs/{runs[0].pk}/?review=1"
    answer = as_viewer.post(page.format(runs[0].pk), follow=True)
    assert answer.redirect_chain == [(LIST, 302)]
    assert "You’re all caught up." in answer.content.decode()
    again = as_viewer.post(page.format(runs[0].pk), follow=True)
    assert "was not in your queue any more" in again.content.decode()


def test_a_run_that_is_read_blind_is_not_in_the_queue(as_viewer, viewer, editor, runs):
    titled(runs[0], "title-blind")
    ask(runs[0], viewer, editor)
    BlindReading.objects.create(run=runs[0], reader=viewer, round_number=1)
    assert "title-blind" not in as_viewer.get(LIST).content.decode()
    assert as_viewer.post(f"/p/alpha/runs/{runs[0].pk}/reviewed/").status_code == 403


def test_the_home_page_says_what_waits(as_viewer, viewer, editor, runs):
    assert "Review: " not in as_viewer.get("/p/alpha/").content.decode()
    titled(runs[0], "title-asked")
    ask(runs[0], viewer, editor)
    assert "Review: <bdi>title-asked</bdi>" in as_viewer.get("/p/alpha/").content.decode()


def test_the_number_of_queries_does_not_grow(as_viewer, viewer, editor, project):
    def queries(address: str) -> int:
        with CaptureQueriesContext(connection) as seen:
            assert as_viewer.get(address).status_code == 200
        return len(seen)

    other = member(project, "viewer", "vic@example.org", "Vic")
    addresses = [LIST, "/p/alpha/"]

    def more(count: int) -> None:
        for _ in range(count):
            run = finished_run(project)
            ask(run, viewer, editor, note="Look.")
            ask(run, other, editor)
            ask(run, editor, viewer)
            ReviewRequest.objects.filter(run=run, reviewer=editor).update(closed_at=timezone.now())

    more(1)
    [queries(address) for address in addresses]
    few = [queries(address) for address in addresses]
    more(12)
    assert [queries(address) for address in addresses] == few


def test_who_has_not_scored_yet_does_not_see_the_decision(as_viewer, as_owner, viewer, editor, runs):
    run = titled(runs[0], "title-decided")
    Run.objects.filter(pk=run.pk).update(decision="approved")
    ask(run, viewer, editor)
    home = "/p/alpha/"
    for address in (LIST, home):
        assert "title-decided" in as_viewer.get(address).content.decode()
        assert "Decided by a person" not in as_viewer.get(address).content.decode()
        assert "Decided by a person" in as_owner.get(address).content.decode()
    scores = {f"score-{entry['key']}": "6" for entry in run.snapshot["criteria"]}
    as_viewer.post(f"/p/alpha/runs/{run.pk}/score/2/", {"version": "0", **scores})
    assert "Decided by a person" in as_viewer.get(home).content.decode()


def test_the_page_and_home_count_all_that_waits(as_viewer, viewer, editor, project):
    for _ in range(6):
        ask(finished_run(project), viewer, editor)
    assert "6 wait for you" in as_viewer.get(LIST).content.decode()
    page = as_viewer.get("/p/alpha/").content.decode()
    assert "6 items need you." in page
    assert "2 more reviews" in page


def test_long_queues_are_shown_in_part_and_counted_whole(as_viewer, viewer, editor, project, monkeypatch):
    monkeypatch.setattr("refinement.selectors.reviews.requests.MOST_WAITING", 2)
    for _ in range(4):
        ask(finished_run(project), viewer, editor)
    assert "2 more appear as you finish these." in as_viewer.get(LIST).content.decode()
