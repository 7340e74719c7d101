"""The corpus of eval files, and a summary of what each contains, for people to check.

`python -m tests.evals.corpus_reading` regenerates the expected summaries. Review the diff before committing.
"""

from collections.abc import Mapping
from pathlib import Path

import yaml

from refinement.evals.dialects.log import Refusal
from refinement.evals.reading import check_eval
from refinement.evals.types import Assertion, Case, Workspace

ROOT = Path(__file__).parent / "corpus"
EXPECTED = ROOT / "expected.yaml"
FOLDERS = ("agentv", "promptfoo", "wiggum")
NO_TARGET = ("promptfoo/ollama.yaml",)  # without --target, so that its providers are used
MOST_REFUSALS = 12
LONGEST = 90
NOTED = {"weight": 1, "threshold": None, "metric": "", "required": False, "severity": None}
NOT_INSTALLED = "the program "  # differs from machine to machine


def files() -> list[Path]:
    """The eval files. What they include is in `parts`."""
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).iterdir() if path.is_file())


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def summary(path: Path) -> dict[str, object]:
    """The dialect, the cases with their assertions, and what is ignored and refused."""
    is_own = name_of(path) in NO_TARGET
    checked = check_eval(path, own_targets=not is_own)
    made: dict[str, object] = {"dialect": str(checked.dialect)}
    if checked.file is not None:
        made["cases"] = [case_of(case) for case in checked.file.cases]
        if is_own:
            made["targets"] = list(checked.file.targets)
    ignored = [left for left in checked.ignored if not left.what.startswith(NOT_INSTALLED)]
    if ignored:
        made["ignored"] = [f"{left.line} ×{left.count} {left.what}: {left.reason}" for left in ignored]
    if checked.refused:
        made["refused"] = [place_of(path, refusal) for refusal in checked.refused[:MOST_REFUSALS]]
    return made


def place_of(path: Path, refusal: Refusal) -> str:
    other = "" if refusal.file == path else f"{refusal.file.relative_to(path.parent)}:"
    return f"{other}{refusal.line}: {refusal.reason}".replace(str(ROOT), "CORPUS")


def case_of(case: Case) -> dict[str, object]:
    made: dict[str, object] = {"name": case.name, "prompt": case.prompt}
    if len(case.messages) > 1:
        made["roles"] = " ".join(message.role for message in case.messages)
    if case.assertions:
        made["assert"] = [line_of(assertion) for assertion in case.assertions]
    numbers = {"threshold": case.threshold, "repeat": case.repeat if case.repeat > 1 else None}
    made |= {key: str(value) for key, value in numbers.items() if value is not None}
    rest = {"expected": case.expected, "conversation_id": case.conversation_id, "only": list(case.only)}
    rest |= {"tags": list(case.tags), "metadata": dict(case.metadata)}
    rest |= {"workspace": workspace_of(case.workspace)}
    return made | {key: value for key, value in rest.items() if value}


def workspace_of(workspace: Workspace | None) -> str:
    """The template, and the commands with their folders."""
    if workspace is None:
        return ""
    parts = [f"template={workspace.template}", f"lacks={workspace.lacks}" if workspace.lacks else ""]
    for name in ("before", "setup"):
        parts += [f"{name}={list(step.command)} in {step.folder}" for step in getattr(workspace, name)]
    return " ".join(filter(None, parts)).replace(str(ROOT), "CORPUS")


def line_of(assertion: Assertion) -> str:
    """One assertion on one line: what is not at its default."""
    value = "" if assertion.value is None else plain(assertion.value)
    parts = [f"{assertion.line}:", "not" if assertion.negated else "", assertion.kind, value]
    parts += [f"{key}={plain(value)}" for key, value in assertion.parameters.items()]
    for key, default in NOTED.items():
        found = getattr(assertion, key)
        if found != default or found is True:
            parts.append(f"{key}={found}")
    parts += [f"transform={plain(dict(step))}" for step in assertion.transforms]
    if assertion.parts:
        parts.append(f"[{' | '.join(map(line_of, assertion.parts))}]")
    return " ".join(part for part in parts if part)


def plain(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {plain(inner)}' for key, inner in value.items() if key != 'line')}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(plain, value))}]"
    text = " ".join(str(value).replace(str(ROOT), "CORPUS").split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def write() -> None:
    found = {name_of(path): summary(path) for path in files()}
    text = yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=110)
    EXPECTED.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
