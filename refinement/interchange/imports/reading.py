"""Reads runs from files with the reader for each format."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from refinement.interchange.imports.archives import (
    MOST_BYTES,
    MOST_FILE_BYTES,
    MOST_FILES,
    BadUpload,
    is_zip,
    megabytes,
    unpacked,
)
from refinement.interchange.imports.document_reading import document_run
from refinement.interchange.imports.found import FoundRun, Note, SourceFile
from refinement.interchange.runs_jsonl.writing import jsonl_runs
from refinement.interchange.simmer.files import is_simmer_name
from refinement.interchange.simmer.folder import simmer_run

KINDS = "runs.jsonl, a Simmer folder, or a JSON export of a run"


def opened(files: Sequence[SourceFile]) -> list[SourceFile]:
    """The files with zips unpacked. Raises BadUpload if there are too many or they are too large."""
    unzipped: list[SourceFile] = []
    for file in files:
        if len(file.data) > MOST_FILE_BYTES:
            raise BadUpload(too_large(file.name, len(file.data)))
        unzipped += unpacked(file) if is_zip(file) else [file]
    if len(unzipped) > MOST_FILES:
        raise BadUpload(f"The upload has {len(unzipped):,} files; the limit is {MOST_FILES:,}.")
    if sum(len(file.data) for file in unzipped) > MOST_BYTES:
        raise BadUpload(f"The files are larger than {megabytes(MOST_BYTES)} in total. Import them in parts.")
    return unzipped


def too_large(name: str, size: int) -> str:
    most = megabytes(MOST_FILE_BYTES)
    return f"{name} has {megabytes(size)}; the limit is {most}. Split the file and import the parts."


def runs_in(files: Sequence[SourceFile], notes: list[Note]) -> Iterator[FoundRun]:
    """The runs in these files, in a fixed order. Notes that belong to no run are added to `notes`."""
    folders: dict[str, list[SourceFile]] = defaultdict(list)
    others: list[SourceFile] = []
    for file in sorted(files, key=lambda file: file.name):
        name = file.name.lower()
        if name.endswith((".jsonl", ".ndjson")):
            yield from jsonl_runs(file, notes)
        elif name.endswith(".json"):
            yield document_run(file)
        elif is_simmer_name(file.name):
            folders[_folder(file.name)].append(file)
        else:
            others.append(file)
    for file in others:
        # Other files in a Simmer folder are reported with its run.
        if _folder(file.name) in folders:
            folders[_folder(file.name)].append(file)
        else:
            notes.append(Note(file.name, 0, "", f"Not a supported format: {KINDS}."))
    for folder, members in folders.items():
        yield simmer_run(folder, members)


def _folder(name: str) -> str:
    return name.rpartition("/")[0]
