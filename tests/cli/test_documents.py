"""docs/cli.md and docs/ci.md match the command."""

import re
import shlex

import click
import pytest
import yaml

from refinement.cli.exits import Exit
from refinement.cli.instances.base import Pushed, RubricLine, RunLine, RunReport
from refinement.cli.main import COMMANDS as SUBCOMMANDS
from refinement.cli.main import wiggum as command
from tests.house.processes import ROOT

CLI, CI = ((ROOT / "docs" / name).read_text().replace("\\\n", " ") for name in ("cli.md", "ci.md"))


def test_the_exit_codes_are_these():
    told = re.findall(r"^\| (\d+) \|", CLI.split("## Exit codes")[1].split("\n## ")[0], re.M)
    assert [int(code) for code in told] == [code.value for code in Exit]


def test_the_shapes_are_these():
    def keys(start):
        return set(re.findall(r"\w+", CLI.split(start)[1].split("}")[0]))

    assert keys('{"rubrics": [{') == set(RubricLine.__annotations__)
    assert keys('{"pushed": [{') == {*Pushed.__annotations__, "file"}
    run = CLI.split("\nRUN has ")[1].split("A round has")[0]
    assert set(re.findall(r"`(\w+)`", run)) - {"slug"} == set(RunLine.__annotations__)
    assert set(RunReport.__annotations__) - set(RunLine.__annotations__) == {
        "judge_mode",
        "panel",
        "rounds",
        "best_candidate",
    }


def test_every_command_is_told():
    assert set(re.findall(r"^\| `wiggum (\w+)", CLI, re.M)) == set(SUBCOMMANDS)


EXAMPLES = CLI.split("## Instances")[1] + CI
EXAMPLE_LINES = re.findall(r"(?:^| |- )(wiggum [a-z].*?)(?= && | \|\||`|$)", EXAMPLES, re.M)


@pytest.mark.parametrize("line", sorted(set(EXAMPLE_LINES)))
def test_commands_in_examples_are_understood(line):
    words = shlex.split(re.sub(r"\$\{\{.*?\}\}", "X", line).partition("  #")[0].partition(" > ")[0])[1:]
    found, context = command, click.Context(command)
    while words and isinstance(found, click.Group):
        found = found.get_command(context, words.pop(0))
        assert found is not None, line
    known = {option for parameter in found.params for option in parameter.opts} | {"--help"}
    assert {word for word in words if re.match(r"--?[a-z]", word)} <= known, line


@pytest.mark.parametrize("example", re.findall(r"```yaml\n(.*?)```", CI, re.S))
def test_the_pipelines_are_yaml(example):
    assert isinstance(yaml.safe_load(example), dict)
