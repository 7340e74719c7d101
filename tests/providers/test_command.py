"""A command as a model: prompts, replies, and no process left running."""

import os
from pathlib import Path

import pytest

from refinement.providers.base import CallControl, Cancelled, ErrorKind
from refinement.providers.command import CommandProvider
from refinement.providers.registry import EndpointSpec, build, default_specs, spec_from
from tests.house.processes import is_running, wait_for
from tests.providers.asking import ask, failure, wanted

HANGS = "sleep 300 & echo $! > pid; wait"


def command(*parts: str, **options: object) -> CommandProvider:
    return CommandProvider({"command": parts, **options}, "agent")


def shell(text: str, **options: object) -> CommandProvider:
    return command(text, shell=True, **options)


def test_the_prompt_comes_on_its_input_as_it_was_written():
    assert ask(command("cat"), wanted("Say „hello“.\n")).text == "Say „hello“.\n"


def test_a_judge_is_given_its_rules_as_well():
    assert ask(command("cat"), wanted("Judge.", role="judge")).text == "You write.\n\nJudge."


def test_prompt_and_reply_can_be_files(tmp_path: Path):
    program = "tr a-z A-Z < {prompt_file} > {output_file}; echo this is only talk"
    assert ask(shell(program), wanted("loud")).text == "LOUD"
    copied = ask(command("cp", "{prompt_file}", "{output_file}"), wanted("$(touch here) `id`")).text
    assert copied == "$(touch here) `id`"


def test_no_shell_reads_the_parts_of_a_command():
    assert ask(command("echo", "$HOME; ls")).text == "$HOME; ls\n"


def test_it_runs_in_its_folder_without_our_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WIGGUM_ENDPOINTS", "[]")
    monkeypatch.setenv("SECRET_KEY", "a-secret")
    monkeypatch.setenv("AGENT_KEY", "the agent's own")
    said = ask(shell("pwd; env", folder=str(tmp_path))).text
    assert said.startswith(str(tmp_path))
    assert "AGENT_KEY=the agent's own" in said
    assert "WIGGUM_" not in said
    assert "a-secret" not in said


@pytest.mark.parametrize(
    ("provider", "kind", "words"),
    [
        (shell("echo no key >&2; exit 3"), ErrorKind.BAD_REPLY, "status 3: no key"),
        (shell("kill -TERM $$"), ErrorKind.BAD_REPLY, "signal 15 and no output"),
        (shell("true"), ErrorKind.BAD_REPLY, "empty reply"),
        (shell("echo x > /dev/null {output_file}; true"), ErrorKind.BAD_REPLY, "wrote no output file"),
        (command("./not-there"), ErrorKind.UNREACHABLE, "cannot be started"),
        (shell("yes", output_bytes=2_000), ErrorKind.BAD_REPLY, "more than 2,000 bytes"),
        (shell("yes | head -c 3000 > {output_file}", output_bytes=2_000), ErrorKind.BAD_REPLY, "2,000 bytes"),
    ],
)
def test_what_goes_wrong_is_said_and_not_tried_again(provider, kind, words):
    error = failure(provider)
    assert (error.kind, error.retryable) == (kind, False)
    assert words in error.message


def gone(folder: Path) -> bool:
    return not is_running(int((folder / "pid").read_text()))


def test_a_command_that_takes_too_long_ends_with_all_it_started(tmp_path: Path):
    error = failure(shell(HANGS, folder=str(tmp_path), timeout=0.5))
    assert (error.kind, error.retryable) == (ErrorKind.TIMEOUT, False)
    wait_for(lambda: gone(tmp_path), "the end of what the command had started")


def test_a_cancelled_command_ends_with_all_it_started(tmp_path: Path):
    control = CallControl(is_cancelled=(tmp_path / "pid").exists)
    with pytest.raises(Cancelled):
        shell(HANGS, folder=str(tmp_path)).complete(wanted(), control)
    wait_for(lambda: gone(tmp_path), "the end of what the command had started")


def test_what_it_leaves_behind_does_not_hold_up_its_reply(tmp_path: Path):
    reply = ask(shell("sleep 300 & echo $! > pid; echo done", folder=str(tmp_path)))
    assert reply.text == "done\n"
    wait_for(lambda: gone(tmp_path), "the end of what the command had left")


def test_health_tells_what_is_missing_without_starting_anything(tmp_path: Path):
    script = tmp_path / "agent.sh"
    script.write_text("#!/bin/sh\ntouch started\n")
    agent = command("./agent.sh", folder=str(tmp_path))
    assert "chmod +x" in agent.health().message
    script.chmod(0o755)
    assert agent.health().ok
    assert agent.model_info("agent").name == "agent"
    assert not (tmp_path / "started").exists()
    assert "no such file" in command("./other.sh", folder=str(tmp_path)).health().message
    assert not command("cat", folder=str(tmp_path / "nowhere")).health().ok
    assert not (tmp_path / "started").exists()


def test_no_setting_makes_a_command():
    spec = EndpointSpec("agent", "command", options={"command": ["cat"]})
    assert ask(build(spec, foreground=True)).text == "Write about hats."
    with pytest.raises(ValueError, match="unknown kind 'command'"):
        build(spec)
    entry = {"name": "agent", "kind": "command", "options": {"command": ["cat"]}}
    with pytest.raises(ValueError, match="kind must be one of"):
        spec_from(entry, "it")
    assert "command" not in {known.kind for known in default_specs(os.environ)}
