"""Prompt templates: Jinja2 in an immutable sandbox, reduced to what always renders.

An editor's own template may print values, branch, loop over the lists it is given and use a few
filters. It cannot call, compute or join itself into something endless, so what was saved renders.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from functools import lru_cache

from jinja2 import PackageLoader, StrictUndefined, Template, TemplateError, TemplateSyntaxError, Undefined
from jinja2.exceptions import TemplateRuntimeError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from refinement.judging.template_names import ATTRIBUTES, TEMPLATE_NAMES, sample_values
from refinement.judging.template_rules import MAX_SOURCE_CHARS, TemplateProblem, rule_problems

__all__ = [
    "TEMPLATE_NAMES",
    "TemplateFailure",
    "TemplateProblem",
    "check_template",
    "default_source",
    "render",
]

# What a template may print, beyond the values it was given: enough for every list, too little to explode.
SPARE_CHARS = 100_000
REPEATS = 4
MAX_SEPARATOR_CHARS = 20

CHANGING = frozenset(
    {"revision", "revision_appended", "feedback", "instructions"}
)  # other texts in every round
KEPT_CHARS = 20_000  # the longest values for which a rendered text is kept

FILTERS = (
    "capitalize",
    "default",
    "first",
    "join",
    "last",
    "length",
    "lower",
    "title",
    "trim",
    "truncate",
    "upper",
)


class TemplateFailure(Exception):
    """A template that did not render; the message names it and says what to change."""


class Sandbox(ImmutableSandboxedEnvironment):
    """Text templates with strict names, a few filters and no globals."""

    def __init__(self) -> None:
        super().__init__(
            loader=PackageLoader("refinement.judging", "templates"),
            undefined=StrictUndefined,
            autoescape=False,  # prompts are text, not pages
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
            finalize=printable,
        )
        self.globals.clear()
        self.filters = {name: self.filters[name] for name in FILTERS}
        self.filters["join"] = joined


def printable(value: object) -> object:
    """The value if it can be printed as it is: a whole list or record would be noise in a prompt."""
    if value is None:
        return ""
    if isinstance(value, (str, int, float, Decimal, Undefined)):
        return value
    raise TemplateRuntimeError("a list or record cannot be printed whole; print its fields")


def joined(values: object, separator: str = ", ", attribute: str = "") -> str:
    """The values, or one field of each, as one text."""
    if not isinstance(values, (list, tuple)):
        raise TemplateRuntimeError("join works on a list; this value is none")
    if attribute and attribute not in ATTRIBUTES:
        raise TemplateRuntimeError(f"there is no field {attribute!r} in any value given here")
    if len(separator) > MAX_SEPARATOR_CHARS:
        raise TemplateRuntimeError(f"a separator may have {MAX_SEPARATOR_CHARS} characters")
    parts = (getattr(value, attribute) if attribute else value for value in values)
    return separator.join(str(printable(part)) for part in parts)


@lru_cache(maxsize=1)
def sandbox() -> Sandbox:
    return Sandbox()


def render(name: str, source: str | None, /, **values: object) -> str:
    """The text of an editor's template, or of the packaged one of this name when there is none."""
    try:
        if name not in CHANGING and sum(len(v) for v in values.values() if type(v) is str) <= KEPT_CHARS:
            return kept(name, source, tuple(values.items()))
        return bounded(compiled(name, source), values)
    except (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise TemplateFailure(f"The template {name!r} cannot be rendered: {sentence(error)}") from error


@lru_cache(maxsize=128)
def kept(name: str, source: str | None, values: tuple[tuple[str, object], ...]) -> str:
    """What is the same in all rounds of a run is rendered in the first."""
    return bounded(compiled(name, source), dict(values))


@lru_cache(maxsize=128)
def compiled(name: str, source: str | None) -> Template:
    return sandbox().get_template(f"{name}.j2") if source is None else sandbox().from_string(source)


def bounded(template: Template, values: Mapping[str, object]) -> str:
    """The rendered text, given up when it grows far beyond what went in."""
    limit = SPARE_CHARS + REPEATS * sum(text_size(value) for value in values.values())
    pieces, size = [], 0
    for piece in template.generate(**values):
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            raise TemplateRuntimeError(f"its text exceeds {limit:,} characters; repeat less in loops")
    return "".join(pieces).strip()


def text_size(value: object) -> int:
    """The characters in a value, those in lists and records included."""
    if isinstance(value, str):
        return len(value)
    if is_dataclass(value):
        return sum(text_size(getattr(value, field.name)) for field in fields(value))
    return sum(text_size(part) for part in value) if isinstance(value, (list, tuple)) else 0


def default_source(name: str, profile: str) -> str:
    """The packaged template that an editor starts from."""
    environment = sandbox()
    assert environment.loader is not None
    return environment.loader.get_source(environment, f"{default_name(name, profile)}.j2")[0]


def default_name(name: str, profile: str) -> str:
    """The packaged template that serves a profile; an unknown profile is served like wiggum."""
    if name == "judge":
        return f"judge_{profile}" if f"judge_{profile}.j2" in packaged() else "judge_wiggum"
    return "revision_appended" if (name, profile) == ("revision", "ralph") else name


@lru_cache(maxsize=1)
def packaged() -> frozenset[str]:
    return frozenset(sandbox().list_templates())


def check_template(name: str, source: str) -> list[TemplateProblem]:
    """Everything that would keep this template from rendering, by line; empty when it can be saved."""
    if name not in TEMPLATE_NAMES:
        known = ", ".join(TEMPLATE_NAMES)
        return [TemplateProblem(1, f"There is no template called {name!r}; the templates are {known}.")]
    if len(source) > MAX_SOURCE_CHARS:
        return [TemplateProblem(1, f"The template is too long: {MAX_SOURCE_CHARS:,} characters are allowed.")]
    if not source.strip():
        return [TemplateProblem(1, "The template is empty; remove it to use the default.")]
    try:
        tree = sandbox().parse(source)
        problems = rule_problems(name, tree, frozenset(sandbox().filters), frozenset(sandbox().tests))
    except TemplateSyntaxError as error:
        return [TemplateProblem(error.lineno, sentence(error))]
    except RecursionError:
        return [TemplateProblem(1, "The template is nested too deeply; write it flatter.")]
    return problems or trial_problems(name, source)


def trial_problems(name: str, source: str) -> list[TemplateProblem]:
    """What goes wrong when the template is rendered with samples: nothing, everything, a great deal."""
    for values in sample_values(name):
        try:
            text = render(name, source, **values)
        except TemplateFailure as failure:
            return [TemplateProblem(failed_line(failure), str(failure))]
    return [] if text else [TemplateProblem(1, "The template prints nothing, whatever it is given.")]


def failed_line(failure: TemplateFailure) -> int:
    """The template's line in which rendering stopped."""
    line, trace = 1, failure.__cause__.__traceback__ if failure.__cause__ else None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def sentence(error: Exception) -> str:
    """An error's own words as a sentence."""
    words = str(getattr(error, "message", None) or error or type(error).__name__).strip()
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", "!", "?")) else ".")
