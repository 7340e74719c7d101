"""The presets of the editor's visibility table. The presence of an evaluator decides which one applies."""

from functools import lru_cache

from refinement.engine.profiles import context_rules_for
from refinement.engine.types import ContextRules, EvaluationMode, Information, Role
from refinement.forms.rubrics.initial import EVALUATED, PLAIN, PRESET, Fields, context_fields
from refinement.judging.context import OFFERED

PRESETS = (PLAIN, EVALUATED)


def preset_for(fields: Fields) -> str:
    """The preset that applies to the form: whether it has a command, and a mode in which it runs."""
    command = fields.get("evaluator-command", "").strip()
    runs = command and fields.get("evaluation_mode") != EvaluationMode.JUDGE_ONLY
    return EVALUATED if runs else PLAIN


def preset_rules_for(profile: str, preset: str) -> ContextRules:
    return context_rules_for(profile, evaluator=preset == EVALUATED)


def with_preset(fields: Fields, profile: str) -> Fields:
    """The form with the table of the preset that applies to it."""
    kept = {name: value for name, value in fields.items() if not name.startswith("context-")}
    return kept | _table(profile, preset_for(fields)) | {PRESET: preset_for(fields)}


def with_preset_followed(fields: Fields, profile: str) -> Fields:
    """The form with its table moved to the new preset if a command was added or removed.

    Only a table that still is the preset it was shown with moves. One that was changed by hand stays.
    """
    shown = fields.get(PRESET, "")
    if shown not in PRESETS or shown == preset_for(fields):
        return fields
    seen = {name: value for name, value in fields.items() if name.startswith("context-") and value}
    if seen.keys() != _table(profile, shown).keys():
        return fields | {PRESET: preset_for(fields)}
    return with_preset(fields, profile)


def _table(profile: str, preset: str) -> Fields:
    rules = preset_rules_for(profile, preset)
    return context_fields({role: rules.allowed(role) for role in OFFERED})


@lru_cache(maxsize=8)
def presets_by_cell(profile: str) -> dict[tuple[Role, Information], str]:
    """The names of the presets in which a role sees a kind, separated by spaces."""
    rules = {preset: preset_rules_for(profile, preset) for preset in PRESETS}
    return {
        (role, kind): " ".join(name for name, rule in rules.items() if kind in rule.allowed(role))
        for role, offered in OFFERED.items()
        for kind in offered
    }
