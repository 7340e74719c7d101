"""Finds the source of each part of a prompt. The parts of a message, joined, are the message.

A prompt is rendered twice: normally, and from a view whose values are surrounded by marker characters.
Without the markers, both must be identical. If a template changes a value so that they differ, that source
is not marked and its text counts as part of the template.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from refinement.engine.kinds import Information
from refinement.engine.reflect import Exploration
from refinement.engine.types import CheckResult, PanelSummary
from refinement.judging.context import FeedbackView, JudgeView, ProducerView
from refinement.judging.isolation import time_limit
from refinement.judging.lenses import Lens
from refinement.judging.prompts import Prompt, PromptMessage, judge_prompt, producer_prompt
from refinement.judging.sources import LABEL
from refinement.judging.templating import TemplateFailure

MARKING_SECONDS = 0.25  # a preview marks several prompts and also renders them normally


class HasNonce(Protocol):
    """A view whose data is between delimiters."""

    @property
    def nonce(self) -> str: ...


View = TypeVar("View", bound=HasNonce)


class Source(StrEnum):
    """Where a piece of a prompt comes from."""

    TASK = "task"
    CRITERIA = "criteria"
    CANDIDATE = "candidate"
    SEED = "seed"
    SEED_SCORES = "seed_scores"
    CALIBRATION = "calibration"
    CALIBRATION_SCORES = "calibration_scores"
    SOURCES = "sources"
    BACKGROUND = "background"
    OUTPUT_CONTRACT = "output_contract"
    SEARCH_SPACE = "search_space"
    ROUND_NUMBER = "round_number"
    HISTORY = "history"
    PREVIOUS_ASI = "previous_asi"
    EVALUATOR_OUTPUT = "evaluator_output"
    PANEL_SUMMARY = "panel_summary"
    LENS = "lens"
    OPINIONS = "opinions"
    OWN_VERDICT = "own_verdict"
    FEEDBACK = "feedback"
    ARTIFACT = "artifact"
    REPLY_FORMAT = "reply_format"
    MARKS = "marks"
    WORDS = "words"


# Sources and kinds of information share their names.
SOURCE_OF = {kind: Source(kind.value) for kind in Information if kind.value in {s.value for s in Source}}

# The source of text inside a fence. Text in other fences counts as template text.
FENCED = {
    "TASK": Source.TASK,
    "TASK TYPE": Source.TASK,
    "BACKGROUND": Source.BACKGROUND,
    "OUTPUT CONTRACT": Source.OUTPUT_CONTRACT,
    "SEARCH SPACE": Source.SEARCH_SPACE,
    "CALIBRATION EXAMPLE": Source.CALIBRATION,
    "CALIBRATION SCORES": Source.CALIBRATION_SCORES,
    "SEED": Source.SEED,
    "SEED SCORES": Source.SEED_SCORES,
    LABEL: Source.SOURCES,
    "HISTORY": Source.HISTORY,
    "PREVIOUS ASI": Source.PREVIOUS_ASI,
    "EVALUATOR OUTPUT": Source.EVALUATOR_OUTPUT,
    "PANEL SUMMARY": Source.PANEL_SUMMARY,
    "LAST SUMMARY": Source.PANEL_SUMMARY,
    "EXPLORATION STATUS": Source.SEARCH_SPACE,
    "JUDGE": Source.OPINIONS,
    "CRITERIA": Source.CRITERIA,
    "FEEDBACK": Source.FEEDBACK,
    "CHANGED LINES": Source.CANDIDATE,
    "CONTRACT VIOLATION": Source.OUTPUT_CONTRACT,
    "CANDIDATE": Source.CANDIDATE,
    "VERSION": Source.CANDIDATE,
}
# Private-use characters. Markers are chosen from those that do not occur in the texts.
_PRIVATE = (range(0xE000, 0xF8FF), range(0xF0000, 0xFFFFD))


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a message with a single source."""

    source: Source
    text: str


@dataclass(frozen=True, slots=True)
class TracedMessage:
    """A message as it would be sent, and its parts."""

    role: str
    content: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class TracedPrompt:
    """A prompt in parts. `unmarked` are sources that a template changes: they count as template text."""

    messages: tuple[TracedMessage, ...]
    unmarked: frozenset[Source] = frozenset()

    @property
    def sources(self) -> frozenset[Source]:
        return frozenset(part.source for message in self.messages for part in message.parts)


def trace_judge(view: JudgeView) -> TracedPrompt:
    """The judge's prompt in parts."""
    return traced(view, judge_prompt, marked_judge)


