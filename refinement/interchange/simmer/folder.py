"""Converts a Simmer folder to a run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from refinement.engine.profiles import SIMMER_SCALE, simmer_rubric
from refinement.engine.types import Criterion, Rubric, Scale
from refinement.interchange.imports.foreign_runs import (
    ForeignRound,
    ForeignRun,
    criteria_of,
    document_of,
    imported_name,
    rounds_fitted,
)
from refinement.interchange.imports.found import (
    FoundRun,
    Note,
    Notes,
    SourceFile,
    grouped,
    key_of,
    listed,
    quoted,
)
from refinement.interchange.imports.written_scores import is_nothing
from refinement.interchange.simmer.best import best_contradictions, best_lines
from refinement.interchange.simmer.brief import Brief, brief_of
from refinement.interchange.simmer.files import Folder, sorted_files
from refinement.interchange.simmer.judgments import add_judgment, add_reasons, names_in
from refinement.interchange.simmer.sections import Sections, sections_of
from refinement.interchange.simmer.stated import stated_of
from refinement.interchange.simmer.table import Row, Table, trajectory_table
from refinement.interchange.simmer.titles import title_of
from refinement.judging.parsing.cleaning import same_name

NO_TABLE = "No table of iterations found, with a header such as | Iter | Clarity | Composite |."
NO_TRAJECTORY = "trajectory.md is missing, so only scores from the judgments are imported."


@dataclass(frozen=True, slots=True)
class _Sources:
    """What the files of a folder say, before it becomes rounds."""

    folder: Folder
    table: Table | None
    brief: Brief
    sections: Sections
    rubric: Rubric


def simmer_run(folder_name: str, files: Sequence[SourceFile]) -> FoundRun:
    """The folder as one run. The notes say what could not be read, once for each kind."""
    folder = sorted_files(folder_name, files)
    notes = Notes(folder.path(folder.trajectory_name))
    table = trajectory_table(folder.trajectory, notes) if folder.trajectory else None
    if table is None:
        notes.add(0, "", NO_TABLE if folder.trajectory else NO_TRAJECTORY)
    folder.notes += notes.found
    newest = [text for _, text in sorted(folder.candidates.items(), reverse=True)]
    title = title_of(folder.trajectory, folder_name, [folder.result or "", *newest])
    name = folder_name or f"Simmer files of “{title}”"
    found = FoundRun("simmer", name, title, key_of("simmer", folder.texts))
    numbers = iterations_of(folder, table)
    if numbers:
        _fill(found, folder, table, numbers)
    else:
        why = "Nothing to import: there is no table with rows, no candidate and no judgment."
        folder.notes.append(Note(folder_name or "the files", 0, "", why))
    found.notes = grouped(folder.notes)
    return found


def iterations_of(folder: Folder, table: Table | None) -> range:
    """All iterations from the first to the last; missing ones between them keep their place."""
    rows = [row.iteration for row in table.rows] if table else []
    scored = [] if table else [*folder.judgments]
    numbers = [*folder.candidates, *rows, *scored]
    return range(min(numbers), max(numbers) + 1) if numbers else range(0)


def _fill(found: FoundRun, folder: Folder, table: Table | None, numbers: range) -> None:
    best = best_lines(folder.trajectory, table.lines if table else frozenset())
    brief = brief_of(folder)
    notes = Notes(folder.path(folder.trajectory_name))
    used = (table.lines if table else frozenset()) | {entry.line for entry in best}
    sections = sections_of(folder.trajectory, used, numbers, notes)
    folder.notes += notes.found
    rubric = rounds_fitted(rubric_of(table, folder, brief), rounds=len(numbers))
    sources = _Sources(folder, table, brief, sections, rubric)
    rounds = [round_of(number, numbers.start, sources) for number in numbers]
    note_gaps(sources, numbers)
    foreign = ForeignRun(rubric=rubric, rounds=rounds, title=found.title, task=brief.task)
    if rounds[0].origin == "seed" and rounds[0].candidate:
        foreign.seed = rounds[0].candidate
    foreign.stated = stated_of(folder, table, best, sections, brief, numbers)
    found.document = document_of(foreign)
    best_contradictions(foreign, found.document, folder, numbers.start)
    found.stated = foreign.stated


def rubric_of(table: Table | None, folder: Folder, brief: Brief) -> Rubric:
    """The Simmer rubric with the table's criteria. Decimals are allowed if the table has any."""
    columns = table.columns if table else ()
    names = [column.name for column in columns] or names_in(folder) or ["Quality"]
    primary = [column.primary for column in columns] or [False] * len(names)
    if sum(primary) > 1:
        folder.note(folder.trajectory_name, "Two criteria are marked (PRIMARY); the first one is used.")
    if not any(primary):
        primary = [same_name(name) == same_name(brief.primary) for name in names]
    rows = table.counted.values() if table else ()
    values = [score for row in rows for score in row.scores if score is not None]
    whole = all(value == value.to_integral_value() for value in values)
    return replace(
        simmer_rubric(),
        name=imported_name(names),
        purpose="Created for an import: the criteria of a Simmer folder.",
        criteria=tuple(described(entry, brief) for entry in criteria_of(names, primary)),
        scale=SIMMER_SCALE if whole else Scale(SIMMER_SCALE.minimum, SIMMER_SCALE.maximum),
        artifact_type="",
    )


