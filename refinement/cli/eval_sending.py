"""The runs of an evaluation on their way to an instance elsewhere, as the documents that it imports."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from refinement.cli.instances.base import Instance
from refinement.cli.output import tell
from refinement.evals.results import Result

AT_ONCE = 20  # runs in one request
MOST_TOLD = 10


def runs_send(local: Instance, remote: Instance, results: Sequence[Result]) -> bool:
    """Sends every run that has a result; the server takes each in once. Whether it took them all."""
    numbers = [result["run"] for result in results if result["run"] is not None]
    new = here = 0
    refused: list[str] = []
    with tempfile.TemporaryDirectory(prefix="wiggum-eval-") as folder:
        for batch in batches(numbers):
            paths = [document(local, number, Path(folder)) for number in batch]
            answer = remote.import_paths(paths, dry_run=False, told=lambda words: None)
            new, here = new + answer["new"], here + answer["here"]
            refused += [why_refused(entry) for entry in answer["runs"] if entry["state"] == "refused"]
    tell(f"{new} runs were sent to the server, {here} were there before.")
    if refused:
        tell(f"The server refused {len(refused)}:")
        for words in refused[:MOST_TOLD]:
            tell(f"  {words}")
    return not refused


def why_refused(entry: Mapping[str, Any]) -> str:
    return f"{entry['name']}: {' '.join(str(note['why']) for note in entry['notes'])}"


def batches(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(numbers), AT_ONCE):
        yield numbers[start : start + AT_ONCE]


def document(local: Instance, number: int, folder: Path) -> Path:
    path = folder / f"run-{number}.json"
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(local.run_document(number, "json"))
    return path
