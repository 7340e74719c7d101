"""Many runs as a table and as lines."""

import csv
import io
import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from refinement.models import Run
from refinement.selectors.runs import exports as run_exports
from refinement.services.reviews.decisions import decision_make
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db


def address(form, query=""):
    return f"{reverse('run_export_many', args=['alpha', form])}?{query}"


def body(answer):
    return b"".join(answer.streaming_content).decode()


def rows(client, query=""):
    text = body(client.get(address("csv", query)))
    return list(csv.DictReader(io.StringIO(text, newline="")))


def lines(client, query=""):
    return [json.loads(line) for line in body(client.get(address("jsonl", query))).splitlines()]


def test_every_run_is_a_row_newest_first(as_viewer, project, editor):
    runs = [finished_run(project, user=editor, tags=["docs", "guide"]) for _ in range(3)]
    found = rows(as_viewer)
    assert [int(row["run"]) for row in found] == [run.pk for run in reversed(runs)]
    assert found[0] | {"run": "", "created_at": "", "started_at": "", "finished_at": "", "rubric": ""} == {
        "run": "", "title": "Write the deployment guide for the ingest service", "task_type": "",
        "rubric": "", "rubric_version": "1", "profile": "wiggum", "producer": "ollama/qwen3:14b",
        "judge": "ollama/gemma3:27b", "status": "finished", "outcome": "FAIL", "stop_reason": "max_rounds",
        "why": "Stopped after round 3: reached the 3-round limit.", "r1": "7.15", "best": "8.6",
        "best_round": "2", "passed_in_round": "", "last": "8.3", "improvement": "1.15", "rounds": "3",
        "signal_rounds": "0", "penalty_rounds": "0", "cut_rounds": "0", "prompt_tokens": "15000",
        "completion_tokens": "3420", "calls": "5", "cost": "", "model_seconds": "98.5", "batch": "",
        "created_by": "Edgar Editor", "created_at": "", "started_at": "", "finished_at": "",
        "imported": "", "decision": "", "chosen_round": "", "decided_by": "", "trajectory": "7.15 8.6 8.3",
        "tags": "docs, guide",
        "metrics": "", "contract_violations": "0", "board_rounds": "0", "key_changes": "",
        "clerk": "ollama/gemma3:27b", "within_noise": "", "smallest_difference": "", "same_text_moved": "",
    }  # fmt: skip


def test_a_line_has_the_scores_of_every_round(as_viewer, project):
    finished_run(project, ["7", "8.5"], outcome="PASS", stop_reason="passed")
    (line,) = lines(as_viewer)
    keys = ["depth", "relevance", "completeness", "grounded", "specificity", "structure"]
    assert line["wiggum_scores"] == {"r1": dict.fromkeys(keys, 7), "r2": dict.fromkeys(keys, 8.5)}
    assert list(line["wiggum_scores"]["r1"]) == keys
    assert (line["wiggum_rounds"], line["final_score"], line["final"]) == (2, 8.5, "PASS")
    assert line["wiggum_issues"]["r1"] == ["It names the steps."] * 2


def test_what_people_decided_stands_beside_the_outcome(as_viewer, project, editor, owner):
    run = finished_run(project)
    for seen, (kind, person) in enumerate((("rejected", owner), ("result", editor))):
        decision_make(run=run, kind=kind, round_number=3, reason="So it is.", seen=seen, user=person)
    columns = ("outcome", "best_round", "decision", "chosen_round", "decided_by")
    assert [lines(as_viewer)[0][name] for name in columns] == ["FAIL", 2, "result", 3, "Edgar Editor"]
    decision_make(run=run, kind="withdrawn", reason="Not so.", seen=2, user=editor)
    assert [rows(as_viewer)[0][name] for name in columns] == ["FAIL", "2", "", "", ""]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_it_is_a_download_that_nobody_keeps(as_viewer, project, form):
    answer = as_viewer.get(address(form))
    name = {"csv": "runs-alpha.csv", "jsonl": "runs.jsonl"}[form]
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "no-store" in answer["Cache-Control"]


def test_chosen_runs_alone(as_viewer, project):
    runs = [finished_run(project) for _ in range(3)]
    query = f"run={runs[0].pk}&run={runs[2].pk}"
    assert {int(row["run"]) for row in rows(as_viewer, query)} == {runs[0].pk, runs[2].pk}


def test_the_lists_filters_count(as_viewer, project):
    passed = finished_run(project, outcome="PASS", stop_reason="passed", tags=["docs"])
    finished_run(project)
    assert [int(row["run"]) for row in rows(as_viewer, "outcome=PASS")] == [passed.pk]
    assert [line["run"] for line in lines(as_viewer, "tag=docs")] == [passed.pk]
    assert rows(as_viewer, "outcome=ERROR") == []


