"""Safeguards: invented names, cycling, inattentive judges, and self-preference of models."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from rapidfuzz.distance import Levenshtein

from refinement.engine.types import Assessment, Penalty, ProblemClass, Round, Rubric

WELL_KNOWN_OBJECTS = (
    # Libraries that have long lower-case function names. Rubrics can extend the list.
    *("self", "cls", "super", "os", "sys", "re", "io", "json", "math", "time", "datetime", "logging"),
    *("random", "shutil", "pathlib", "Path", "asyncio", "threading", "multiprocessing", "subprocess"),
    *("itertools", "functools", "collections", "contextlib", "inspect", "importlib", "sqlite3", "socket"),
    *("np", "numpy", "pd", "pandas", "df", "plt", "ax", "fig", "sns", "torch", "nn", "F", "tf", "keras"),
    *("sklearn", "scipy", "jax", "jnp", "cv2", "nltk", "spacy", "requests", "httpx", "django", "models"),
    *("flask", "app", "pytest", "unittest", "mock", "boto3", "k8s", "spark", "pl", "pa", "xr", "sympy"),
    *("console", "document", "window", "Object", "Array", "Math", "Promise", "navigator", "process"),
)

# A judge should respond to a candidate that changed by more than this share.
NOTICEABLE_CHANGE = Decimal("0.1")
# Above this, a word-level distance takes seconds, so lines are compared instead.
MANY_WORDS = 20_000

# Backticks after the opening ones make it inline code.
_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})[^\n]*$", re.MULTILINE)
_BACKTICKS = re.compile(r"`+")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_LONG_CALL = re.compile(r"\.([a-z_]{12,}+)\s*+\(")
_DOTTED_PATH = re.compile(r"(?:\w+\.)*\w+$")
_PATH_WINDOW = 200


def split_at_fences(text: str) -> tuple[list[str], list[str]]:
    """The contents of code fences, and the prose around them. An unclosed fence runs to the end."""
    blocks: list[str] = []
    prose: list[str] = []
    opened: re.Match[str] | None = None
    end = 0
    for fence in _FENCE.finditer(text):
        marker = fence.group(1)
        if opened is None:
            prose.append(text[end : fence.start()])
            opened = fence
        elif marker[0] == opened.group(1)[0] and len(marker) >= len(opened.group(1)):
            blocks.append(text[opened.end() : fence.start()])
            opened, end = None, fence.end()
    if opened is not None:
        blocks.append(text[opened.end() :])
    else:
        prose.append(text[end:])
    return blocks, prose


def inline_code(prose: str) -> list[str]:
    """The contents of code spans. A span ends at the next run of as many backticks in its paragraph."""
    return [span for paragraph in _BLANK_LINE.split(prose) for span in code_spans(paragraph)]


def code_spans(paragraph: str) -> Iterator[str]:
    runs = list(_BACKTICKS.finditer(paragraph))
    places: dict[int, list[int]] = {}
    for place, run in enumerate(runs):
        places.setdefault(len(run.group()), []).append(place)
    start = 0
    while start < len(runs):
        same = places[len(runs[start].group())]
        after = bisect_right(same, start)
        if after == len(same):
            start += 1
            continue
        yield paragraph[runs[start].end() : runs[same[after]].start()]
        start = same[after] + 1


def code_in(text: str) -> list[str]:
    """All code in a Markdown text: fenced blocks and inline code."""
    blocks, prose = split_at_fences(text)
    return [*blocks, *(span for part in prose for span in inline_code(part))]


def invented_names(code: Iterable[str], allowed_objects: tuple[str, ...]) -> tuple[str, ...]:
    """Calls in code that look invented: long lower-case names on objects that are not allowed."""
    allowed = set(allowed_objects)
    names: list[str] = []
    for part in code:
        for call in _LONG_CALL.finditer(part):
            before = _DOTTED_PATH.search(part[max(0, call.start() - _PATH_WINDOW) : call.start()])
            if before is None:
                continue
            path = before.group().split(".")
            if path[0] not in allowed and path[-1] not in allowed:
                names.append(f"{before.group()}.{call.group(1)}")
    return tuple(names)


def is_code(rubric: Rubric) -> bool:
    """Whether the candidates are code, not a text with code in it."""
    return rubric.problem_class is ProblemClass.CODE or rubric.artifact_type.casefold() == "code"


def penalties_for(rubric: Rubric, text: str) -> tuple[Penalty, ...]:
    """The penalties for invented names in a candidate, limited by the cap."""
    rules = rubric.policy.penalties
    if rules.criterion is None:
        return ()
    names = invented_names([text] if is_code(rubric) else code_in(text), rules.allowed_objects)
    points = min(rules.points * len(names), rules.cap)
    return (Penalty(rules.criterion, points, names),) if names else ()


def is_cycling(current: Assessment, previous: Assessment) -> bool:
    """Whether every criterion has the same score as in the previous round."""
    return bool(current.scores) and current.scores == previous.scores


def change(before: str, after: str) -> Decimal:
    """How much of a text changed, as a share of the longer version: from 0 (nothing) to 1 (everything)."""
    old, new = before.split(), after.split()
    if len(old) + len(new) > MANY_WORDS:
        old, new = before.splitlines(), after.splitlines()
    longest = max(len(old), len(new))
    if longest == 0:
        return Decimal(0)
    return Decimal(Levenshtein.distance(old, new)) / longest


@dataclass(frozen=True, slots=True)
class RalphSignal:
    """The candidate changed but the verdict did not: the judge may not have read the revision."""

    candidate_change: Decimal
    verdict_change: Decimal
    about: str  # issues or reasoning


def ralph_signal(current: Round, previous: Round) -> RalphSignal | None:
    """A signal if the judge repeated itself although the candidate changed noticeably."""
    if current.assessment is None or previous.assessment is None:
        return None
    candidate_change = change(previous.candidate, current.candidate)
    if candidate_change <= NOTICEABLE_CHANGE:
        return None
    for about, text_of in (("issues", issue_text), ("reasoning", reasoning_text)):
        before, after = text_of(previous.assessment), text_of(current.assessment)
        if not before or not after:
            continue
        verdict_change = change(before, after)
        if verdict_change <= NOTICEABLE_CHANGE:
            return RalphSignal(candidate_change, verdict_change, about)
    return None


def issue_text(assessment: Assessment) -> str:
    return joined(issue for verdict in assessment.verdicts for issue in verdict.issues)


def reasoning_text(assessment: Assessment) -> str:
    return joined(score.reasoning for verdict in assessment.verdicts for score in verdict.scores)


def joined(texts: Iterable[str]) -> str:
    """The texts without empty ones: a judge that gives no reasons has not repeated itself."""
    return "\n".join(text for text in texts if text.strip()).casefold()


class Kinship(StrEnum):
    """How producer and judge are related. Models rate their own family about 0.9 of 10 points too high."""

    SAME_MODEL = "same_model"
    SAME_FAMILY = "same_family"


def family_of(model: str) -> str:
    """The family in a model's name: `hf.co/org/Qwen3-14B:q4` and `qwen3:14b` are both qwen."""
    name = model.rsplit("/", 1)[-1].casefold()
    letters = re.match(r"[a-z]+", name)
    return letters.group() if letters else name


def kinship(
    producer: str, judge: str, *, producer_family: str = "", judge_family: str = ""
) -> Kinship | None:
    """Whether producer and judge are the same model or family; None if they are unrelated."""
    if producer.casefold() == judge.casefold():
        return Kinship.SAME_MODEL
    if family_of(producer) == family_of(judge):
        return Kinship.SAME_FAMILY
    if producer_family and producer_family.casefold() == judge_family.casefold():
        return Kinship.SAME_FAMILY
    return None
