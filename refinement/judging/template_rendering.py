"""Renders templates in a sandbox: Jinja2 without calls, arithmetic or other unbounded features.

Custom templates are rendered only in the child process of `isolation`.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from functools import lru_cache
from types import SimpleNamespace

from jinja2 import PackageLoader, StrictUndefined, Template, TemplateError, TemplateSyntaxError, Undefined
from jinja2.exceptions import TemplateRuntimeError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from refinement.judging.template_names import ATTRIBUTES, TEMPLATE_NAMES, sample_values
from refinement.judging.template_rules import TemplateProblem, forbidden_problem, rule_problems

# Limits the output to SPARE_CHARS plus REPEATS times the size of the input values.
SPARE_CHARS = 100_000
REPEATS = 4
MAX_SEPARATOR_CHARS = 20

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
    """A template could not be rendered. The message names it and says what to change."""


class Sandbox(ImmutableSandboxedEnvironment):
    """Text templates with strict variable names, a few filters and no globals."""

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
    """The value, unless it is a list or record."""
    if value is None:
        return ""
    if isinstance(value, (str, int, float, Decimal, Undefined)):
        return value
    raise TemplateRuntimeError("a list or record cannot be printed; print its fields")


def joined(values: object, separator: str = ", ", attribute: str = "") -> str:
    """The values, or one field of each, joined to one text."""
    if not isinstance(values, (list, tuple)):
        raise TemplateRuntimeError("join requires a list")
    if attribute and attribute not in ATTRIBUTES:
        raise TemplateRuntimeError(f"unknown field {attribute!r}")
    if len(separator) > MAX_SEPARATOR_CHARS:
        raise TemplateRuntimeError(f"a separator may have at most {MAX_SEPARATOR_CHARS} characters")
    parts = (getattr(value, attribute) if attribute else value for value in values)
    return separator.join(str(printable(part)) for part in parts)


@lru_cache(maxsize=1)
def sandbox() -> Sandbox:
    return Sandbox()


def rendered(name: str, source: str | None, values: Mapping[str, object]) -> str:
    """The rendered source, or the packaged template if source is None. Raises TemplateFailure."""
    try:
        return bounded(compiled(name, source), values)
    except (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise TemplateFailure(f"The template {name!r} cannot be rendered: {sentence(error)}") from error
    except (RecursionError, SyntaxError) as error:
        raise TemplateFailure(f"The template {name!r} is nested too deeply.") from error


@lru_cache(maxsize=32)
def compiled(name: str, source: str | None) -> Template:
    if source is None:
        return sandbox().get_template(f"{name}.j2")
    # Templates of imported runs have not been checked.
    if name in TEMPLATE_NAMES and (problem := forbidden_problem(sandbox().parse(source))):
        raise TemplateRuntimeError(problem.message)
    return sandbox().from_string(source)


def bounded(template: Template, values: Mapping[str, object]) -> str:
    """The rendered text. Raises an error if it is much longer than the input values."""
    limit = SPARE_CHARS + REPEATS * sum(text_size(value) for value in values.values())
    pieces, size = [], 0
    for piece in template.generate(**values):
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            raise TemplateRuntimeError(f"its text exceeds {limit:,} characters; repeat less in loops")
    return "".join(pieces).strip()


def text_size(value: object) -> int:
    """The number of characters in a value, including lists and records."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, SimpleNamespace):
        return text_size(list(vars(value).values()))
    if is_dataclass(value):
        return sum(text_size(getattr(value, field.name)) for field in fields(value))
    return sum(text_size(part) for part in value) if isinstance(value, (list, tuple)) else 0


def template_problems(name: str, source: str) -> list[TemplateProblem]:
    """The problems that prevent this template from rendering, by line; empty if it can be saved.

    A template that breaks a rule is never compiled, because Jinja2 evaluates constants at compile time.
    """
    try:
        tree = sandbox().parse(source)
        problems = rule_problems(name, tree, frozenset(sandbox().filters), frozenset(sandbox().tests))
    except TemplateSyntaxError as error:
        return [TemplateProblem(error.lineno, sentence(error))]
    except RecursionError:
        return [TemplateProblem(1, "The template is nested too deeply.")]
    except ValueError:
        return [TemplateProblem(1, "A number in the template is too long.")]
    return problems or trial_problems(name, source)


def trial_problems(name: str, source: str) -> list[TemplateProblem]:
    """The problems when the template is rendered with sample values."""
    for values in sample_values(name):
        try:
            text = rendered(name, source, values)
        except TemplateFailure as failure:
            return [TemplateProblem(failed_line(failure), str(failure))]
    return [] if text else [TemplateProblem(1, "The template produces no output.")]


def failed_line(failure: TemplateFailure) -> int:
    """The template line where rendering failed."""
    line, trace = 1, failure.__cause__.__traceback__ if failure.__cause__ else None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def sentence(error: Exception) -> str:
    """An error's message as a sentence."""
    message = str(getattr(error, "message", None) or error or type(error).__name__).strip()
    return message[:1].upper() + message[1:] + ("" if message.endswith((".", "!", "?")) else ".")
