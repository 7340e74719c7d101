"""Scripts: in order by role, resumable, and with clear errors."""

import json
from pathlib import Path
from typing import Any

import pytest

from refinement.providers.base import Cancelled, ErrorKind, ProviderError
from refinement.providers.scripted import ScriptedProvider
from tests.providers.asking import ask, failure, wanted

LINES: list[dict[str, Any]] = [
    {"role": "producer", "text": "draft 1"},
    {"role": "judge", "text": "verdict 1", "thinking": "hm", "prompt_tokens": 5, "completion_tokens": 6},
    {"role": "producer", "text": "draft 2"},
    {"role": "judge", "error": "unreachable", "retry_after": 3},
    {"role": "judge", "error": "bad_reply", "message": "Said so.", "retryable": False},
    {"role": "judge", "text": "late", "delay": 60},
]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.jsonl"
    path.write_text("\n\n".join(json.dumps(line) for line in LINES))
    return path


def test_each_role_has_its_own_order(script: Path) -> None:
    provider = ScriptedProvider(script)
    heard: list[str] = []
    assert ask(provider, wanted(role="producer"), on_text=heard.append).text == "draft 1"
    verdict = ask(provider, wanted(role="judge"))
    assert (verdict.text, verdict.thinking, verdict.prompt_tokens, verdict.completion_tokens) == (
        "verdict 1",
        "hm",
        5,
        6,
    )
    assert ask(provider, wanted(role="producer")).text == "draft 2"
    assert heard == ["draft 1"]


def test_it_goes_on_where_another_process_stopped(script: Path) -> None:
    provider = ScriptedProvider(script, consumed={"producer": 1})
    assert ask(provider, wanted(role="producer")).text == "draft 2"
    assert ask(provider, wanted(role="judge")).text == "verdict 1"


def test_running_out_names_the_missing_line(script: Path) -> None:
    provider = ScriptedProvider(script, consumed={"producer": 2})
    error = failure(provider, wanted(role="producer"))
    assert (error.kind, error.retryable) == (ErrorKind.BAD_REPLY, False)
    assert "line 3" in error.message
    assert "producer" in error.message
    assert "0 lines for the reflect" in failure(provider, wanted(role="reflect")).message


def test_errors_are_as_written(script: Path) -> None:
    provider = ScriptedProvider(script, consumed={"judge": 1})
    first, second = failure(provider, wanted(role="judge")), failure(provider, wanted(role="judge"))
    assert (first.kind, first.retryable, first.retry_after) == (ErrorKind.UNREACHABLE, True, 3)
    assert "Line 7" in first.message
    assert (second.kind, second.retryable, second.message) == (ErrorKind.BAD_REPLY, False, "Said so.")


def test_a_delay_can_be_cancelled_and_has_a_deadline(script: Path) -> None:
    with pytest.raises(Cancelled):
        ask(ScriptedProvider(script, {"judge": 3}), wanted(role="judge"), is_cancelled=lambda: True)
    error = failure(ScriptedProvider(script, {"judge": 3}), wanted(role="judge"), deadline_seconds=0.3)
    assert error.kind is ErrorKind.TIMEOUT


def test_a_script_is_never_offered_as_a_model(script: Path) -> None:
    provider = ScriptedProvider(script)
    assert provider.models() == []
    assert provider.model_info("scripted").context_length is None
    assert provider.health().ok


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "is not valid JSON"),
        ("[]", "must be a JSON object"),
        ('{"role": "judge", "txt": "x"}', "unknown field 'txt'"),
        ('{"role": "judge", "text": 5}', "'text' must be str"),
        ('{"role": "cook", "text": "x"}', "the role must be one of"),
        ('{"role": "judge"}', "either a text or an error"),
        ('{"role": "judge", "error": "sulking"}', "the error must be one of"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "wrong.jsonl"
    path.write_text('{"role": "judge", "text": "x"}\n' + line)
    with pytest.raises(ProviderError, match="Line 2 of the script") as caught:
        ScriptedProvider(path)
    assert words in caught.value.message


def test_a_missing_script_is_said(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="cannot be read") as caught:
        ScriptedProvider(tmp_path / "nowhere.jsonl")
    assert caught.value.kind is ErrorKind.MODEL_MISSING
