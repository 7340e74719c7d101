"""The test bench's overview: who can start what, and reasons why something cannot start."""

import json
import re
from dataclasses import replace
from threading import Event

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from refinement.engine.types import Check
from refinement.models import Bench, Round, Run
from refinement.selectors.launch.available_models import offers
from refinement.services.runs.creating import run_create
from tests.execution.trials.conftest import ollama_server, table
from tests.execution.trials.given import EXAMPLE, JUDGE, TASK, TEXT, Table, calibrated, definition, statuses
from tests.loopback.faults import Fault
from tests.loopback.replies import valid_replies

__all__ = ["ollama_server", "table"]

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>{{ 7|add:1 }}"


@pytest.fixture(autouse=True)
def _nothing_remembered():
    offers.forget()
    yield
    offers.forget()


def address(table: Table, name: str = "rubric_bench", **more) -> str:
    return reverse(name, kwargs={"slug": table.project.slug, "rubric": table.version.rubric.slug, **more})


def filled(**changes) -> dict[str, object]:
    return {
        "source": "pasted",
        "candidate": TEXT,
        "task": TASK,
        "version": 1,
        "judge": "ollama/loopback:8b",
        "judge_typed": "",
        "repeats": 3,
        "temperature": "0",
        **changes,
    }


def test_a_bench_is_started_and_its_page_shown(table: Table, as_editor, editor):
    answer = as_editor.post(address(table), filled())
    bench = Bench.objects.get()
    assert (answer.status_code, answer.url) == (302, address(table, "rubric_bench_trial", bench=bench.pk))
    assert (bench.candidate, bench.task, bench.repeats, bench.created_by) == (TEXT, TASK, 3, editor)
    assert (bench.endpoint, bench.model, bench.origin) == ("ollama", "loopback:8b", "pasted")
    assert statuses(bench) == ["queued"] * 3


def test_viewers_read_and_start_nothing(table: Table, as_viewer):
    page = as_viewer.get(address(table)).content.decode()
    assert "Editors of this project can start tests" in page
    assert '<form class="form bench-form"' not in page
    assert as_viewer.post(address(table), filled()).status_code == 403
    assert Bench.objects.count() == 0


def test_outsiders_find_nothing(table: Table, as_outsider):
    assert as_outsider.get(address(table)).status_code == 404
    assert as_outsider.post(address(table), filled()).status_code == 404


def test_a_rubric_of_another_project_is_not_here(table: Table, as_outsider, other_project):
    elsewhere = address(table).replace("/alpha/", "/beta/")
    assert as_outsider.get(elsewhere).status_code == 404


def test_other_methods_are_refused(table: Table, as_editor):
    assert as_editor.delete(address(table)).status_code == 405


def test_the_live_models_can_be_chosen(table: Table, as_editor):
    page = as_editor.get(address(table)).content.decode()
    assert '<optgroup label="ollama">' in page
    assert '<option value="ollama/loopback:8b">' in page


def test_an_endpoint_that_is_away_is_said_to_be(table: Table, as_editor):
    table.server.go_offline()
    page = as_editor.get(address(table)).content.decode()
    assert "<strong>ollama</strong>: " in page
    assert "Cannot connect to" in page


def test_an_endpoint_that_hangs_does_not_hold_the_page(table: Table, as_editor, monkeypatch):
    monkeypatch.setattr("refinement.selectors.launch.available_models.LOOK_SECONDS", 0.05)
    monkeypatch.setattr(
        "refinement.selectors.launch.available_models.models_of", lambda spec: Event().wait(0.5)
    )
    page = as_editor.get(address(table)).content.decode()
    assert "Not responding." in page


def test_an_endpoint_with_an_error_is_said_in_its_words(table: Table, as_editor):
    table.server.faults = [Fault("status", role="/api/tags", status=500, message="out of order")]
    assert "out of order" in as_editor.get(address(table)).content.decode()


