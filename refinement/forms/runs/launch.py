"""The launch form: task, starting text, sources, rubric, models and repeats."""

import secrets
from collections.abc import Sequence
from typing import Any

from django import forms

from refinement.engine.types import Rubric
from refinement.forms.rubrics.values import tidy
from refinement.forms.runs.judges import JUDGE_CHOICES, rubric_with_mode
from refinement.forms.runs.overrides import OVERRIDES, rubric_overridden
from refinement.forms.runs.sources import (
    FilesField,
    FilesInput,
    SourceRow,
    files_decoded,
    rows_posted,
    shown_rows,
)
from refinement.forms.runs.texts import TEXTS, rubric_with_texts, same, texts_of, texts_posted
from refinement.judging.sources import LIMITS, BadSource, SourceText, sources_cleaned
from refinement.models import Project, RubricVersion
from refinement.models.runs.runs import TITLE_CHARS
from refinement.providers.registry import Target
from refinement.selectors.launch.available_models import Offer, target_typed
from refinement.selectors.launch.choices import round_text
from refinement.selectors.launch.model_lists import DEMO, has_real_model, model_choices
from refinement.services.runs.creating import (
    MAX_TEXT_CHARS,
    MOST_TAGS,
    tags_cleaned,
    task_type_cleaned,
)
from refinement.services.runs.launching import MOST_REPEATS

MAX_FILE_BYTES = 5_000_000
STARTS = (
    ("draft", "Nothing yet"),
    ("pasted", "Paste"),
    ("file", "File"),
    ("run", "From a run"),
)
FIELDS_OF_STARTS = {"seed": "pasted", "seed_file": "file", "seed_run": "run"}
NO_TASK = "Enter a task: what should be written."
NO_FILE = "Choose a file or paste the text."
NO_MODEL = "Choose a model, or enter one below."
NO_SERVER = "No model server is available. Connect a model, or use the demo model."
NO_RUN = "Enter the number of a run."
NO_SEED = "Paste a text, or let the writer start with nothing."


def model_field(label: str) -> forms.CharField:
    return forms.CharField(label=label, widget=forms.Select, error_messages={"required": NO_MODEL})


