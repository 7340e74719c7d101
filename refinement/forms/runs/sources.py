"""The sources of the launch form: pasted texts in rows, and uploaded files that become rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from refinement.forms.rubrics.values import tidy
from refinement.judging.sources import MOST_CHARS, MOST_SOURCES, BadSource, SourceText, source_decoded

MOST_FILE_BYTES = 4 * MOST_CHARS  # UTF-8 has at most four bytes per character


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A row of the form; the empty one is for the next source."""

    number: int  # from 0
    name: str = ""
    text: str = ""

    @property
    def chars(self) -> int:
        return len(self.text)


class FilesInput(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Any number of files, cleaned to a list."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> Any:
        return [super(FilesField, self).clean(each, initial) for each in data or []]


def rows_posted(data: Mapping[str, Any]) -> list[SourceText]:
    """The rows that were sent, without empty and removed ones."""
    names, texts = _all(data, "source_name"), _all(data, "source_text")
    removed = set(_all(data, "source_remove"))
    rows = enumerate(zip(names, texts, strict=False))
    return [
        SourceText(name.strip(), tidy(text))
        for number, (name, text) in rows
        if str(number) not in removed and (name.strip() or text.strip())
    ]


def _all(data: Mapping[str, Any], name: str) -> list[str]:
    if hasattr(data, "getlist"):
        return list(data.getlist(name))
    found = data.get(name, [])
    return [found] if isinstance(found, str) else list(found)


def files_decoded(files: Sequence["UploadedFile[bytes]"]) -> Iterator[SourceText | BadSource]:
    """Each file's source, or why it cannot be one."""
    for file in files:
        name = file.name or "file"
        if file.size is not None and file.size > MOST_FILE_BYTES:
            yield BadSource(f"{name} is too long; at most {MOST_CHARS:,} characters are allowed.")
            continue
        try:
            yield source_decoded(name, file.read())
        except BadSource as problem:
            yield problem


def shown_rows(sources: Sequence[SourceText]) -> list[SourceRow]:
    """The rows of these sources, and an empty one if there can be more."""
    rows = [SourceRow(number, source.name, source.text) for number, source in enumerate(sources)]
    return rows if len(rows) >= MOST_SOURCES else [*rows, SourceRow(len(rows))]
