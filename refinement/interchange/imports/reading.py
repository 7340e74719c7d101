"""Reads runs from files with the reader for each format."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

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
from refinement.interchange.simmer.folder import simmer_run
from refinement.interchange.simmer.names import Kind, Place, folder_around, place_of, simmer_folders

KINDS = "runs.jsonl, a Simmer folder, or a JSON export of a run"
MOST_OTHERS = 20  # unsupported files that are listed one by one
SNIFFED_BYTES = 100_000


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


def runs_in(
    files: Sequence[SourceFile], notes: list[Note], weights: Mapping[str, Decimal] | None = None
) -> Iterator[FoundRun]:
    """The runs in these files, in a fixed order. Notes that belong to no run are added to `notes`.

    `weights` are those of the dimensions in `runs.jsonl`, if the files do not have them.
    """
    around = simmer_folders(file.name for file in files)
    folders: dict[str, list[SourceFile]] = defaultdict(list)
    others: list[SourceFile] = []
    for file in sorted(files, key=lambda file: file.name):
        name, folder = file.name.lower(), folder_around(file.name, around)
        if folder is not None and not _is_a_run(file, place_of(file.name)):
            folders[folder].append(file)
        elif name.endswith((".jsonl", ".ndjson")):
            yield from jsonl_runs(file, notes, weights)
        elif name.endswith(".json"):
            yield document_run(file)
        else:
            others.append(file)
    if others:
        notes += [
            Note(file.name, 0, "", f"Not a supported format: {KINDS}.") for file in others[:MOST_OTHERS]
        ]
        if len(others) > MOST_OTHERS:
            notes.append(
                Note("the files", 0, "", f"{len(others) - MOST_OTHERS:,} more files are not supported.")
            )
    for folder, members in folders.items():
        yield simmer_run(folder, members)


def _is_a_run(file: SourceFile, place: Place) -> bool:
    """Whether a file in a Simmer folder is nevertheless a run of its own, such as `runs.jsonl`."""
    return place.kind is Kind.OTHER and (
        file.name.lower().endswith((".jsonl", ".ndjson", ".json"))
        and (b'"wiggum_' in file.data[:SNIFFED_BYTES] or file.name.lower().endswith("runs.jsonl"))
    )
