"""Everything that the browser tests do, through the API with a token.

| tests/browser/           | what is done there                                     | here |
|---|---|---|
| test_journey, _launch    | models, estimate, warnings, launch, follow, again      | `launched`, `followed` |
| test_run_page            | rounds, diff, calls, actions                           | `read_through` |
| test_run_list            | filters, views, tags, archive                          | `found_and_sorted` |
| test_runs_accessibility  | runs side by side, forms                               | `read_through` |
| test_studio_*, _rubric*  | gallery, edit, two editors, versions, preview, checks, | `rubric_made` |
|                          | seed, files, duplicate                                 |      |
| test_bench               | a text judged again and again                          | `bench_tried` |
| test_comments*, _inbox   | threads, answers, mentions, notices                    | `talked_about` |
| test_scoring, _reviews   | scores, blind reading, decisions, queue, by hand       | `reviewed` |
| test_share, _webhooks    | links, webhooks                                        | `shared_and_told` |
| test_people              | members, invitations, roles, audit log                 | `shared_and_told` |
| test_import              | on trial, for good                                     | the end of the test |

Of no meaning for scripts: signing in, accounts, passkeys, themes, keyboard, zones of time, pictures of charts
(their numbers are `trajectory`), and tokens themselves, which people make.
"""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from refinement.execution.trials.advancing import trial_advance
from refinement.models import BenchTrial, Membership, Project
from tests.api.conftest import api_client
from tests.api.test_journey import models, offered
from tests.loopback.fixtures import ollama_server
from tests.stepping import run_step

__all__ = ["models", "ollama_server"]
pytestmark = pytest.mark.django_db
HERE = "/projects/alpha"


def done(answer, status=200):
    """The answer's JSON; anything but the expected status fails the test with what was said."""
    assert answer.status_code == status, answer.content
    return answer.json() if answer.content else None


def rubric_made(script) -> str:
    """From the gallery: edited by two, restored, looked at first, calibrated, as a file, duplicated."""
    gallery = done(script.get(f"{HERE}/rubric-gallery"))
    start = {"profile": gallery["profiles"][0]["key"], "artifact": gallery["artifacts"][0]["key"]}
    definition = done(script.post(f"{HERE}/rubrics", {"name": "House style", **start}), 201)["definition"]
    here = f"{HERE}/rubrics/house-style"
    tag = script.get(here).headers["ETag"]
    definition["policy"]["stop_rules"] = ["max_rounds"]
    definition["checks"] = [{"key": "owner", "kind": "contains", "parameters": {"text": "says"}}]
    tag = script.put(here, {"definition": definition}, If_Match=tag).headers["ETag"]
    assert script.put(here, {"definition": definition}, If_Match='"old"').status_code == 412
    scores = {entry["key"]: 5 for entry in definition["criteria"]}
    definition["calibration"] = {"text": "We make backups.", "scores": scores}
    assert done(script.put(here, {"definition": definition, "note": "Example"}, If_Match=tag))["version"] == 3
    tried = done(script.post(f"{here}/checks", {"text": "It says so."}))["items"]
    assert [entry["passed"] for entry in tried] == [True]
    preview = done(script.post(f"{here}/preview", {"task": "T", "candidate": "We back up.", "round": 2}))
    assert "We make backups." in str(preview["prompts"][0]["messages"])
    changed = done(script.get(f"{here}/compare", {"a": "1", "b": "3"}))["changed"]
    assert "Calibration example" in {entry["group"] for entry in changed}
    assert len(done(script.get(f"{here}/versions"))["items"]) == 3
    assert done(script.post(f"{here}/duplicate", {"name": "A copy"}), 201)["slug"] == "a-copy"
    done(script.post(f"{HERE}/rubrics/a-copy/archive"))
    assert "We make backups." in script.get(f"{here}/yaml").content.decode()
    assert [line["slug"] for line in done(script.get(f"{HERE}/rubrics", {"q": "house"}))["items"]]
    return "house-style"


