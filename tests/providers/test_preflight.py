"""The preflight of a model: does it reply in the requested form?"""

import pytest

from refinement.providers.ollama import OllamaProvider
from refinement.providers.preflight import SCHEMA, fits, preflight
from tests.loopback.replies import Answer
from tests.loopback.server import LoopbackServer
from tests.providers.asking import MODEL

GOOD = '{"reasoning": "Nobody is named.", "score": 4}'


def test_a_model_that_keeps_to_the_form_is_ready(ollama_server: LoopbackServer) -> None:
    ollama_server.replies = lambda asked: Answer(GOOD, thinking="Who is somebody?")
    found = preflight(OllamaProvider(ollama_server.address), MODEL)
    assert (found.ok, found.thinks, found.message) == (True, True, "")
    assert ollama_server.chats[0].body["format"] == SCHEMA


def test_a_model_that_talks_can_write_but_not_judge_well(ollama_server: LoopbackServer) -> None:
    ollama_server.replies = lambda asked: Answer("I would give it a 4.")
    found = preflight(OllamaProvider(ollama_server.address), MODEL)
    assert (found.answered, found.ok, found.thinks) == (True, False, False)
    assert "not in the requested form" in found.message


def test_a_failure_is_said(ollama_server: LoopbackServer) -> None:
    found = preflight(OllamaProvider(ollama_server.address), "missing:7b")
    assert not found.answered
    assert "missing:7b" in found.message


@pytest.mark.parametrize(
    ("text", "does"),
    [
        (GOOD, True),
        ("4", False),
        ('{"reasoning": "x"}', False),
        ('{"reasoning": "x", "score": "4"}', False),
        ('{"reasoning": "x", "score": true}', False),
        ('{"reasoning": "x", "score": 11}', False),
        ('{"reasoning": 1, "score": 4}', False),
        (f"```json\n{GOOD}\n```", False),
    ],
)
def test_the_form_is_exact(text: str, does: bool) -> None:
    assert fits(text) is does
