"""The page of a share link: the run and nothing else, for anyone with the link."""

import re
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from refinement.models import (
    BlindReading,
    BoardVerdict,
    Comment,
    Decision,
    HumanScore,
    Round,
    ShareLink,
    Thread,
)
from refinement.services.projects.settings import project_settings_change, settings_mark
from refinement.services.runs.shares import share_link_make, share_link_revoke
from refinement.views.sharing.shared import GUESSES
from tests.services.runs.board_rows import board_run
from tests.views.rubrics.given import HOSTILE
from tests.views.runs.finished import finished_run
from wiggum_site.log_lines import REDACTED, LineFormatter

pytestmark = pytest.mark.django_db
HOSTILE_TEXTS = {
    "markup": HOSTILE * 3,
    "markdown": f"# {HOSTILE}\n\n![x](http://example.org/x.png)\n\n[y](javascript:alert(1))\n",
    "one huge line": "x" * 1_000_000,
    "right to left": "\u202eevil\u202c \u05d0\u05d1 \u2066 x" * 20,
    "nul and friends": "a\x00b\x08c\ufffe \ud83d",
    "deep": "> " * 5_000 + "x",
}


@pytest.fixture(autouse=True)
def fresh_limits():
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def run(project):
    return finished_run(project)


@pytest.fixture
def shared(run, editor):
    """Makes a link with these choices and gives its address."""

    def make(**choices):
        token = share_link_make(run=choices.pop("run", run), by=editor, days=7, **choices)[1]
        return f"/s/{token}/"

    return make


def read(client, address, status=200):
    answer = client.get(address)
    assert answer.status_code == status, answer.content[:500]
    return answer.content.decode()


def test_a_stranger_reads_the_run(anonymous, shared, run):
    page = read(anonymous, shared())

    assert run.title in page
    assert "8.6" in page
    assert "It names the steps." in page
    assert "Stopped after round 3" in page


def test_every_round_has_its_address_and_shows_what_changed(anonymous, shared):
    address = shared()

    assert "Version 0: deploy ingest 0." in read(anonymous, f"{address}1/")
    diff = read(anonymous, f"{address}2/?view=diff")
    assert "<del>" in diff
    assert "<ins>" in diff
    assert 'id="L2"' in read(anonymous, f"{address}2/?view=raw")
    whole = anonymous.get(f"{address}3/?form=text")
    assert whole.content.decode() == "Version 2: deploy ingest 2.\nThen watch it."
    assert whole.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert whole.headers["Referrer-Policy"] == "no-referrer"


def test_nothing_tells_search_engines_caches_or_other_sites(anonymous, shared):
    answer = anonymous.get(shared())

    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["X-Robots-Tag"] == "noindex, nofollow, noarchive"
    assert answer.headers["Cache-Control"] == "no-store, private"
    assert '<meta name="robots" content="noindex, nofollow, noarchive">' in answer.content.decode()
    assert answer.cookies == {}


def test_every_link_on_it_stays_on_it(anonymous, shared, run, project):
    address = shared(show_prompts=True, show_comments=True)
    for rest in ("", "1/", "2/?view=diff", "2/?view=raw", "2/?view=calls"):
        page = read(anonymous, address + rest)
        links = re.findall(r'(?:href|src|action)="([^"]*)"', page)
        assert [link for link in links if not link.startswith((address, "/static/", "#"))] == [], rest
        assert "<form" not in page
        assert "hx-" not in page


def test_names_of_the_inside_are_not_on_it(anonymous, shared, project, owner, run):
    run.created_by = owner
    run.save(update_fields=["created_by"])
    other = finished_run(project, task="The secret plan of another team")
    page = read(anonymous, shared())

    for secret in (project.slug, project.name, owner.name, owner.email, "secret plan", "/runs/", "/p/"):
        assert secret not in page, secret
    for number in (run.pk, other.pk):
        assert f"run {number}" not in page.lower()


def test_what_an_error_says_about_machines_stays_inside(anonymous, shared, project):
    failed = finished_run(
        project, outcome="ERROR", stop_reason="judge_failed", why="http://10.0.0.7:11434 refused Olivia."
    )
    page = read(anonymous, shared(run=failed))

    assert "10.0.0.7" not in page
    assert "judge failed" in page