def bench_tried(script, judge: str) -> None:
    address = f"{HERE}/rubrics/house-style/benches"
    numbers = []
    for _ in range(2):
        bench = done(script.post(address, {"candidate": "A text.", "judge": judge, "repeats": 2}), 201)
        numbers.append(bench["id"])
    for trial in BenchTrial.objects.all():  # what a worker does
        trial_advance(trial.pk)
    assert done(script.get(f"{address}/{numbers[0]}"))["status"] == "finished"
    compared = done(script.get(f"{address}/compare", {"a": str(numbers[0]), "b": str(numbers[1])}))
    assert compared["same_text"]
    assert compared["lines"][-1]["before"]


def launched(script, producer: str, judge: str) -> list[int]:
    body = {"task": "Explain our backups.", "rubric": "house-style", "producer": producer, "judge": judge}
    body |= {"settings": {"rounds": 2}, "tags": ["ci"], "repeats": 2}
    told = done(script.post(f"{HERE}/runs/estimate", body))
    assert told["calls"] == {"low": 8, "high": 8}
    assert "no-worker" in {entry["code"] for entry in told["warnings"]}
    return [run["id"] for run in done(script.post(f"{HERE}/runs", body), 201)["runs"]]


def followed(script, run: int) -> None:
    """Paused, told something, resumed, and worked on to its end."""
    here = f"{HERE}/runs/{run}"
    assert done(script.post(f"{here}/pause"))["status"] == "paused"
    done(script.post(f"{here}/instructions", {"text": "Name the owner."}), 201)
    done(script.post(f"{here}/resume"))
    while run_step(run) is not None:  # what a worker does
        pass
    kinds = [entry["kind"] for entry in done(script.get(f"{here}/events"))["items"]]
    assert (kinds[0], kinds[-1]) == ("queued", "stopped")
    assert done(script.get(here))["outcome"] == "FAIL"


def read_through(script, one: int, two: int) -> None:
    here = f"{HERE}/runs/{one}"
    rounds = done(script.get(f"{here}/rounds"))["items"]
    assert len(rounds) == 2
    assert done(script.get(f"{here}/rounds/2"))["feedback"]["instructions"]
    assert done(script.get(f"{here}/diff", {"a": "1", "b": "2"}))["pieces"]
    (first, *_) = done(script.get(f"{here}/calls"))["items"]
    assert done(script.get(f"{here}/calls/{first['id']}"))["reply"]
    compared = done(script.get(f"{HERE}/runs/compare", {"run": [str(one), str(two)]}))
    assert compared["diff"]["compared"]
    assert compared["repeats"][0]["launched"] == 2


def found_and_sorted(script, runs: list[int]) -> None:
    view = {"name": "From CI", "filters": {"tag": "ci", "q": "backups"}, "sort": "-best"}
    filters = done(script.post(f"{HERE}/runs/views", view), 201)["filters"]
    found = done(script.get(f"{HERE}/runs", filters))["items"]
    assert sorted(entry["id"] for entry in found) == runs
    many = {"runs": runs, "action": "tag", "tags": ["kept"]}
    assert done(script.post(f"{HERE}/runs/bulk", many))["done"] == 2
    done(script.post(f"{HERE}/runs/bulk", {"runs": runs[1:], "action": "archive"}))
    assert len(done(script.get(f"{HERE}/runs", {"archived": "true"}))["items"]) == 1


def talked_about(script, other, run: int) -> None:
    here = f"{HERE}/runs/{run}"
    thread = done(script.post(f"{here}/threads", {"body": "Why? @Vera Viewer"}), 201)["id"]
    done(other.post(f"{here}/threads/{thread}/comments", {"body": "Because."}), 201)
    done(script.post(f"{here}/threads/{thread}/resolve"))
    for reader in (script, other):
        (notice, *_) = done(reader.get(f"{HERE}/notices", {"unread": "true"}))["items"]
        assert done(reader.put(f"{HERE}/notices/{notice['id']}/read", {}))["read_at"]