def typed_field(role: str) -> forms.CharField:
    return forms.CharField(
        label=f"Or enter a {role}",
        required=False,
        max_length=400,
        help_text="Endpoint/model, such as ollama/qwen3:14b.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )


class LaunchForm(forms.Form):
    """Of alternative fields, only the chosen one is used; empty settings default to the rubric's."""

    use_required_attribute = False

    key = forms.CharField(max_length=64, required=False, widget=forms.HiddenInput)
    task = forms.CharField(
        label="What should be written?",
        max_length=MAX_TEXT_CHARS,
        help_text="The writer and the judges read this.",
        error_messages={
            "required": NO_TASK,
            "max_length": f"At most {MAX_TEXT_CHARS:,} characters. Shorten the task.",
        },
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    start = forms.ChoiceField(
        label="Starting text", choices=STARTS, widget=forms.RadioSelect, initial="draft"
    )
    seed = forms.CharField(
        label="Starting text",
        strip=False,
        max_length=MAX_TEXT_CHARS,
        error_messages={
            "required": NO_SEED,
            "max_length": f"At most {MAX_TEXT_CHARS:,} characters. Shorten the text.",
        },
        widget=forms.Textarea(attrs={"rows": 6}),
    )
    seed_file = forms.FileField(
        label="File",
        help_text=f"UTF-8 text or Markdown, at most {MAX_FILE_BYTES // 1_000_000} MB.",
        error_messages={"required": NO_FILE, "empty": "The file is empty. Choose another."},
        widget=forms.FileInput(attrs={"accept": ".txt,.md,.markdown,.rst,.text,text/plain,text/markdown"}),
    )
    seed_run = forms.CharField(
        label="Run",
        max_length=40,
        help_text="Its number; add a round as in 42/3. Without a round, its best one.",
        error_messages={"required": NO_RUN},
        widget=forms.TextInput(attrs={"list": "newest-runs", "autocomplete": "off"}),
    )
    source_files = FilesField(
        label="Add files",
        required=False,
        help_text=LIMITS,
        error_messages={"empty": "A file is empty. Choose another."},
        widget=FilesInput(attrs={"accept": "text/*,.md,.markdown,.rst,.json,.yaml,.yml,.csv,.tsv,.log,.tex"}),
    )
    rubric = forms.ChoiceField(label="Rubric")
    version = forms.CharField(label="Version", widget=forms.Select)
    producer = model_field("Writer")
    producer_typed = typed_field("writer")
    judge = model_field("Judge")
    judge_typed = typed_field("judge")
    judges = forms.ChoiceField(
        label="Who judges",
        required=False,
        choices=JUDGE_CHOICES,
        help_text="A board’s judges score alone and answer each other once. The clerk merges.",
    )
    clerk = forms.CharField(
        label="Clerk",
        required=False,
        widget=forms.Select,
        help_text="Merges a board's replies.",
    )
    clerk_typed = typed_field("clerk")
    held_out = forms.CharField(
        label="Held-out judge",
        required=False,
        max_length=400,
        widget=forms.Select,
        help_text="Scores the first and the best round at the end: two more calls. The loop never sees them.",
    )
    title = forms.CharField(
        label="Title",
        required=False,
        max_length=TITLE_CHARS,
        help_text="By default, the start of the task.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    task_type = forms.CharField(
        label="Task type",
        required=False,
        max_length=200,
        help_text="A label to group and filter runs by, such as research.",
        widget=forms.TextInput(attrs={"list": "task-types", "autocomplete": "off"}),
    )
    tags = forms.CharField(
        label="Tags",
        required=False,
        max_length=2_000,
        help_text=f"Separated by commas, at most {MOST_TAGS}.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    repeats = forms.IntegerField(
        label="Runs",
        min_value=1,
        max_value=MOST_REPEATS,
        initial=1,
        help_text=f"1 to {MOST_REPEATS} identical runs, to see how much the results vary.",
    )

    def __init__(
        self,
        *args: Any,
        project: Project,
        rubrics: Sequence[tuple[str, str]],
        version: RubricVersion,
        definition: Rubric,
        versions: Sequence[tuple[str, str]],
        offers: Sequence[Offer],
        shown: Rubric | None = None,
        **kwargs: Any,
    ) -> None:
        """`shown` is the rubric that the sent page was filled with, if it is not the chosen one."""
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        self.project, self.chosen_version, self.as_saved = project, version, definition
        self.sources = rows_posted(self.data) if self.is_bound else list(self.initial.get("sources", ()))
        if not self.is_bound and not self.initial.get("task"):
            self.fields["task"].widget.attrs["autofocus"] = True
        self.initial.setdefault("key", secrets.token_hex(12))
        self._choices("rubric", list(rubrics), both=True)
        self._choices("version", list(versions))
        self.endpoints = [offer.endpoint for offer in offers]
        self.nothing_offered = not any(offer.models for offer in offers)
        self.needs_server = not has_real_model(offers)
        for role in ("producer", "judge"):
            if self.needs_server:
                self.fields[role].error_messages["required"] = NO_SERVER
            self._choices(role, model_choices(offers, str(self[role].value() or "")))
        clerks = model_choices(offers, str(self["clerk"].value() or ""))
        self._choices(
            "clerk", [("", definition.judges.clerk.partition("/")[2] or "Same as the judge"), *clerks[1:]]
        )
        others = model_choices(offers, str(self["held_out"].value() or ""))
        self._choices("held_out", [("", "None"), *others[1:]])
        self._add_texts(shown or definition)
        for override in OVERRIDES:
            self.fields[override.name] = override.field(definition)

    def _add_texts(self, shown: Rubric) -> None:
        """The rubric's texts, or those of the launch. They follow the rubric unless they were changed."""
        for text in TEXTS:
            self.fields[text.name] = text.field()
        if self.is_bound:
            data: Any = self.data.copy()  # type: ignore[attr-defined]  # a QueryDict or a dict
            for name, value in texts_posted(data, shown, self.as_saved).items():
                data[name] = value
            self.data = data
        else:
            self.initial = {**texts_of(self.as_saved), **self.initial}

    def _choices(self, name: str, given: list[Any], *, both: bool = False) -> None:
        field: Any = self.fields[name]
        field.widget.choices = given
        if both:
            field.choices = given

    demo_model = DEMO

    @property
    def uses_demo(self) -> bool:
        """Whether the demo model writes and judges."""
        return all(str(self[role].value() or "") == DEMO for role in ("producer", "judge"))

    @property
    def limits(self) -> list[forms.BoundField]:
        """The settings that limit what a run may use."""
        return [self[override.name] for override in OVERRIDES if override.is_limit]

    @property
    def overrides(self) -> list[forms.BoundField]:
        """The other settings."""
        return [self[override.name] for override in OVERRIDES if not override.is_limit]

    @property
    def changed_settings(self) -> list[str]:
        """The labels of the settings and texts that differ from the rubric's."""
        return [str(field.label) for field in self.overrides if field.value()] + self.changed_texts

    @property
    def overrides_wrong(self) -> bool:
        return any(field.errors for field in [*self.overrides, *self.texts])

    @property
    def limits_wrong(self) -> bool:
        return any(field.errors for field in self.limits)

    @property
    def labels_wrong(self) -> bool:
        return any(self[name].errors for name in ("title", "task_type", "tags"))

    @property
    def texts(self) -> list[forms.BoundField]:
        return [self[text.name] for text in TEXTS]

    @property
    def changed_texts(self) -> list[str]:
        """The labels of the texts that differ from the rubric's."""
        return [
            text.label
            for text in TEXTS
            if not same(str(self[text.name].value() or ""), text.of(self.as_saved))
        ]

    @property
    def typed_open(self) -> bool:
        """Whether a model is entered, not valid, or none can be chosen."""
        typed = (self["producer_typed"], self["judge_typed"], self["clerk_typed"])
        return self.nothing_offered or any(field.value() or field.errors for field in typed)

    @property
    def source_rows(self) -> list[SourceRow]:
        """The sources sent so far, files included, and an empty row."""
        return shown_rows(self.sources)

    def complain_later(self) -> None:
        """Before the first submit: drops "required" errors, keeps errors of entered values."""
        for name in [name for name in self.errors if not self.data.get(name)]:
            del self.errors[name]

    # --- cleaning ---------------------------------------------------------------------------------
    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        self.errors.pop("version", None)  # defaults to the newest
        cleaned["seed_text"] = self._seed(cleaned)
        self._clean_sources(cleaned)
        cleaned["definition"] = self._definition(cleaned)
        cleaned["producer_target"] = self._target("producer", cleaned)
        if self.as_saved.criteria:
            cleaned["judge_target"] = self._target("judge", cleaned)
        else:
            self.errors.pop("judge", None)
            cleaned["judge_target"] = cleaned["producer_target"]  # never called: only checks decide
        cleaned["clerk_target"] = self._clerk(cleaned)
        cleaned["held_out_target"] = self._held_out(cleaned)
        self._clean_tags(cleaned)
        return cleaned

    def clean_task_type(self) -> str:
        try:
            return task_type_cleaned(self.cleaned_data["task_type"])
        except forms.ValidationError as refusal:
            raise forms.ValidationError(refusal.messages) from None

    def _seed(self, cleaned: dict[str, Any]) -> str:
        start, upload = cleaned.get("start"), cleaned.get("seed_file")
        for name, its_start in FIELDS_OF_STARTS.items():
            if start != its_start:
                self.errors.pop(name, None)
        if upload is not None and start not in ("pasted", "run"):
            return self._decoded(upload)
        if start == "run":
            return self._round(cleaned.get("seed_run", ""))
        if start != "pasted":
            return ""
        text = tidy(cleaned.get("seed", ""))
        if text.isspace():
            self.add_error("seed", NO_SEED)
        return text

    def _round(self, reference: str) -> str:
        try:
            return round_text(self.project, reference) if reference else ""
        except LookupError as missing:
            self.add_error("seed_run", str(missing.args[0]))
            return ""

    def _decoded(self, upload: Any) -> str:
        if upload.size > MAX_FILE_BYTES:
            size, most = upload.size / 1_000_000, MAX_FILE_BYTES // 1_000_000
            self.add_error("seed_file", f"The file has {size:.1f} MB; at most {most} MB are allowed.")
            return ""
        try:
            text = tidy(upload.read().decode("utf-8-sig"))
        except UnicodeDecodeError:
            text = "\x00"
        if "\x00" in text:
            self.add_error(
                "seed_file", "The file is not UTF-8 text. Save it as UTF-8 or choose another file."
            )
            return ""
        if not text.strip():
            self.add_error("seed_file", "The file has no text. Choose another.")
        return text

    def _clean_sources(self, cleaned: dict[str, Any]) -> None:
        """Adds uploaded files to the rows, so that a form shown again has their texts."""
        for found in files_decoded(cleaned.get("source_files") or []):
            if isinstance(found, SourceText):
                self.sources.append(found)
            else:
                self.add_error("source_files", str(found))
        try:
            cleaned["sources"] = sources_cleaned(self.sources)
        except BadSource as problem:
            self.add_error("source_files", str(problem))

    def keep_file(self) -> None:
        """Shows an uploaded file's text in its field again, because browsers do not keep uploads."""
        text = getattr(self, "cleaned_data", {}).get("seed_text", "")
        if text and self.files.get("seed_file"):
            self.data = {**{name: self.data[name] for name in self.data}, "start": "pasted", "seed": text}

    def _definition(self, cleaned: dict[str, Any]) -> Rubric:
        try:
            used = rubric_overridden(
                self.as_saved, {override.name: cleaned.get(override.name, "") for override in OVERRIDES}
            )
            return rubric_with_mode(rubric_with_texts(used, cleaned), cleaned.get("judges", ""))
        except forms.ValidationError as refusal:
            for name, words in refusal.message_dict.items():
                self.add_error(name if name in self.fields else None, words)
            return self.as_saved

    def _target(self, role: str, cleaned: dict[str, Any]) -> Target | None:
        """The model; an entered one overrides the chosen one."""
        field = role
        if cleaned.get(f"{role}_typed"):
            field = f"{role}_typed"
            self.errors.pop(role, None)
        if field in self.errors:
            return None
        try:
            return target_typed(cleaned[field], self.endpoints)
        except ValueError as error:
            self.add_error(field, str(error))
            return None

    def _clerk(self, cleaned: dict[str, Any]) -> Target | None:
        """The clerk's model; None for the rubric's or the judge's."""
        chosen = cleaned.get("clerk_typed") or cleaned.get("clerk")
        return self._target("clerk", cleaned) if chosen else None

    def _held_out(self, cleaned: dict[str, Any]) -> Target | None:
        """The held-out judge's model; None for none, or for a rubric that no model judges."""
        if not cleaned.get("held_out") or not self.as_saved.criteria:
            return None
        return self._target("held_out", cleaned)

    def _clean_tags(self, cleaned: dict[str, Any]) -> None:
        try:
            cleaned["tag_names"] = tags_cleaned([cleaned.get("tags", "")])
        except forms.ValidationError as refusal:
            self.add_error("tags", refusal.messages)