def test_prompts_are_shown_by_choice(anonymous, shared, run):
    call = run.calls.filter(round_number=2).first()
    said = call.messages[0]["content"]
    assert said

    assert read(anonymous, f"{shared(show_prompts=True)}2/?view=calls").count(said[:20])
    closed = shared()
    read(anonymous, f"{closed}2/?view=calls", status=404)
    for rest in ("", "1/", "2/", "3/"):
        assert "Model calls" not in read(anonymous, closed + rest)


def test_comments_are_shown_by_choice(anonymous, shared, run, project, editor):
    thread = Thread.objects.create(
        project=project, run=run, place="passage", round_number=2, quote="deploy", quote_start=3
    )
    for body, gone in (("Well **put**. ![x](http://example.org/x.png)", None), ("Regretted", timezone.now())):
        Comment.objects.create(
            run=run, thread=thread, author=editor, author_name=editor.name, body=body, deleted_at=gone
        )
    score = {"key": "depth", "score": "4", "reason": "Thin <i>ice</i>"}
    HumanScore.objects.create(
        run=run, round=run.rounds.get(number=2), author=editor, author_name=editor.name, scores=[score],
        composite="4.25",
    )  # fmt: skip
    page = read(anonymous, shared(show_comments=True))
    assert "Well <strong>put</strong>" in page
    assert "Thin &lt;i&gt;ice&lt;/i&gt;" in page
    assert "4.25" in page
    assert "<img" not in page
    assert "Regretted" not in page

    closed = read(anonymous, shared())
    assert not any(words in closed for words in ("Well", "4.25", "Thin", editor.name))


def test_decisions_are_shown_without_names(anonymous, shared, run, owner):
    Decision.objects.create(
        run=run, number=1, kind="approved", round_number=2, reason="Good <b>enough</b>", author=owner,
        author_name=owner.name,
    )  # fmt: skip
    page = read(anonymous, shared())

    assert "Approved" in page
    assert "Good &lt;b&gt;enough&lt;/b&gt;" in page
    assert owner.name not in page


def test_who_edited_and_who_instructed_is_not_said(anonymous, shared, run, owner):
    instructions = [{"author": owner.name, "text": "Name the rollback."}]
    feedback = {"from_round": 1, "asi": "", "issues": [], "failures": [], "instructions": instructions}
    Round.objects.filter(run=run, number=2).update(
        origin="hand",
        author_name=owner.name,
        feedback=feedback,
        candidate="Name the rollback. All else is new.",
    )
    address = shared()
    for rest in ("", "2/", "2/?view=diff", "2/?view=raw"):
        page = read(anonymous, address + rest)
        assert owner.name not in page, rest
        assert page.count("<bdi>Edited by hand</bdi>") == 1, rest  # the other rounds were not
    assert "instruction" in read(anonymous, f"{address}2/?view=diff")


@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
def test_hostile_text_is_text(anonymous, shared, project, text):
    run = finished_run(
        project, ["5", "6"], candidates=[text, f"{text} more"], said=text[:3000], task=f"T {text}"
    )
    address = shared(run=run, show_prompts=True, show_comments=True)
    for rest in ("", "1/", "2/?view=raw", "2/?view=diff", "2/?view=calls"):
        page = read(anonymous, address + rest)
        assert "<script>alert" not in page, rest
        assert "<img" not in page, rest
        assert not re.search(r'href="(?:javascript|data):', page), rest
        assert "\x00" not in page, rest
        assert len(page) < 2_500_000, rest


def test_whatever_does_not_work_answers_alike(anonymous, shared, project, editor, owner):
    fine, revoked, expired = shared(), shared(), shared()
    by_prefix = {link.prefix: link for link in ShareLink.objects.all()}
    share_link_revoke(project=project, number=by_prefix[revoked[3:9]].pk, by=editor)
    ShareLink.objects.filter(pk=by_prefix[expired[3:9]].pk).update(
        expires_at=timezone.now() - timedelta(minutes=1)
    )
    gone = [
        f"/s/{'x' * 43}/",
        f"/s/{'x' * 43}/1/",
        revoked,
        expired,
        f"{revoked}1/",
        "/s/short/",
        f"{fine}99/",
    ]
    answers = [anonymous.get(address) for address in gone]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    assert {answer.headers["X-Robots-Tag"] for answer in answers} == {"noindex, nofollow, noarchive"}

    switch(project, owner, sharing=False)
    off = anonymous.get(fine)
    assert (off.status_code, off.content) == (404, answers[0].content)
    switch(project, owner, sharing=True)
    read(anonymous, fine)


