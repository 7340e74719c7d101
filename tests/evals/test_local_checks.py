"""Similarity by embeddings, and output of script graders."""

from decimal import Decimal

import pytest

from refinement.engine.types import Check
from refinement.evals.local.grading import script_grade
from refinement.evals.local.similarity import cosine, similarity
from refinement.judging.checks import CannotCheck
from refinement.judging.checks.kinds import Broken
from refinement.providers.base import ErrorKind, ProviderError
from refinement.providers.processes import CommandResult

VECTORS = {"hat": [1.0, 0.0], "cap": [0.8, 0.6], "sky": [0.0, 1.0]}


def check(**parameters):
    return Check("it", "similar", parameters)


def embed(texts, provider):
    assert provider in ("", "ollama/nomic")
    return [VECTORS[text] for text in texts]


@pytest.mark.parametrize(
    ("parameters", "passed", "score"),
    [
        ({"references": ["cap"]}, True, "0.8"),
        ({"references": ["sky", "cap"], "provider": "ollama/nomic"}, True, "0.8"),
        ({"references": ["cap"], "threshold": "0.9"}, False, "0.8"),
        ({"references": ["sky"]}, False, "0"),
    ],
)
def test_similarity_is_that_of_the_nearest_reference(parameters, passed, score):
    found = similarity(check(**parameters), "hat", embed)
    assert (found.passed, found.score) == (passed, Decimal(score))
    assert passed or "is needed" in found.message


def test_without_embeddings_nothing_is_said_about_the_text():
    def away(texts, provider):
        raise ProviderError(ErrorKind.UNREACHABLE, "It is away.", retryable=True)

    with pytest.raises(CannotCheck, match=r"no embeddings\. It is away\."):
        similarity(check(references=["cap"]), "hat", away)
    assert cosine([0.0], [1.0]) == 0


@pytest.mark.parametrize(
    ("code", "out", "passed", "score", "message"),
    [
        (0, '{"pass": true, "score": 0.5}', True, "0.5", ""),
        (0, '{"score": 0.8}', True, "0.8", ""),
        (0, '{"score": 0.79, "reasoning": "dull"}', False, "0.79", "dull"),
        (
            0,
            '{"score": 0, "checks": [{"text": "sum", "pass": false, "reason": "is 3"}]}',
            False,
            "0",
            "sum is 3",
        ),
        (0, '{"score": 0.2, "misses": ["no date"]}', False, "0.2", "no date"),
        (0, "fine", True, "1", ""),
        (0, "", True, "1", ""),
        (1, "too short", False, "0", "too short"),
        (3, "", False, "0", "ended with status 3"),
    ],
)
def test_what_a_script_prints(code, out, passed, score, message):
    found = script_grade(check(), "it", CommandResult(code, out, ""))
    assert (found.passed, found.score) == (passed, Decimal(score))
    assert message in found.message


def test_a_threshold_decides_and_a_broken_script_says_nothing():
    ended = CommandResult(0, '{"pass": true, "score": 0.5}', "")
    assert not script_grade(check(threshold="0.6"), "it", ended).passed
    assert script_grade(check(threshold="0.5"), "it", ended).passed
    with pytest.raises(CannotCheck, match="failed with status 1: boom"):
        script_grade(check(), "it", CommandResult(1, "", "boom"))
    with pytest.raises(Broken, match="no number"):
        script_grade(check(), "it", CommandResult(0, '{"score": "high"}', ""))
