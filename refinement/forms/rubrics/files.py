"""The form to import a rubric file."""

from typing import Any

from django import forms
from django.db.models import Max

from refinement.interchange.rubrics.yaml import MAX_BYTES
from refinement.models import Project, Rubric

NEW_RUBRIC = "new"
MOST_CHOICES = 500


def targets(project: Project) -> list[tuple[str, str]]:
    """Choices: a new rubric, or a rubric of the project with its current version."""
    rubrics = (
        Rubric.objects.filter(project=project, archived_at=None, versions__isnull=False)
        .annotate(newest=Max("versions__number"))
        .order_by("name", "id")
        .values_list("slug", "name", "newest")[:MOST_CHOICES]
    )
    known = [(f"{slug}@{newest}", f"{name}: version {newest + 1}") for slug, name, newest in rubrics]
    return [(NEW_RUBRIC, "A new rubric"), *known]


class ImportForm(forms.Form):
    """A file or its text, and the import target."""

    file = forms.FileField(
        label="File",
        required=False,
        help_text=f"YAML, at most {MAX_BYTES // 1_000_000} MB.",
        widget=forms.FileInput(attrs={"accept": ".yaml,.yml,application/yaml,text/yaml"}),
    )
    text = forms.CharField(
        label="Or paste text",
        required=False,
        strip=False,
        help_text="Paste the whole file instead of uploading it.",
        widget=forms.Textarea(attrs={"rows": 14, "spellcheck": "false", "class": "code-input"}),
    )
    target = forms.ChoiceField(
        label="Import as",
        help_text="A new version does not change the earlier ones.",
    )
    note = forms.CharField(
        label="Note",
        required=False,
        max_length=400,
        help_text="What is new in this version.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, project: Project, **options: Any) -> None:
        super().__init__(*args, **options)
        self.project = project
        choice = self.fields["target"]
        assert isinstance(choice, forms.ChoiceField)
        choice.choices = targets(project)
        choice.error_messages["invalid_choice"] = (
            "This rubric was changed or archived in the meantime. Check it and choose again."
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        upload, text = cleaned.get("file"), cleaned.get("text", "")
        if upload is not None and text.strip():
            self.add_error("file", "Choose a file or paste its text, not both.")
        elif upload is not None:
            cleaned["source"] = self._decoded(upload)
        elif not text.strip():
            self.add_error("file", "Choose a file or paste its text.")
        elif len(text.encode("utf-8", "replace")) > MAX_BYTES:
            self.add_error("text", f"The text is larger than {MAX_BYTES:,} bytes.")
        else:
            cleaned["source"] = text
        return cleaned

    def _decoded(self, upload: Any) -> str:
        if upload.size > MAX_BYTES:
            self.add_error("file", f"The file is larger than {MAX_BYTES:,} bytes.")
            return ""
        try:
            return str(upload.read().decode("utf-8-sig"))
        except UnicodeDecodeError:
            self.add_error("file", "The file is not UTF-8 text. Save it as UTF-8 or choose another file.")
            return ""

    def keep_text(self, source: str) -> None:
        """Shows the file's text in its field again, because browsers do not keep uploads."""
        self.data = {**{name: self.data[name] for name in self.data}, "text": source}

    def chosen(self) -> tuple[Rubric, int] | None:
        """The rubric to add a version to, and its expected version; None for a new rubric."""
        if self.cleaned_data["target"] == NEW_RUBRIC:
            return None
        slug, _, number = self.cleaned_data["target"].rpartition("@")
        return Rubric.objects.get(project=self.project, slug=slug), int(number)
