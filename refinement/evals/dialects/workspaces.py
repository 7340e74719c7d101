"""Reads AgentV's workspaces and environments: a folder of files, and commands that prepare it."""

import shlex
from pathlib import Path

from refinement.evals.dialects.reader import Reader, is_folder
from refinement.evals.sources.plain import data, text_of
from refinement.evals.types import Step, Workspace
from refinement.interchange.imports.fields import Missing, brief, is_nothing
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Scalar

KEYS = ("workspace", "environment")
PLACES = ("template", "workdir", "path")
HOOKS = ("before_all", "before_each", "setup_script")
CLEANING = ("after_each", "after_all", "on_reuse", "on_finish")
FILES = (".yaml", ".yml", ".json")
CONTAINER = "containers are not supported. Run the target in a container of your own."
NOT_CLONED = "repositories are not cloned. Clone them into the template, or with a setup command."
ONLY_TEXT = "Repositories are not cloned. The target sees only its prompt."
DELETED = "Every run has a copy of its own, which is deleted afterwards."
UNUSED = "Every run has a copy of its own."
ABSENT = "The folder is not there. Create it before you run the eval."
KNOWN = (*PLACES, *HOOKS, "setup", "hooks", "repos", "docker", "type")


class WorkspaceReader:
    """Reads the workspace of a file or a test."""

    def __init__(self, reader: Reader) -> None:
        self.reader, self.log = reader, reader.log

    def read(self, node: Fields) -> Workspace | None:
        """The workspace that these keys name. None without one."""
        for key in KEYS:
            found = node.values.get(key)
            if found is not None and not is_nothing(found):
                return self.of_node(found, node.lines[key], key, self.reader.folder)
        return None

    def of_node(self, node: Node, line: int, key: str, folder: Path) -> Workspace | None:
        if isinstance(node, Scalar):
            return self.named(node, key, folder)
        if not isinstance(node, Fields):
            self.log.add(line, f"{key} must be keys with values, or the name of a file or folder.")
            return None
        if "docker" in node.values or text_of(data(node.values.get("type"))) == "docker":
            self.log.add(node.lines.get("docker", line), f"{key}: {CONTAINER}")
        place = next((node.values[name] for name in PLACES if name in node.values), None)
        template = None
        if isinstance(place, Scalar) and not is_nothing(place):
            template = self.folder(place.text, folder, place.line, key, is_made="setup" in node.values)
        hooks = node.values.get("hooks")
        hooks = hooks if isinstance(hooks, Fields) else Fields(line)
        if "repos" in node.values:
            self.log.ignore(node.lines["repos"], f"repos in {key}", ONLY_TEXT)
        for record in (node, hooks):
            self.left_out(record, key)
        own = self.steps(node, ("setup",), folder, key)
        hooked = (*self.steps(node, HOOKS, folder, key), *self.steps(hooks, HOOKS, folder, key))
        is_host = key == "environment"  # its setup makes the folder itself
        before, setup = (own, hooked) if is_host else ((), (*own, *hooked))
        lacks = f"{key}: {NOT_CLONED}" if "repos" in node.values else ""
        return Workspace(template, before, setup, lacks, line)

    def named(self, node: Scalar, key: str, folder: Path) -> Workspace | None:
        """A workspace in a file of its own, whose paths are relative to it, or just a folder."""
        if not node.text.lower().endswith(FILES):
            return Workspace(self.folder(node.text, folder, node.line, key), line=node.line)
        read = self.reader.text(node.text, node.line, key)
        tree = self.reader.tree(*read) if isinstance(read, tuple) else Missing()
        if not isinstance(read, tuple) or not isinstance(tree, Fields):
            return None
        with self.log.inside(read[0]):
            return self.of_node(tree, 1, key, read[0].parent)

    def folder(self, name: str, base: Path, line: int, key: str, *, is_made: bool = False) -> Path:
        place = Path(base, self.reader.filled(name, {}, line, key)).absolute()
        if not is_made and not is_folder(place):
            self.log.ignore(line, f"{key} {brief(name)}", ABSENT)
        return place

    def left_out(self, record: Fields, key: str) -> None:
        for name, line in record.lines.items():
            if name in CLEANING:
                self.log.ignore(line, f"{name} in {key}", DELETED)
            elif name not in KNOWN:
                self.log.ignore(line, f"{name} in {key}", UNUSED)

    def steps(self, record: Fields, names: tuple[str, ...], folder: Path, key: str) -> tuple[Step, ...]:
        """The commands under these names, in this order."""
        made = []
        for name in names:
            node = record.values.get(name)
            if node is None or is_nothing(node):
                continue
            given = (
                node.values.get("command") or node.values.get("script") if isinstance(node, Fields) else node
            )
            if given is None:  # only settings, such as `reset`
                self.log.ignore(record.lines[name], f"{name} in {key}", UNUSED)
                continue
            parts = self.command(given, f"{key}, {name}")
            cwd = text_of(data(node.values.get("cwd"))) if isinstance(node, Fields) else ""
            if parts:
                made.append(Step(parts, Path(folder, cwd).absolute()))
        return tuple(made)

    def command(self, node: Node, name: str) -> tuple[str, ...]:
        if isinstance(node, Items):
            parts = [text_of(data(part)) for part in node.values]
        else:
            try:
                parts = shlex.split(text_of(data(node)))
            except ValueError as error:
                self.log.add(node.line, f"{name} cannot be split ({error}). Write it as a list.")
                return ()
        if not parts or not parts[0].strip():
            self.log.add(node.line, f"{name}: the command is empty.")
            return ()
        return tuple(parts)
