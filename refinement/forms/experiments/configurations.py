"""One configuration in the launch form: rubric version, models, changed settings and sources."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from refinement.engine.types import Rubric
from refinement.forms.experiments.prompts import FIELDS as PROMPT_FIELDS
from refinement.forms.experiments.prompts import PROMPT_PATHS, prompt_cleaned, prompt_fields
from refinement.forms.rubrics.values import tidy
from refinement.forms.runs.judges import JUDGE_CHOICES
from refinement.forms.runs.launch import NO_MODEL, NO_SERVER, typed_field
from refinement.forms.runs.overrides import OVERRIDES, rubric_overridden
from refinement.forms.runs.sources import files_decoded, shown_rows
from refinement.forms.runs.texts import TEXTS, same
from refinement.judging.sources import BadSource, SourceText, sources_cleaned
from refinement.models import Configuration, RubricVersion
from refinement.providers.registry import Target
from refinement.selectors.launch.available_models import Offer, target_typed
from refinement.selectors.launch.model_lists import has_real_model, model_choices
from refinement.services.experiments.checking import ConfigurationSpec

NAME_CHARS = 80
MODE = "judges.mode"
PATHS = {override.path: override.name for override in OVERRIDES}
TEXT_NAMES = {text.name for text in TEXTS}
BAD_CHANGES = "Further changed settings could not be read. Remove this configuration and add it again."


class ConfigurationForm(forms.Form):
    """Empty settings are the rubric version's. `version` is None if the chosen one does not exist."""

    use_required_attribute = False

    name = forms.CharField(
        label="Name",
        max_length=NAME_CHARS,
        error_messages={"required": "Enter a name, such as Five rounds."},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    version = forms.CharField(
        label="Rubric", error_messages={"required": "Choose a rubric."}, widget=forms.Select, max_length=200
    )
    producer = forms.CharField(
        label="Writer",
        required=False,
        max_length=600,
        error_messages={"required": NO_MODEL},
        widget=forms.Select,
    )
    producer_typed = typed_field("writer")
    judge = forms.CharField(label="Judge", required=False, max_length=600, widget=forms.Select)
    judge_typed = typed_field("judge")
    judges = forms.ChoiceField(label="Who judges", required=False, choices=JUDGE_CHOICES)
    clerk = forms.CharField(label="Clerk", required=False, max_length=600, widget=forms.Select)
    clerk_typed = typed_field("clerk")
    more = forms.CharField(required=False, max_length=500_000, widget=forms.HiddenInput)
    source_file = forms.FileField(
        label="Add a file",
        required=False,
        widget=forms.FileInput(attrs={"accept": "text/*,.md,.markdown,.rst,.json,.yaml,.yml,.csv,.log"}),
    )

    def __init__(
        self,
        *args: Any,
        number: int,
        version: RubricVersion | None,
        definition: Rubric | None,
        versions: Sequence[Any],
        offers: Sequence[Offer],
        sources: Sequence[SourceText] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **{"label_suffix": "", "prefix": f"c{number}", **kwargs})
        self.number, self.chosen_version, self.as_saved = number, version, definition
        self.offers = offers
        self.endpoints = [offer.endpoint for offer in offers]
        self.needs_server = not has_real_model(offers)
        self.sources = self._sources_posted() if self.is_bound else list(sources)
        self._choices("version", list(versions))
        for role in ("producer", "judge"):
            self._choices(role, model_choices(offers, str(self[role].value() or "")))
        clerks = model_choices(offers, str(self["clerk"].value() or ""))
        self._choices("clerk", [("", "Same as the judge"), *clerks[1:]])
        if definition is not None:
            for override in OVERRIDES:
                self.fields[override.name] = override.field(definition)
            for text in TEXTS:
                self.fields[text.name] = text.field()
                self.fields[text.name].widget.attrs["placeholder"] = text.of(definition)[:2_000] or "Empty"
            self.fields |= prompt_fields(definition)
        for field in self.fields.values():
            field.widget.attrs.setdefault("data-configuration", str(number))

    def _choices(self, name: str, given: list[Any]) -> None:
        field: Any = self.fields[name]
        field.widget.choices = given

    def _sources_posted(self) -> list[SourceText]:
        data: Any = self.data
        names, texts, removed = (
            data.getlist(self.add_prefix(name)) for name in ("source_name", "source_text", "source_remove")
        )
        rows = enumerate(zip(names, texts, strict=False))
        return [
            SourceText(name.strip(), tidy(text))
            for place, (name, text) in rows
            if str(place) not in removed and (name.strip() or text.strip())
        ]

    # --- for the template --------------------------------------------------------------------------
    @property
    def letter(self) -> str:
        return chr(ord("A") + self.number)

    @property
    def settings(self) -> list[forms.BoundField]:
        return [self[override.name] for override in OVERRIDES if override.name in self.fields]

    @property
    def texts(self) -> list[forms.BoundField]:
        return [self[text.name] for text in TEXTS if text.name in self.fields]

    @property
    def prompts(self) -> list[forms.BoundField]:
        return [self[name] for name in PROMPT_FIELDS if name in self.fields]

    @property
    def source_rows(self) -> list[Any]:
        return shown_rows(self.sources)

    @property
    def changed(self) -> list[str]:
        """The labels of what differs from the rubric, for the folded row."""
        fields = [*self.settings, *self.texts, *self.prompts]
        found = [str(field.label) for field in fields if str(field.value() or "").strip()]
        return found + list(self.more_changes)

    @property
    def more_changes(self) -> dict[str, str]:
        """Changes that the form has no field for."""
        try:
            found = json.loads(str(self["more"].value() or "{}"))
        except ValueError:
            return {}
        return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}

    @property
    def settings_wrong(self) -> bool:
        return any(field.errors for field in [*self.settings, *self.texts, *self.prompts])

    @property
    def prompts_open(self) -> bool:
        return any(field.errors or field.value() for field in self.prompts)

    @property
    def models_open(self) -> bool:
        names = ("producer_typed", "judge_typed", "clerk_typed", "clerk", "judges")
        return any(self[name].value() or self[name].errors for name in names)

    @property
    def models_words(self) -> str:
        mode = dict(JUDGE_CHOICES).get(str(self["judges"].value() or ""), "")
        clerk = str(self["clerk_typed"].value() or self["clerk"].value() or "")
        return ", ".join([mode, f"clerk {clerk.partition('/')[2]}"] if clerk else [mode])

    def keep_file(self) -> None:
        """Moves a sent file into the rows: browsers do not send it again. Called before rendering."""
        upload = self.files.get(self.add_prefix("source_file")) if self.files else None
        for found in files_decoded([upload] if upload else []):
            if isinstance(found, SourceText):
                self.sources.append(found)
            elif self.is_bound and "source_file" not in self.errors:
                self.add_error("source_file", str(found))

    # --- cleaning ----------------------------------------------------------------------------------
    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.chosen_version is None and "version" not in self.errors:
            self.add_error("version", "This version is not there any more. Choose another.")
        self.keep_file()
        cleaned["producer_target"] = self._target("producer", cleaned)
        cleaned["judge_target"] = self._judge(cleaned)
        has_clerk = cleaned.get("clerk_typed") or cleaned.get("clerk")
        cleaned["clerk_target"] = self._target("clerk", cleaned) if has_clerk else None
        cleaned["changes"] = self._changes(cleaned)
        try:
            cleaned["sources"] = sources_cleaned(self.sources)
        except BadSource as problem:
            self.add_error("source_file", str(problem))
        return cleaned

    def _judge(self, cleaned: dict[str, Any]) -> Target | None:
        """Without criteria only checks decide, and no judge is called."""
        if self.as_saved is not None and not self.as_saved.criteria:
            return cleaned["producer_target"]  # type: ignore[no-any-return]
        return self._target("judge", cleaned)

    def _target(self, role: str, cleaned: Mapping[str, Any]) -> Target | None:
        field = f"{role}_typed" if cleaned.get(f"{role}_typed") else role
        if field in self.errors:
            return None
        if not cleaned.get(field):
            self.add_error(role, NO_SERVER if self.needs_server else NO_MODEL)
            return None
        try:
            return target_typed(cleaned[field], self.endpoints)
        except ValueError as error:
            self.add_error(field, str(error))
            return None

    def _changes(self, cleaned: Mapping[str, Any]) -> dict[str, object]:
        """Changed settings by dotted path."""
        if self.as_saved is None:
            return {}
        given = {override.name: cleaned.get(override.name, "") or "" for override in OVERRIDES}
        try:
            rubric_overridden(self.as_saved, given)
        except ValidationError as refusal:
            for name, words in refusal.message_dict.items():
                self.add_error(name if name in self.fields else None, words)
            return {}
        changes: dict[str, object] = dict(self.more_changes)
        for override in OVERRIDES:
            if given[override.name].strip():
                changes[override.path] = override.read(given[override.name])
        for text in TEXTS:
            own = tidy(cleaned.get(text.name, "") or "").strip()
            if own and not same(own, text.of(self.as_saved)):
                changes[text.name] = own
        changes |= self._prompt_changes(self.as_saved, cleaned)
        if (mode := cleaned.get("judges")) and mode != self.as_saved.judges.mode:
            changes[MODE] = mode
        return changes

    def _prompt_changes(self, rubric: Rubric, cleaned: Mapping[str, Any]) -> dict[str, object]:
        found: dict[str, object] = {}
        for path, name in PROMPT_PATHS.items():
            own, problems = prompt_cleaned(rubric, name, cleaned.get(name, "") or "")
            if problems:
                self.add_error(name, problems)
            elif own:
                found[path] = own
        return found

    def spec(self, *, baseline: bool) -> ConfigurationSpec:
        """What the services take. Only after `is_valid`."""
        values = self.cleaned_data
        assert self.chosen_version is not None
        return ConfigurationSpec(
            name=values["name"],
            version=self.chosen_version,
            producer=values["producer_target"],
            judge=values["judge_target"],
            definition_changes=values["changes"],
            clerk=values["clerk_target"],
            sources=values["sources"],
            baseline=baseline,
        )


def values_of(configuration: Configuration) -> dict[str, list[str]]:
    """A configuration's form values by field name, as they would have been sent."""
    version = configuration.rubric_version
    values = {
        "name": [configuration.name],
        "version": [f"{version.rubric.slug}@{version.number}"],
        "producer": [f"{configuration.producer_endpoint}/{configuration.producer_model}"],
        "judge": [f"{configuration.judge_endpoint}/{configuration.judge_model}"],
        "source_name": [str(source["name"]) for source in configuration.sources],
        "source_text": [str(source["text"]) for source in configuration.sources],
    }
    if configuration.clerk_model:
        values["clerk"] = [f"{configuration.clerk_endpoint}/{configuration.clerk_model}"]
    more = {}
    for path, value in configuration.changes.items():
        if path in PATHS:
            values[PATHS[path]] = [str(value) or "none"]
        elif path == MODE:
            values["judges"] = [str(value)]
        elif path in TEXT_NAMES and value:
            values[path] = [str(value)]
        elif path in PROMPT_PATHS:
            values[PROMPT_PATHS[path]] = [str(value)]
        else:
            more[path] = str(value)
    return values | ({"more": [json.dumps(more)]} if more else {})
