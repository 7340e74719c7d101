"""The tables of docs/eval.md: what is understood of each dialect. Run this module to regenerate them."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from refinement.evals.dialects import keys
from refinement.evals.dialects.asserts import kinds
from refinement.evals.dialects.asserts.contexts import WORDS
from refinement.evals.dialects.asserts.tools import KINDS as TOOL_KINDS
from refinement.evals.dialects.asserts.tools import TRACE
from refinement.evals.dialects.log import Keys

DOCUMENT = Path(__file__).parents[3] / "docs" / "eval.md"
HEADING = "## What is understood"
SECTION = re.compile(rf"^{HEADING}\n.*?(?=^## |\Z)", re.M | re.S)
INTRODUCTION = """\
These tables are generated from the code. Keys under *No effect* do not change a result and are not reported;
keys under *Ignored* are reported.
"""
PLACES = {
    "promptfoo": (
        ("file", keys.PROMPTFOO_FILE),
        ("`tests`, `defaultTest`", keys.PROMPTFOO_TEST),
        ("`options`", keys.PROMPTFOO_OPTIONS),
    ),
    "AgentV": (
        ("file", keys.AGENTV_FILE),
        ("`tests`, `evalcases`", keys.AGENTV_TEST),
        ("`execution`", keys.AGENTV_EXECUTION),
    ),
}


def document(text: str) -> str:
    """The document with up-to-date tables at its end."""
    before = SECTION.sub("", text).rstrip()
    return f"{before}\n\n{section().rstrip()}\n"


def section() -> str:
    parts = [f"{HEADING}\n", INTRODUCTION]
    for dialect, places in PLACES.items():
        parts.append(f"### Keys of {dialect}\n")
        parts.append(table(("Where", "Understood", "No effect"), understood(places)))
        parts.append(table(("Ignored", "Where", "Reason"), reasons(places, "ignored")))
        parts.append(table(("Not supported", "Where", "Reason"), reasons(places, "refused")))
    parts += ["### Assertion types\n", table(("Type", "Also written", "Note"), types())]
    parts += ["### Keys of an assertion\n", table(("", "Keys"), assertion_keys())]
    parts += ["### Types that are not supported\n", table(("Type", "Reason"), refused_types())]
    return "\n".join(parts)


def understood(places: Iterable[tuple[str, Keys]]) -> Iterator[tuple[str, ...]]:
    for name, found in places:
        yield name, codes(found.understood), codes(found.carried)


def reasons(places: Iterable[tuple[str, Keys]], what: str) -> Iterator[tuple[str, ...]]:
    for name, found in places:
        for key, reason in sorted((getattr(found, what) or {}).items()):
            yield f"`{key}`", name, sentence(reason)


def types() -> Iterator[tuple[str, ...]]:
    notes = dict.fromkeys(WORDS, "The case needs a var `context`. A judge scores it.")
    notes |= dict.fromkeys(TOOL_KINDS, "Checked as if no tool was called. Not supported for command targets.")
    traces = [kind for kind in TOOL_KINDS if kind.startswith(TRACE)]
    notes |= dict.fromkeys(traces, "Always fails: there is no trace. Not supported for command targets.")
    notes |= dict.fromkeys(kinds.TOOL_CALLS, kinds.FORM_ONLY) | dict(kinds.ALWAYS_HOLD)
    notes |= {
        "execution-metrics": "Limits on tools are ignored.",
        "field-accuracy": "Compares with the expected output.",
    }
    names = sorted({*kinds.UNDERSTOOD, *kinds.TOOL_CALLS, *kinds.ALWAYS_HOLD, *TOOL_KINDS})
    for name in names:
        other = [alias for alias, kind in kinds.ALIASES.items() if kind == name]
        yield f"`{name}`", codes(other), notes.get(name, "")


def assertion_keys() -> Iterator[tuple[str, ...]]:
    yield "Understood", codes(keys.ASSERTION.understood)
    yield "No effect", codes(keys.ASSERTION.carried)
    yield "Ignored", codes(keys.ASSERTION.ignored or ())
    yield "Not supported", codes(keys.ASSERTION.refused or ())


def refused_types() -> Iterator[tuple[str, ...]]:
    for name, reason in sorted(
        {**kinds.REFUSED, **{f"{start}…": why for start, why in kinds.FAMILIES.items()}}.items()
    ):
        yield f"`{name}`", sentence(reason)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


if __name__ == "__main__":
    DOCUMENT.write_text(document(DOCUMENT.read_text("utf-8")), encoding="utf-8")
