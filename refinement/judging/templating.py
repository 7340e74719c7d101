"""Renders prompt templates: built-in ones in this process, custom ones in a child process.

A custom template may print values, branch, loop over available lists and use a few filters. It cannot call
functions or compute, and checking or rendering it has a time limit of about a second.
"""

from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache

from refinement.judging import isolation
from refinement.judging.isolation import SECONDS, Limit
from refinement.judging.template_names import TEMPLATE_NAMES
from refinement.judging.template_rendering import TemplateFailure, rendered, sandbox
from refinement.judging.template_rules import MAX_SOURCE_CHARS, TemplateProblem

__all__ = [
    "TEMPLATE_NAMES",
    "TemplateFailure",
    "TemplateProblem",
    "check_template",
    "default_source",
    "render",
]

CHANGING = frozenset(
    {"revision", "revision_appended", "repair", "feedback", "instructions", "deliberation", "panel_summary"}
)  # different text in every round
CACHED_CHARS = 20_000  # longer values are not cached

REASONS: Mapping[Limit, str] = {
    Limit.TIME: f"it takes longer than {SECONDS:g} second. Use fewer loops and filters.",
    Limit.SPENT: "earlier templates used up the time. Fix those first.",
    Limit.MEMORY: "it needs too much memory. Use fewer loops and filters.",
    Limit.CRASH: "it cannot be processed. Make it simpler.",
    Limit.BUSY: "the server is busy with other templates. Try again in a moment.",
}


def render(name: str, source: str | None, /, **values: object) -> str:
    """The rendered custom template, or the packaged one if source is None. Raises TemplateFailure."""
    if name not in CHANGING and sum(len(v) for v in values.values() if type(v) is str) <= CACHED_CHARS:
        return render_cached(name, source, tuple(values.items()))
    return render_now(name, source, values)


@lru_cache(maxsize=128)
def render_cached(name: str, source: str | None, values: tuple[tuple[str, object], ...]) -> str:
    """Renders text that is the same in all rounds only once."""
    return render_now(name, source, dict(values))


def render_now(name: str, source: str | None, values: Mapping[str, object]) -> str:
    if source is None:
        return rendered(name, None, values)
    plain = {variable: plain_value(value) for variable, value in values.items()}
    arguments = {"name": name, "source": source, "values": plain}
    outcome = isolation.run("render", arguments)
    if outcome.limit:
        raise TemplateFailure(f"The template {name!r} cannot be rendered: {REASONS[outcome.limit]}")
    (answer,) = outcome.answers
    if "failure" in answer:
        raise TemplateFailure(answer["failure"])
    return str(answer["text"])


def plain_value(value: object) -> object:
    """The value as JSON data. Records become objects."""
    if isinstance(value, (list, tuple)):
        return [plain_value(part) for part in value]
    return value if isinstance(value, (str, int, float, type(None))) else asdict(value)  # type: ignore[call-overload]


def default_source(name: str, profile: str) -> str:
    """The packaged template that an editor starts from."""
    environment = sandbox()
    assert environment.loader is not None
    return environment.loader.get_source(environment, f"{default_name(name, profile)}.j2")[0]


def default_name(name: str, profile: str) -> str:
    """The name of the packaged template for a profile. Unknown profiles use wiggum's."""
    if name == "judge":
        return f"judge_{profile}" if f"judge_{profile}.j2" in packaged() else "judge_wiggum"
    return "revision_appended" if (name, profile) == ("revision", "ralph") else name


@lru_cache(maxsize=1)
def packaged() -> frozenset[str]:
    return frozenset(sandbox().list_templates())


def check_template(name: str, source: str) -> list[TemplateProblem]:
    """The problems that prevent this template from rendering, by line; empty if it can be saved."""
    if name not in TEMPLATE_NAMES:
        known = ", ".join(TEMPLATE_NAMES)
        return [TemplateProblem(1, f"Unknown template {name!r}. Available: {known}.")]
    if len(source) > MAX_SOURCE_CHARS:
        return [TemplateProblem(1, f"The template is too long: {MAX_SOURCE_CHARS:,} characters are allowed.")]
    if not source.strip():
        return [TemplateProblem(1, "The template is empty; remove it to use the default.")]
    outcome = isolation.run("check_template", {"name": name, "source": source})
    if outcome.limit:
        return [TemplateProblem(1, f"The template could not be checked: {REASONS[outcome.limit]}")]
    (answer,) = outcome.answers
    return [TemplateProblem(line, message) for line, message in answer]
