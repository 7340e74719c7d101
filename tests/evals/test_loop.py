"""The retry loop on the wire: the prompts of each attempt, and the stop reasons."""

import json
import sqlite3
from contextlib import closing

from tests.evals.conftest import target_of
from tests.loopback.replies import Asked

LETTERS = "abcdefghij"
# How many of ten assertions hold in each iteration, and what comes of it.
STORIES = {
    "perfect": ((5, 10), "perfect_score", 0.5, True),
    "threshold": ((4, 7, 9), "quality_threshold_met", 0.5, True),
    "regression": ((5, 4), "score_regression", -0.1, False),
    "still": ((5, 5), "no_improvement", 0.0, False),
    "slow": ((1, 3, 5), "max_iterations_reached", 0.4, False),
}
PROMPT = "Story: {name}. Name the letters of the alphabet."


def eval_file() -> str:
    asserts = [
        {
            "type": "contains",
            "value": f"[{letter}]",
            "severity": "warning" if letter == "j" else "error",
            "suggestion": f"Name {letter} in brackets.",
        }
        for letter in LETTERS
    ]
    tests = [{"id": name, "vars": {"name": name}} for name in STORIES]
    whole = {
        "name": "Letters",
        "input": PROMPT.replace("{name}", "{{ name }}"),
        "default_test": {"assert": asserts},
        "tests": tests,
        "execution": {"ralph": {"max_iterations": 3, "threshold": 0.8, "improvement_threshold": 0.05}},
    }
    return json.dumps(whole)


def story_of(text: str) -> str:
    return text.split("Story: ", 1)[1].split(".", 1)[0]


def tell_stories(server):
    """Answers each story's k-th prompt with as many letters as the story has."""

    def reply(asked: Asked) -> str:
        story = story_of(asked.prompt)
        before = sum(story_of(entry.body["messages"][-1]["content"]) == story for entry in server.chats)
        return " ".join(f"[{letter}]" for letter in LETTERS[: STORIES[story][0][before - 1]])

    server.replies = reply


def prompts_of(server, story):
    texts = [entry.body["messages"][-1]["content"] for entry in server.chats]
    return [text for text in texts if story_of(text) == story]


def test_all_five_conditions_stop_the_loop_and_every_case_is_a_run(evals, ollama_server):
    tell_stories(ollama_server)
    evals.write("letters.eval.yaml", eval_file())
    evals.write("targets.yaml", target_of(ollama_server))
    done = evals(".", "--json")  # the file's execution.ralph switches the loop on
    assert done.returncode == 1, done.stderr
    results = evals.results()
    for name, (counts, reason, improvement, passed) in STORIES.items():
        told = results[name]["ralph"]
        assert told["stop_reason"] == reason, name
        assert told["scores"] == [count / 10 for count in counts]
        assert told["iterations"] == len(counts)
        assert abs(told["improvement"] - improvement) < 1e-9
        assert results[name]["passed"] is passed
        assert told["passed_iteration"] == (len(counts) if passed else None), name
        assert results[name]["score"] == max(counts) / 10
    assert json.loads(done.stdout)["passed"] == 2

    first, second = prompts_of(ollama_server, "perfect")
    assert first == PROMPT.format(name="perfect")
    assert second.startswith(first)
    told = second.removeprefix(first)
    errors, warnings = told.split("Warnings:")
    assert "Errors:" in errors
    assert [letter for letter in LETTERS if f"“[{letter}]” is missing" in errors] == list("fghi")
    assert "Suggestion: Name f in brackets." in errors
    assert "“[j]” is missing. Suggestion: Name j in brackets." in warnings
    third = prompts_of(ollama_server, "threshold")[2]
    assert [letter for letter in LETTERS if f"“[{letter}]” is missing" in third] == list("hij")

    with closing(sqlite3.connect(evals.database)) as database:
        rows = database.execute("SELECT stop_reason, status FROM refinement_run ORDER BY stop_reason")
        assert rows.fetchall() == sorted((story[1], "finished") for story in STORIES.values())
        tags = database.execute("SELECT DISTINCT name FROM refinement_runtag").fetchall()
        assert tags == [("Letters",)]
        rubrics = "SELECT COUNT(*) FROM refinement_rubricversion WHERE name LIKE 'Eval: %'"
        assert database.execute(rubrics).fetchone() == (1,)

    ollama_server.log.clear()
    again = evals(".", "--no-ralph", "--out", "once", "--threshold", "0.5")
    assert again.returncode == 1
    once = evals.results("once")
    assert {entry["ralph"]["iterations"] for entry in once.values()} == {1}
    with closing(sqlite3.connect(evals.database)) as database:
        assert database.execute(rubrics).fetchone() == (1,)


def test_the_feedback_is_worded_by_a_template_of_ones_own(evals, ollama_server):
    tell_stories(ollama_server)
    evals.write("letters.eval.yaml", eval_file())
    evals.write("targets.yaml", target_of(ollama_server))
    evals.write(
        "feedback.md", "## Again\n{% for failure in failures %}\n* {{ failure.suggestion }}\n{% endfor %}"
    )
    evals("letters.eval.yaml", "--ralph", "--feedback-template", "feedback.md", "--max-iterations", "2")
    second = prompts_of(ollama_server, "perfect")[1]
    assert second.startswith(PROMPT.format(name="perfect"))
    assert "## Again\n* Name f in brackets.\n* Name g" in second
    assert "Errors:" not in second

    asked = len(ollama_server.chats)
    evals.write("feedback.md", "Line one\n{{ scores }}")
    refused = evals("letters.eval.yaml", "--ralph", "--feedback-template", "feedback.md")
    assert refused.returncode == 2
    assert "feedback.md:2: Unknown variable 'scores'" in refused.stderr
    assert len(ollama_server.chats) == asked


def test_a_judge_scores_what_only_a_reader_can(evals, ollama_server):
    verdicts = iter((0.4, 0.9))
    asked_of_judge = []

    def reply(asked: Asked) -> str:
        if asked.role != "judge":
            return "Dear all, thank you."
        asked_of_judge.append(asked.prompt)
        score = next(verdicts)
        keys = asked.schema["properties"]["criteria"]["properties"]
        criteria = {key: {"reasoning": "Seen.", "score": score, "improvement": ""} for key in keys}
        return json.dumps({"criteria": criteria, "issues": ["It names nobody."], "asi": ""})

    ollama_server.replies = reply
    item = {
        "id": "warm",
        "criterion": "Is it warm?",
        "weight": 3,
        "score_ranges": [
            {"score_range": [0, 3], "outcome": "Cold."},
            {"score_range": [4, 10], "outcome": "Warm."},
        ],
    }
    test = {"id": "letter", "assert": [{"type": "llm-rubric", "value": [item, "Is it short?"], "weight": 2}]}
    evals.write("eval.yaml", json.dumps({"input": "Write to all.", "tests": [test]}))
    evals.write("targets.yaml", target_of(ollama_server))
    done = evals("eval.yaml", "--ralph")
    assert done.returncode == 0, done.stderr
    (result,) = evals.results().values()
    assert result["ralph"]["scores"] == [0.4, 0.9]
    assert {entry["id"]: entry["weight"] for entry in result["asserts"]} == {"warm": 6.0, "llm-rubric-1": 2.0}
    assert "From 0 to 0.3: Cold. From 0.4 to 1: Warm." in asked_of_judge[0]
    written = [e.body["messages"][-1]["content"] for e in ollama_server.chats if e.role == "producer"]
    assert written[0] == "Write to all."
    assert "It names nobody." in written[1]
    assert "warm" not in "".join(written)
