"""Runs by the API: launch, list, read and act."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from refinement.engine.types import Outcome
from refinement.models import AuditEntry, IdempotencyKey, Run, RunTag
from refinement.services.reviews.blind_readings import blind_reading_begin
from refinement.services.rubrics.editing import default_rubrics_install
from tests.views.runs.finished import finished_run
from tests.views.runs.listed import runs_of

pytestmark = pytest.mark.django_db
RUNS = "/projects/alpha/runs"
LAUNCH = {
    "task": "Explain our backups.",
    "rubric": "wiggum",
    "producer": "ollama/loopback:1b",
    "judge": "ollama/loopback:8b",
}


@pytest.fixture(autouse=True)
def _rubrics(project):
    default_rubrics_install(project=project)


# --- launching ------------------------------------------------------------------------------------
def test_a_launch_makes_the_runs_that_were_asked_for(api_editor, editor):
    body = LAUNCH | {
        "seed": "A text.",
        "repeats": 3,
        "tags": ["ci"],
        "settings": {"rounds": 2, "calls": "none"},
    }
    answer = api_editor.post(RUNS, body)
    assert answer.status_code == 201
    made = answer.json()["runs"]
    assert answer.headers["Location"] == f"/api/v1/projects/alpha/runs/{made[0]['id']}"
    assert len({run["batch"] for run in made}) == 1
    assert len(made) == Run.objects.count() == 3
    row = Run.objects.first()
    assert (row.created_by, row.seed, row.snapshot["policy"]["max_rounds"]) == (editor, "A text.", 2)
    assert made[0]["tags"] == ["ci"]
    assert made[0]["status"] == "queued"
    assert api_editor.get(f"{RUNS}/{made[0]['id']}").json() == made[0]
    assert AuditEntry.objects.filter(action="run.launch").get().actor == "Edgar Editor, by token CI"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"task": " "}, "body.task"),
        ({"rubric": "nothing"}, "body.rubric"),
        ({"rubric": "wiggum@99"}, "body.rubric"),
        ({"producer": "elsewhere/model"}, "body.producer"),
        ({"judge": ""}, "body.judge"),
        ({"repeats": 21}, "body.repeats"),
        ({"settings": {"threshold": 11}}, "body.settings.threshold"),
        ({"settings": {"rounds": "many"}}, "body.settings.rounds"),
        ({"tags": ["x" * 51]}, "body.tags"),
    ],
)
def test_what_cannot_be_launched_is_told_where(api_editor, change, where):
    answer = api_editor.post(RUNS, LAUNCH | change)
    assert answer.status_code == 422
    assert [entry["where"] for entry in answer.json()["errors"]] == [where]
    assert Run.objects.count() == 0


def test_a_key_launches_once_and_answers_the_same(api_editor, api_owner):
    first = api_editor.post(RUNS, LAUNCH, Idempotency_Key="one")
    again = api_editor.post(RUNS, LAUNCH, Idempotency_Key="one")
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert again.headers["Location"] == first.headers["Location"]
    assert (first.headers.get("Idempotency-Replayed"), again.headers["Idempotency-Replayed"]) == (
        None,
        "true",
    )
    assert Run.objects.count() == 1
    other = api_editor.post(RUNS, LAUNCH | {"task": "Another."}, Idempotency_Key="one")
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    assert api_owner.post(RUNS, LAUNCH, Idempotency_Key="one").status_code == 201
    assert api_editor.post(RUNS, LAUNCH).status_code == 201
    assert Run.objects.count() == 3


def test_a_refusal_is_not_kept(api_editor):
    assert api_editor.post(RUNS, LAUNCH | {"rubric": "none"}, Idempotency_Key="one").status_code == 422
    assert IdempotencyKey.objects.count() == 0
    assert api_editor.post(RUNS, LAUNCH, Idempotency_Key="one").status_code == 201


# --- finding --------------------------------------------------------------------------------------
def test_the_list_is_filtered_searched_and_sorted_like_the_page(api_viewer, project):
    low, high = runs_of(project, best="5", outcome="FAIL", tags=("ci",))[0], runs_of(project, best="9")[0]
    finished_run(project, task="Write about penguins")

    def found(**query):
        return [entry["id"] for entry in api_viewer.get(RUNS, query).json()["items"]]

    assert len(found()) == 3
    assert found(tag="ci") == [low.pk]
    assert found(best_min="8.7") == [high.pk]
    assert found(sort="best")[0] == high.pk
    assert found(sort="-best")[0] == low.pk
    assert [Run.objects.get(pk=number).title for number in found(q="penguins")] == ["Write about penguins"]
    assert found(archived="true") == []
    line = api_viewer.get(RUNS, {"tag": "ci"}).json()["items"][0]
    assert (line["best"], line["tags"], line["producer"]) == ("5", ["ci"], "ollama/qwen3:14b")


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ({"best_min": "high"}, "query.best_min"),
        ({"since": "yesterday"}, "query.since"),
        ({"outcome": "GOOD"}, "query.outcome"),
        ({"sort": "colour"}, "query.sort"),
        ({"fields": "id,colour"}, "query.fields"),
        ({"limit": "101"}, "query.limit"),
        ({"cursor": "MTI"}, "query.cursor"),
    ],
)
def test_a_query_that_cannot_be_read(api_viewer, query, where):
    answer = api_viewer.get(RUNS, query)
    assert answer.status_code == 422
    assert [entry["where"] for entry in answer.json()["errors"]] == [where]


@pytest.mark.parametrize("sort", ["newest", "-newest", "best", "-time"])
def test_pages_follow_each_other_without_a_gap(api_viewer, project, sort):
    for number in range(7):
        runs_of(project, best=str(number % 3), model_seconds=str(number % 2))
    seen, query = [], {"limit": "3", "sort": sort, "fields": "id"}
    while True:
        page = api_viewer.get(RUNS, query).json()
        seen += [entry["id"] for entry in page["items"]]
        runs_of(project, best="1") if sort == "newest" and len(seen) == 3 else None
        if page["next"] is None:
            break
        query["cursor"] = page["next"]
    assert len(seen) == len(set(seen)) == 7


def test_some_fields_alone(api_viewer, project):
    run = finished_run(project)
    assert api_viewer.get(RUNS, {"fields": "id,best"}).json()["items"] == [{"id": run.pk, "best": "8.6"}]
    assert api_viewer.get(f"{RUNS}/{run.pk}", {"fields": "outcome"}).json() == {"outcome": "FAIL"}


def test_list_and_read_take_a_fixed_number_of_queries(api_viewer, project):
    run = finished_run(project, tags=["a", "b"])

    def queries(address: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as taken:
            assert api_viewer.get(address).status_code == 200
        return len(taken)

    queries(f"{RUNS}/{run.pk}")  # the first reading of a run's scores is stored
    few = queries(RUNS), queries(f"{RUNS}/{run.pk}")
    runs_of(project, 30, tags=("a", "b", "c"))
    RunTag.objects.create(run=run, project=project, name="c")
    assert (queries(f"{RUNS}?limit=100"), queries(f"{RUNS}/{run.pk}")) == few
    assert few == (6, 8)


# --- reading --------------------------------------------------------------------------------------
def test_what_is_in_a_run(api_viewer, project):
    run = finished_run(project)
    here = f"{RUNS}/{run.pk}"
    rounds = api_viewer.get(f"{here}/rounds").json()["items"]
    assert [(entry["number"], entry["composite"]) for entry in rounds] == [
        (1, "7.15"),
        (2, "8.6"),
        (3, "8.3"),
    ]
    assert "candidate" not in rounds[0]
    whole = api_viewer.get(f"{here}/rounds/2").json()
    assert whole["candidate"].startswith("Version 1")
    assert whole["verdicts"][0]["scores"][0]["reasoning"] == "It names the steps."
    text = api_viewer.get(f"{here}/rounds/2/candidate")
    assert (text.content.decode(), text.headers["Content-Type"]) == (
        whole["candidate"],
        "text/plain; charset=utf-8",
    )
    assert [entry["round"] for entry in api_viewer.get(f"{here}/verdicts").json()["items"]] == [1, 2, 3]
    diff = api_viewer.get(f"{here}/diff", {"a": "1", "b": "2"}).json()
    assert {piece["kind"] for piece in diff["pieces"]} >= {"same", "inserted", "deleted"}
    calls = api_viewer.get(f"{here}/calls", {"limit": "1"}).json()
    assert len(calls["items"]) == 1
    assert "messages" in api_viewer.get(f"{here}/calls/{calls['items'][0]['id']}").json()
    events = api_viewer.get(f"{here}/events").json()["items"]
    assert events[0]["kind"] == "queued"


@pytest.mark.parametrize("rest", ["", "/rounds/9", "/rounds/9/candidate", "/calls/9", "/diff?a=1&b=9"])
def test_what_is_not_there(api_viewer, project, rest):
    run = finished_run(project).pk if rest else 99
    assert api_viewer.get(f"{RUNS}/{run}{rest}").status_code == 404


def test_exports_are_those_of_the_pages(api_viewer, as_viewer, project):
    run = finished_run(project)
    for form in ("json", "md", "txt"):
        mine = api_viewer.get(f"{RUNS}/{run.pk}/export/{form}")
        page = as_viewer.get(reverse("run_export", args=["alpha", run.pk, form]))
        assert mine.getvalue() == page.getvalue()
        assert mine.headers["Content-Type"] == page.headers["Content-Type"]
    csv = api_viewer.get(f"{RUNS}/export/csv", {"run": [str(run.pk)]}).getvalue()
    assert csv == api_viewer.get(f"{RUNS}/export/csv").getvalue()
    assert csv.count(b"\n") == 2
    assert api_viewer.get(f"{RUNS}/export/csv", {"best_min": "9.9"}).getvalue().count(b"\n") == 1
    assert api_viewer.get(f"{RUNS}/export/pdf").status_code == 422


# --- acting ---------------------------------------------------------------------------------------
def test_actions_do_what_they_say_and_refuse_what_is_not_possible(api_editor, project):
    run = api_editor.post(RUNS, LAUNCH).json()["runs"][0]["id"]
    here = f"{RUNS}/{run}"
    assert api_editor.post(f"{here}/pause").json()["status"] == "paused"
    again = api_editor.post(f"{here}/pause")
    assert (again.status_code, again.json()["code"]) == (409, "wrong_state")
    assert api_editor.post(f"{here}/resume").json()["status"] == "queued"
    assert api_editor.post(f"{here}/cancel").json()["outcome"] == Outcome.CANCELLED
    assert api_editor.post(f"{here}/retry").status_code == 409
    assert api_editor.post(f"{here}/archive").json()["archived_at"]
    assert api_editor.post(f"{here}/unarchive").json()["archived_at"] is None
    assert api_editor.put(f"{here}/tags", {"tags": ["b", "a", "a"]}).json() == {"tags": ["a", "b"]}
    rerun = api_editor.post(f"{here}/rerun", Idempotency_Key="again")
    assert (rerun.status_code, rerun.json()["rerun_of"]) == (201, run)
    assert api_editor.post(f"{here}/rerun", Idempotency_Key="again").json()["id"] == rerun.json()["id"]


def test_a_finished_run_goes_on_and_is_edited_by_hand(api_editor, project):
    run = finished_run(project)
    here = f"{RUNS}/{run.pk}"
    hand = {"base": 2, "text": "By hand.", "newest": 3, "rounds": 1}
    assert api_editor.post(f"{here}/rounds", hand | {"newest": 2}).json()["code"] == "rounds_moved"
    added = api_editor.post(f"{here}/rounds", hand)
    assert (added.status_code, added.json()["number"], added.json()["origin"]) == (201, 4, "hand")
    assert api_editor.get(here, {"fields": "status"}).json() == {"status": "queued"}
    other = finished_run(project)
    assert api_editor.post(f"{RUNS}/{other.pk}/continue", {"rounds": 2}).json()["status"] == "queued"


def test_instructions_and_decisions(api_editor, api_viewer, project):
    run = finished_run(project)
    here = f"{RUNS}/{run.pk}"
    told = api_editor.post(f"{here}/instructions", {"text": "Shorter."}).json()
    assert api_viewer.get(f"{here}/instructions").json()["items"] == [told]
    assert api_editor.delete(f"{here}/instructions/{told['id']}").json()["withdrawn_at"]
    assert api_editor.delete(f"{here}/instructions/{told['id']}").status_code == 409
    assert api_editor.delete(f"{here}/instructions/999").status_code == 404
    body = {"kind": "approved", "round": 2, "reason": "Good."}
    assert api_editor.post(f"{here}/decisions", body).json()["number"] == 1
    late = api_editor.post(f"{here}/decisions", body)
    assert (late.status_code, late.json()["code"]) == (409, "decided_meanwhile")
    assert api_editor.post(f"{here}/decisions", body | {"seen": 1, "kind": "withdrawn"}).status_code == 201
    assert [entry["number"] for entry in api_viewer.get(f"{here}/decisions").json()["items"]] == [2, 1]


# --- blind reading --------------------------------------------------------------------------------
def test_who_reads_a_run_blind_is_shown_nothing_of_it(api_viewer, viewer, project):
    run = finished_run(project, ("7.3519", "8.6273", "6.4481"), said="Zverdict", why="Zwhystopped")
    runs_of(project)
    project.blind_scores = True
    project.save(update_fields=["blind_scores"])
    blind_reading_begin(run=run, number=1, user=viewer)
    here = f"{RUNS}/{run.pk}"
    parts = ("", "/rounds", "/rounds/1", "/rounds/1/candidate", "/verdicts", "/diff?a=1&b=2", "/calls")
    more = ("/events", "/stream", "/instructions", "/decisions", "/export/json", "/export/md", "/export/txt")
    for part in (*parts, *more):
        answer = api_viewer.get(f"{here}{part}")
        assert (answer.status_code, answer.json()["code"]) == (403, "reads_blind"), part
    lists = [api_viewer.get(address) for address in (RUNS, f"{RUNS}?q=deployment", "/projects/alpha/rubrics")]
    lists += [api_viewer.get(f"{RUNS}/export/{form}") for form in ("csv", "jsonl")]
    lists += [api_viewer.get(f"{RUNS}/export/csv", {"run": [str(run.pk)]})]
    shown = b"".join(answer.getvalue() for answer in lists)
    # A digit before it makes it the end of a time.
    assert re.findall(rb"(?<!\d)(?:7\.3519|8\.6273|6\.4481)|Zverdict|Zwhystopped", shown) == []
    assert b"A task" in shown


def test_a_task_type_is_launched_read_and_filtered_by(api_editor, project):
    answer = api_editor.post(RUNS, {**LAUNCH, "task_type": " How-To "})
    made = answer.json()["runs"][0]
    assert (answer.status_code, made["task_type"], made["passed_in_round"]) == (201, "how-to", None)
    runs_of(project, task_type="research", outcome="PASS", passed_in_round=2)
    found = api_editor.get(f"{RUNS}?task_type=HOW-TO&fields=id,task_type").json()["items"]
    assert found == [{"id": made["id"], "task_type": "how-to"}]
    (passed,) = api_editor.get(f"{RUNS}?outcome=PASS&fields=task_type,passed_in_round").json()["items"]
    assert passed == {"task_type": "research", "passed_in_round": 2}
    refused = api_editor.post(RUNS, {**LAUNCH, "task_type": "x" * 51})
    assert (refused.status_code, "task_type" in refused.json()["errors"][0]["where"]) == (422, True)
