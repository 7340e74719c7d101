"""Files as runs: each goes to the reader of its kind, and what belongs to none is named."""

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
from refinement.interchange.imports.found import Found, Note, SourceFile
from refinement.interchange.runs_jsonl.writing import jsonl_runs
from refinement.interchange.simmer.files import is_simmer_name
from refinement.interchange.simmer.folder import simmer_run

KINDS = "runs.jsonl, a Simmer folder, or a run's JSON as it is exported here"


def opened(files: Sequence[SourceFile]) -> list[SourceFile]:
    """The files with zips unpacked; BadUpload where they are too many or too large."""
    found: list[SourceFile] = []
    for file in files:
        if len(file.data) > MOST_FILE_BYTES:
            raise BadUpload(too_large(file.name, len(file.data)))
        found += unpacked(file) if is_zip(file) else [file]
    if len(found) > MOST_FILES:
        raise BadUpload(f"These are {len(found):,} files; {MOST_FILES:,} are taken at a time.")
    if sum(len(file.data) for file in found) > MOST_BYTES:
        raise BadUpload(f"The files have more than {megabytes(MOST_BYTES)} together. Import them in parts.")
    return found


def too_large(name: str, size: int) -> str:
    most = megabytes(MOST_FILE_BYTES)
    return f"{name} has {megabytes(size)}; a file may have {most}. Divide it, and import the parts."


def runs_in(files: Sequence[SourceFile], notes: list[Note]) -> Iterator[Found]:
    """The runs in these files, one at a time and in a fixed order; `notes` gains what is about no run."""
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
        # A report or a picture beside an iteration belongs to that folder's run, and is named with it.
        if _folder(file.name) in folders:
            folders[_folder(file.name)].append(file)
        else:
            notes.append(Note(file.name, 0, "", f"This is none of what can be imported: {KINDS}."))
    for folder, members in folders.items():
        yield simmer_run(folder, members)


def _folder(name: str) -> str:
    return name.rpartition("/")[0]
