"""How a test states a Simmer folder and every value that has to come out of it."""

from dataclasses import dataclass, field

from refinement.interchange.imports.found import FoundRun, SourceFile
from refinement.interchange.imports.reading import runs_in


@dataclass
class Expected:
    """An iteration as it is imported. `scores` is one text for all criteria, such as `7 6.5`, or empty."""

    scores: str = ""
    composite: str | None = None  # to two places
    change: str = ""
    asi: str = ""
    text: str | None = None  # the candidate; by default that of its file
    origin: str = "revision"
    reasons: dict[str, tuple[str, str]] = field(default_factory=dict)  # reasoning and improvement


@dataclass
class Case:
    """A folder and the run it becomes. `rounds` are by iteration."""

    files: dict[str, str]
    title: str
    criteria: list[str]  # a primary one with an asterisk
    rounds: dict[int, Expected]
    best: int | None  # the iteration
    named: list[tuple[list[int], str | None]] = field(default_factory=list)  # best lines: rounds and score
    contradictions: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # a part of each note's text, in order
    folder: str = "mail"
    columns: list[str] = field(default_factory=list)
    remarks: str = ""
    task: str = ""
    details: dict[int, str] = field(default_factory=dict)  # by iteration
    uncounted: list[str] = field(default_factory=list)  # labels of rows that do not count


def found_in(case: Case) -> FoundRun:
    files = [SourceFile(f"{case.folder}/{name}", text.encode()) for name, text in case.files.items()]
    (found,) = runs_in(files, [])
    return found


def check(case: Case) -> None:
    """Compares every value of the imported run."""
    found = found_in(case)
    assert found.document is not None, [str(note) for note in found.notes]
    run, rounds, stated = found.document.run, found.document.rounds, found.stated
    first = min(case.rounds)
    assert found.title == run.title == case.title
    criteria = run.snapshot["criteria"]
    assert [f"{entry['name']}{'*' if entry['primary'] else ''}" for entry in criteria] == case.criteria
    assert [entry.number for entry in rounds] == list(range(1, len(case.rounds) + 1))
    for number, wanted in case.rounds.items():
        check_round(case, number, rounds[number - first], wanted)
    assert run.best_round == (None if case.best is None else case.best - first + 1)
    assert [(entry["rounds"], entry["score"]) for entry in stated["best"]] == case.named
    assert stated["contradictions"] == case.contradictions
    assert stated["columns"] == case.columns
    assert stated["remarks"] == case.remarks
    assert {entry["round"] - 1 + first: entry["text"] for entry in stated["details"]} == case.details
    assert [row["label"] for row in stated["rows"] if not row["counted"]] == case.uncounted
    assert run.task == case.task
    notes = [str(note) for note in found.notes]
    assert len(notes) == len(case.notes), notes
    for note, part in zip(notes, case.notes, strict=True):
        assert part in note


def check_round(case: Case, number: int, entry, wanted: Expected) -> None:
    verdict = entry.verdicts[0] if entry.verdicts else None
    scores = " ".join(f"{score.score:f}" for score in verdict.scores) if verdict else ""
    composite = None if entry.composite is None else f"{entry.composite:.2f}"
    text = wanted.text if wanted.text is not None else text_of(case, number)
    origin = wanted.origin if text else "absent"
    asi = verdict.asi if verdict else ""
    assert (number, scores, composite) == (number, wanted.scores, wanted.composite)
    assert (number, entry.key_change or "", asi) == (number, wanted.change, wanted.asi)
    assert (number, entry.candidate, entry.origin) == (number, text, origin)
    said = {score.key: (score.reasoning, score.improvement) for score in verdict.scores} if verdict else {}
    assert {key: words for key, words in said.items() if any(words)} == wanted.reasons


def text_of(case: Case, number: int) -> str:
    names = [name for name in case.files if name.startswith(f"iteration-{number}-candidate")]
    return case.files[names[0]] if names else ""
