"""The rows of a panel: reading them, adding one, and taking a panel from the gallery."""

from collections.abc import Sequence
from typing import Any

from refinement.engine.artifacts import ARTIFACT_TYPES
from refinement.engine.panels import FEWEST_JUDGES, LENS_CHARS, MODEL_CHARS, MOST_JUDGES, NAME_CHARS, PANELS
from refinement.forms.rubrics import values
from refinement.forms.rubrics.initial import Fields, judge_fields
from refinement.forms.rubrics.rows import Problems, next_number, row_numbers
from refinement.selectors.launch.available_models import Offer

PANEL_TYPE = "panel-type"  # the menu of the gallery's panels


def read_panel(fields: Fields, problems: Problems) -> list[dict[str, Any]]:
    """The judges as JSON, in order; errors are added to their fields."""
    numbers = row_numbers(fields, "judge")
    count = len(numbers)
    if count > MOST_JUDGES:
        problems.add("panel", f"{count} judges; at most {MOST_JUDGES} are allowed. Remove some.")
    elif count and count < FEWEST_JUDGES:
        problems.add(
            "panel",
            f"A board needs at least {FEWEST_JUDGES} judges. Add one, or remove all to have the clerk "
            "compose a board for each run.",
        )
    names: set[str] = set()
    return [_judge(fields, f"judge-{number}-", names, problems) for number in numbers]


def _judge(fields: Fields, start: str, names: set[str], problems: Problems) -> dict[str, Any]:
    name, lens, model = (fields.get(f"{start}{part}", "") for part in ("name", "lens", "model"))
    return {
        "name": problems.take(f"{start}name", "", _name, name, names),
        "lens": problems.take(f"{start}lens", "", _lens, lens),
        "model": problems.take(f"{start}model", "", values.model_of, model, MODEL_CHARS),
    }


def _name(text: str, names: set[str]) -> str:
    name = values.text_within(text.strip(), NAME_CHARS)
    if not name:
        raise values.Refused("Enter a name, such as Domain expert.")
    if name.casefold() in names:
        raise values.Refused("Another judge has the same name. Choose another.")
    names.add(name.casefold())
    return name


def _lens(text: str) -> str:
    if not text.strip():
        raise values.Refused("Enter how this judge looks at the work.")
    return values.text_within(text, LENS_CHARS)


def with_judge(fields: Fields) -> Fields:
    """The fields with an empty judge added, unless the panel is full."""
    if len(row_numbers(fields, "judge")) >= MOST_JUDGES:
        return fields
    return fields | judge_fields(next_number(fields, "judge"), {})


def with_panel(fields: Fields) -> Fields:
    """The fields with the panel that is chosen in the menu instead of the current one."""
    panel = PANELS.get(fields.get(PANEL_TYPE, ""))
    if panel is None:
        return fields
    first = next_number(fields, "judge")
    kept = {name: value for name, value in fields.items() if not name.startswith("judge-")}
    for place, judge in enumerate(panel):
        row = judge_fields(first + place, {"name": judge.name, "lens": judge.lens})
        kept |= row | {f"judge-{first + place}-order": str(place + 1)}
    return kept


def gallery_panels(artifact_type: str, chosen: str) -> list[tuple[str, str, bool]]:
    """The gallery's panels: key, label, and whether the menu shows it: by default the one for this work."""
    shown = next((key for key in (chosen, artifact_type) if key in PANELS), "document")
    return [(key, _panel_label(key), key == shown) for key in PANELS]


def _panel_label(key: str) -> str:
    title = ARTIFACT_TYPES[key].name if key in ARTIFACT_TYPES else key
    return f"{title[:1].upper()}{title[1:]}: {', '.join(judge.name for judge in PANELS[key])}"


def panels_for_script() -> dict[str, list[dict[str, str]]]:
    """The gallery's panels as JSON, so that script can use one without a request."""
    return {key: [{"name": judge.name, "lens": judge.lens} for judge in PANELS[key]] for key in PANELS}


def model_names(offers: Sequence[Offer]) -> list[str]:
    """Every model that is available now, as ENDPOINT/MODEL."""
    return [f"{offer.endpoint}/{info.name}" for offer in offers for info in offer.models]


def model_warning(text: str, offers: Sequence[Offer]) -> str:
    """Why a run with this model could not start now; empty if it could, or if nothing is known about it."""
    endpoint, _, model = text.strip().partition("/")
    if not endpoint or not model:
        return ""
    offer = next((offer for offer in offers if offer.endpoint == endpoint), None)
    if offer is None:
        return f"This instance has no model server named {endpoint}."
    names = {info.name for info in offer.models}
    missing = names and not names & {model, f"{model}:latest"}
    return "Model not found on this model server." if missing else ""
