"""The command's edge cases: local agents and scripts, missing targets, invalid files, a real model."""

import json
import sqlite3
from contextlib import closing

from tests.evals.conftest import target_of
from tests.house.processes import free_port

SUITE = """\
name: Greetings
input: Greet {{ who }}.
tests:
  - id: greets
    vars: {who: [Ada, Bob]}
    assert:
      - {type: icontains, value: "{{ who }}", severity: error, suggestion: "Use the name {{ who }}."}
      - {type: script, value: ./loud.sh, severity: warning, suggestion: Be louder.}
targets:
  - {name: stdin, kind: command, command: ./agent.sh}
  - {name: files, kind: command, command: './agent.sh < {prompt_file} > {output_file}', shell: true}
"""
LOUD = '#!/bin/sh\ngrep -q "!" || { echo "It is too quiet."; exit 1; }\n'
# Does what the prompt and, later, its feedback ask for; keeps what it was given.
AGENT = """#!/bin/sh
given=$(cat)
printf '%s\\n=====\\n' "$given" >> asked.txt
case "$given" in
  *"Use the name Ada."*"Be louder."*) echo "Hello, ada!" ;;
  *"Use the name Bob."*"Be louder."*) echo "Hello, BOB!" ;;
  *) echo "Hello." ;;
esac
"""


def runs_in(evals):
    with closing(sqlite3.connect(evals.database)) as database:
        return database.execute(
            "SELECT outcome, producer_endpoint FROM refinement_run ORDER BY id"
        ).fetchall()


def test_a_command_line_agent_and_a_script_on_this_machine(evals):
    evals.write("evals/greet.eval.yaml", SUITE)
    evals.write("evals/agent.sh", AGENT, executable=True)
    evals.write("evals/loud.sh", LOUD, executable=True)
    done = evals("evals", "--ralph", "-j", "1", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["cases"], told["passed"]) == (4, 4)
    assert {tuple(entry["ralph"]["scores"]) for entry in told["results"]} == {(0.0, 1.0)}
    assert [entry["type"] for entry in told["results"][0]["asserts"]] == ["icontains", "script"]
    asked = (evals.folder / "evals" / "asked.txt").read_text().split("\n=====\n")[:-1]
    assert len(asked) == 8
    assert asked[0] == "Greet Ada."
    assert asked[1].startswith("Greet Ada.\n")
    assert asked[1].index("“Ada” is missing. Suggestion: Use the name Ada.") < asked[1].index("Warnings:")
    assert "It is too quiet. Suggestion: Be louder." in asked[1]
    assert runs_in(evals) == [("PASS", "eval:stdin")] * 2 + [("PASS", "eval:files")] * 2
    summary = (evals.folder / "wiggum-eval" / "summary.md").read_text()
    assert "**4 of 4 cases passed.**" in summary
    assert 'failures="0"' in (evals.folder / "wiggum-eval" / "junit.xml").read_text()


def test_scripted_replies_work_in_the_foreground(evals):
    evals.write("replies.jsonl", json.dumps({"role": "producer", "text": "Hello, Ada!"}) + "\n")
    suite = SUITE.split("targets:")[0].replace("[Ada, Bob]", "Ada").replace("./loud.sh", "./evals/loud.sh")
    evals.write("greet.eval.yaml", suite)
    evals.write("evals/loud.sh", LOUD, executable=True)
    done = evals("greet.eval.yaml", "--target", "scripted:replies.jsonl")
    assert done.returncode == 0, done.stderr
    assert runs_in(evals) == [("PASS", "scripted:replies.jsonl")]


def test_what_cannot_be_run_is_said_before_anything_runs(evals, ollama_server):
    suite = {"input": "Hi", "tests": [{"assert": [{"type": "contains", "value": "x"}]}]}
    evals.write("good.eval.yaml", json.dumps(suite))
    evals.write("bad.eval.yaml", "input: Hi\ntests: [{assert: [{type: contians, value: x}]}]")
    evals.write("targets.yaml", target_of(ollama_server))
    bad = evals(".")
    assert bad.returncode == 2
    assert "bad.eval.yaml:2: assert, entry 1: unknown type 'contians'" in bad.stderr
    evals.write("targets.yaml", target_of(ollama_server, url=f"http://127.0.0.1:{free_port()}"))
    away = evals("good.eval.yaml")
    assert away.returncode == 3
    assert "the target served cannot be reached; nothing was run." in away.stderr
    missing = evals("good.eval.yaml", "--target", "nowhere/model")
    assert missing.returncode == 4
    assert "there is no model server named 'nowhere'" in missing.stderr
    assert runs_in(evals) == []
    assert ollama_server.chats == []


def test_an_agent_that_goes_away_is_no_failed_case(evals):
    """It ends with 3, and a resumed evaluation asks again once the agent is back."""
    evals.write("greet.eval.yaml", SUITE.replace("./loud.sh", "/bin/true"))
    evals.write("agent.sh", '#!/bin/sh\nrm "$0"\necho Hello.\n', executable=True)
    gone = evals("greet.eval.yaml", "--ralph", "--target", "stdin", "-j", "1")
    assert gone.returncode == 3, gone.stderr
    assert {entry["outcome"] for entry in evals.results().values()} == {"ERROR"}
    evals.write("agent.sh", "#!/bin/sh\necho Hello, Ada and Bob.\n", executable=True)
    back = evals("greet.eval.yaml", "--ralph", "--target", "stdin", "--resume")
    assert back.returncode == 0, back.stderr
    assert {entry["outcome"] for entry in evals.results().values()} == {"PASS"}


def test_the_model_that_comes_along(evals):
    suite = {
        "input": "Say hello.",
        "tests": [
            {"id": "hello", "assert": [{"type": "length", "min": 1}, {"type": "length", "min": 100000}]}
        ],
        "targets": [{"name": "little", "kind": "embedded", "max_tokens": 12}],
    }
    evals.write("eval.yaml", json.dumps(suite))
    done = evals(".", "--ralph", "--max-iterations", "2")
    assert done.returncode == 1, done.stderr
    (result,) = evals.results().values()
    assert (result["outcome"], result["ralph"]["scores"]) == ("FAIL", [0.5, 0.5])
    assert result["ralph"]["stop_reason"] == "no_improvement"
    assert result["output"]
    assert result["tokens"] > 20