def trace_producer(view: ProducerView) -> TracedPrompt:
    """The producer's prompt in parts, for a first draft or a revision."""
    return traced(view, producer_prompt, _marked_producer)


class Marks:
    """Marker characters for each source that occur in none of the texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        used = set().union(*(set(text) for text in texts))
        free = (chr(code) for codes in _PRIVATE for code in codes if chr(code) not in used)
        self.close = next(free)
        self.open = {source: next(free) for source in Source}
        self.source = {mark: source for source, mark in self.open.items()}
        self.pattern = re.compile(f"[{self.close}{''.join(self.source)}]")

    def around(self, source: Source, text: str) -> str:
        """The text with markers, placed inside surrounding whitespace because templates may strip it."""
        core = text.strip()
        if not core:
            return text
        start = text.index(core)
        end = start + len(core)
        return f"{text[:start]}{self.open[source]}{core}{self.close}{text[end:]}"

    def without(self, text: str) -> str:
        return self.pattern.sub("", text)

    def paired(self, text: str) -> bool:
        """Whether markers are balanced and not nested."""
        depth = 0
        for match in self.pattern.finditer(text):
            depth += -1 if match.group() == self.close else 1
            if depth not in (0, 1):
                return False
        return depth == 0

    def split(self, text: str) -> Iterator[Part]:
        """The pieces between the markers, each with its source."""
        source, start = Source.WORDS, 0
        for match in self.pattern.finditer(text):
            yield Part(source, text[start : match.start()])
            start = match.end()
            source = self.source.get(match.group(), Source.WORDS)
        yield Part(source, text[start:])


Around: TypeAlias = Callable[[Source, str], str]


@dataclass(frozen=True, slots=True)
class Tracer(Generic[View]):
    """Renders a view's prompt with and without markers."""

    view: View
    make: Callable[[View], Prompt]
    mark: Callable[[View, Around], View]
    real: Prompt
    marks: Marks

    def marked(self, sources: frozenset[Source]) -> Prompt | None:
        """The prompt with these sources marked, or None if the markers change it."""

        def around(source: Source, text: str) -> str:
            return self.marks.around(source, text) if source in sources else text

        try:
            made = self.make(self.mark(self.view, around))
        except TemplateFailure:
            return None
        pairs = zip(made.messages, self.real.messages, strict=True)
        unchanged = all(self.marks.without(marked.content) == real.content for marked, real in pairs)
        # A shortened value has lost its closing marker, even if the visible text is the same.
        paired = all(self.marks.paired(message.content) for message in made.messages)
        return made if unchanged and paired else None

    def best(self) -> tuple[Prompt, frozenset[Source]]:
        """The prompt with as many marked sources as possible, and those sources.

        If a slow template reaches the time limit, all text counts as template text.
        """
        with time_limit(MARKING_SECONDS):
            return self._best()

    def _best(self) -> tuple[Prompt, frozenset[Source]]:
        every = frozenset(Source)
        made = self.marked(every)
        if made is not None:
            return made, every
        markable = frozenset(source for source in Source if self.marked(frozenset({source})) is not None)
        made = self.marked(markable)
        return (self.real, frozenset()) if made is None else (made, markable)


def traced(view: View, make: Callable[[View], Prompt], mark: Callable[[View, Around], View]) -> TracedPrompt:
    """The prompt that `make` builds, in parts. `mark` marks the view's values that are not inside a fence."""
    real: Prompt = make(view)
    marks = Marks([*(message.content for message in real.messages), *_texts(view)])
    marked, sources = Tracer(view, make, mark, real, marks).best()
    messages = tuple(
        TracedMessage(
            message.role, message.content, tuple(_message_parts(with_marks, marks, view.nonce, real.shape))
        )
        for message, with_marks in zip(real.messages, marked.messages, strict=True)
    )
    return TracedPrompt(messages, frozenset(Source) - sources)


def _message_parts(marked: PromptMessage, marks: Marks, nonce: str, shape: str) -> Iterator[Part]:
    """The pieces of a message. In a deliberation, the judge's own verdict is quoted as its message."""
    if marked.role == "assistant":
        return iter((Part(Source.OWN_VERDICT, marks.without(marked.content)),))
    return _merged(_shaped(_fenced(marks.split(marked.content), nonce), shape))


def _shaped(parts: Iterable[Part], shape: str) -> Iterator[Part]:
    """Sets the expected reply apart, if the view did not mark it."""
    for part in parts:
        before, found, after = part.text.partition(shape) if shape else (part.text, "", "")
        if part.source is not Source.WORDS or not found:
            yield part
            continue
        yield from (Part(part.source, before), Part(Source.REPLY_FORMAT, found), Part(part.source, after))


