"""Sends the runs of an evaluation to a remote instance, which imports them."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from refinement.cli.instances.base import Instance
from refinement.cli.output import print_message
from refinement.evals.reports.results import Result

AT_ONCE = 20  # runs in one request
MOST_SHOWN = 10


def runs_send(local: Instance, remote: Instance, results: Sequence[Result]) -> bool:
    """Send every run with a result. Return whether the server accepted them all."""
    numbers = [result["run"] for result in results if result["run"] is not None]
    new = here = 0
    refused: list[str] = []
    with tempfile.TemporaryDirectory(prefix="wiggum-eval-") as folder:
        for batch in batches(numbers):
            paths = [document(local, number, Path(folder)) for number in batch]
            answer = remote.import_paths(paths, dry_run=False, on_progress=lambda message: None)
            new, here = new + answer["new"], here + answer["here"]
            refused += [why_refused(entry) for entry in answer["runs"] if entry["state"] == "refused"]
    print_message(f"{new} runs sent to the server, {here} already there.")
    if refused:
        print_message(f"The server refused {len(refused)}:")
        for reason in refused[:MOST_SHOWN]:
            print_message(f"  {reason}")
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
