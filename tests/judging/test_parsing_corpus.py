"""Every reply of the corpus, and mutations of them all."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Criterion, Rubric, Verdict
from refinement.judging.parsing import Reading, Rung, read_reply

MARK = "@@@ "
RUBRICS: dict[str, Rubric] = {
    "wiggum": rubric_for("wiggum"),
    "simmer": rubric_for("simmer"),
    "ralph": replace(
        rubric_for("ralph"),
        criteria=(Criterion("correctness", "Correctness"), Criterion("brand_voice", "Brand voice")),
    ),
}


@dataclass(frozen=True)
class Case:
    name: str
    rubric: Rubric
    rung: str
    expected: str
    details: dict[str, str]
    reply: str


def corpus() -> list[Case]:
    cases: list[Case] = []
    for path in sorted((Path(__file__).parent / "replies").glob("*.txt")):
        if path.name == "README.txt":
            continue
        for block in re.split(rf"^{MARK}", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            header, _, reply = block.partition("\n")
            name, rubric, rung, expected, *more = (part.strip() for part in header.split(" | "))
            details = dict(part.split("=", 1) for part in more)
            cases.append(Case(name, RUBRICS[rubric], rung, expected, details, reply.removesuffix("\n")))
    return cases


CORPUS = corpus()


def scores_of(verdict: Verdict) -> list[Decimal]:
    return [score.score for score in verdict.scores]


def test_the_corpus_is_large_and_its_names_are_unique() -> None:
    assert len(CORPUS) >= 220
    assert len({case.name for case in CORPUS}) == len(CORPUS)
    assert {case.rung for case in CORPUS} == {*Rung, "complaint"}


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_a_reply_of_the_corpus(case: Case, record_property: Callable[[str, object], None]) -> None:
    reading = read_reply(case.reply, case.rubric)
    record_property("rung", reading.rung.value if reading.rung else "complaint")
    if case.rung == "complaint":
        assert reading.verdict is None, reading
        assert reading.rung is None
        for words in case.expected.split(" ; "):
            assert words.strip() in reading.complaint
        return
    assert reading.verdict is not None, reading.complaint
    assert scores_of(reading.verdict) == [Decimal(number) for number in case.expected.split()]
    assert [score.key for score in reading.verdict.scores] == [entry.key for entry in case.rubric.criteria]
    assert reading.rung == case.rung
    assert reading.complaint == ""
    check_details(case, reading, reading.verdict)


def check_details(case: Case, reading: Reading, verdict: Verdict) -> None:
    assert ", ".join(reading.dropped) == case.details.get("dropped", "")
    assert case.details.get("asi", "") in verdict.asi
    assert case.details.get("thinking", "") in reading.thinking
    if "issues" in case.details:
        assert len(verdict.issues) == int(case.details["issues"]), verdict.issues


MARKS = list("\"'{}[],:/\\|#>\n\0…\ud800")
WORDS = ["<think>", "</think>", "```", "NaN", "1e999", "7/10", "7.5", "-1", "null", "9**9**9", "//", "/*"]
PIECES = st.sampled_from([*MARKS, *WORDS, "clarity: 10/10\n"])


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, Rubric]:
    case = draw(st.sampled_from(CORPUS))
    text = case.reply
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 40)))
        kind = draw(st.sampled_from(["cut", "drop", "insert", "characters", "splice", "repeat", "nest"]))
        if kind == "cut":
            text = text[:start]
        elif kind == "drop":
            text = text[:start] + text[end:]
        elif kind == "insert":
            text = text[:start] + draw(PIECES) + text[start:]
        elif kind == "characters":
            text = text[:start] + draw(st.text(max_size=8)) + text[end:]
        elif kind == "splice":
            text = text[:start] + draw(st.sampled_from(CORPUS)).reply[start:]
        elif kind == "repeat":
            text = text[:end] + text[start:]
        else:
            depth = draw(st.integers(1, 80))
            text = (
                draw(st.sampled_from(['{"a":', "[", "{"])) * depth + text + "}" * draw(st.integers(0, depth))
            )
    return text, case.rubric


def assert_sound(reading: Reading, rubric: Rubric) -> None:
    assert (reading.verdict is None) == (reading.rung is None) == bool(reading.complaint)
    assert len(reading.complaint) < 4_000
    json.dumps([reading.complaint, reading.thinking, *reading.dropped], ensure_ascii=False).encode()
    if reading.verdict is None:
        return
    assert [score.key for score in reading.verdict.scores] == [entry.key for entry in rubric.criteria]
    assert all(rubric.scale.admits(score.score) for score in reading.verdict.scores)
    texts = [reading.verdict.asi, *reading.verdict.issues]
    texts += [part for score in reading.verdict.scores for part in (score.reasoning, score.improvement)]
    "".join(texts).encode()
    assert not any("\0" in text for text in texts)


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_a_mutated_reply_gives_a_sound_verdict_or_a_complaint(mutation: tuple[str, Rubric]) -> None:
    text, rubric = mutation
    assert_sound(read_reply(text, rubric), rubric)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=400), st.sampled_from(sorted(RUBRICS)))
def test_any_text_gives_a_sound_verdict_or_a_complaint(text: str, rubric: str) -> None:
    assert_sound(read_reply(text, RUBRICS[rubric]), RUBRICS[rubric])
