"""Suite files on disk: YAML, tables and eval files. A YAML file's first line names its version."""

from dataclasses import dataclass, replace
from pathlib import Path

from refinement.cli.exits import BadInput
from refinement.cli.rubric_files import MOST_PROBLEMS, Stamp, file_read, file_write, stamp_of, stamped
from refinement.evals.as_suite import suite_from_eval_path
from refinement.evals.types import BadEval
from refinement.interchange.rubrics.yaml_reading import BadFile
from refinement.interchange.suites.detecting import kind_of
from refinement.interchange.suites.tables import tasks_from_csv, tasks_from_jsonl
from refinement.interchange.suites.types import MAX_BYTES, SuiteText
from refinement.interchange.suites.yaml import suite_from_yaml


@dataclass(frozen=True, slots=True)
class SuiteFile:
    """A file's suite. Only YAML sets the name and description, and has a stamp."""

    path: Path
    kind: str
    text: str
    suite: SuiteText
    notes: tuple[str, ...] = ()

    @property
    def stamp(self) -> Stamp | None:
        return stamp_of(self.text) if self.kind == "yaml" else None


def suite_file(path: Path) -> SuiteFile:
    """Read and validate a file. Raises BadInput with all problems by line."""
    text = file_read(path, MAX_BYTES, "suite")
    kind = kind_of(text, path.name)
    try:
        suite, notes = contents(path, kind, text)
    except BadEval as bad:
        raise refused(path, list(bad.problems)) from None
    except BadFile as bad:
        raise refused(
            path, [f"{path}:{problem.line}: {problem.message}" for problem in bad.problems]
        ) from None
    named = suite if suite.name else replace(suite, name=path.stem.replace("_", " ").replace("-", " "))
    return SuiteFile(path, kind, text, named, tuple(notes))


def contents(path: Path, kind: str, text: str) -> tuple[SuiteText, list[str]]:
    """The suite in the text, and notes on what is not used."""
    if kind == "csv":
        tasks, unused = tasks_from_csv(text)
        return SuiteText("", "", tasks), [problem.message for problem in unused]
    if kind == "jsonl":
        return SuiteText("", "", tasks_from_jsonl(text)), []
    if kind == "eval":
        return suite_from_eval_path(path)
    return suite_from_yaml(text), []


def refused(path: Path, problems: list[str]) -> BadInput:
    shown = problems[:MOST_PROBLEMS]
    if len(problems) > MOST_PROBLEMS:
        shown.append(f"… and {len(problems) - MOST_PROBLEMS} more.")
    return BadInput("\n".join([f"{path} is not a valid suite; nothing was saved.", *shown]))


def file_stamped(file: SuiteFile, stamp: Stamp) -> None:
    """Write the version into a YAML file's first line, if it is not there."""
    if file.kind == "yaml" and file.stamp != stamp:
        file_write(file.path, stamped(file.text, stamp))
