"""The command itself: its help, start and exit codes."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import click
import pytest

from refinement.cli.exits import OUTCOMES, Exit
from refinement.cli.groups import LazyCommand, RootGroup
from refinement.cli.main import wiggum as command
from refinement.engine.types import Outcome
from refinement.management.commands.refine import EXIT_CODES
from tests.cli.conftest import called
from tests.house.processes import PATIENCE, ROOT, environment


def commands(group, path=()):
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        found = group.get_command(ctx, name)
        if isinstance(found, click.Group):
            yield from commands(found, (*path, name))
        else:
            yield (*path, name), found


COMMANDS = dict(commands(command))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_examples_that_it_understands(path):
    result = called(*path, "--help")
    assert result.exit_code == 0
    examples = [line.strip() for line in result.stdout.split("Examples:", 1)[1].splitlines()]
    assert any(line.startswith(f"wiggum {' '.join(path)}") for line in examples)
    assert COMMANDS[path].help


def test_it_starts_without_what_is_slow_to_import():
    script = (
        "import sys; sys.argv = ['wiggum', '--help']\n"
        "from refinement.cli.main import wiggum\n"
        "try: wiggum()\n"
        "except SystemExit:\n"
        "    print(sorted({name.split('.')[0] for name in sys.modules} & {'django', 'httpx', 'yaml'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_outcomes_end_as_documented():
    assert set(OUTCOMES) == {outcome.value for outcome in Outcome}
    assert {outcome.value: code for outcome, code in EXIT_CODES.items()} == OUTCOMES


def in_a_process(data_dir, *arguments, **settings):
    return subprocess.run(
        [sys.executable, "-m", "refinement.cli", *arguments],
        cwd=ROOT,
        env=environment(data_dir, **settings),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_a_bad_setting_ends_with_its_line_and_three(tmp_path):
    done = in_a_process(tmp_path, "run", "list", DATABASE_URL="oracle://x/y")
    assert done.returncode == Exit.UNAVAILABLE
    assert done.stderr.startswith("wiggum: invalid setting DATABASE_URL: unknown scheme 'oracle'")
    assert "Traceback" not in done.stderr


def test_a_database_without_tables_is_misconfigured_until_they_are_made(tmp_path):
    done = in_a_process(tmp_path, "run", "list")
    assert done.returncode == Exit.UNAVAILABLE
    assert "the database has no tables yet" in done.stderr
    assert in_a_process(tmp_path, "migrate").returncode == Exit.OK
    with closing(sqlite3.connect(tmp_path / "wiggum.sqlite3")) as connection:
        assert connection.execute("SELECT COUNT(*) FROM refinement_run").fetchone() == (0,)


def root(failure):
    class Failing(RootGroup):
        def invoke(self, ctx):
            raise failure

    return Failing(name="wiggum", commands_by_name={"up": LazyCommand("refinement.cli.serving", "up", "")})


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (KeyboardInterrupt(), Exit.INTERRUPTED),
        (click.Abort(), Exit.INTERRUPTED),
        (SystemExit("wiggum: invalid setting X"), Exit.UNAVAILABLE),
        (SystemExit(1), Exit.FAILED),
        (SystemExit(None), Exit.OK),
        (click.UsageError("no"), Exit.USAGE),
    ],
)
def test_every_end_has_its_code(failure, code):
    with pytest.raises(SystemExit) as caught:
        root(failure)(["up"])
    assert caught.value.code == code


def test_an_unknown_command_is_wrong_usage():
    result = called("dance")
    assert (result.exit_code, "No such command 'dance'" in result.stderr) == (Exit.USAGE, True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell):
    result = called("completion", shell)
    assert result.exit_code == 0
    assert "_WIGGUM_COMPLETE" in result.stdout
    assert f"{shell}_complete" in result.stdout
