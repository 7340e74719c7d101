"""Reads eval files of every dialect, and reports everything that is wrong or left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from refinement.evals.assertions.preparing import prepared
from refinement.evals.dialects.detecting import dialect_by_name, dialect_of
from refinement.evals.dialects.log import Log, Refusal
from refinement.evals.dialects.providers import ProviderReader
from refinement.evals.dialects.reader import Reader
from refinement.evals.dialects.whole import TEST_KEYS, WholeReader
from refinement.evals.filling import Unreadable, file_text
from refinement.evals.native.reading import NAME_CHARS, Reading, feedback_template
from refinement.evals.sources.json_tree import json_lines, json_tree
from refinement.evals.sources.yaml_tree import yaml_tree
from refinement.evals.targets import provider_names, targets_file
from refinement.evals.types import BadEval, Case, Dialect, EvalFile, Ignored
from refinement.interchange.rubrics.yaml_reading import BadFile, Fields, Items, Node, Problem

__all__ = ["Checked", "check_eval", "feedback_template", "read_eval", "read_evals", "stem"]

SIDECARS = (".yaml", ".yml")
TESTS = frozenset((*TEST_KEYS, "prompts", "scenarios", "imports", "targets"))
SHAPE = "An eval file must consist of keys and values."


@dataclass(frozen=True, slots=True)
class Checked:
    """What a file is read to. `file` is None if it cannot run."""

    path: Path
    dialect: Dialect
    file: EvalFile | None
    ignored: tuple[Ignored, ...]
    refused: tuple[Refusal, ...]


def check_eval(path: Path, *, own_targets: bool = False, strict: bool = False) -> Checked:
    """Reads one file. `own_targets` says that the command line names the targets.

    Nothing is raised for a bad file: everything wrong is in `refused`. With `strict`, what is ignored is
    refused as well.
    """
    log = Log(path)
    dialect, read = dialect_by_name(path), None
    try:
        root = root_of(path, file_text(path))
        dialect = dialect_of(root, path)
        read = with_checks(whole(root, path, dialect, log, own_targets), log)
    except BadFile as bad:
        log.add_all(bad)
    except Unreadable as problem:
        log.add(1, f"The file {str(problem).removeprefix(f'{path} ')}")
    except BadEval as bad:
        for message in bad.problems:
            log.add(1, message)
    refused = list(log.refused)
    if strict:
        refused += [
            Refusal(path, left.line, f"{left.what} is ignored: {left.reason}") for left in log.ignored
        ]
    file = replace(read, ignored=log.ignored) if read is not None and not refused else None
    return Checked(path, dialect, file, log.ignored, tuple(refused))


def whole(root: Node, path: Path, dialect: Dialect, log: Log, own_targets: bool) -> EvalFile:
    if dialect == Dialect.WIGGUM:
        if not isinstance(root, Fields):
            raise BadFile([Problem(1, SHAPE)])
        return Reading(log, path.parent, root, own_targets=own_targets).whole(path, stem(path))
    reader = Reader(log, path, dialect, own_targets=own_targets)
    providers = ProviderReader(reader, {} if own_targets else mapped_providers(path))
    return WholeReader(reader, providers).read(as_fields(root), stem(path))


def with_checks(file: EvalFile, log: Log) -> EvalFile:
    """The file with the checks and criteria of its assertions."""
    cases = tuple(
        case_prepared(case, file.path.parent, log) if case.assertions else case for case in file.cases
    )
    return replace(file, cases=cases)


def case_prepared(case: Case, folder: Path, log: Log) -> Case:
    made = prepared(
        case.assertions,
        folder,
        prompt=case.prompt,
        variables=case.variables,
        metadata=case.metadata,
    )
    for problem in made.problems:
        with log.inside(problem.file or log.path):
            log.add(problem.line, problem.message)
    return replace(
        case,
        checks=made.checks,
        criteria=made.criteria,
        types=made.types,
        rules=made.rules,
        metrics=made.metrics,
        sets=made.sets,
    )


def read_eval(path: Path, *, own_targets: bool = False, strict: bool = False) -> EvalFile:
    """The file with its cases. Raises BadEval with all problems."""
    checked = check_eval(path, own_targets=own_targets, strict=strict)
    if checked.file is None:
        raise BadEval([str(refusal) for refusal in checked.refused])
    return checked.file


def read_evals(paths: Sequence[Path], *, own_targets: bool = False, strict: bool = False) -> list[EvalFile]:
    """All files. Raises BadEval with the problems of all of them."""
    checked = [check_eval(path, own_targets=own_targets, strict=strict) for path in paths]
    problems = [str(refusal) for entry in checked for refusal in entry.refused]
    if problems:
        raise BadEval(problems)
    return [entry.file for entry in checked if entry.file is not None]


def root_of(path: Path, text: str) -> Node:
    """The file's content as a tree: YAML, JSON, or JSON lines with the settings of a YAML file next to it."""
    if path.suffix.lower() == ".jsonl":
        return data_set(path, json_lines(text))
    tree = json_tree(text) if path.suffix.lower() == ".json" else yaml_tree(text)
    if tree is None:
        raise BadFile([Problem(1, "The file is empty.")])
    lines = path.with_suffix(".jsonl")
    if isinstance(tree, Fields) and not TESTS & tree.values.keys() and lines.is_file():
        return data_set(lines, json_lines(file_text(lines)))
    return tree


def data_set(path: Path, items: Items) -> Node:
    """The lines as tests, with the settings of the YAML file of the same name."""
    for ending in SIDECARS:
        settings = path.with_suffix(ending)
        if settings.is_file():
            tree = yaml_tree(file_text(settings))
            if isinstance(tree, Fields):
                return Fields(1, {**tree.values, "tests": items}, {**tree.lines, "tests": 1})
    return items


def as_fields(root: Node) -> Fields:
    """A list is the tests of a file without settings."""
    if isinstance(root, Fields):
        return root
    if isinstance(root, Items):
        return Fields(1, {"tests": root}, {"tests": 1})
    raise BadFile([Problem(root.line, SHAPE)])


def mapped_providers(path: Path) -> Mapping[str, str]:
    """The `providers` of the nearest targets.yaml: ids of providers, and the targets they stand for."""
    found = targets_file(path.parent)
    return provider_names(found) if found else {}


def stem(path: Path) -> str:
    """The default name of an eval: the file's name, or the folder's if the file's says nothing."""
    name = path.name.split(".")[0]
    generic = name.lower() in ("eval", "promptfooconfig", "suite", "dataset")
    return (path.resolve().parent.name if generic else name)[:NAME_CHARS] or "eval"