def reviewed(script, other, run: int, reader: int) -> None:
    """Asked for, scored by two, decided, edited by hand and judged once more."""
    here = f"{HERE}/runs/{run}"
    done(script.post(f"{HERE}/reviews", {"runs": [run], "reviewers": [reader], "note": "Look."}), 201)
    assert done(other.get(f"{HERE}/reviews/queue"))["count"] == 1
    keys = [entry["key"] for entry in done(script.get(here))["rubric_used"]["criteria"]]
    scores = {"scores": [{"criterion": key, "score": "7"} for key in keys]}
    for person in (script, other):
        done(person.put(f"{here}/rounds/1/scores/mine", scores))
    assert done(other.get(f"{HERE}/reviews/queue"))["count"] == 0  # scoring completes the review
    body = {"kind": "approved", "round": 1, "reason": "Good."}
    done(script.post(f"{here}/decisions", body), 201)
    hand = {"base": 2, "text": "By hand it says more.", "newest": 2, "rounds": 1}
    assert done(script.post(f"{here}/rounds", hand), 201)["origin"] == "hand"
    while run_step(run) is not None:
        pass
    assert done(script.get(here))["rounds_judged"] == 3


def shared_and_told(script, run: int) -> None:
    share = done(script.post(f"{HERE}/runs/{run}/shares", {"days": 1}), 201)
    done(script.post(f"{HERE}/shares/{share['id']}/revoke"))
    hook = {"address": "https://hooks.example.org/", "events": ["run.finished"]}
    number = done(script.post(f"{HERE}/webhooks", hook), 201)["id"]
    done(script.delete(f"{HERE}/webhooks/{number}"), 204)
    done(script.post(f"{HERE}/invitations", {}), 201)
    assert len(done(script.get(f"{HERE}/members"))["items"]) == 2
    actions = {entry["action"] for entry in done(script.get(f"{HERE}/audit", {"limit": "100"}))["items"]}
    assert {"run.pause", "share.revoke", "review.ask"} <= actions


def exported(script, run: int) -> bytes:
    return script.get(f"{HERE}/runs/{run}/export/json").getvalue()


def imported(script, text: bytes, query: str = "") -> dict:
    answer = script.client.post(
        f"/api/v1{HERE}/imports{query}",
        {"file": [SimpleUploadedFile("run.json", text)]},
        headers={"Authorization": f"Bearer {script.token}"},
    )
    return done(answer)


def test_everything(owner, viewer, project, models, settings):
    settings.API_RATE = 10_000
    script, other = api_client(owner, project, "owner"), api_client(viewer, project, "viewer")
    rubric_made(script)
    producer, judge = offered(script)[:2]
    bench_tried(script, judge)
    runs = launched(script, producer, judge)
    for run in runs:
        followed(script, run)
    one, two = runs
    read_through(script, one, two)
    found_and_sorted(script, runs)
    talked_about(script, other, one)
    reviewed(script, other, one, viewer.pk)
    shared_and_told(script, one)
    before = exported(script, one)
    assert len(json.loads(before)["rounds"]) == 3

    # An instance elsewhere has a project of this name, and nothing in it.
    Project.objects.filter(pk=project.pk).update(slug="was")
    empty = Project.objects.create(name="Alpha", slug="alpha")
    Membership.objects.create(project=empty, user=owner, role="owner")
    there = api_client(owner, empty, "owner", "There")
    assert imported(there, before, "?dry_run=true")["new"] == 1
    (copy,) = imported(there, before)["runs"]
    after = exported(there, copy["run"])
    assert after == before.replace(b'"run": {"id": %d,' % one, b'"run": {"id": %d,' % copy["run"])
    assert imported(there, after)["here"] == 1
