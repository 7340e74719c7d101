"""Endpoints by name, from the environment, and the one provider for each."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from refinement.providers import registry
from refinement.providers.base import ErrorKind, Health, ProviderError
from refinement.providers.registry import (
    EndpointSpec,
    Target,
    build,
    default_specs,
    find_spec,
    parse_target,
    scripted_specs,
)
from tests.providers.asking import ask


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("ollama/qwen3:14b", Target("ollama", "qwen3:14b")),
        ("hub/Qwen/Qwen3-4B", Target("hub", "Qwen/Qwen3-4B")),
        ("scripted:some/where/file.jsonl", Target("scripted:some/where/file.jsonl", "scripted")),
        ("embedded/other", Target("embedded", "other")),
        ("embedded", Target("embedded", "smollm2-135m")),
    ],
)
def test_a_target_is_read(text: str, target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WIGGUM_GGUF", raising=False)
    assert parse_target(text) == target


@pytest.mark.parametrize("text", ["", "ollama", "ollama/", "/model", "scripted:"])
def test_a_target_without_a_model_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="such as"):
        parse_target(text)


def test_ollama_comes_first_and_the_embedded_model_is_there() -> None:
    specs = default_specs({})
    assert [spec.name for spec in specs] == ["ollama", "embedded"]
    assert (specs[0].url, specs[0].concurrency) == ("http://127.0.0.1:11434", None)


def test_the_environment_adds_endpoints() -> None:
    entry = {"name": "hub", "kind": "openai_compatible", "url": "http://127.0.0.1:1/v1", "concurrency": 4}
    environ = {
        "WIGGUM_OLLAMA_URL": "http://127.0.0.1:2",
        "WIGGUM_OLLAMA_KEEP_ALIVE": "1h",
        "WIGGUM_OLLAMA_CONCURRENCY": " 3 ",
        "WIGGUM_GGUF": "model.gguf",
        "WIGGUM_ENDPOINTS": json.dumps([{**entry, "api_key_variable": "HUB_KEY"}]),
    }
    ollama, embedded, hub = default_specs(environ)
    assert (ollama.url, ollama.options) == ("http://127.0.0.1:2", {"keep_alive": "1h"})
    assert ollama.concurrency == 3
    assert (embedded.options, embedded.concurrency) == ({"gguf": "model.gguf"}, 1)
    assert (hub.api_key_variable, hub.concurrency) == ("HUB_KEY", 4)


GOOD = {"name": "hub", "kind": "openai_compatible", "url": "http://127.0.0.1:1/v1"}


@pytest.mark.parametrize(
    ("endpoints", "words"),
    [
        ("{", "is not valid JSON"),
        ("{}", "must be a JSON list"),
        ("[5]", r"\[0\] must be an object"),
        (json.dumps([{**GOOD, "key": "x"}]), r"\[0\].key is unknown"),
        (json.dumps([{**GOOD, "name": 5}]), r"\[0\].name must be a string"),
        (json.dumps([{**GOOD, "name": "a/b"}]), r"\[0\].name must be letters"),
        (json.dumps([{**GOOD, "kind": "oracle"}]), r"\[0\].kind must be one of"),
        (json.dumps([GOOD, {**GOOD, "name": "b", "url": ""}]), r"\[1\].url"),
        (json.dumps([{**GOOD, "url": "ftp://x"}]), r"\[0\].url"),
        (json.dumps([{**GOOD, "url": "http://host:port"}]), r"\[0\].url: .* is not a valid address"),
        (json.dumps([{**GOOD, "url": "http://me:word@host/"}]), r"\[0\].url must not contain a user name"),
        (json.dumps([{**GOOD, "api_key_variable": "sk-123"}]), r"\[0\].api_key_variable"),
        (json.dumps([{**GOOD, "options": []}]), r"\[0\].options"),
        (json.dumps([{**GOOD, "concurrency": 0}]), r"\[0\].concurrency"),
        (json.dumps([{**GOOD, "concurrency": True}]), r"\[0\].concurrency"),
        (json.dumps([{**GOOD, "name": "ollama"}]), "'ollama' is used twice"),
    ],
)
def test_a_wrong_endpoint_is_said_aloud(endpoints: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        default_specs({"WIGGUM_ENDPOINTS": endpoints})


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "²"])
def test_a_limit_for_ollama_that_is_none_is_said_aloud(value: str) -> None:
    with pytest.raises(ValueError, match=r"WIGGUM_OLLAMA_CONCURRENCY: .* is not a whole number above 0"):
        default_specs({"WIGGUM_OLLAMA_CONCURRENCY": value})


def test_an_endpoint_is_found_by_name() -> None:
    specs = default_specs({})
    assert find_spec("embedded", specs).kind == "embedded"
    with pytest.raises(ValueError, match=r"known are ollama, embedded\."):
        find_spec("hub", specs)


def test_no_name_leads_to_a_script() -> None:
    with pytest.raises(ValueError, match=r"only work in the foreground.* Choose one of ollama, embedded\."):
        find_spec("scripted:a/b.jsonl", default_specs({}))
    assert scripted_specs("ollama", "embedded") == {}
    assert scripted_specs("ollama", "scripted:a/b.jsonl")["scripted:a/b.jsonl"].url == "a/b.jsonl"


@pytest.mark.parametrize("kind", registry.FACTORIES)
def test_a_provider_is_built_once(kind: str) -> None:
    spec = EndpointSpec("one", kind, "http://127.0.0.1:9")
    provider = build(spec)
    assert build(EndpointSpec("one", kind, "http://127.0.0.1:9")) is provider
    assert build(EndpointSpec("two", kind, "http://127.0.0.1:9")) is not provider
    registry._reset_after_fork()
    assert build(spec) is provider


def test_a_script_is_read_anew_each_time(tmp_path: Path) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text('{"role": "judge", "text": "x"}')
    (spec,) = scripted_specs(f"scripted:{path}").values()
    first = build(spec, foreground=True)
    assert build(spec, consumed={"judge": 1}, foreground=True) is not first


def test_a_script_is_read_only_in_the_foreground(tmp_path: Path) -> None:
    (spec,) = scripted_specs(f"scripted:{tmp_path / 'nowhere.jsonl'}").values()
    with pytest.raises(ValueError, match="unknown kind 'scripted'"):
        build(spec)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown kind 'oracle'"):
        build(EndpointSpec("x", "oracle"))


def test_the_registry_loads_no_client_before_it_is_needed() -> None:
    heavy = "{'xllamacpp', 'ollama', 'django'}"
    code = f"import sys, refinement.providers.registry; print({heavy} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.strip() == "set()"


def test_an_endpoint_that_must_not_be_called_says_why() -> None:
    refused = build(EndpointSpec("hats", "ollama", url="http://127.0.0.1:9", refusal="Ask an administrator."))
    for use in (lambda: ask(refused), refused.models, lambda: refused.model_info("x")):
        with pytest.raises(ProviderError, match=r"Ask an administrator\.") as caught:
            use()
        assert (caught.value.kind, caught.value.retryable) == (ErrorKind.REFUSED, False)
    assert refused.health() == Health(False, "Ask an administrator.")
