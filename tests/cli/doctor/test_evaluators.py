"""Whether evaluator commands can run: off, sandboxed, in the service, unsafe or refused."""

import os
import socket

import pytest

from refinement.cli.doctor.evaluators import evaluators
from tests.sandboxed import needs_sandbox


@pytest.fixture
def no_bubblewrap(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))


def test_commands_that_are_off_need_nothing(settings, no_bubblewrap):
    settings.COMMANDS = []
    assert (evaluators().status, "commands are disabled" in evaluators().what) == ("ok", True)


def test_the_sandbox_is_tried(settings):
    needs_sandbox()
    settings.COMMANDS = ["pytest"]
    assert (evaluators().status, evaluators().what) == ("ok", "commands run in a sandbox (bubblewrap)")
    settings.COMMANDS_NETWORK = ["pytest", "curl"]
    assert evaluators().what.endswith("(bubblewrap); with network: pytest, curl")
    settings.COMMANDS_NETWORK = ["*"]
    assert evaluators().what.endswith("; with network: any program")


def test_without_bubblewrap_it_says_what_to_install(settings, no_bubblewrap):
    settings.COMMANDS = ["pytest"]
    finding = evaluators()
    assert (finding.status, finding.what) == ("fail", "commands are refused: bubblewrap is not installed")
    assert "Install bubblewrap" in finding.remedy
    settings.UNSAFE_COMMANDS = True
    finding = evaluators()
    assert (finding.status, "without a sandbox" in finding.what) == ("warn", True)
    assert "UNSAFE" not in finding.remedy


def test_the_service_is_asked_where_there_is_one(settings, no_bubblewrap, tmp_path):
    settings.COMMANDS = ["pytest"]
    settings.EVALUATOR_SOCKET = os.fspath(tmp_path / "socket")
    finding = evaluators()
    assert (finding.status, "does not respond" in finding.what) == ("fail", True)
    assert "docker compose up" in finding.remedy
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(settings.EVALUATOR_SOCKET)
        server.listen()
        assert evaluators().status == "ok"
