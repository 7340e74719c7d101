"""The values a prompt template may use: their names, what they hold, and samples to try a template with."""

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


@dataclass(frozen=True, slots=True)
class GroupValue:
    """The failed checks of one severity."""

    severity: str
    title: str
    failures: tuple[FailureValue, ...]


@dataclass(frozen=True, slots=True)
class InstructionValue:
    """What a person on the team asks for; always told, so it is no name of an editor's template."""

    author: str
    text: str


_BRIEF = {
    "artifact": "what kind of work it is, such as document or code",
    "task": "the task, as the user set it",
    "background": "the rubric's background, or nothing",
    "output_contract": "what the output must look like, or nothing",
    "criteria": "a list; each has key, name, description, ideal and primary",
    "search_space": "what may be tried, or nothing",
    "exploration": "what was tried and what was not, or nothing",
    "workspace": "true for code and pipelines, false for text",
}

TEMPLATE_NAMES: Mapping[str, Mapping[str, str]] = {
    "judge": {
        "artifact": "what kind of work it is, such as document or code",
        "criteria": "a list; each has key, name, description, ideal and primary",
        "scale": 'the scores allowed, in words, such as "whole numbers from 1 to 10"',
        "minimum": "the lowest score",
        "maximum": "the highest score",
        "decimals": "true when scores may have decimals",
        "ten_points": "true when the scale is the whole numbers from 1 to 10",
        "workspace": "true for code and pipelines, false for text",
        "sees_seed": "true when the judge gets the first version and its scores from the second round on",
        "sees_evaluator": "true when the judge gets the evaluator's output",
        "sees_history": "true when the judge gets a summary of earlier rounds",
        "sees_search_space": "true when the judge gets the search space",
    },
    "draft": _BRIEF,
    "revision": {
        **_BRIEF,
        "original_prompt": "the whole prompt that the first version was written from",
        "candidate": "the version to revise, between its delimiters, or nothing",
        "feedback": "what the feedback template printed",
    },
    "feedback": {
        "style": "issues, failures or asi",
        "issues": "a list of the judge's issues, each a text",
        "asi": "the judge's one direction for the next version, or nothing",
        "note": "a remark on where this revision starts, or nothing",
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
        "sees_seed",
        "sees_evaluator",
        "sees_history",
        "sees_search_space",
    }
)


def sample_values(name: str) -> Iterator[dict[str, object]]:
    """Values of every sort a template will meet: nothing at all, a great deal, and the usual."""
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
