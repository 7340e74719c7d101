"""Proposes a rubric from a sample: the clerk's prompt, and how its reply becomes a rubric."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from refinement.engine.artifacts import ARTIFACT_TYPES
from refinement.engine.profiles import simmer_rubric
from refinement.engine.types import Check, Criterion, JudgeMode, Judges, OnPlateau, Rubric
from refinement.judging.boards.prompts import clerk_prompt
from refinement.judging.boards.replies import Complaint, Read, read_object
from refinement.judging.checks import check_problems
from refinement.judging.length import excerpt, shorten
from refinement.judging.parsing.cleaning import clean
from refinement.judging.prompts import Prompt, block
from refinement.judging.schema import closed_object, text_schema
from refinement.judging.templating import render

SAMPLE_CHARS = 12_000
PROPOSAL_TOKENS = 1_600
FEWEST_CRITERIA, MOST_CRITERIA, MOST_CHECKS = 2, 3, 4
NAME_CHARS, TEXT_CHARS = 60, 400
NUMBER = re.compile(r"\d{1,6}")
EXAMPLE = (
    '{"name": "...", "artifact_type": "...", "criteria": [{"name": "...", "description": "...", '
    '"ideal": "..."}], "output_contract": "...", "checks": [{"kind": "...", "value": "..."}], '
    '"judges": "<single or board>"}'
)


def _words(bound: str) -> Callable[[str], Check | None]:
    def made(value: str) -> Check | None:
        number = NUMBER.search(value)
        words = {bound: int(number[0]), "unit": "words"} if number else {}
        return Check(f"{bound}-words", "length", words) if words else None

    return made


def _text(key: str, kind: str) -> Callable[[str], Check | None]:
    def made(value: str) -> Check | None:
        return Check(key, kind, {"text": value}) if value.strip() else None

    return made


def _headings(value: str) -> Check | None:
    number = NUMBER.search(value)
    return Check("headings", "heading-count", {"minimum": int(number[0])}) if number else None


# The checks that a proposal can have, each from one value.
CHECKS: Mapping[str, Callable[[str], Check | None]] = {
    "max_words": _words("maximum"),
    "min_words": _words("minimum"),
    "min_headings": _headings,
    "starts_with": _text("starts-with", "starts-with"),
    "contains": _text("contains", "contains"),
    "not_contains": _text("not-contains", "not-contains"),
    "is_json": lambda _: Check("is-json", "is-json"),
    "no_placeholders": lambda _: Check("no-placeholders", "no-placeholders"),
}


def proposal_prompt(sample: str, goal: str, nonce: str) -> Prompt:
    """The clerk's prompt: the sample and the goal are data between delimiters."""
    system = render(
        "clerk_propose", None, artifact_types=", ".join(ARTIFACT_TYPES), check_kinds=", ".join(CHECKS)
    )
    blocks = [block(nonce, "GOAL", goal), block(nonce, "SAMPLE", excerpt(sample, SAMPLE_CHARS).text)]
    return clerk_prompt(nonce, system, EXAMPLE, blocks)


def proposal_schema() -> dict[str, object]:
    criterion = closed_object(
        {
            "name": text_schema(NAME_CHARS),
            "description": text_schema(TEXT_CHARS),
            "ideal": text_schema(TEXT_CHARS),
        }
    )
    check = closed_object({"kind": {"type": "string", "enum": list(CHECKS)}, "value": text_schema(120)})
    return closed_object(
        {
            "name": text_schema(NAME_CHARS),
            "artifact_type": {"type": "string", "enum": list(ARTIFACT_TYPES)},
            "criteria": {
                "type": "array",
                "items": criterion,
                "minItems": FEWEST_CRITERIA,
                "maxItems": MOST_CRITERIA,
            },
            "output_contract": text_schema(TEXT_CHARS),
            "checks": {"type": "array", "items": check, "maxItems": MOST_CHECKS},
            "judges": {"type": "string", "enum": [JudgeMode.SINGLE.value, JudgeMode.BOARD.value]},
        }
    )


def read_proposal(text: str, goal: str) -> Read[Rubric]:
    """The proposed rubric, made like one from the gallery; or a complaint for the model. Never raises."""

    def read(found: Mapping[str, Any]) -> Rubric:
        kind = str(found.get("artifact_type") or "").strip().lower().replace(" ", "-").replace("_", "-")
        base = simmer_rubric(ARTIFACT_TYPES.get(kind, ARTIFACT_TYPES["document"]))
        board = str(found.get("judges") or "").strip().lower() == JudgeMode.BOARD
        if board:  # there is no other board to continue with
            base = replace(base, policy=replace(base.policy, on_plateau=OnPlateau.STOP))
        return replace(
            base,
            name=shorten(clean(str(found.get("name") or "")), NAME_CHARS) or base.name,
            purpose=clean(goal, TEXT_CHARS),
            criteria=_criteria(found.get("criteria")),
            output_contract=clean(str(found.get("output_contract") or ""), 2 * TEXT_CHARS),
            checks=_checks(found.get("checks")),
            judges=Judges(JudgeMode.BOARD if board else JudgeMode.SINGLE),
        )

    return read_object(text, read)


def _criteria(value: object) -> tuple[Criterion, ...]:
    """The criteria with keys made from their names; the first one is primary."""
    found: dict[str, Criterion] = {}
    for entry in value if isinstance(value, (list, tuple)) else ():
        values = entry if isinstance(entry, dict) else {}
        name, description, ideal = (
            clean(str(values.get(part) or ""), TEXT_CHARS) for part in ("name", "description", "ideal")
        )
        key = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:NAME_CHARS]
        if key and description and ideal:
            found.setdefault(
                key, Criterion(key, shorten(name, NAME_CHARS), description, ideal, primary=not found)
            )
    if len(found) < FEWEST_CRITERIA:
        raise Complaint("criteria must be 2 or 3 objects, each with its own name, description and ideal.")
    return tuple(found.values())[:MOST_CRITERIA]


def _checks(value: object) -> tuple[Check, ...]:
    """The proposed checks that can be saved; others are left out, since a person can add them."""
    found: dict[str, Check] = {}
    for entry in value if isinstance(value, (list, tuple)) else ():
        values = entry if isinstance(entry, dict) else {}
        make = CHECKS.get(str(values.get("kind") or "").strip().lower().replace("-", "_"))
        check = make(clean(str(values.get("value") or ""), 120)) if make else None
        if check is not None and not check_problems(check):
            found.setdefault(check.key, check)
    return tuple(found.values())[:MOST_CHECKS]
