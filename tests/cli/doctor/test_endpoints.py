"""Unavailable endpoints, and missing models."""

import pytest

from refinement.cli.doctor.endpoints import endpoint, endpoint_checks, no_endpoint
from refinement.providers.registry import EndpointSpec, Target
from tests.house.processes import free_port
from tests.loopback.fixtures import ollama_server
from tests.views.runs.listed import runs_of

__all__ = ["ollama_server"]


@pytest.fixture(autouse=True)
def no_address(monkeypatch):
    monkeypatch.delenv("WIGGUM_OLLAMA_URL", raising=False)


def ollama(address: str) -> EndpointSpec:
    return EndpointSpec(name="ollama", kind="ollama", url=address)


def test_an_ollama_that_is_only_looked_for_may_be_absent(db, monkeypatch):
    address = f"http://127.0.0.1:{free_port()}"
    (finding,) = endpoint(ollama(address))
    assert (finding.status, finding.what) == ("warn", f"Ollama is not responding at {address}")
    assert "ollama serve" in finding.remedy
    assert endpoint(ollama(address), ["qwen3:14b"])[0].status == "fail"
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", address)
    assert endpoint(ollama(address))[0].status == "fail"


def test_models_that_runs_need_and_the_server_has_not(project, ollama_server):
    runs_of(project, 1, status="waiting", producer_model="nobody:1b", judge_model="loopback:8b")
    (waiting,) = project.runs.all()
    runs_of(project, 1, producer_model="gone:7b", judge_model="loopback:1b")
    reachable, *missing = endpoint(ollama(ollama_server.address), ["wanted:3b", "loopback:1b"])
    assert reachable.status == "ok"
    assert [(finding.status, finding.remedy) for finding in missing] == [
        ("fail", "Pull it: ollama pull nobody:1b"),
        ("fail", "Pull it: ollama pull wanted:3b"),
        ("warn", "Pull it: ollama pull gone:7b"),
    ]
    assert missing[0].what == f"nobody:1b is missing; run {waiting.pk} needs it"


def test_a_server_with_all_that_is_needed_and_one_without_a_model(db, ollama_server):
    assert [finding.status for finding in endpoint(ollama(ollama_server.address))] == ["ok", "ok"]
    ollama_server.models = ()
    _, finding = endpoint(ollama(ollama_server.address))
    assert (finding.status, finding.what) == ("warn", "no models")


def test_a_key_that_is_not_set(db):
    spec = EndpointSpec(
        name="big", kind="openai_compatible", url="http://127.0.0.1:9/v1", api_key_variable="BIG_KEY"
    )
    (finding,) = endpoint(spec)
    assert (finding.status, "BIG_KEY is not set" in finding.what) == ("fail", True)


def test_another_server_that_is_away(db):
    spec = EndpointSpec(name="big", kind="openai_compatible", url=f"http://127.0.0.1:{free_port()}/v1")
    (finding,) = endpoint(spec)
    assert (finding.status, "Start that server" in finding.remedy) == ("fail", True)


def test_an_endpoint_that_nobody_set_up(db):
    checks = endpoint_checks([Target("nowhere", "m")])
    assert checks["model server nowhere"]().status == "fail"
    assert "ollama" in no_endpoint("nowhere", [ollama("http://127.0.0.1:9")]).remedy