def switch(project, owner, *, sharing):
    project.refresh_from_db()
    project_settings_change(
        project=project, by=owner, seen=settings_mark(project), name=project.name, blind_scores=False,
        sharing=sharing,
    )  # fmt: skip


def test_no_log_holds_a_link(anonymous, shared, project, caplog):
    address = shared()
    with caplog.at_level("DEBUG"):
        for rest in ("", "99/", "1/?view=calls"):
            anonymous.get(address + rest)
        anonymous.post(address)
    written = "\n".join(map(LineFormatter("%(message)s").format, caplog.records))
    assert f"Method Not Allowed: /s/{REDACTED}/" in written
    assert address.strip("/").split("/")[1] not in written


def test_guessing_ends(anonymous, shared):
    address = shared()
    for number in range(GUESSES.most):
        assert anonymous.get(f"/s/guess{number}/").status_code == 404

    assert anonymous.get("/s/once-more/").status_code == 429
    # Nobody who guesses learns from here on that a guess was right.
    assert anonymous.get(address).status_code == 429
    assert Client(REMOTE_ADDR="192.0.2.9").get(address).status_code == 200


def test_reading_much_is_not_guessing(anonymous, shared):
    address = shared()
    for _ in range(GUESSES.most + 5):
        read(anonymous, f"{address}1/")


def test_visits_are_counted_once_for_a_page_of_rounds(anonymous, shared):
    address = shared()
    anonymous.head(address)
    read(anonymous, address)
    read(anonymous, f"{address}1/")

    assert ShareLink.objects.get().opened == 1


def test_who_scores_the_run_blind_is_not_shown_its_scores(as_viewer, viewer, shared, run):
    reading = BlindReading.objects.create(run=run, reader=viewer, round_number=1)
    for rest in ("", "2/", "2/?form=text"):
        page = read(as_viewer, shared() + rest, status=403)
        assert "8.6" not in page
    reading.ended_at = timezone.now()
    reading.save(update_fields=["ended_at"])

    assert "8.6" in read(as_viewer, shared())


def test_a_member_of_another_project_reads_it_like_anybody(as_outsider, shared):
    assert "8.6" in read(as_outsider, shared())


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
def test_it_can_only_be_read(anonymous, shared, method):
    assert getattr(anonymous, method)(shared()).status_code == 405


def test_its_queries_do_not_grow(anonymous, shared, project, run):
    few, many = shared(show_comments=True), finished_run(project, ["5"] * 30)
    thread = Thread.objects.create(project=project, run=many, place="run")
    for number in range(20):
        Comment.objects.create(run=many, thread=thread, author_name="Ada", body=f"No. {number}")
    address = shared(run=many, show_comments=True)
    with CaptureQueriesContext(connection) as small:
        read(anonymous, few)
    with CaptureQueriesContext(connection) as large:
        read(anonymous, address)
    assert len(large) <= len(small)


def test_an_empty_run_has_a_page(anonymous, shared, project):
    run = finished_run(project, ["5"], rounds_judged=0, best_round=None, best=None, r1=None, trajectory=[])
    Round.objects.filter(run=run).delete()

    assert "No rounds" in read(anonymous, shared(run=run))


def test_a_judge_of_many_words_is_folded(anonymous, shared, project):
    assert '<details class="score" open>' in read(anonymous, shared())
    run = finished_run(project, ["7"], said="It names every step and says why. " * 70)
    page = read(anonymous, shared(run=run))
    assert '<details class="score">' in page
    assert "Show all 2,380 characters" in page


def test_a_boards_round_shows_its_judges(anonymous, shared, project):
    run = board_run(project)
    BoardVerdict.objects.filter(round__run=run).exclude(problem="").update(problem="http://10.0.0.7 refused.")
    address = shared(run=run)
    page = read(anonymous, f"{address}2/")

    for words in ("Reader", "Expert answers.", "Be concrete.", "Adds example 2", "Feedback"):
        assert words in page, words
    assert "10.0.0.7" not in page
    links = re.findall(r'(?:href|src|action)="([^"]*)"', page)
    assert [link for link in links if not link.startswith((address, "/static/", "#"))] == []
