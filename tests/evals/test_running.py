"""Assertions of other tools, repeats and reports, with the real command."""

import json
import sys
from xml.etree import ElementTree as ET

from tests.evals.conftest import target_of
from tests.house.processes import free_port

GRADER = f"""\
#!{sys.executable}
import json, sys
given = json.load(sys.stdin)
good = "Ada" in given["output"] and given["input"][0]["content"].startswith("Greet")
print(json.dumps({{"pass": good, "score": 0.75, "reason": "names Ada", "checks": []}}))
"""
CHECKS = """\
def get_assert(output, context):
    print('noise')
    return {'pass': 'Ada' in output, 'score': 0.5}
"""
FOO = """\
prompts: ["Greet {{name}}."]
tests:
  - description: passes
    vars: {name: Ada}
    assert:
      - {type: contains-any, value: [Ada, Bob]}
      - {type: javascript, value: output.includes(context.vars.name), metric: names}
      - {type: python, value: "context['vars']['name'] in output"}
      - {type: python, value: file://checks.py}
      - {type: starts-with, value: ADA, transform: output.toUpperCase().slice(7)}
      - {type: latency, threshold: 60000}
      - type: assert-set
        threshold: 0.5
        assert: [{type: is-json}, {type: contains, value: Hello}]
  - description: fails
    vars: {name: Bob}
    assert:
      - {type: contains, value: Hello}
      - {type: javascript, value: "({pass: false, score: 0.2, reason: 'not like that'})"}
      - {type: python, value: 1 / 0}
  - description: lenient
    threshold: 0.5
    vars: {name: Cy}
    assert: [{type: contains, value: Hello}, {type: contains, value: Cy}]
  - description: bare
    vars: {name: Di}
"""
AGENT = "#!/bin/sh\nread -r prompt\necho 'Hello, Ada!'\n"
COUNTING = "#!/bin/sh\nn=$(ls | wc -l)\ntouch n$n\n[ $n = 5 ] && echo Ada || echo Bob\n"
TARGETS = json.dumps({"targets": [{"name": "agent", "kind": "command", "command": "./agent.sh"}]})


def test_the_assertions_of_promptfoo(evals):
    """Every assertion must hold unless the test sets a threshold, and each that failed is named."""
    evals.write("promptfooconfig.yaml", FOO)
    evals.write("checks.py", CHECKS)
    evals.write("agent.sh", AGENT, executable=True)
    evals.write("targets.yaml", TARGETS)
    done = evals("promptfooconfig.yaml", "--target", "agent", "--badge", "badge.json", "-j", "1")
    assert done.returncode == 1, done.stderr
    results = evals.results()
    assert {name: entry["passed"] for name, entry in results.items()} == {
        "passes": True, "fails": False, "lenient": True, "bare": True,
    }  # fmt: skip
    passes, fails = results["passes"], results["fails"]
    assert passes["sets"] == [
        {"id": "assert-set-1", "passed": True, "score": 0.5, "asserts": ["is-json-1", "contains-1"]}
    ]
    assert passes["metrics"] == {"names": 1.0}
    assert {entry["id"]: entry["score"] for entry in passes["asserts"]}["python-2"] == 0.5
    (iteration,) = fails["iterations"]
    feedback = {entry["id"]: entry for entry in iteration["feedback"]}
    assert feedback["javascript-1"]["reason"] == "not like that"
    assert "ZeroDivisionError" in feedback["python-1"]["reason"]
    assert (feedback["python-1"]["severity"], feedback["python-1"]["actual"]) == ("error", "Hello, Ada!")
    assert (fails["threshold"], results["lenient"]["threshold"], results["lenient"]["score"]) == (
        None,
        0.5,
        0.5,
    )
    assert (results["bare"]["asserts"], results["bare"]["outcome"]) == ([], "PASS")
    assert "2/4 promptfooconfig.yaml:15 · fails · agent" in done.stderr
    assert "  error: javascript-1: not like that" in done.stderr
    summary = (evals.folder / "wiggum-eval" / "summary.md").read_text()
    assert "- error: javascript-1: not like that" in summary
    assert json.loads((evals.folder / "badge.json").read_text())["message"] == "3/4 passed"

    evals.write("promptfooconfig.yaml", FOO.replace("1 / 0", "True").replace("pass: false", "pass: true"))
    again = evals("promptfooconfig.yaml", "--target", "agent", "--rerun-failed", "--badge", "b.svg")
    assert again.returncode == 0, again.stderr
    assert "3 of 4 cases are already finished." in again.stderr
    assert "4/4 passed" in (evals.folder / "b.svg").read_text()
    one = evals("promptfooconfig.yaml", "--target", "agent", "--filter", "^LEN", "--out", "one")
    assert (one.returncode, list(evals.results("one"))) == (0, ["lenient"])
    none = evals("promptfooconfig.yaml", "--target", "agent", "--filter", "zzz", "--json")
    assert none.returncode == 4
    assert json.loads(none.stdout)["error"]["kind"] == "not_found"


