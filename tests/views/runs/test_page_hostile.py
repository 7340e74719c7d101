"""Hostile text in every field: every view of a run shows it as text and stays of a bearable size."""

import re
import time

import pytest

from refinement.models import CheckResult, Round, Run, Verdict
from refinement.services.runs import tags_set
from tests.views.rubrics.given import HOSTILE, MARKUP
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
VIEWS = (
    "",
    "rounds/1/",
    "rounds/2/?view=raw",
    "diff/?a=1&b=2",
    "diff/?a=1&b=2&view=sides",
    "calls/",
    "calls/?round=2",
)
TEXTS = {
    "markup": HOSTILE * 3,
    "markdown": f"# {HOSTILE}\n\n![x](http://example.org/x.png)\n\n[y](javascript:alert(1))\n",
    "one huge line": "x" * 1_000_000,
    "five megabytes": "A line of words, with <b>markup</b> in it.\n" * 120_000,
    "right to left": "\u202eevil\u202c \u05d0\u05d1 \u2066 x" * 20,
    "nul and friends": "a\x00b\x08c\ufffe \ud83d",
    "emoji": "👩‍👩‍👧‍👦🏴‍☠️ " * 50,
    "deep": "> " * 5_000 + "x",
    "blank": " \n \n ",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_view_shows_it_as_text(as_owner, project, text):
    run = finished_run(
        project, ["5", "6"], candidates=[text, f"{text} more"], said=text[:3000], task=f"T {text}"
    )
    tags_set(run=run, names=[HOSTILE[:40].replace(",", " ")])
    for rest in VIEWS:
        start = time.thread_time()
        answer = as_owner.get(f"/p/{project.slug}/runs/{run.pk}/{rest}")
        took = time.thread_time() - start
        page = answer.content.decode()
        assert answer.status_code == 200, rest
        assert "<script>alert" not in page, rest
        assert "<img" not in page, rest
        assert not re.search(r'href="(?:javascript|data):', page), rest
        assert "\x00" not in page, rest
        assert len(page) < 2_500_000, rest
        assert took < 20, (rest, took)


def test_markup_is_there_to_be_read(as_viewer, project):
    run = finished_run(project, ["5", "6"], candidates=[HOSTILE, HOSTILE], said=HOSTILE, task=HOSTILE)
    page = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/").content.decode()
    assert page.count("&lt;script&gt;alert(") >= 5


def test_odd_rows_break_nothing(as_viewer, project):
    run = finished_run(project, ["5", "6"])
    first = Round.objects.get(run=run, number=1)
    Verdict.objects.filter(round=first).update(asi=MARKUP * 500, issues=[MARKUP] * 300, scores=[])
    CheckResult.objects.filter(round=first).update(message=MARKUP * 500, suggestion=MARKUP * 500, start=10**6)
    Round.objects.filter(pk=first.pk).update(
        penalties=[{"criterion": "gone", "points": "1", "names": [MARKUP * 50] * 400}],
        signals=[{"kind": "ralph"}],
        parse_rung=MARKUP[:20],
    )
    Run.objects.filter(pk=run.pk).update(why=HOSTILE * 20, title=MARKUP, producer_model=MARKUP)
    page = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/rounds/1/").content.decode()
    assert "<script>alert" not in page
    assert "and 200 more" in page
    assert len(page) < 300_000


def test_a_long_candidate_says_what_is_missing_and_where_it_is(as_viewer, project):
    text = "word\n" * 100_000
    run = finished_run(project, ["5"], candidates=[text])
    page = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/rounds/1/").content.decode()
    assert "too long or too deeply nested to be rendered" in page
    assert "more characters are not on this page" in page
    whole = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/rounds/1/?form=text")
    assert whole.content.decode() == text
