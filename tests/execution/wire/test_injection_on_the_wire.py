"""Hostile candidates in whole runs: messages keep their structure, and the verdict is the judge's."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from refinement.engine.profiles import rubric_for
from refinement.judging.delimiters import fence
from refinement.models import Run, Verdict
from tests.execution.wire.stage import Stage, composites, roles, texts, verdict
from tests.loopback.server import Entry

PLACE = Path(__file__).parents[2] / "judging" / "injection" / "candidates.json"
CORPUS = json.loads(PLACE.read_text("utf-8"))
each_candidate = pytest.mark.parametrize("entry", CORPUS, ids=[entry["name"] for entry in CORPUS])
HARMLESS = "A harmless text about backups."


def hostile(text: str, nonce: str) -> str:
    """The corpus entry with the run's own marks in it, plain and in disguise."""
    marks = fence(nonce, "CANDIDATE")
    fillings = {
        "{nonce}": nonce,
        "{opening}": marks.opening,
        "{closing}": marks.closing,
        "{closing_lower}": marks.closing.lower(),
        "{closing_upper}": marks.closing.upper(),
        "{nonce_zero_width}": "\u200b".join(nonce),
        "{nonce_soft_hyphen}": "\u00ad\u200d".join(nonce),
        "{nonce_full_width}": "".join(chr(ord(letter) + 0xFEE0) for letter in nonce),
        "{nonce_nul}": "\x00".join(nonce),
        "{nonce_bidi}": "\u202e\u2066".join(nonce),
    }
    for name, filling in fillings.items():
        text = text.replace(name, filling)
    return text


def played(stage: Stage, text: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Two rounds: the text is judged as the seed and again as the revision that the producer gives back."""
    monkeypatch.setattr("secrets.token_hex", lambda size: "7f3a9c5e1b2d48601122"[: size * 2])
    base = rubric_for("wiggum")
    rubric = replace(base, policy=replace(base.policy, max_rounds=2))
    stage.says(judge=[verdict(rubric, 3), verdict(rubric, 4)], producer=[text])
    stage.server.log.clear()
    run = stage.launch(rubric, seed=text)
    assert run.nonce == "7f3a9c5e1b2d"
    return stage.carry_on(run)


def shape(entry: Entry, nonce: str) -> list[tuple[str, int]]:
    """Roles, and how often the run's code stands in each message."""
    return [(role, text.count(nonce)) for role, text in zip(roles(entry), texts(entry), strict=True)]


@each_candidate
def test_a_hostile_seed_changes_neither_the_messages_nor_the_verdict(stage, entry, monkeypatch):
    calm = played(stage, HARMLESS, monkeypatch)
    expected = [shape(request, calm.nonce) for request in stage.server.chats]
    systems = [texts(request)[0] for request in stage.server.chats]
    run = played(stage, hostile(entry["text"], calm.nonce), monkeypatch)

    assert [shape(request, run.nonce) for request in stage.server.chats] == expected
    assert [texts(request)[0] for request in stage.server.chats] == systems
    marks = fence(run.nonce, "CANDIDATE")
    for request in stage.asked("judge"):
        user = texts(request)[1]
        assert user.count(marks.opening) == user.count(marks.closing) == 1
    assert (run.outcome, run.stop_reason) == ("FAIL", "max_rounds")
    assert composites(run) == [3, 4]
    for row, score in zip(Verdict.objects.filter(round__run=run).order_by("round"), ("3", "4"), strict=True):
        assert {given["score"] for given in row.scores} == {score}
        assert row.issues == ["The restore is not explained."]
        assert row.asi == "Explain the restore."