def test_repeats_and_a_script_grader_of_agentv(evals):
    evals.write("grader.py", GRADER, executable=True)
    evals.write(
        "agent.sh",
        "#!/bin/sh\nn=$(ls | wc -l); touch n$n; [ $n = 5 ] && echo Ada || echo Bob\n",
        executable=True,
    )
    evals.write("targets.yaml", TARGETS)
    evals.write(
        "greet.eval.yaml",
        json.dumps(
            {
                "tests": [{"id": "it", "criteria": "greets", "input": "Greet Ada."}],
                "execution": {"trials": {"count": 3}},
                "assertions": [{"type": "code-grader", "command": ["./grader.py"]}],
            }
        ),
    )
    done = evals("greet.eval.yaml", "--target", "agent", "-j", "1", "--json")
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    (trials,) = told["trials"]
    assert (trials["trials"], trials["pass_any"], trials["pass_all"]) == (3, True, False)
    assert [entry["score"] for entry in told["results"]] == [0.75] * 3
    assert [entry["trial"] for entry in told["results"]] == [1, 2, 3]
    assert "it [2/3]" in (evals.folder / "wiggum-eval" / "junit.xml").read_text()
    assert (
        "| it | agent | 1 of 3 | 0.75 | 0.00 |" in (evals.folder / "wiggum-eval" / "summary.md").read_text()
    )


def test_reports_are_written_although_nothing_is_there(evals, ollama_server):
    evals.write("it.eval.yaml", json.dumps({"input": "Hi", "tests": [{"id": "it"}]}))
    evals.write("targets.yaml", target_of(ollama_server, model="lopback:1b"))
    missing = evals("it.eval.yaml", "--json")
    assert missing.returncode == 4
    message = json.loads(missing.stdout)["error"]["message"]
    assert "was reached, but has no model 'lopback:1b'" in message
    assert "Similar: loopback:1b" in message
    evals.write("targets.yaml", target_of(ollama_server, url=f"http://127.0.0.1:{free_port()}"))
    away = evals("it.eval.yaml", "--json")
    assert (away.returncode, json.loads(away.stdout)["error"]["kind"]) == (3, "unavailable")
    suites = ET.parse(evals.folder / "wiggum-eval" / "junit.xml").getroot()
    assert (suites.get("tests"), suites.get("errors")) == ("1", "1")
    gone = evals("nothing.eval.yaml", "--json")
    assert (gone.returncode, json.loads(gone.stdout)["error"]["code"]) == (4, 4)
    bad = evals.write("bad.eval.yaml", "input: Hi\ntests: [{assert: [{type: contians, value: x}]}]")
    wrong = evals(bad.name, "--json")
    (problem,) = json.loads(wrong.stdout)["error"]["problems"]
    assert (wrong.returncode, problem["file"], problem["line"]) == (2, "bad.eval.yaml", 2)
