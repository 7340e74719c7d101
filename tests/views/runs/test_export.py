"""One run as a file: everything, a report, the best candidate."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from decimal import Decimal

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient
from django.urls import reverse

from refinement.engine.profiles import rubric_for
from refinement.models import Call, CheckResult, Event, Round, Run, Verdict
from refinement.providers.registry import Target
from refinement.services.reviews.decisions import decision_make
from refinement.services.reviews.human_scores import Reading, human_score_give
from refinement.services.rubrics.editing import rubric_create
from refinement.services.runs.creating import run_create, tags_set
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HOSTILE = (
    "<script>alert(1)</script> ![x](http://example.org/x.png) | `` ``` \u202eabc 😀 =1+1 \x00\nnext # line"
)


def address(run, form):
    return reverse("run_export", args=["alpha", run.pk, form])


def body(answer):
    return b"".join(answer.streaming_content).decode()


@pytest.fixture
def run(project, editor):
    return finished_run(project, user=editor, tags=["docs", "=evil"], seed="A seed.", batch="abc")


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        ("json", "application/json"),
        ("md", "text/markdown; charset=utf-8"),
        ("txt", "text/plain; charset=utf-8"),
    ],
)
def test_it_is_a_download_that_nobody_keeps(as_viewer, run, form, kind):
    answer = as_viewer.get(address(run, form))
    assert answer.status_code == 200
    assert answer["Content-Type"] == kind
    name = f"run-{run.pk}-write-the-deployment-guide-for-the-inges.{form}"
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "no-store" in answer["Cache-Control"]
    assert body(answer)
    head = as_viewer.head(address(run, form))
    assert head["Content-Disposition"] == answer["Content-Disposition"]
    assert body(head) == ""


@pytest.mark.parametrize(
    "title", ['"; rm -rf', "../../etc", "\r\nX-Evil: 1", "日本語", "\u202etxt.exe", "💥"]
)
def test_the_files_name_is_safe(as_viewer, project, title):
    run = finished_run(project, task=f"{title} x")
    header = as_viewer.get(address(run, "txt"))["Content-Disposition"]
    assert re.fullmatch(r'attachment; filename="run-\d+(-[\w-]+)?\.txt"', header, re.A)


def test_the_text_is_the_best_candidate_alone(as_viewer, project):
    run = finished_run(project, ["5", "8", "6"], candidates=["first", f"second {HOSTILE}", "third"])
    assert body(as_viewer.get(address(run, "txt"))) == f"second {HOSTILE}".replace("\x00", "\ufffd")


def test_without_a_judged_round_there_is_no_such_text(as_viewer, project):
    version = rubric_create(project=project, slug="new", definition=rubric_for("wiggum"))
    model = Target("ollama", "qwen3:14b")
    run = run_create(project=project, version=version, task="Say it.", producer=model, judge=model)
    assert as_viewer.get(address(run, "txt")).status_code == 404
    assert "No text has been judged." in body(as_viewer.get(address(run, "md")))
    assert json.loads(body(as_viewer.get(address(run, "json"))))["rounds"] == []


def test_the_report_tells_the_run(as_viewer, run):
    text = body(as_viewer.get(address(run, "md")))
    assert text.startswith(f"# Run {run.pk}: Write the deployment guide for the ingest service\n")
    assert "**FAIL** (max\\_rounds). Stopped after round 3: reached the 3-round limit." in text
    assert "| Best | 8.60 |" in text
    assert re.search(r"\| Round 2 \| 8\.60 \|.*points deducted", text)
    assert "### Round 3" in text
    assert "Direction for the next revision: It names the steps." in text
    assert "Round 2 is the result.\n\n```text\nVersion 1: deploy ingest 1.\nThen watch it.\n```\n" in text
    assert "Edgar Editor" in text


def test_the_document_is_enough_to_rebuild_the_run(as_viewer, run, project):
    before = json.loads(body(as_viewer.get(address(run, "json"))))
    copy = rebuilt(before, run)
    after = json.loads(body(as_viewer.get(address(copy, "json"))))

    assert before["wiggum_run"] == 1
    assert len(before["rounds"]) == 3
    assert len(before["calls"]) == 6
    after["run"]["id"] = before["run"]["id"]
    assert after == before


def rebuilt(document, original):
    """A run made from the document alone; of the original only what a project has anyway is taken."""
    said = dict(document["run"])
    elsewhere = {
        "id",
        "project",
        "tags",
        "created_by",
        "created_at",
        "rerun_of",
        "rubric",
        "producer",
        "judge",
        "clerk",
        "panel",
        "imported",
    }
    plain = {name: value for name, value in said.items() if name not in elsewhere}
    roles = ("producer", "judge", "clerk")
    models = {f"{role}_{name}": value for role in roles for name, value in said[role].items()}
    run = Run.objects.create(
        project=original.project, rubric=original.rubric, rubric_version=original.rubric_version,
        created_by=original.created_by, **plain, **models,
    )  # fmt: skip
    Run.objects.filter(pk=run.pk).update(created_at=said["created_at"])
    tags_set(run=run, names=said["tags"])
    for entry in document["rounds"]:
        verdicts, checks, made = entry.pop("verdicts"), entry.pop("checks"), entry.pop("created_at")
        row = Round.objects.create(run=run, **entry)
        Round.objects.filter(pk=row.pk).update(created_at=made)
        for verdict in verdicts:
            written = verdict.pop("created_at")
            made_verdict = Verdict.objects.create(round=row, **verdict)
            Verdict.objects.filter(pk=made_verdict.pk).update(created_at=written)
            verdict["created_at"] = written
        for check in checks:
            CheckResult.objects.create(round=row, **check)
        entry |= {"created_at": made, "verdicts": verdicts, "checks": checks}
    for call in document["calls"]:
        Call.objects.create(run=run, **call)
    for event in document["events"]:
        moment = event.pop("at")
        row = Event.objects.create(run=run, **event)
        Event.objects.filter(pk=row.pk).update(at=moment)
        event["at"] = moment
    return Run.objects.get(pk=run.pk)


def test_two_exports_of_a_finished_run_are_the_same(as_viewer, run):
    first, second = (body(as_viewer.get(address(run, "json"))) for _ in range(2))
    assert first == second
    assert list(json.loads(first)["run"])[:4] == ["id", "project", "title", "task_type"]
    assert datetime.fromisoformat(json.loads(first)["run"]["created_at"]) == run.created_at
    assert Decimal(json.loads(first)["run"]["best"]) == run.best


@pytest.mark.parametrize("form", ["json", "md", "txt"])
def test_hostile_text_breaks_nothing(as_viewer, project, form):
    run = finished_run(project, candidates=[HOSTILE] * 3, said=HOSTILE, task=HOSTILE, tags=["<b>"])
    text = body(as_viewer.get(address(run, form)))
    assert "\x00" not in text
    if form == "json":
        said = json.loads(text)["rounds"][0]["verdicts"][0]["issues"][0]
        assert said == HOSTILE.replace("\x00", "\ufffd")
    if form == "md":
        outside = re.sub(r"(?ms)^(`{3,})text\n.*?^\1$", "", text)
        assert "<script>" not in outside
        assert "![x]" not in outside
        assert "\u202e" not in outside


@pytest.mark.parametrize("form", ["json", "md", "txt"])
def test_five_megabytes_go_through(as_viewer, project, form):
    long = "a line that goes on " * 250_000
    run = finished_run(project, ["5"], candidates=[long], said="short", task=long)
    answer = as_viewer.get(address(run, form))
    assert sum(map(len, answer.streaming_content)) >= 5_000_000


@pytest.mark.parametrize("form", ["pdf", "csv", "JSON", "..", "x" * 300])
def test_other_forms_are_not_found(as_viewer, run, form):
    assert as_viewer.get(f"/p/alpha/runs/{run.pk}/export/{form}/").status_code == 404


@pytest.mark.parametrize("form", ["json", "md", "txt"])
def test_only_members_get_it(as_outsider, anonymous, run, other_project, form):
    assert as_outsider.get(address(run, form)).status_code == 404
    assert as_outsider.get(reverse("run_export", args=["beta", run.pk, form])).status_code == 404
    assert anonymous.get(address(run, form)).status_code == 302


def test_posting_is_refused(as_owner, run):
    assert as_owner.post(address(run, "json")).status_code == 405


@pytest.mark.django_db(transaction=True)
def test_the_asynchronous_server_gets_it_in_parts(run, viewer):
    """As the product serves it: a plain iterator would be collected whole before the first byte."""

    async def fetched():
        client = AsyncClient()
        await client.aforce_login(viewer)
        answer = await client.get(address(run, "json"))
        return answer.is_async, b"".join([part async for part in answer.streaming_content])

    # In a thread of its own: a browser test before may have left a loop in this one.
    with ThreadPoolExecutor(max_workers=1) as threads:
        is_async, content = threads.submit(async_to_sync(fetched)).result()
    assert is_async
    assert json.loads(content)["run"]["id"] == run.pk


def test_what_people_said_is_in_the_files(as_viewer, viewer, editor, run):
    keys = [entry["key"] for entry in run.snapshot["criteria"]]
    said = Reading(dict.fromkeys(keys, Decimal("6.5")), {"depth": HOSTILE}, HOSTILE)
    human_score_give(run=run, row=run.rounds.get(number=2), user=viewer, submitted=said, seen_version=0)
    decision_make(run=run, kind="approved", reason=HOSTILE, seen=0, user=editor, round_number=3)
    found = json.loads(body(as_viewer.get(address(run, "json"))))
    (score,), (decision,) = found["human_scores"], found["decisions"]
    assert (score["round"], score["author_name"], score["composite"]) == (2, "Vera Viewer", "6.500000")
    assert (score["blind"], score["version"], score["scores"][1]["score"]) == (False, 1, "6.5")
    assert (decision["number"], decision["kind"], decision["round_number"]) == (1, "approved", 3)
    assert (found["run"]["decision"], found["run"]["chosen_round"]) == ("approved", 3)
    assert (found["run"]["outcome"], found["run"]["best_round"]) == ("FAIL", 2)
    report = body(as_viewer.get(address(run, "md")))
    assert "## Decisions" in report
    assert "| Edgar Editor | approved: round 3 |" in report
    assert "Vera Viewer gave it 6.50:" in report
    assert "<script>" not in report