def test_filters_that_cannot_be_read_lead_back_to_the_list(as_viewer, project):
    answer = as_viewer.get(address("csv", "best_min=lots"))
    assert answer.status_code == 302
    assert answer["Location"] == f"{reverse('run_list', args=['alpha'])}?best_min=lots"


def test_runs_of_other_projects_are_never_in_it(as_viewer, project, other_project):
    own, foreign = finished_run(project), finished_run(other_project)
    assert [int(row["run"]) for row in rows(as_viewer)] == [own.pk]
    assert rows(as_viewer, f"run={foreign.pk}") == []


def test_no_formula_is_in_the_table(as_viewer, project):
    evil = '=HYPERLINK("http://example.org")'
    finished_run(project, task=evil, tags=["@SUM(A1)"], why="-1+1\n<script>alert(1)</script>", batch="+1")
    (row,) = rows(as_viewer)
    assert row["title"] == f"'{evil}"
    assert row["tags"] == "'@SUM(A1)"
    assert row["why"].startswith("'-1+1")
    assert row["batch"] == "'+1"


def test_hostile_text_stays_in_its_line(as_viewer, project):
    evil = "\u202e<script>alert(1)</script>\u2028\n😀 \x00"
    finished_run(project, task=evil, said=evil)
    (line,) = lines(as_viewer)
    assert line["wiggum_issues"]["r1"][0] == evil.replace("\x00", "\ufffd")


@pytest.mark.parametrize(
    ("form", "unread"),
    [("csv", ("candidate", "task", "snapshot", "seed")), ("jsonl", ("candidate", "snapshot", "seed"))],
)
def test_long_texts_are_not_read(as_viewer, project, form, unread):
    finished_run(project, ["5"], candidates=["SECRET " * 1000], task="A task")
    with CaptureQueriesContext(connection) as queries:
        assert "SECRET" not in body(as_viewer.get(address(form)))
    asked = " ".join(query["sql"] for query in queries.captured_queries)
    for column in unread:
        assert f'"{column}"' not in asked


def test_queries_grow_with_the_parts_and_not_with_the_runs(as_viewer, project, monkeypatch):
    monkeypatch.setattr(run_exports, "SHORT_ROWS", 3)

    def asked():
        with CaptureQueriesContext(connection) as queries:
            found = rows(as_viewer)
        return len(found), len(queries)

    finished_run(project, ["5"])
    as_viewer.get(address("csv"))
    one = asked()
    finished_run(project, ["5"] * 20, tags=["a", "b"])
    finished_run(project, ["5"])
    three = asked()
    finished_run(project, ["5"])
    four = asked()

    assert (one[0], three[0], four[0]) == (1, 3, 4)
    assert three[1] == one[1]
    assert four[1] - three[1] == 7  # runs, rounds, verdicts, judges, metrics, tags, decisions


@pytest.mark.parametrize("form", ["json", "md", "xlsx"])
def test_other_forms_are_not_found(as_viewer, form):
    assert as_viewer.get(address(form)).status_code == 404


def test_an_odd_number_is_not_found(as_viewer):
    assert as_viewer.get(address("csv", "run=x")).status_code == 404


def test_only_members_get_it(as_outsider, anonymous, project):
    assert as_outsider.get(address("csv")).status_code == 404
    assert anonymous.get(address("csv")).status_code == 302


def test_posting_is_refused(as_owner, project):
    assert as_owner.post(address("csv")).status_code == 405


def test_an_empty_project_gives_a_table_with_its_head(as_viewer):
    assert body(as_viewer.get(address("csv"))).startswith("run,title,")
    assert body(as_viewer.get(address("jsonl"))) == ""
    assert not Run.objects.exists()


def test_task_and_task_type_are_in_the_line_and_the_type_alone_in_the_table(as_viewer, project):
    run = finished_run(project, outcome="PASS", stop_reason="passed", task_type="how-to", passed_in_round=2)
    (line,) = lines(as_viewer)
    assert (line["task"], line["task_type"], line["passed_in_round"]) == (run.task, "how-to", 2)
    assert (line["rubric"], line["rubric_version"]) == (run.rubric.slug, run.rubric_version.number)
    (row,) = rows(as_viewer)
    assert (row["task_type"], row["passed_in_round"], "task" in row) == ("how-to", "2", False)


def test_long_tasks_are_read_a_few_at_a_time(as_viewer, project, monkeypatch):
    monkeypatch.setattr(run_exports, "TASK_ROWS", 2)
    runs = [finished_run(project, task=f"Task {number}") for number in range(5)]
    assert [line["task"] for line in lines(as_viewer)] == [run.task for run in reversed(runs)]