@pytest.mark.parametrize("typed", ["ollama/loopback:1b", " ollama/loopback:1b ", "ollama:loopback:1b"])
def test_a_judge_that_is_typed_wins(table: Table, as_editor, typed):
    as_editor.post(address(table), filled(judge_typed=typed))
    assert Bench.objects.get().model == "loopback:1b"


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"candidate": "  "}, "candidate", "Paste the text"),
        ({"candidate": "x" * 1_000_001}, "candidate", "At most 1,000,000 characters"),
        ({"task": "x" * 100_001}, "task", "At most 100,000 characters"),
        ({"judge": ""}, "judge", "Choose a model"),
        ({"judge": "nowhere/x"}, "judge", "Available model servers: ollama, embedded"),
        ({"judge_typed": "qwen3"}, "judge_typed", "Available model servers:"),
        ({"judge_typed": "scripted:/etc/passwd"}, "judge_typed", "Available model servers:"),
        ({"judge_typed": "ollama/" + "x" * 201}, "judge_typed", "at most 200 characters"),
        ({"repeats": "0"}, "repeats", "greater than or equal to 1"),
        ({"repeats": "11"}, "repeats", "less than or equal to 10"),
        ({"repeats": "many"}, "repeats", "whole number"),
        ({"temperature": "2.5"}, "temperature", "less than or equal to 2"),
        ({"temperature": "NaN"}, "temperature", "number"),
        ({"version": "7"}, "version", "valid choice"),
        ({"source": "round"}, "source", "valid choice"),
    ],
)
def test_bad_input_is_said_beside_its_field_and_kept(table: Table, as_editor, changes, field, words):
    answer = as_editor.post(address(table), filled(**changes))
    page = answer.content.decode()
    assert answer.status_code == 422
    found = re.search(rf'<ul class="errorlist" id="id_{field}_error">(.*?)</ul>', page, re.S)
    assert found, f"no error beside {field}"
    assert words in found.group(1)
    if field != "task":
        assert TASK in page
    assert Bench.objects.count() == 0


def test_the_calibration_example_can_be_judged(table: Table, as_editor):
    table.rubric(calibrated())
    as_editor.post(address(table), filled(source="calibration", candidate=""))
    bench = Bench.objects.get()
    assert (bench.candidate, bench.origin) == (EXAMPLE, "calibration")


def test_a_version_without_a_calibration_example_says_so(table: Table, as_editor):
    table.rubric(definition())
    table.rubric(calibrated())
    answer = as_editor.post(address(table), filled(source="calibration", version=1))
    assert answer.status_code == 422
    assert "This version has no calibration example" in answer.content.decode()


def test_the_example_is_not_judged_with_its_own_scores_in_view(table: Table, as_editor):
    table.rubric(calibrated())
    answer = as_editor.post(address(table), filled(source="calibration", anchored="on"))
    assert answer.status_code == 422
    assert "see the answer" in answer.content.decode()


@pytest.fixture
def judged_round(table: Table) -> Round:
    run = run_create(
        project=table.project, version=table.version, task="The run's task.", seed="A run's text.",
        producer=JUDGE, judge=JUDGE,
    )  # fmt: skip
    return Round.objects.get(run=run)


def test_a_round_can_be_judged_with_its_runs_task(table: Table, as_editor, judged_round):
    page = as_editor.get(address(table)).content.decode()
    assert f"Run {judged_round.run_id}, round 1: 13 characters" in page
    as_editor.post(address(table), filled(source="round", round=judged_round.pk, candidate="", task=""))
    bench = Bench.objects.get()
    assert (bench.candidate, bench.task, bench.source_round) == (
        "A run's text.",
        "The run's task.",
        judged_round,
    )


def test_a_round_must_be_named(table: Table, as_editor, judged_round):
    answer = as_editor.post(address(table), filled(source="round", round=""))
    assert answer.status_code == 422
    assert "Choose a round" in answer.content.decode()


