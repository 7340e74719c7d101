"""What a setup brief or an experiment report says about a run: task, criteria and how it was judged."""

import re
from dataclasses import dataclass, field

from refinement.interchange.simmer.files import Folder
from refinement.judging.parsing.cleaning import same_name

MOST_TASK = 20_000
FACTS = (
    "JUDGE_MODE",
    "MODE",
    "ITERATIONS",
    "EVALUATOR",
    "MODELS",
    "ARTIFACT_TYPE",
    "SEARCH_SPACE",
    "OUTPUT_CONTRACT",
)
KEY = re.compile(
    rf"[-*\s]{{0,4}}(?:\*\*)?(?P<key>ARTIFACT|CRITERIA|PRIMARY|BACKGROUND|{'|'.join(FACTS)})(?:\*\*)?\s*:"
    r"(?:\*\*)?\s*(?P<text>.*)"
)
CRITERION = re.compile(
    r"\s*[-*+]\s+\**(?P<name>[^:(*]{1,120}?)\**\s*(?P<mark>\([^)]*\))?\**\s*:\s*(?P<text>.+)"
)
PRIMARY_LINE = re.compile(r"\W*primary(?:\s+criterion)?\W*[:=]\s*(?P<name>\S.{0,120})", re.IGNORECASE)
PATH = re.compile(r"\S*[/\\.]\S*\Z")


@dataclass(slots=True)
class Brief:
    """The setup of a run, as far as a file states it."""

    task: str = ""
    primary: str = ""
    criteria: dict[str, str] = field(default_factory=dict)  # descriptions by comparable name
    facts: list[tuple[str, str]] = field(default_factory=list)


def brief_of(folder: Folder) -> Brief:
    """The brief in the folder's files. The trajectory itself may name the primary criterion."""
    brief = Brief()
    for _, text in folder.briefs:
        _read(text, brief)
    if not brief.primary:
        names = [
            match["name"] for line in folder.trajectory.split("\n") if (match := PRIMARY_LINE.match(line))
        ]
        brief.primary = names[0].strip(" *_`.") if names else ""
    return brief


def _read(text: str, brief: Brief) -> None:
    values: dict[str, list[str]] = {}
    current: str | None = None
    for line in text.split("\n"):
        match = KEY.match(line)
        if match and match["key"] not in values:
            current = match["key"]
            values[current] = [match["text"]]
        elif current and line.startswith((" ", "\t", "-")) and line.strip():
            values[current].append(line)
        else:
            current = None
    _take(values, brief)


def _take(values: dict[str, list[str]], brief: Brief) -> None:
    task = _joined(values.get("ARTIFACT", []))
    if task and not PATH.match(task):
        brief.task = brief.task or task[:MOST_TASK]
    brief.primary = brief.primary or _joined(values.get("PRIMARY", []))
    for line in values.get("CRITERIA", []):
        match = CRITERION.match(line)
        if match:
            brief.criteria.setdefault(same_name(match["name"]), match["text"].strip())
            if "primary" in (match["mark"] or "").casefold() and not brief.primary:
                brief.primary = match["name"].strip()
    brief.facts += [(key.lower(), text[:400]) for key in FACTS if (text := _joined(values.get(key, [])))]


def _joined(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())
