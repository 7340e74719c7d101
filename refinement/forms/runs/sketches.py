"""A partly filled launch form, as far as it is valid."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from refinement.engine.codec import BadRubric, rubric_with
from refinement.engine.types import Rubric
from refinement.forms.rubrics.values import Refused, tidy
from refinement.forms.runs.judges import rubric_with_mode
from refinement.forms.runs.launch import LaunchForm
from refinement.forms.runs.overrides import OVERRIDES
from refinement.forms.runs.texts import TEXTS, rubric_with_texts
from refinement.judging.sources import MOST_SOURCES
from refinement.providers.registry import Target
from refinement.selectors.launch.available_models import target_typed
from refinement.selectors.launch.choices import round_text
from refinement.services.runs.launching import MOST_REPEATS


@dataclass(frozen=True, slots=True)
class Sketch:
    """A launch as far as it is filled in."""

    definition: Rubric
    task_chars: int
    seed_chars: int
    source_chars: tuple[int, ...]
    producer: Target | None
    judge: Target | None
    clerk: Target | None  # None for the rubric's or the judge's
    held_out: Target | None
    repeats: int


def sketched(form: LaunchForm) -> Sketch:
    """Reads a partly filled form, so that it can be estimated too."""
    values = {name: form[name].value() for name in form.fields}
    repeats = str(values["repeats"] or 1)
    return Sketch(
        definition=definition_sketched(form, values),
        task_chars=chars_of(form.data, "task", values["task"]),
        seed_chars=seed_chars_of(form, values),
        source_chars=source_chars_of(form),
        producer=target_or_none(form, values, "producer"),
        judge=target_or_none(form, values, "judge"),
        clerk=target_or_none(form, values, "clerk"),
        held_out=target_or_none(form, values, "held_out"),
        repeats=int(repeats) if repeats.isdigit() and 1 <= int(repeats) <= MOST_REPEATS else 1,
    )


def definition_sketched(form: LaunchForm, values: Mapping[str, Any]) -> Rubric:
    """The rubric with those changes that are valid."""
    changes: dict[str, str] = {}
    for override in OVERRIDES:
        try:
            if text := str(values[override.name] or "").strip():
                changes[override.path] = override.read(text)
        except Refused:
            continue
    try:
        definition = rubric_with(form.as_saved, changes)
    except BadRubric:
        definition = form.as_saved
    texts = {text.name: str(values[text.name] or "") for text in TEXTS}
    return rubric_with_mode(rubric_with_texts(definition, texts), str(values["judges"] or ""))


def seed_chars_of(form: LaunchForm, values: Mapping[str, Any]) -> int:
    if form.files.get("seed_file"):
        return len(getattr(form, "cleaned_data", {}).get("seed_text", ""))
    if values["start"] == "draft":
        return 0
    if values["start"] == "run":
        return round_chars(form, str(values["seed_run"] or ""))
    return chars_of(form.data, "seed", values["seed"])


def round_chars(form: LaunchForm, reference: str) -> int:
    try:
        return len(round_text(form.project, reference)) if reference else 0
    except LookupError:
        return 0


def source_chars_of(form: LaunchForm) -> tuple[int, ...]:
    """The sources' lengths, or those that the page sent instead of the texts, such as `120,4000`."""
    typed = str(form.data.get("source_chars") or "")
    if "source_text" in form.data or not typed:
        return tuple(len(source.text) for source in form.sources)
    parts = typed.split(",")[:MOST_SOURCES]
    return tuple(int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 10)


def chars_of(data: Mapping[str, Any], name: str, text: Any) -> int:
    """The text's length, or the length the page sent instead of the text."""
    typed = str(data.get(f"{name}_chars") or "")
    if name not in data and typed.isascii() and typed.isdigit() and len(typed) < 10:
        return int(typed)
    return len(tidy(text or ""))


def target_or_none(form: LaunchForm, values: Mapping[str, Any], role: str) -> Target | None:
    try:
        return target_typed(values.get(f"{role}_typed") or values[role] or "", form.endpoints)
    except ValueError:
        return None
