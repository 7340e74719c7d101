"""A bench's page: live results, reasons, people's scores, stopping."""

import re
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.execution.trials.advancing import trial_advance
from refinement.models import Bench, BenchTrial
from refinement.services.rubrics.bench import Candidate
from refinement.services.rubrics.editing import rubric_create
from tests.execution.trials.conftest import ollama_server, table
from tests.execution.trials.given import EXAMPLE, Table, advance, calibrated, definition, statuses, trials
from tests.execution.wire.stage import verdict
from tests.loopback.replies import from_lists
from tests.views.rubrics.test_bench import HOSTILE, address

__all__ = ["ollama_server", "table"]

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def page_of(table: Table, bench: Bench, name: str = "rubric_bench_trial", **more) -> str:
    return address(table, name, bench=bench.pk, **more)


def seen_in(html: str) -> str:
    return re.search(r"\?seen=(\w+)", html).group(1)


def shown(client, path: str) -> str:
    """The page's text in one line."""
    return " ".join(re.sub(r"<[^>]+>", " ", client.get(path).content.decode()).split())


def test_a_finished_bench_shows_its_figures(table: Table, as_viewer):
    bench = table.judged(6, 7, 8)
    page = as_viewer.get(page_of(table, bench)).content.decode()
    assert 'hx-trigger="every 1s"' not in page
    assert "noisy" in page
    assert "±&nbsp;1.00" in page
    assert page.count('<svg class="plot"') == 7, "six criteria and the composite"
    assert "The restore is not explained." in page
    assert "Explain the restore." in page
    assert "Read as clean JSON" in page


def test_a_running_bench_asks_again_every_second_until_it_is_stop_gracefully(table: Table, as_viewer):
    table.says(8, 7)
    bench = table.bench(repeats=2)
    path = page_of(table, bench)
    page = as_viewer.get(path).content.decode()
    assert 'hx-trigger="every 1s"' in page
    assert "0 of 2 trials have ended." in page

    nothing_new = as_viewer.get(path, {"seen": seen_in(page)}, headers=HTMX)
    assert (nothing_new.status_code, nothing_new.content) == (204, b"")

    trial_advance(trials(bench)[0].pk)
    changed = as_viewer.get(path, {"seen": seen_in(page)}, headers=HTMX)
    partial = changed.content.decode()
    assert changed.status_code == 200
    assert "<html" not in partial
    assert "1 of 2 trials has ended." in partial
    assert 'id="trial-1-ended" hx-preserve="true"' in partial
    assert 'id="trial-2-open"' in partial

    advance(bench)
    last = as_viewer.get(path, {"seen": seen_in(partial)}, headers=HTMX)
    assert last.status_code == 286
    assert 'hx-trigger="every' not in last.content.decode()


def test_a_boosted_request_gets_the_whole_page(table: Table, as_viewer):
    bench = table.judged(8)
    answer = as_viewer.get(page_of(table, bench), headers={**HTMX, "HX-Boosted": "true"})
    assert "<html" in answer.content.decode()
    assert answer.headers["Vary"].find("HX-Request") >= 0


@pytest.mark.parametrize("name", ["rubric_bench_trial", "rubric_bench_said"])
def test_outsiders_and_other_rubrics_find_nothing(table: Table, as_outsider, as_editor, name):
    bench = table.judged(8)
    more = {"number": 1} if name == "rubric_bench_said" else {}
    path = page_of(table, bench, name, **more)
    assert as_outsider.get(path).status_code == 404
    assert as_outsider.get(path, headers=HTMX).status_code == 404
    assert as_editor.get(path.replace(f"/{bench.pk}/", "/999/")).status_code == 404
    assert as_editor.post(path).status_code == 405


def test_a_bench_of_another_rubric_is_not_shown_here(table: Table, as_editor):
    bench = table.judged(8)
    rubric_create(project=table.project, slug="other", definition=definition())
    path = page_of(table, bench).replace("/guides/", "/other/")
    assert as_editor.get(path).status_code == 404


def test_a_failed_trial_says_why_and_has_no_score(table: Table, as_viewer):
    bench = table.judged("No.", "No!", "No?", repeats=1)
    told = shown(as_viewer, page_of(table, bench))
    assert "No trial could be judged." in told
    assert "could not be read after 3 attempts" in told
    assert "3 calls, 3 not readable" in told
    assert "Mean" not in told


def test_what_was_asked_and_answered_is_shown_whole(table: Table, as_viewer):
    bench = table.judged("No.", 8, repeats=1)
    path = page_of(table, bench, "rubric_bench_said", number=1)
    page = as_viewer.get(path).content.decode()
    partial = as_viewer.get(path, headers=HTMX).content.decode()
    assert "<html" in page
    assert "<html" not in partial
    for text in (page, partial):
        assert "Our backups are made every night." in text
        assert "Could not be read: The reply states no scores." in text
        assert "Asked again" in text


