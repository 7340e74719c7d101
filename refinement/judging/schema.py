"""The JSON schema of a judge's reply for a rubric."""

import json
from decimal import Decimal

from refinement.engine.types import Information, Rubric, Scale, Severity

# Servers with grammar-based output reject large limits, because they expand each limit into rules.
REASONING_CHARS = 480
IMPROVEMENT_CHARS = 240
ISSUE_CHARS = 240
ISSUES = 8
ASI_CHARS = 600
CONTRACT_CHARS = 240

FLAT_REPLY_TOKENS = 600
CONTRACT_TOKENS = 100
CRITERION_TOKENS = 240  # reasoning, improvement and keys, at about three characters per token


def reply_schema(rubric: Rubric) -> dict[str, object]:
    """The reply schema for this rubric. It uses basic features only, and puts reasoning before each score."""
    criteria = {criterion.key: _criterion_schema(rubric.scale) for criterion in rubric.criteria}
    contract: dict[str, dict[str, object]] = {
        "contract_reason": text_schema(CONTRACT_CHARS),
        "contract_violated": {"type": "boolean"},
    }
    return closed_object(
        {
            "criteria": closed_object(criteria),
            "issues": {"type": "array", "items": text_schema(ISSUE_CHARS), "maxItems": ISSUES},
            "asi": text_schema(ASI_CHARS),
            **(contract if asks_about_contract(rubric) else {}),
        }
    )


def asks_about_contract(rubric: Rubric) -> bool:
    """Whether the judge decides if the output contract is violated.

    It does where only prose describes the contract and the context rules show it to the judge. A schema or a
    pattern is decided by code, and so is a contract that a check of severity error enforces.
    """
    enforced = any(check.severity is Severity.ERROR for check in rubric.checks)
    return bool(
        rubric.output_contract
        and not rubric.output_schema
        and not rubric.output_pattern
        and not enforced
        and Information.OUTPUT_CONTRACT in rubric.context.judge
    )


def reply_limit_tokens(rubric: Rubric) -> int:
    """The token limit for a reply, which grows with the number of criteria."""
    flat = FLAT_REPLY_TOKENS + (CONTRACT_TOKENS if asks_about_contract(rubric) else 0)
    return flat + CRITERION_TOKENS * len(rubric.criteria)


def example_reply(rubric: Rubric) -> str:
    """An example reply for the prompt. Its scores are placeholders, so an echo is not a valid verdict."""
    score = f"<{scale_in_words(rubric.scale)}>"
    entries = ",\n".join(
        f"    {json.dumps(criterion.key, ensure_ascii=False)}: "
        f'{{"reasoning": "...", "score": {score}, "improvement": "..."}}'
        for criterion in rubric.criteria
    )
    contract = ',\n  "contract_reason": "...",\n  "contract_violated": <true or false>'
    end = contract if asks_about_contract(rubric) else ""
    return f'{{\n  "criteria": {{\n{entries}\n  }},\n  "issues": ["..."],\n  "asi": "..."{end}\n}}'


def scale_in_words(scale: Scale) -> str:
    """The valid values of the scale, such as "whole numbers from 1 to 10"."""
    ends = f"from {plain(scale.minimum)} to {plain(scale.maximum)}"
    if takes_whole_numbers(scale):
        steps = "" if scale.step == 1 else f" in steps of {plain(scale.step or Decimal(1))}"
        return f"whole numbers {ends}{steps}"
    return f"numbers {ends}" if scale.step is None else f"numbers {ends} in steps of {plain(scale.step)}"


def takes_whole_numbers(scale: Scale) -> bool:
    """Whether every value of the scale is a whole number."""
    return scale.step is not None and scale.step % 1 == 0 and scale.minimum % 1 == 0


def plain(value: Decimal) -> str:
    """The number without exponent or trailing zeros."""
    return f"{value.normalize():f}"


def _criterion_schema(scale: Scale) -> dict[str, object]:
    return closed_object(
        {
            "reasoning": text_schema(REASONING_CHARS),
            "score": score_schema(scale),
            "improvement": text_schema(IMPROVEMENT_CHARS),
        }
    )


def score_schema(scale: Scale) -> dict[str, object]:
    return {
        "type": "integer" if takes_whole_numbers(scale) else "number",
        "minimum": _json_number(scale.minimum),
        "maximum": _json_number(scale.maximum),
    }


def closed_object(properties: dict[str, dict[str, object]]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def text_schema(limit: int) -> dict[str, object]:
    return {"type": "string", "maxLength": limit}


def _json_number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)
