"""If a project requires a proven judge, a case that an unproven one passed fails, also in the badge."""

import json
import sqlite3
from contextlib import closing

import pytest

from refinement.models import Project
from refinement.services.people.tokens import token_make
from tests.evals.conftest import target_of

WORDS = "name: Greetings\ninput: Greet {{ name }}.\ntests:\n  - {id: ada, vars: {name: Ada}, assert: [%s]}\n"
JUDGED = WORDS % "{type: llm-rubric, value: Is it polite?}"
CHECKED = WORDS % "{type: contains, value: Ada}"


@pytest.fixture
def judged(evals, ollama_server):
    def reply(asked):
        if asked.schema is None:
            return "Dear Ada"
        keys = asked.schema["properties"]["criteria"]["properties"]
        criteria = {key: {"reasoning": "Polite.", "score": 1, "improvement": ""} for key in keys}
        return json.dumps({"criteria": criteria, "issues": [], "asi": ""})

    ollama_server.replies = reply
    evals.write("targets.yaml", target_of(ollama_server))
    return evals


def in_database(evals, words, *values):
    with closing(sqlite3.connect(evals.database)) as database, database:
        return database.execute(words, values).fetchall()


def run_of(evals, text=JUDGED, *more):
    evals.write("greet.eval.yaml", text)
    done = evals("greet.eval.yaml", "--target", "served", "--badge", "badge.json", *more)
    assert done.returncode in (0, 1), done.stderr
    return done, evals.results()["ada"], json.loads((evals.folder / "badge.json").read_text())["message"]


def test_an_unproven_judge_fails_the_case_and_a_proven_one_does_not(judged):
    done, result, badge = run_of(judged)  # without a rule; it also makes the project
    assert done.returncode == 0, done.stderr
    assert (result["passed"], result["judge_proven"], badge) == (True, None, "1/1 passed")
    in_database(judged, "UPDATE refinement_project SET gate_labels = 100")
    done, result, badge = run_of(judged)
    assert done.returncode == 1, done.stderr
    assert (result["passed"], result["outcome"], result["judge_proven"]) == (False, "PASS", False)
    assert "Unproven judge: nothing is known about this judge" in done.stderr
    assert badge == "0/1 passed"
    # Somebody has labelled its texts, so that the project knows the judge.
    ((run, version),) = in_database(
        judged, "SELECT id, rubric_version_id FROM refinement_run ORDER BY id LIMIT 1"
    )
    ((project,),) = in_database(judged, "SELECT project_id FROM refinement_run WHERE id = ?", run)
    in_database(
        judged,
        "INSERT INTO refinement_judgerecord (project_id, rubric_version_id, key, name, endpoint, model, "
        "panel, created_at, labels, criteria_differences) "
        "VALUES (?, ?, 'loopback:1b', 'm', '', 'm', '[]', '2026-01-01', 100, '{}')",
        project,
        version,
    )
    done, result, badge = run_of(judged)
    assert done.returncode == 0, done.stderr
    assert (result["passed"], result["judge_proven"], badge) == (True, True, "1/1 passed")


def test_checks_need_no_judge(judged):
    run_of(judged, CHECKED)
    in_database(judged, "UPDATE refinement_project SET gate_labels = 100")
    done, result, badge = run_of(judged, CHECKED)
    assert done.returncode == 0, done.stderr
    assert (result["passed"], result["judge_proven"], badge) == (True, True, "1/1 passed")


def test_the_servers_project_decides_where_runs_are_sent_to_one(judged, live_server, project, editor):
    Project.objects.filter(pk=project.pk).update(gate_like_people=True)
    _, token = token_make(project=project, by=editor, name="CI", role="editor", days=30)
    judged.env |= {"WIGGUM_TOKEN": token}
    done, result, badge = run_of(judged, JUDGED, "--server", live_server.url, "--project", "alpha")
    assert done.returncode == 1, done.stderr
    assert (result["judge_proven"], badge) == (False, "0/1 passed")
    assert "1 runs sent to the server" in done.stderr
