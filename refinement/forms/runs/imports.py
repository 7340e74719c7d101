"""The form to upload run files."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from refinement.interchange.imports.archives import MOST_FILE_BYTES, megabytes
from refinement.interchange.imports.found import SourceFile
from refinement.interchange.imports.reading import too_large
from refinement.interchange.runs_jsonl.weights import parsed_weights

ACCEPTED = ".jsonl,.ndjson,.json,.zip,text/*,.md,.py,.yaml,.yml,.html,.toml,.js,.ts,.sql"


class ManyFiles(forms.FileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """Several files in one control."""

    def clean(self, data: Any, initial: Any = None) -> "list[UploadedFile[Any]]":
        given = data if isinstance(data, (list, tuple)) else [data]
        return [super(ManyFilesField, self).clean(entry, initial) for entry in given]


class RunImportForm(forms.Form):
    """Files to check; nothing is imported before the report is confirmed."""

    upload = ManyFilesField(
        label="Files",
        allow_empty_file=True,
        max_length=400,
        widget=ManyFiles(attrs={"accept": ACCEPTED, "multiple": True}),
        error_messages={"required": "Choose one or more files."},
        help_text=(
            "A runs.jsonl, a run's JSON, all files of one Simmer folder, or a zip of these. At "
            f"most {megabytes(MOST_FILE_BYTES)} per file."
        ),
    )

    weights = forms.CharField(
        label="Weights",
        required=False,
        max_length=1000,
        widget=forms.TextInput(attrs={"placeholder": "depth=0.6, clarity=0.4", "autocomplete": "off"}),
        help_text="For dimensions in a runs.jsonl that has no weights. Published ones are recognized.",
    )

    def clean_weights(self) -> str:
        text: str = self.cleaned_data["weights"].strip()
        try:
            if text:
                parsed_weights(text)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None
        return text

    def clean_upload(self) -> list[SourceFile]:
        uploads: list[UploadedFile[Any]] = self.cleaned_data["upload"]
        for entry in uploads:
            if (entry.size or 0) > MOST_FILE_BYTES:
                raise forms.ValidationError(too_large(str(entry.name), entry.size or 0))
        return [SourceFile(str(entry.name), entry.read()) for entry in uploads]
