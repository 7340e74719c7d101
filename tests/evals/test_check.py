"""`wiggum eval --check`: what would run, as text and JSON, without a database or a model."""

import json

import pytest

from refinement.cli.evals.command import eval_command
from refinement.cli.exits import NotThere
from tests.evals.corpus_reading import ROOT

GOOD = ROOT / "promptfoo" / "promptfooconfig.informational.yaml"
BAD = ROOT / "promptfoo" / "promptfooconfig.everything-wrong.yaml"
INCLUDED = "prompts: [Hi]\ntests: cases.yaml\n"


@pytest.fixture
def check(capsys):
    def run(*arguments):
        status = eval_command.main([*map(str, arguments), "--check"], standalone_mode=False)
        return int(status), capsys.readouterr().out

    return run


def test_a_file_that_would_run_ends_with_0_and_says_what_is_ignored(check):
    status, out = check(GOOD, "--target", "ollama/qwen3")
    assert status == 0
    assert f"✓ {GOOD}: 1 case (promptfoo)\n" in out
    assert f"  {GOOD}:5: ignored: outputPath in the file. Results go to the --out folder.\n" in out
    assert out.endswith("1 of 1 file can run.\n")


def test_everything_wrong_is_reported_at_once(check):
    status, out = check(BAD, GOOD, "--target", "ollama/qwen3")
    assert status == 2
    for words in (
        "nowhere.txt was not found",
        "nowhere.md was not found",
        "transform",
        "perplexity",
        "contians",
    ):
        assert words in out
    assert out.endswith("1 of 2 files can run.\n")


def test_the_json_report(check):
    status, out = check(GOOD, BAD, "--target", "x", "--json")
    good, bad = json.loads(out)["files"]
    assert status == 2
    assert (good["file"], good["accepted"], good["cases"], good["refused"]) == (str(GOOD), True, 1, [])
    assert {
        "what": "outputPath in the file",
        "count": 1,
        "line": 5,
        "reason": "Results go to the --out folder.",
    } in good["ignored"]
    assert (bad["accepted"], bad["cases"]) == (False, 0)
    assert {"line": 1, "reason": "prompts, entry 1: the file parts/nowhere.txt was not found."} in bad[
        "refused"
    ]


def test_strict_refuses_what_is_ignored(check):
    assert check(GOOD, "--target", "x", "--strict")[0] == 2


def test_a_problem_in_an_included_file_names_that_file(check, tmp_path):
    (tmp_path / "promptfooconfig.yaml").write_text(INCLUDED)
    (tmp_path / "cases.yaml").write_text("\n- vars: {}\n  assert: [{type: perplexity}]\n")
    status, out = check(tmp_path / "promptfooconfig.yaml", "--target", "x", "--json")
    (refused,) = json.loads(out)["files"][0]["refused"]
    assert status == 2
    assert (refused["file"], refused["line"]) == (str(tmp_path / "cases.yaml"), 3)


def test_without_a_target_the_files_own_must_be_known(check, tmp_path):
    path = tmp_path / "promptfooconfig.yaml"
    path.write_text("prompts: [Hi]\nproviders: ['ollama:chat:gemma3', 'openai:gpt-4o']\n")
    assert "'openai:gpt-4o' is not a model of Wiggum" in check(path)[1]
    path.write_text("prompts: [Hi]\nproviders: 'ollama:chat:gemma3'\n")
    assert check(path)[0] == 0
    path.write_text("prompts: [Hi]\n")
    assert "no target selected" in check(path)[1]


def test_problems_of_targets_have_their_lines(check, tmp_path):
    path = tmp_path / "a.eval.yaml"
    path.write_text(
        "input: Hi\ntests:\n  - {id: a, assert: [It is kind.]}\n"
        "targets: [{name: agent, kind: command, command: cat}]\nexecution: {target: agent}\n"
    )
    status, out = check(path, "--json")
    (refused,) = json.loads(out)["files"][0]["refused"]
    assert (status, refused["line"]) == (2, 3)
    assert refused["reason"].startswith("llm-rubric needs a judge model for the command agent.")
    path.write_text("input: Hi\ntests: [{id: a}]\n")
    (refused,) = json.loads(check(path, "--json")[1])["files"][0]["refused"]
    assert refused == {
        "line": 1,
        "reason": "no target selected. Use targets.yaml, targets: or --target.",
    }


@pytest.mark.parametrize(("content", "why"), [(b"", "empty"), (b"name: \xff", "not UTF-8 text")])
def test_a_file_that_cannot_be_read_is_named_with_a_sentence(check, tmp_path, content, why):
    path = tmp_path / "a.eval.yaml"
    path.write_bytes(content)
    assert f"  {path}:1: The file is {why}.\n" in check(path, "--target", "x")[1]


def test_a_target_that_only_the_command_line_names_is_not_found(tmp_path):
    path = tmp_path / "a.eval.yaml"
    path.write_text("input: Hi\ntests: [{id: a}]\ntargets: [{name: near, kind: embedded}]\n")
    with pytest.raises(NotThere, match=r"^--target nowhere: not found\. Available: near\."):
        eval_command.main([str(path), "--target", "nowhere"], standalone_mode=False)
