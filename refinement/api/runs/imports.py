"""Import of runs from files."""

from collections.abc import Mapping
from typing import Any, Literal

from ninja import Field, File, Query, Router, Schema
from ninja.files import UploadedFile

from refinement.api.core.auth import ApiRequest
from refinement.api.core.permissions import member
from refinement.api.core.problems import Refused, Wrong
from refinement.interchange.imports.archives import MOST_FILE_BYTES, BadUpload
from refinement.interchange.imports.found import SourceFile
from refinement.interchange.imports.reading import too_large
from refinement.interchange.runs_jsonl.weights import parsed_weights
from refinement.services.imports.batches import MOST_RUNS
from refinement.services.imports.uploads import import_files

router = Router(tags=["Imports"])
# Optional in the schema, so that permission errors come before a missing file.
FILES: Any = File(  # type: ignore[type-arg]
    [], description="One or more files; a zip can contain folders."
)


class ImportNote(Schema):
    """Something in a file that was not understood or was changed."""

    file: str = Field(examples=["mail/trajectory.md"])
    line: int = Field(description="0 for the whole file.", examples=[11])
    text: str = Field(examples=["~7"])
    why: str = Field(examples=["Clarity: “~7” is an estimate; it is read as 7."])


class ImportedRun(Schema):
    """The result for one run in the files."""

    name: str = Field(description="The file or folder, with the line if a file has many runs.")
    source: Literal["simmer", "jsonl", "wiggum"]
    title: str
    state: Literal["new", "here", "refused"]
    run: int | None = Field(description="The new run, or the existing one.")
    beside: int | None = Field(description="An earlier run from the same source, with other content.")
    rounds: int
    scored: int
    best: str | None = Field(examples=["8.60"])
    rubric: str
    contradictions: list[str] = Field(description="Differences between the file's totals and its own scores.")
    notes: list[ImportNote]


class ImportShape(Schema):
    """The report of an import."""

    dry_run: bool
    new: int
    here: int
    refused: int
    runs: list[ImportedRun]
    notes: list[ImportNote] = Field(description="About files, not runs.")


class ImportQuery(Schema):
    """Import options."""

    dry_run: bool = Field(False, description="Only report what would be imported.")
    weights: str = Field(
        "",
        max_length=4_000,
        description="Weights for lines of runs.jsonl that have none.",
        examples=["depth=0.6,clarity=0.4"],
    )


@router.post("", response=ImportShape)
@member("editor")
def import_new(
    request: ApiRequest, given: Query[ImportQuery], file: list[UploadedFile] = FILES
) -> dict[str, Any]:
    """Import runs.jsonl, Simmer folders (as files or a zip) and exported runs.

    A run is imported once, however often its file is sent, so no Idempotency-Key is needed.
    """
    try:
        weights = parsed_weights(given.weights) if given.weights.strip() else {}
    except ValueError as error:
        words = str(error)
        raise Refused(422, words, "bad_weights", errors=[Wrong(where="weights", message=words)]) from None
    try:
        report = import_files(
            read(file),
            project=request.project,
            user=request.user,
            dry_run=given.dry_run,
            most_runs=MOST_RUNS,
            weights=weights,
        )
    except BadUpload as refusal:
        words = str(refusal)
        raise Refused(422, words, "bad_upload", errors=[Wrong(where="file", message=words)]) from None
    return hiding(report.as_dict(), request.blind_runs)


def hiding(report: dict[str, Any], blind: Mapping[int, int]) -> dict[str, Any]:
    """The report without scores of runs that the user scores blind."""
    hidden: dict[str, Any] = {"best": None, "contradictions": [], "notes": []}
    runs = [run | hidden if run["run"] in blind else run for run in report["runs"]]
    return report | {"runs": runs}


def read(uploads: list[UploadedFile]) -> list[SourceFile]:
    """The files' content; files that are too large are rejected before reading."""
    if not uploads:
        raise BadUpload("Send one or more files as multipart/form-data in the field “file”.")
    for upload in uploads:
        if (upload.size or 0) > MOST_FILE_BYTES:
            raise BadUpload(too_large(str(upload.name), upload.size or 0))
    return [SourceFile(str(upload.name), upload.read()) for upload in uploads]
