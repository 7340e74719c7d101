"""The loopback server itself, in a thread and in a separate process."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.loopback.faults import Fault
from tests.loopback.replies import Answer, from_file, from_lists, instance
from tests.loopback.server import LoopbackServer
from tests.providers.asking import MODEL, SCHEMA

CHAT = {"model": MODEL, "messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture
def process_address() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.loopback.server", "--score", "7", "--latency", "0.01"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.terminate()
    assert process.wait(60) == 0
    process.stdout.close()


def test_it_runs_as_a_process_with_a_log_and_faults(process_address: str) -> None:
    with httpx.Client(base_url=process_address) as client:
        lines = client.post("/api/chat", json={**CHAT, "format": SCHEMA}).text.splitlines()
        text = "".join(json.loads(line)["message"]["content"] for line in lines)
        assert json.loads(text)["score"] == 7
        client.post("/__faults", json=[{"kind": "status", "nth": [1]}])
        assert client.post("/api/chat", json=CHAT).status_code == 500
        assert client.post("/api/chat", json=CHAT).status_code == 200
        log = client.get("/__log").json()
        assert [entry["role"] for entry in log] == ["judge", "producer", "producer"]
        assert all(entry["finished"] >= entry["started"] for entry in log)
        assert client.get("/__faults").json()[0]["seen"] == 2
        assert client.delete("/__log").json() == []


def test_lists_give_replies_by_role(ollama_server: LoopbackServer) -> None:
    ollama_server.replies = from_lists({"producer": ["one", Answer("two")]})
    texts = [httpx.post(f"{ollama_server.address}/api/chat", json=CHAT).text for _ in range(3)]
    assert '"one"' not in texts[1]
    assert "no reply number 3" in texts[2]


def test_a_file_gives_replies_in_turn(tmp_path: Path, ollama_server: LoopbackServer) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text('{"role": "producer", "text": "hat"}\n')
    ollama_server.replies = from_file(path)
    ollama_server.chunks = 1
    for _ in range(2):
        assert '"hat"' in httpx.post(f"{ollama_server.address}/api/chat", json=CHAT).text


def test_what_it_does_not_know_is_not_found(ollama_server: LoopbackServer) -> None:
    assert httpx.get(f"{ollama_server.address}/api/elsewhere").status_code == 404


def test_an_unknown_fault_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown fault 'sulk'"):
        Fault("sulk")


def test_an_instance_fits_its_schema() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"const": 1},
            "b": {"enum": [1, 2, 3]},
            "c": {"anyOf": [{"type": "boolean"}]},
            "d": {"type": "array", "items": {"type": "string", "maxLength": 2}, "minItems": 2},
            "e": {"type": "integer", "minimum": 1, "maximum": 3},
        },
    }
    assert instance(schema, None, 0.5) == {"a": 1, "b": 2, "c": True, "d": ["It", "It"], "e": 2}
