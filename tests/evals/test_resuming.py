"""Parallel cases, Ctrl-C and kill -9: finished results are kept and not repeated."""

import json
import signal
import sqlite3
from collections import Counter
from contextlib import closing

from tests.evals.conftest import target_of
from tests.house.processes import PATIENCE, wait_for
from tests.loopback.faults import Fault

NAMES = [f"case-{number}" for number in range(1, 9)]
SUITE = {
    "input": "Prompt of {{ name }}.",
    "tests": [
        {"id": name, "vars": {"name": name}, "assert": [{"type": "contains", "value": name}]}
        for name in NAMES
    ],
}


def prepare(evals, server):
    server.replies = lambda asked: f"This is {case_of(asked.prompt)}."
    evals.write("eval.yaml", json.dumps(SUITE))
    evals.write("targets.yaml", target_of(server))


def case_of(text):
    return text.rsplit("Prompt of ", 1)[1].split(".", 1)[0]


def asked_cases(server):
    return Counter(case_of(entry.body["messages"][-1]["content"]) for entry in server.chats)


def under_way(server):
    return [entry for entry in server.chats if entry.finished is None and entry.aborted is None]


def statuses(evals):
    with closing(sqlite3.connect(evals.database)) as database:
        rows = database.execute("SELECT status, COUNT(*) FROM refinement_run GROUP BY status")
        return dict(rows.fetchall())


def test_as_many_at_once_as_asked_for_and_all_stop_on_ctrl_c(evals, ollama_server):
    prepare(evals, ollama_server)
    ollama_server.faults = [Fault("hang", nth=tuple(range(3, 99)))]
    process = evals.start(".", "-j", "5")
    ollama_server.wait_for(lambda: len(under_way(ollama_server)) == 5, PATIENCE)
    wait_for(lambda: len(evals.results()) == 2, "two results")
    assert len(ollama_server.chats) == 7  # two were answered; of the others, five wait and none is too many
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, told
    assert "2 of 8 cases passed" in told
    assert under_way(ollama_server) == []
    assert statuses(evals) == {"finished": 2, "paused": 5}
    assert "**2 of 2 cases passed.**" in (evals.folder / "wiggum-eval" / "summary.md").read_text()


def test_kill_9_costs_the_call_under_way_and_nothing_else(evals, ollama_server):
    prepare(evals, ollama_server)
    ollama_server.faults = [Fault("hang", nth=(4,))]
    process = evals.start(".", "-j", "1")
    ollama_server.wait_for(
        lambda: len(under_way(ollama_server)) == 1 and len(ollama_server.chats) == 4, PATIENCE
    )
    wait_for(lambda: len(evals.results()) == 3, "three results")
    process.kill()
    process.communicate()
    results = evals.folder / "wiggum-eval" / "results.jsonl"
    results.write_bytes(results.read_bytes() + b'{"wiggum_eval": 1, "key"')

    done = evals(".", "-j", "4", "--resume")
    assert done.returncode == 0, done.stderr
    assert "3 of 8 cases are already finished" in done.stderr
    assert asked_cases(ollama_server) == Counter(NAMES) + Counter(["case-4"])
    assert list(evals.results()) == NAMES[:3] + [case for case in evals.results() if case not in NAMES[:3]]
    assert len(evals.results()) == 8
    assert statuses(evals) == {"finished": 8}  # the run that was under way went on; no second one was made

    again = evals(".", "--resume")
    assert again.returncode == 0
    assert len(ollama_server.chats) == 9