def described(criterion: Criterion, brief: Brief) -> Criterion:
    """The criterion with its description in the brief."""
    return replace(criterion, description=brief.criteria.get(same_name(criterion.name), "")[:2_000])


def round_of(number: int, first: int, sources: _Sources) -> ForeignRound:
    """The iteration as a round, from its candidate, its row, its judgment and its sections."""
    folder, table = sources.folder, sources.table
    made = ForeignRound(number - first + 1, candidate=folder.candidates.get(number))
    if number == 0:
        made.origin = "seed"
    elif number == first:
        made.origin = "draft"
    row = table.counted.get(number) if table else None
    if row is not None:
        made.stated = row.stated
        made.change = change_of(row)
        made.scores = row_scores(row, sources.rubric, folder)
    add_words(made, number, row, sources)
    return made


def add_words(made: ForeignRound, number: int, row: Row | None, sources: _Sources) -> None:
    """Adds reasons, improvements and the ASI: of the judgment's file, and what sections add to it."""
    folder, sections = sources.folder, sources.sections
    if number in folder.judgments:
        base, text = folder.judgments[number]
        notes = Notes(folder.path(base))
        if not add_judgment(made, sources.rubric, text, notes):
            notes.add(0, "", "No scores found; the judgment is not imported.")
        folder.notes += notes.found
    detail = sections.detail(number)
    if detail:
        notes = Notes(folder.path(folder.trajectory_name))
        if number not in folder.judgments:
            add_judgment(made, sources.rubric, detail, notes)
        add_reasons(made, sources.rubric, detail)
        folder.notes += notes.found
    made.asi = (
        folder.asis.get(number, "").strip() or made.asi or sections.asi(number) or (row.asi if row else "")
    )


def change_of(row: Row) -> str:
    """The row's key change; empty for the starting text, which changed nothing."""
    is_seed = row.iteration == 0 and row.change.strip(" .").casefold() == "seed"
    return "" if is_seed or is_nothing(row.change) else row.change


def row_scores(row: Row, rubric: Rubric, folder: Folder) -> dict[str, Decimal] | None:
    """The scores of the row by key; None if one is missing or outside the scale."""
    notes = Notes(folder.path(folder.trajectory_name))
    scores: dict[str, Decimal] = {}
    for criterion, cell, score in zip(rubric.criteria, row.cells, row.scores, strict=True):
        if score is None:
            why = "A score is missing or cannot be read, so the iteration is unscored."
            notes.add(row.line, f"{criterion.name} of iteration {row.label}", why)
        elif not rubric.scale.minimum <= score <= rubric.scale.maximum:
            notes.add(row.line, f"{criterion.name} {cell}", "Outside 1 to 10, so the iteration is unscored.")
        else:
            if score != score.to_integral_value():
                why = "Simmer uses whole numbers; other scores are imported as they are."
                notes.add(row.line, f"{criterion.name} {score:f}", why)
            scores[criterion.key] = score
    folder.notes += notes.found
    return scores if len(scores) == len(rubric.criteria) else None


def note_gaps(sources: _Sources, numbers: range) -> None:
    """Notes which iterations have no text, and which no row."""
    folder, table = sources.folder, sources.table
    rows = set(table.counted) if table else set()
    bare = [number for number in numbers if number not in folder.candidates]
    known = [number for number in bare if number in rows]
    lost = [number for number in bare if number not in rows]
    if known:
        _note(folder, known, "no text; the table has the scores", "imported without text")
    if lost:
        _note(folder, lost, "no text and no row in the table", "unscored and without text")
    unscored = [number for number in numbers if number in folder.candidates and number not in rows]
    unjudged = [number for number in unscored if number not in folder.judgments]
    if unjudged and table is not None:
        _note(folder, unjudged, "no row in the table", "unscored")


def _note(folder: Folder, numbers: list[int], lack: str, result: str) -> None:
    one = len(numbers) == 1
    why = (
        f"Iteration{'' if one else 's'} {listed(numbers)} {'has' if one else 'have'} {lack}; "
        f"{'it is' if one else 'they are'} {result}."
    )
    folder.notes.append(Note(folder.path(folder.trajectory_name), 0, quoted(""), why))
