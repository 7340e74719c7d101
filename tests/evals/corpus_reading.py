"""The corpus of eval files, and what each is read to in a form that people can check."""

from pathlib import Path

from refinement.evals.reading import check_eval
from refinement.evals.types import Assertion

ROOT = Path(__file__).parent / "corpus"
EXPECTED = ROOT / "expected.yaml"
NO_TARGET = ("promptfoo/ollama.yaml",)  # read without --target, so that its providers count
MOST_REFUSALS = 12


def files() -> list[Path]:
    """The eval files; what they include is in `parts`."""
    return sorted(
        path
        for folder in ("agentv", "promptfoo", "wiggum")
        for path in (ROOT / folder).iterdir()
        if path.is_file()
    )


def summary(path: Path) -> dict[str, object]:
    """The dialect, the cases with their assertions, and what is ignored and refused."""
    name = str(path.relative_to(ROOT))
    checked = check_eval(path, own_targets=name not in NO_TARGET)
    made: dict[str, object] = {"dialect": str(checked.dialect)}
    if checked.file is not None:
        made["cases"] = [case_of(case) for case in checked.file.cases]
        if checked.file.targets and name in NO_TARGET:
            made["targets"] = list(checked.file.targets)
    if checked.ignored:
        made["ignored"] = [
            f"{left.line} ×{left.count} {left.what}: {left.reason}" for left in checked.ignored
        ]
    if checked.refused:
        made["refused"] = [place_of(path, refusal) for refusal in checked.refused[:MOST_REFUSALS]]
    return made


def place_of(path, refusal):
    other = "" if refusal.file == path else f"{refusal.file.relative_to(path.parent)}:"
    return f"{other}{refusal.line}: {refusal.reason}".replace(str(ROOT), "CORPUS")


def case_of(case):
    made = {"name": case.name, "prompt": case.prompt}
    if len(case.messages) > 1:
        made["roles"] = " ".join(message.role for message in case.messages)
    if case.assertions:
        made["assert"] = [line_of(assertion) for assertion in case.assertions]
    for key in ("expected", "conversation_id"):
        if getattr(case, key):
            made[key] = getattr(case, key)
    if case.threshold is not None:
        made["threshold"] = str(case.threshold)
    if case.repeat > 1:
        made["repeat"] = case.repeat
    for key in ("only", "tags"):
        if getattr(case, key):
            made[key] = list(getattr(case, key))
    if case.metadata:
        made["metadata"] = dict(case.metadata)
    return made


def line_of(assertion: Assertion) -> str:
    """One assertion on one line: what is not at its default."""
    words = [
        f"{assertion.line}:",
        "not" if assertion.negated else "",
        assertion.kind,
        value_of(assertion.value),
    ]
    words += [f"{key}={plain(value)}" for key, value in assertion.parameters.items()]
    for key, default in (
        ("weight", 1),
        ("threshold", None),
        ("metric", ""),
        ("required", False),
        ("severity", None),
    ):
        value = getattr(assertion, key)
        if value != default or (value is True):
            words.append(f"{key}={value}")
    if assertion.parts:
        words.append(f"[{' | '.join(map(line_of, assertion.parts))}]")
    return " ".join(word for word in words if word)


def value_of(value):
    return "" if value is None else plain(value)


def plain(value):
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {plain(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(plain, value))}]"
    return str(value).replace(str(ROOT), "CORPUS").strip()
