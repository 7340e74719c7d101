"""The form to import ratings and texts."""

from collections.abc import Sequence
from typing import Any

from django import forms

from refinement.interchange.labels.reading import judge_raters_read
from refinement.interchange.labels.types import NAME_CHARS
from refinement.models import RubricVersion
from refinement.services.trust.label_importing import FileText

WEB_BYTES = 5_000_000  # larger files are imported with the command line
TOO_LARGE = f"The {{}} is larger than {WEB_BYTES:,} bytes. Import larger files with “wiggum labels import”."
ACCEPT = ".csv,.tsv,.jsonl,.ndjson,text/csv"


def file_field(title: str, help_text: str) -> forms.FileField:
    return forms.FileField(
        label=title, required=False, help_text=help_text, widget=forms.FileInput(attrs={"accept": ACCEPT})
    )


def text_field(title: str) -> forms.CharField:
    attributes = {"rows": 6, "spellcheck": "false", "class": "code-input"}
    return forms.CharField(label=title, required=False, strip=False, widget=forms.Textarea(attrs=attributes))


class LabelImportForm(forms.Form):
    """Ratings, texts, the set they go to, and which raters are judges."""

    name = forms.CharField(
        label="Label set",
        max_length=NAME_CHARS,
        help_text="Adds to the set with this name, or creates it.",
        error_messages={"required": "Enter a name."},
        widget=forms.TextInput(attrs={"autocomplete": "off", "list": "label-set-names"}),
    )
    rubric = forms.ChoiceField(
        label="Rubric",
        help_text="Its criteria and scale apply.",
        error_messages={"required": "Choose a rubric."},
    )
    ratings_file = file_field(
        "Ratings",
        "CSV or JSON Lines: item, criterion, rater, score. One of the two is needed.",
    )
    ratings = text_field("Or paste ratings")
    items_file = file_field(
        "Texts", "CSV or JSON Lines: item, text, task, task_type. One of the two is needed."
    )
    items = text_field("Or paste texts")
    judges = forms.CharField(
        label="Raters that are judges",
        required=False,
        help_text="One per line, such as gpt-4#1=gpt-4. Raters with the same model are repeats of one judge.",
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
    )

    def __init__(self, versions: Sequence[RubricVersion], *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in ("ratings_file", "items_file"):
            field: Any = self.fields[name]
            field.is_conditional = True  # not marked as optional
        rubric = self.fields["rubric"]
        assert isinstance(rubric, forms.ChoiceField)
        rubric.choices = [(version.rubric.slug, version.name) for version in versions]
        if len(versions) > 1:
            rubric.choices = [("", "Choose"), *rubric.choices]
        self.sources: dict[str, FileText] = {}

    def clean_judges(self) -> dict[str, str]:
        lines = [line for line in self.cleaned_data["judges"].splitlines() if line.strip()]
        try:
            return judge_raters_read(lines)
        except ValueError as wrong:
            words = str(wrong)
            raise forms.ValidationError(f"{words[:1].upper()}{words[1:]}") from None

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for field in ("ratings", "items"):
            self.sources[field] = self._file(field, cleaned)
        if not self.errors and not any(source.text.strip() for source in self.sources.values()):
            self.add_error("ratings_file", "Choose ratings or texts: one of the two is needed.")
        return cleaned

    def _file(self, field: str, cleaned: dict[str, Any]) -> FileText:
        upload, text = cleaned.get(f"{field}_file"), cleaned.get(field, "")
        if upload is not None and text.strip():
            self.add_error(f"{field}_file", "Choose a file or paste its text, not both.")
        elif upload is not None and upload.size > WEB_BYTES:
            self.add_error(f"{field}_file", TOO_LARGE.format("file"))
        elif upload is not None:
            return FileText(self._decoded(field, upload), str(upload.name))
        elif len(text.encode("utf-8", "replace")) > WEB_BYTES:
            self.add_error(field, TOO_LARGE.format("text"))
        return FileText(text)

    def _decoded(self, field: str, upload: Any) -> str:
        try:
            return str(upload.read().decode("utf-8-sig"))
        except UnicodeDecodeError:
            self.add_error(
                f"{field}_file", "The file is not UTF-8 text. Save it as UTF-8 or choose another file."
            )
            return ""

    def keep_texts(self) -> None:
        """Shows the files' texts in their fields again, because browsers do not keep uploads."""
        kept = {name: self.data[name] for name in self.data}
        self.data = {**kept, **{field: file.text for field, file in self.sources.items()}}
