"""Reads an experiment's configurations from a YAML file.

All problems are reported at once, with their lines.
"""

from dataclasses import dataclass, field

from refinement.interchange.imports.fields import Missing, Notes, brief, is_nothing
from refinement.interchange.rubrics.yaml_reading import BadFile, Fields, Items, Node, Scalar, read_tree

MOST = 10
NAME_CHARS = 80
TARGET_CHARS = 600
VALUE_CHARS = 100_000  # a template
KEYS = {
    "name": True,
    "rubric": True,
    "producer": True,
    "judge": False,
    "clerk": False,
    "set": False,
    "baseline": False,
}


@dataclass(frozen=True, slots=True)
class ConfigurationText:
    """A configuration as its file has it. `line` is where it starts."""

    name: str
    rubric: str  # SLUG or SLUG@VERSION
    producer: str  # ENDPOINT/MODEL
    judge: str = ""  # the producer, if empty
    clerk: str = ""
    changes: dict[str, str] = field(default_factory=dict)  # by dotted path
    baseline: bool = False
    line: int = 1


def configurations_from_yaml(source: str) -> tuple[ConfigurationText, ...]:
    """The configurations in the file. Raises BadFile."""
    root = read_tree(source, "configurations")
    notes = Notes()
    notes.record(root, "a file of configurations", {"configurations": True})
    node = root.values.get("configurations")
    found = configurations_read(notes, node) if node is not None else []
    if notes.problems:
        raise BadFile(notes.problems)
    return tuple(found)


def configurations_read(notes: Notes, node: Node) -> list[ConfigurationText]:
    if not isinstance(node, Items) or not node.values:
        notes.add(node.line, "configurations must be a list with at least one entry.")
        return []
    if len(node.values) > MOST:
        notes.add(node.values[MOST].line, f"There are {len(node.values)} configurations; {MOST} are allowed.")
    read = [configuration_read(notes, entry, place) for place, entry in enumerate(node.values, 1)]
    found = [entry for entry in read if entry is not None]
    names: dict[str, int] = {}
    for entry in found:
        first = names.setdefault(entry.name.casefold(), entry.line)
        if first != entry.line:
            notes.add(entry.line, f"The name {brief(entry.name)} is used in line {first} already.")
    baselines = [entry for entry in found if entry.baseline]
    for extra in baselines[1:]:
        notes.add(
            extra.line, f"Only one configuration can be the baseline; {baselines[0].name} is one already."
        )
    return found


def configuration_read(notes: Notes, node: Node, place: int) -> ConfigurationText | None:
    where = f"configuration {place}"
    before = len(notes.problems)
    record = notes.record(node, where, KEYS)
    if isinstance(record, Missing):
        return None
    texts = {
        name: text_of(notes, record, name, where, NAME_CHARS if name == "name" else TARGET_CHARS)
        for name in ("name", "rubric", "producer", "judge", "clerk")
    }
    for role in ("producer", "judge", "clerk"):
        target_check(notes, record, role, texts[role], where)
    rubric_check(notes, record, texts["rubric"], where)
    changes = changes_read(notes, record.values.get("set"), where)
    baseline = False
    if "baseline" in record.values:
        flag = notes.flag(record.values["baseline"], f"baseline in {where}")
        baseline = flag is True
    if len(notes.problems) > before:
        return None
    return ConfigurationText(**texts, changes=changes, baseline=baseline, line=record.line)


def text_of(notes: Notes, record: Fields, name: str, where: str, most: int) -> str:
    if name not in record.values:
        return ""
    found = notes.text(record.values[name], f"{name} in {where}", most=most, needed=KEYS[name])
    return "" if isinstance(found, Missing) else found.strip()


def target_check(notes: Notes, record: Fields, role: str, text: str, where: str) -> None:
    if not text or text == "embedded":
        return
    if text.startswith("scripted:"):
        notes.add(
            record.values[role].line, f"{role} in {where}: scripted replies only work with wiggum refine."
        )
    elif not all(text.partition("/")):
        notes.add(
            record.values[role].line,
            f"{role} in {where} must be ENDPOINT/MODEL, such as ollama/qwen3:14b, not {brief(text)}.",
        )


def rubric_check(notes: Notes, record: Fields, text: str, where: str) -> None:
    slug, at, version = text.partition("@")
    if text and (not slug or (at and not (version.isascii() and version.isdigit() and len(version) < 10))):
        notes.add(
            record.values["rubric"].line,
            f"rubric in {where} must be SLUG or SLUG@VERSION, not {brief(text)}.",
        )


def changes_read(notes: Notes, node: Node | None, where: str) -> dict[str, str]:
    """The settings by dotted path, as text: the same that `wiggum refine --set` takes."""
    if node is None or is_nothing(node):
        return {}
    if not isinstance(node, Fields):
        notes.add(node.line, f"set in {where} must be keys with values, such as policy.max_rounds: 2.")
        return {}
    changes: dict[str, str] = {}
    for path, value in node.values.items():
        if isinstance(value, Fields):
            notes.add(
                value.line,
                f"{brief(path)} of set in {where} has keys below it; write them on one line with dots.",
            )
        elif isinstance(value, Items):
            parts = [part.text for part in value.values if isinstance(part, Scalar)]
            changes[path] = ",".join(parts)
        else:
            text = notes.text(value, f"{path} of set in {where}", most=VALUE_CHARS)
            changes[path] = "" if isinstance(text, Missing) else text
    return changes
