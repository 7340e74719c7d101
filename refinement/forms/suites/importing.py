"""The form to import a file of tasks."""

from collections.abc import Sequence
from typing import Any

from django import forms

from refinement.interchange.suites.merging import ImportMode
from refinement.interchange.suites.types import NAME_CHARS
from refinement.models import Suite

WEB_BYTES = 2_000_000  # larger files are pushed with the command line
NEW_SUITE = "new"  # no suite has this slug
FORMATS = {
    "auto": "By its name and content",
    "yaml": "Suite (YAML)",
    "csv": "Table (CSV)",
    "jsonl": "JSON Lines",
    "eval": "Eval file (YAML)",
}


class SuiteImportForm(forms.Form):
    """A file or its text, what it is, and where its tasks go."""

    file = forms.FileField(
        label="File",
        required=False,
        help_text="CSV, JSON Lines, a suite's YAML or an eval file, at most 2 MB.",
        widget=forms.FileInput(attrs={"accept": ".csv,.tsv,.jsonl,.ndjson,.yaml,.yml,text/csv,text/yaml"}),
    )
    text = forms.CharField(
        label="Or paste text",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false", "class": "code-input"}),
    )
    kind = forms.ChoiceField(label="Format", choices=list(FORMATS.items()))
    target = forms.ChoiceField(
        label="Import into",
        error_messages={"invalid_choice": "This suite was archived in the meantime. Choose another."},
    )
    name = forms.CharField(
        label="Name of the new suite",
        required=False,
        max_length=NAME_CHARS,
        help_text="For a new suite. A suite's YAML has its own.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    mode = forms.ChoiceField(
        label="Tasks that the file does not have",
        choices=[(ImportMode.MERGE.value, "Stay"), (ImportMode.REPLACE.value, "Are removed")],
        initial=ImportMode.MERGE.value,
    )
    seen = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput())

    def __init__(self, suites: Sequence[Suite], *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.suites = {suite.slug: suite for suite in suites}
        target = self.fields["target"]
        assert isinstance(target, forms.ChoiceField)
        target.choices = [(NEW_SUITE, "A new suite"), *((slug, s.name) for slug, s in self.suites.items())]
        self.file_name = ""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        upload, text = cleaned.get("file"), cleaned.get("text", "")
        if upload is not None and text.strip():
            self.add_error("file", "Choose a file or paste its text, not both.")
        elif upload is not None:
            cleaned["source"], self.file_name = self._decoded(upload), str(upload.name)
        elif not text.strip():
            self.add_error("file", "Choose a file or paste its text.")
        elif len(text.encode("utf-8", "replace")) > WEB_BYTES:
            self.add_error("text", TOO_LARGE.format("text"))
        else:
            cleaned["source"] = text
        if cleaned.get("kind") == "auto":
            cleaned["kind"] = ""
        return cleaned

    def _decoded(self, upload: Any) -> str:
        if upload.size > WEB_BYTES:
            self.add_error("file", TOO_LARGE.format("file"))
            return ""
        try:
            return str(upload.read().decode("utf-8-sig"))
        except UnicodeDecodeError:
            self.add_error("file", "The file is not UTF-8 text. Save it as UTF-8 or choose another file.")
            return ""

    def chosen(self) -> Suite | None:
        """The suite that gets the tasks; None for a new one."""
        return self.suites.get(self.cleaned_data.get("target", ""))

    def mode_chosen(self) -> ImportMode:
        return ImportMode(self.cleaned_data["mode"])

    def keep_text(self, source: str, kind: str, seen: int | None) -> None:
        """Shows the file's text in its field again, because browsers do not keep uploads."""
        kept = {name: self.data[name] for name in self.data}
        self.data = {**kept, "text": source, "kind": kind, "seen": str(seen or "")}


TOO_LARGE = f"The {{}} is larger than {WEB_BYTES:,} bytes. Push larger files with “wiggum suite push”."
