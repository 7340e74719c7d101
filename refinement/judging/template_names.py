"""The variables of prompt templates: names, descriptions and sample values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CriterionValue:
    key: str
    name: str
    description: str
    ideal: str
    primary: bool


@dataclass(frozen=True, slots=True)
class FailureValue:
    key: str
    message: str
    suggestion: str
    expected: str = ""
    actual: str = ""


@dataclass(frozen=True, slots=True)
class GroupValue:
    """The failed checks of one severity."""

    severity: str
    title: str
    failures: tuple[FailureValue, ...]


@dataclass(frozen=True, slots=True)
class InstructionValue:
    """An instruction from a person. It is always included, so custom templates have no variable for it."""

    author: str
    text: str


_BRIEF = {
    "artifact": "the kind of artifact, such as document or code",
    "task": "the task",
    "background": "the rubric's background, or empty",
    "output_contract": "the required output format, or empty",
    "criteria": "a list; each has key, name, description, ideal and primary",
    "search_space": "the search space, or empty",
    "workspace": "true for code and pipelines, false for text",
}

TEMPLATE_NAMES: Mapping[str, Mapping[str, str]] = {
    "judge": {
        "artifact": "the kind of artifact, such as document or code",
        "criteria": "a list; each has key, name, description, ideal and primary",
        "scale": 'the allowed scores as text, such as "whole numbers from 1 to 10"',
        "minimum": "the lowest score",
        "maximum": "the highest score",
        "decimals": "true if scores may have decimals",
        "ten_points": "true if the scale is whole numbers from 1 to 10",
        "workspace": "true for code and pipelines, false for text",
        "sees_calibration": "true if the judge sees the rubric's calibration example",
        "sees_seed": "true if the judge sees the run's first version from round 2 on",
        "evaluation": "judge_only, runnable or hybrid; judge_only if the judge sees no evaluator output",
        "sees_evaluator": "true if the judge sees the evaluator's output",
        "sees_history": "true if the judge sees a summary of earlier rounds",
        "sees_search_space": "true if the judge sees a search space",
    },
    "draft": _BRIEF,
    "revision": {
        **_BRIEF,
        "original_prompt": "the prompt for the first version",
        "candidate": "the version to revise between delimiters, or empty",
        "feedback": "the rendered feedback template",
    },
    "feedback": {
        "style": "issues, failures or asi",
        "issues": "a list of the judge's issues (texts)",
        "asi": "the judge's suggestion for the next version, or empty",
        "note": "a note on where this revision starts, or empty",
        "failures": "a list of all failed checks; each has key, message and suggestion",
        "groups": "the failed checks by severity; each group has severity, title and failures",
    },
}

LISTS = frozenset({"criteria", "issues", "failures", "groups"})
ATTRIBUTES = frozenset(
    {
        "key",
        "name",
        "description",
        "ideal",
        "primary",
        "message",
        "suggestion",
        "expected",
        "actual",
        "severity",
        "title",
        "failures",
    }
)
FLAGS = frozenset(
    {
        "decimals",
        "ten_points",
        "workspace",
        "sees_calibration",
        "sees_seed",
        "sees_evaluator",
        "sees_history",
        "sees_search_space",
    }
)


def sample_values(name: str) -> Iterator[dict[str, object]]:
    """Sample values to test a template with: empty, very long and typical."""
    for count, text in ((0, ""), (150, "words " * 50), (3, "sample")):
        yield {variable: _sample(variable, count, text) for variable in TEMPLATE_NAMES[name]}


def _sample(variable: str, count: int, text: str) -> object:
    failures = tuple(FailureValue(f"check-{number}", text, text) for number in range(count))
    lists: dict[str, tuple[object, ...]] = {
        "criteria": tuple(
            CriterionValue(f"key{number}", text, text, text, number == 0) for number in range(count)
        ),
        "issues": (text,) * count,
        "failures": failures,
        "groups": (GroupValue("error", "Errors", failures),) if failures else (),
    }
    if variable in lists:
        return lists[variable]
    return bool(count) if variable in FLAGS else text