def _merged(parts: Iterable[Part]) -> Iterator[Part]:
    """The pieces that are not empty. Adjacent ones with the same source are merged."""
    pending: Part | None = None
    for part in parts:
        if not part.text:
            continue
        if pending is not None and pending.source is part.source:
            pending = Part(part.source, pending.text + part.text)
            continue
        if pending is not None:
            yield pending
        pending = part
    if pending is not None:
        yield pending


def _fenced(parts: Iterable[Part], nonce: str) -> Iterator[Part]:
    """Assigns text inside a fence to the fence's source. The nonce prevents forged fences."""
    # Line breaks next to a delimiter belong to it, not to the text inside.
    code = re.escape(nonce)
    fence = re.compile(
        rf"<<<(?!END )([A-Z ]+)(?: [0-9]+)? {code}>>>\n?|\n?<<<END [A-Z ]+(?: [0-9]+)? {code}>>>"
    )
    inside = Source.WORDS
    for part in parts:
        if part.source is not Source.WORDS:
            yield part
            continue
        start = 0
        for match in fence.finditer(part.text):
            yield Part(inside, part.text[start : match.start()])
            yield Part(Source.MARKS, match.group())
            start = match.end()
            # Rules name delimiters in their sentences. A delimiter of data is on a separate line.
            opens = match[1] if match.group().endswith("\n") else None
            inside = FENCED.get(opens or "", Source.WORDS)
        yield Part(inside, part.text[start:])


def marked_judge(view: JudgeView, around: Around) -> JudgeView:
    """Marks values that are not inside a fence."""
    return replace(
        view,
        criteria=marked_criteria(view.criteria, around),
        artifact_type=around(Source.ARTIFACT, view.artifact_type),
        reply_example=around(Source.REPLY_FORMAT, view.reply_example),
        round_label=view.round_label and around(Source.ROUND_NUMBER, view.round_label),
        lens=view.lens and Lens(around(Source.LENS, view.lens.name), around(Source.LENS, view.lens.text)),
    )


def _marked_producer(view: ProducerView, around: Around) -> ProducerView:
    named = {
        "task": Source.TASK,
        "background": Source.BACKGROUND,
        "output_contract": Source.OUTPUT_CONTRACT,
        "search_space": Source.SEARCH_SPACE,
        "candidate": Source.CANDIDATE,
        "artifact_type": Source.ARTIFACT,
    }
    texts: dict[str, Any] = {
        name: around(source, value) for name, source in named.items() if (value := getattr(view, name))
    }
    return replace(
        view,
        criteria=marked_criteria(view.criteria, around),
        feedback=view.feedback and _feedback(view.feedback, around),
        panel_summary=view.panel_summary and _summary(view.panel_summary, around),
        exploration=view.exploration and _exploration(view.exploration, around),
        **texts,
    )


def _summary(summary: PanelSummary, around: Around) -> PanelSummary:
    def marked(text: str) -> str:
        return around(Source.PANEL_SUMMARY, text)

    return PanelSummary(
        tuple(map(marked, summary.working)),
        tuple(map(marked, summary.not_working)),
        marked(summary.direction),
    )


def _exploration(exploration: Exploration, around: Around) -> Exploration:
    def marked(text: str) -> str:
        return around(Source.SEARCH_SPACE, text)

    return Exploration(tuple(map(marked, exploration.tried)), tuple(map(marked, exploration.untried)))


def marked_criteria(criteria: tuple[Any, ...], around: Around) -> tuple[Any, ...]:
    return tuple(
        replace(
            entry,
            **{
                name: around(Source.CRITERIA, getattr(entry, name))
                for name in ("key", "name", "description", "ideal")
            },
        )
        for entry in criteria
    )


def _feedback(view: FeedbackView, around: Around) -> FeedbackView:
    def marked(text: str) -> str:
        return around(Source.FEEDBACK, text)

    return replace(
        view,
        issues=tuple(marked(issue) for issue in view.issues),
        asi=marked(view.asi),
        note=marked(view.note),
        failures=tuple(_failure(result, marked) for result in view.failures),
    )


def _failure(result: CheckResult, marked: Callable[[str], str]) -> CheckResult:
    return replace(
        result,
        key=marked(result.key),
        message=marked(result.message),
        suggestion=marked(result.suggestion),
        expected=marked(result.expected),
        actual=marked(result.actual),
    )


def _texts(value: object) -> Iterator[str]:
    """Every text in a view, including lists and records."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from _texts(getattr(value, field.name))
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))
