"""docs/eval.md: its examples work, and it names every key."""

import re

import pytest

from refinement.evals import reading, targets
from refinement.evals.assertions import kinds as running
from refinement.evals.dialects import table
from refinement.evals.dialects.asserts import contexts, kinds
from refinement.evals.native import asserting
from refinement.evals.native import reading as native
from refinement.evals.planning import Planner
from refinement.evals.reports.results import AssertResult, Ralph, Result
from refinement.evals.types import BadEval
from refinement.judging.templating import check_template
from tests.house.processes import ROOT

TEXT = (ROOT / "docs" / "eval.md").read_text()
NAMED = set(re.findall(r"`([\w.-]+)`", TEXT)) | set(re.findall(r'"(\w+)":', TEXT))


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.S)


SUITES = [block for block in blocks("yaml") if "tests:" in block]
MAPPED, TARGETS = [block for block in blocks("yaml") if "tests:" not in block]


@pytest.mark.parametrize(
    "keys",
    [
        native.FILE_KEYS, native.TEST_KEYS, native.DEFAULT_KEYS, native.EXECUTION_KEYS, native.LOOP_KEYS,
        asserting.TYPES, asserting.COMMON, asserting.OF_CHECKS, asserting.PARTS,
        {key for kind in asserting.KINDS.values() for key in kind.keys}, targets.KEYS,
        {key for keys in targets.KEYS.values() for key in keys},
        set(Result.__annotations__) - {"wiggum_eval"}, AssertResult.__annotations__, Ralph.__annotations__,
    ],
)  # fmt: skip
def test_every_key_is_named(keys):
    assert set(keys) - NAMED == set()


def test_every_option_is_named():
    from refinement.cli.evals.command import eval_command

    section = TEXT.split("## Command")[1].split("Exit codes")[0]
    named = [option for entry in eval_command.params for option in (*entry.opts, *entry.secondary_opts)]
    options = {option for option in named if option.startswith("-")}
    assert options == set(re.findall(r"(?<=`)--?[a-z][\w-]*(?= \w|`)", section))


def test_the_tables_of_what_is_understood_are_up_to_date():
    assert table.document(TEXT) == TEXT, "run python -m refinement.evals.dialects.table"


def test_every_type_in_the_tables_can_be_run():
    translated = {*contexts.WORDS, "field-accuracy", "execution-metrics", kinds.SET}
    runnable = {*running.KINDS, *running.MODEL_GRADED}
    assert set(kinds.UNDERSTOOD) - translated <= runnable
    assert runnable - set(kinds.UNDERSTOOD) == {"model-graded-factuality"}  # read as factuality


def test_the_mapping_of_providers_is_right(tmp_path):
    (tmp_path / "targets.yaml").write_text(MAPPED)
    assert set(targets.provider_names(tmp_path / "targets.yaml")) == {
        "openai",
        "openai:gpt-4o",
        "anthropic:*",
    }


@pytest.mark.parametrize("suite", SUITES)
def test_every_suite_can_be_planned(tmp_path, suite):
    (tmp_path / "agent.sh").touch()
    (tmp_path / "it.eval.yaml").write_text(suite)
    assert Planner(ralph=True).jobs([reading.read_eval(tmp_path / "it.eval.yaml")])


def test_targets_and_template_are_right(tmp_path):
    (tmp_path / "targets.yaml").write_text(TARGETS)
    found = targets.read_targets_file(tmp_path / "targets.yaml")
    assert list(found) == ["agent", "piped", "served", "little"]
    assert check_template("feedback", blocks("jinja")[0]) == []
    (tmp_path / "targets.yaml").write_text("target: []")
    with pytest.raises(BadEval, match=r"targets.yaml:1: Unknown key 'target' in targets.yaml"):
        targets.read_targets_file(tmp_path / "targets.yaml")


def test_the_example_runs_as_it_stands(evals):
    evals.write("evals/greetings.eval.yaml", SUITES[0])
    evals.write("evals/agent.sh", blocks("sh")[0], executable=True)
    done = evals("evals/", "--ralph")
    assert done.returncode == 0, done.stderr
    assert {case: entry["score"] for case, entry in evals.results().items()} == {
        "greets (who=Ada)": 1.0,
        "greets (who=Bob)": 1.0,
    }
