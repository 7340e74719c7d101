"""The prepared example: opened immediately, played, read-only, not counted, deletable."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from refinement.models import Call, Comment, HumanScore, Membership, Rubric, Run, User
from refinement.services.runs.archiving import run_archive
from refinement.services.runs.lifecycle import WrongState, run_continue, run_rerun
from refinement.services.runs.prepared import example_open

pytestmark = pytest.mark.django_db
TOUR = "/p/alpha/tour/"


@pytest.fixture
def run(project, owner):
    return example_open(project=project, user=owner)


def test_every_member_opens_the_same_one(as_viewer, as_editor, project):
    address = as_viewer.post(TOUR).headers["Location"]
    assert as_editor.post(TOUR).headers["Location"] == address
    assert Run.objects.count() == 1
    assert as_viewer.get(TOUR).status_code == 405


def test_it_is_a_whole_run_of_a_board_and_no_model(run):
    assert [str(row.composite.normalize()) for row in run.rounds.all()] == ["5.9", "7.6", "8.65", "9.2"]
    assert (run.outcome, run.best_round, run.decision, run.calls_made) == ("PASS", 4, "approved", 0)
    first, last = run.rounds.get(number=1), run.rounds.get(number=4)
    assert all(1_300 < row.candidate_chars < 2_600 for row in run.rounds.all())
    assert not first.check_results.get(key="rollback").passed
    assert last.check_results.get(key="rollback").passed
    stances = [
        entry["stance"] for row in run.rounds.all() for said in row.board.all() for entry in said.stances
    ]
    assert {"agree", "challenge", "concede"} == set(stances)
    assert last.feedback["instructions"][0]["id"] == run.instructions.get().pk
    assert min(score.composite - last.composite for score in run.human_scores.all()) < -1.5
    assert not Call.objects.exists()


def test_everything_in_it_happened_in_order_and_none_of_it_just_now(run):
    run.refresh_from_db()
    rounds = [(row.created_at, row.judged_at) for row in run.rounds.order_by("number")]
    moments = [moment for each in rounds for moment in each]
    said, decided = run.instructions.get(), run.decisions.get()
    scored = run.human_scores.order_by("submitted_at").first().submitted_at
    assert moments == sorted(moments)
    assert run.created_at == moments[0]
    assert moments[-1] == run.finished_at < scored < decided.at < timezone.now() - timedelta(hours=1)
    assert rounds[2][1] < said.created_at < rounds[3][0]  # it asks for what round 4 changes
    for comment in Comment.objects.filter(run=run).select_related("thread"):
        assert rounds[comment.thread.round_number - 1][1] < comment.created_at < scored
    asked, answered = Comment.objects.filter(run=run, thread__round_number=3).order_by("pk")
    assert asked.created_at < said.created_at < answered.created_at


def test_its_people_have_no_accounts(run, project):
    accounts, members = User.objects.count(), Membership.objects.count()
    assert Comment.objects.filter(run=run, author=None).count() == 5
    assert HumanScore.objects.filter(run=run, author=None).count() == 2
    assert not User.objects.filter(name__in=Comment.objects.values("author_name")).exists()
    assert (User.objects.count(), Membership.objects.count()) == (accounts, members)


def test_its_page_says_what_it_is_and_offers_no_change(as_owner, run):
    page = as_owner.get(f"/p/alpha/runs/{run.pk}/").content.decode()
    assert "Prepared example" in page
    assert "Written for this tour; no model ran." in page
    assert f'href="{TOUR}play/?play=1"' in page
    for words in ("Edit and rerun", "Unarchive", "Run again", "/score/", "reviews/ask", "Decide…", "Steer"):
        assert words not in page
    assert f'action="/p/alpha/runs/{run.pk}/' not in page
    assert "/resolve/" not in page
    for number in range(1, 5):
        shown = as_owner.get(f"/p/alpha/runs/{run.pk}/rounds/{number}/").content.decode()
        assert ("Can this verdict be trusted?" in shown) is (number > 1)
        assert ">Calls " not in shown


def test_it_is_in_no_list_and_offers_no_rubric(as_owner, run):
    assert run.title not in as_owner.get("/p/alpha/runs/").content.decode()
    rubrics = as_owner.get("/p/alpha/rubrics/").content.decode()
    assert "Deployment guide (example)" not in rubrics
    assert "Deployment guide (example)" not in as_owner.get("/p/alpha/runs/new/").content.decode()


@pytest.mark.parametrize(
    "change",
    [
        lambda run, user: run_continue(run=run, rounds=2, user=user),
        lambda run, user: run_rerun(run=run, user=user),
        lambda run, user: run_archive(run=run, user=user, archived=False),
    ],
)
def test_it_cannot_be_run_and_says_why(run, owner, change):
    with pytest.raises(WrongState, match=r"prepared example\. No model wrote it"):
        change(run, owner)


def test_nobody_scores_it_decides_comments_or_asks_for_a_review(as_owner, run, owner):
    base, thread = f"/p/alpha/runs/{run.pk}/", run.threads.first()
    assert as_owner.get(f"{base}score/4/").headers["Location"] == base
    for rest in ("score/4/", "score/4/blind/", "decide/", "threads/", f"threads/{thread.pk}/resolve/"):
        assert as_owner.post(base + rest).status_code == 403, rest
    asked = as_owner.post(f"/p/alpha/reviews/ask/?run={run.pk}", {"reviewers": [owner.pk]})
    assert asked.headers["Location"] == "/p/alpha/runs/"


def test_it_can_be_deleted_and_opened_again(as_viewer, as_editor, run):
    assert as_viewer.post(f"{TOUR}delete/").status_code == 403
    assert as_editor.post(f"{TOUR}delete/").headers["Location"] == "/p/alpha/"
    assert not Run.objects.exists()
    assert not Rubric.objects.filter(slug="prepared-example").exists()
    assert as_editor.post(TOUR).status_code == 302
    assert Run.objects.count() == 1


def test_it_is_played_by_links_alone(as_viewer):
    address, seen = f"{TOUR}play/", []
    for _ in range(30):
        page = as_viewer.get(address).content.decode()
        seen.append(page)
        following = re.search(r'id="player-next" href="([^"]+)"', page)
        if following is None:
            break
        address = following.group(1)
    assert len(seen) == 20
    assert "writes the first draft" in seen[0]
    assert "## Before you begin" in seen[0]  # as it is written
    assert "## Before" not in seen[1]
    assert "Before you begin</h" in seen[1]
    assert seen[1].count("chip-warn") == seen[1].count("chip-bad") == 1  # one check only warns
    assert "concedes" in seen[3]
    assert "Suggested change, round 1" in seen[4]
    assert "passes the guide at 9.20" in seen[-1]
    assert not Run.objects.exists()


def test_it_goes_on_by_itself_only_while_it_plays(as_viewer):
    htmx = {"HX-Request": "true"}
    playing = as_viewer.get(f"{TOUR}play/?step=3&play=1", headers=htmx).content.decode()
    assert "load delay:" in playing
    assert "<html" not in playing
    assert "load delay:" not in as_viewer.get(f"{TOUR}play/?step=3", headers=htmx).content.decode()
    assert "load delay:" not in as_viewer.get(f"{TOUR}play/?step=999&play=1").content.decode()
    with CaptureQueriesContext(connection) as found:
        as_viewer.get(f"{TOUR}play/?step=7")
    assert len(found) < 10