def test_what_a_model_says_is_shown_as_text(table: Table, as_viewer):
    rubric = definition()
    said = verdict(rubric, 8, issues=[HOSTILE], asi=HOSTILE, reasoning=HOSTILE)
    table.server.replies = from_lists({"judge": [HOSTILE, said]})
    bench = table.bench(repeats=1, text=HOSTILE, task=HOSTILE)
    advance(bench)
    assert statuses(bench) == ["done"]
    for name, more in (("rubric_bench_trial", {}), ("rubric_bench_said", {"number": 1})):
        page = as_viewer.get(page_of(table, bench, name, **more)).content.decode()
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)" in page
        assert "{{ 7|add:1 }}" in page, "and never as a template"


def test_an_editor_stops_a_bench(table: Table, as_editor, as_viewer):
    table.says(8)
    bench = table.bench(repeats=3)
    trial_advance(trials(bench)[0].pk)
    path = page_of(table, bench, "rubric_bench_cancel")
    assert as_viewer.post(path).status_code == 403
    assert as_editor.get(path).status_code == 405
    page = as_editor.post(path, follow=True).content.decode()
    assert "Test stopped." in page
    assert "stopped after 1 of 3 trials" in page
    assert statuses(bench) == ["done", "cancelled", "cancelled"]
    assert "had already ended" in as_editor.post(path, follow=True).content.decode()


def test_a_calibration_example_is_set_against_its_peoples_scores(table: Table, as_viewer):
    table.rubric(calibrated("6"))
    bench = table.judged([7.3, 6, 5, 6, 6, 6], candidate=Candidate(EXAMPLE, "calibration"))
    told = shown(as_viewer, page_of(table, bench))
    assert "The judge scores Depth 1.3 above people." in told
    assert "The judge scores Completeness 1.0 below people." in told
    assert "The judge scores Grounded the same as people." in told
    assert "On average the judge differs from people by 0.4." in told
    assert "+1.30" in told


def test_a_pasted_text_that_is_the_example_is_known_as_such(table: Table, as_viewer):
    table.rubric(calibrated("6"))
    bench = table.judged(7, text=f"{EXAMPLE}\r\n")
    assert "1.0 above people" in shown(as_viewer, page_of(table, bench))


def test_the_example_of_a_later_version_counts_where_the_scale_is_the_same(table: Table, as_viewer):
    bench = table.judged(7, text=EXAMPLE)
    assert "the people" not in shown(as_viewer, page_of(table, bench))
    table.rubric(calibrated("6"))
    assert "from version 2" in shown(as_viewer, page_of(table, bench))
    first = definition("simmer").criteria[0].key
    table.rubric(definition("simmer", calibration_text=EXAMPLE, calibration_scores={first: Decimal(6)}))
    assert "the people" not in shown(as_viewer, page_of(table, bench))


def test_people_type_scores_of_their_own(table: Table, as_editor, as_viewer):
    bench = table.judged(7, 8)
    path = page_of(table, bench, "rubric_bench_scores")
    assert as_viewer.post(path, {"score-0": "5"}).status_code == 403
    page = as_editor.post(path, {"score-0": "5", "score-1": ""}, follow=True).content.decode()
    assert "The judge scores Depth 2.5 above people." in page
    bench.refresh_from_db()
    assert bench.human_scores == {"depth": "5"}
    as_editor.post(path, {})
    bench.refresh_from_db()
    assert bench.human_scores == {}


@pytest.mark.parametrize("typed", ["11", "-1", "much", "NaN", "1e400"])
def test_a_score_that_is_none_is_said_beside_its_field(table: Table, as_editor, typed):
    bench = table.judged(7)
    answer = as_editor.post(page_of(table, bench, "rubric_bench_scores"), {"score-0": typed, "score-1": "4"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert 'id="id_score-0_error"' in page
    assert f'value="{typed}"' in page
    assert 'value="4"' in page
    bench.refresh_from_db()
    assert bench.human_scores == {}


def queries(client, path: str) -> int:
    client.get(path)
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


def test_the_number_of_queries_does_not_grow(table: Table, as_editor):
    few = table.judged(7)
    many = table.judged(*[7] * 10)
    assert queries(as_editor, page_of(table, few)) == queries(as_editor, page_of(table, many))


def test_the_page_reads_none_of_the_calls(table: Table, as_viewer):
    bench = table.judged(7, 7)
    with CaptureQueriesContext(connection) as captured:
        as_viewer.get(page_of(table, bench))
    assert not any("benchcall" in entry["sql"] for entry in captured)


def test_a_trial_that_waits_says_for_what(table: Table, as_viewer):
    bench = table.bench(repeats=2)
    BenchTrial.objects.filter(bench=bench, number=1).update(
        status="waiting",
        next_try_at="2100-01-01T00:00Z",
        waiting_for="a free slot at x",
        waiting_endpoint="x",
    )
    BenchTrial.objects.filter(bench=bench, number=2).update(
        status="waiting", next_try_at="2100-01-01T00:00Z", waiting_for="It cannot be reached."
    )
    told = shown(as_viewer, page_of(table, bench))
    assert "Waiting for a free slot at x." in told
    assert "It cannot be reached. It is tried again shortly." in told