def test_a_round_of_another_project_cannot_be_had(table: Table, as_editor, judged_round, other_project):
    Run.objects.update(project=other_project)
    answer = as_editor.post(address(table), filled(source="round", round=judged_round.pk, candidate=""))
    assert answer.status_code == 422
    assert Bench.objects.count() == 0


def test_an_earlier_bench_fills_the_form(table: Table, as_editor):
    bench = table.bench(repeats=7, text="An older text.")
    page = as_editor.get(f"{address(table)}?from={bench.pk}").content.decode()
    assert "An older text.</textarea>" in page
    assert 'value="7"' in page
    assert '<option value="ollama/loopback:8b" selected>' in page


@pytest.mark.parametrize("query", ["?from=999", "?version=99"])
def test_what_is_not_there_is_not_found(table: Table, as_editor, query):
    assert as_editor.get(address(table) + query).status_code == 404


@pytest.mark.parametrize("query", ["?from=x", "?version=-1", "?page=x", "?page=99"])
def test_nonsense_in_an_address_does_no_harm(table: Table, as_editor, query):
    assert as_editor.get(address(table) + query).status_code == 200


def test_a_rubric_without_criteria_offers_no_bench(table: Table, as_editor):
    rubric = replace(definition("ralph", criteria=()), checks=(Check("short", "length", {"maximum": 900}),))
    table.rubric(rubric)
    assert "no criteria to score" in as_editor.get(address(table)).content.decode()
    answer = as_editor.post(address(table), filled())
    assert answer.status_code == 422
    assert "no criteria for a judge" in answer.content.decode()


def test_an_archived_rubric_is_not_tried(table: Table, as_editor):
    rubric = table.version.rubric
    rubric.archived_at = timezone.now()
    rubric.save(update_fields=["archived_at"])
    assert "Unarchive it" in as_editor.get(address(table)).content.decode()
    answer = as_editor.post(address(table), filled())
    assert answer.status_code == 422
    assert "Unarchive it" in answer.content.decode()
    assert Bench.objects.count() == 0


def test_what_people_type_is_shown_as_text(table: Table, as_editor):
    table.bench(text=HOSTILE, task=HOSTILE)
    page = as_editor.get(f"{address(table)}?from={Bench.objects.get().pk}").content.decode()
    refused = as_editor.post(address(table), filled(candidate=HOSTILE, judge_typed=HOSTILE)).content.decode()
    for text in (page, refused):
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;{{ 7|add:1 }}" in text


def queries(client, path: str) -> int:
    client.get(path)  # the session remembers the project
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


def test_the_number_of_queries_does_not_grow(table: Table, as_editor, judged_round):
    table.server.replies = valid_replies(7.0)
    table.bench()
    few = queries(as_editor, address(table))
    for number in range(12):
        table.bench(text=f"Text {number}", repeats=10)
        table.rubric(definition())
    assert queries(as_editor, address(table)) == few


def test_a_list_reads_no_long_texts(table: Table, as_editor):
    table.bench(text="long " * 1000)
    with CaptureQueriesContext(connection) as captured:
        as_editor.get(address(table))
    benches = [entry["sql"] for entry in captured if 'FROM "refinement_bench"' in entry["sql"]]
    assert benches
    assert not any('"refinement_bench"."candidate",' in sql for sql in benches)


def test_many_benches_come_in_pages(table: Table, as_editor):
    for number in range(21):
        table.bench(text=f"Text {number:02}", repeats=1)
    first, second = (as_editor.get(f"{address(table)}?page={page}").content.decode() for page in (1, 2))
    assert ("Text 20" in first, "Text 00" in first) == (True, False)
    assert "Text 00" in second


def test_what_is_said_of_endpoints_is_kept_for_some_seconds(table: Table, as_editor):
    for _ in range(3):
        as_editor.get(address(table))
    assert len([entry for entry in table.server.log if entry.path == "/api/tags"]) == 1
    assert json.dumps([entry.path for entry in table.server.chats]) == "[]"
