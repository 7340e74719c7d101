"""Reads and writes who judges: the `judges` block of a rubric file."""

from refinement.engine.kinds import JudgeMode
from refinement.engine.panels import (
    FEWEST_JUDGES,
    LENS_CHARS,
    MODEL_CHARS,
    MOST_JUDGES,
    NAME_CHARS,
    Judges,
    PanelJudge,
    names_model,
)
from refinement.interchange.imports.fields import MISSING, Missing, Notes, brief, is_nothing
from refinement.interchange.rubrics.records import Key, Reader, choice, flag, read_record, record, text
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node


def model(notes: Notes, node: Node, name: str) -> str | Missing:
    """A model as ENDPOINT/MODEL, or empty. Whether this instance has the endpoint is checked at launch."""
    found = notes.text(node, name, most=MODEL_CHARS)
    if isinstance(found, Missing) or not found or names_model(found):
        return found
    return notes.add(
        node.line, f"{name} must be ENDPOINT/MODEL, such as ollama/qwen3:14b, not {brief(found)}."
    )


JUDGE = {
    "name": Key(text(NAME_CHARS, needed=True), needed=True),
    "lens": Key(text(LENS_CHARS, needed=True), needed=True),
    "model": Key(model),
}


def panel(notes: Notes, node: Node, name: str) -> object:
    """The judges of a board. Too many, too few and duplicate names are reported along with other problems."""
    if is_nothing(node):
        return ()
    found = notes.each(node, name, lambda entry, label: read_record(notes, entry, label, JUDGE, PanelJudge))
    if isinstance(found, Missing) or not isinstance(node, Items):
        return MISSING
    count = len(node.values)
    if count and not FEWEST_JUDGES <= count <= MOST_JUDGES:
        limits = f"{FEWEST_JUDGES} to {MOST_JUDGES} are allowed"
        notes.add(node.line, f"{name} has {count:,} judge{'' if count == 1 else 's'}; {limits}, or none.")
        return MISSING
    unique = _names_differ(notes, node)
    return tuple(found) if unique and len(found) == count else MISSING


def _names_differ(notes: Notes, node: Items) -> bool:
    """Whether no name is used twice. The second use is reported at its line."""
    lines: dict[str, int] = {}
    unique = True
    for entry in node.values:
        key = entry.values.get("name") if isinstance(entry, Fields) else None
        shown = getattr(key, "text", "").strip()
        if key is None or not shown:
            continue
        if shown.casefold() in lines:
            first = lines[shown.casefold()]
            notes.add(key.line, f"The judge {brief(shown)} is already on the board, on line {first}.")
            unique = False
        lines.setdefault(shown.casefold(), key.line)
    return unique


JUDGES_KEYS = {
    "mode": Key(choice(JudgeMode)),
    "panel": Key(panel),
    "deliberation": Key(flag),
    "clerk": Key(model),
}
JUDGES: Reader = record(Judges, JUDGES_KEYS)


def judges_fields(judges: Judges) -> dict[str, object]:
    """The block as it is written: the mode, and what differs from the defaults."""
    fields: dict[str, object] = {"mode": judges.mode}
    if judges.panel:
        fields["panel"] = [_judge_fields(judge) for judge in judges.panel]
    if not judges.deliberation:
        fields["deliberation"] = False
    return fields | ({"clerk": judges.clerk} if judges.clerk else {})


def _judge_fields(judge: PanelJudge) -> dict[str, object]:
    fields: dict[str, object] = {"name": judge.name, "lens": judge.lens}
    return fields | ({"model": judge.model} if judge.model else {})
