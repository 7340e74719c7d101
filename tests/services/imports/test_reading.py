"""The readers: values are read as written, notes name what is odd, and nothing is invented."""

import io
import json
import stat
import zipfile
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refinement.interchange.imports.archives import BadUpload
from refinement.interchange.imports.found import Notes, SourceFile
from refinement.interchange.imports.reading import opened, runs_in
from refinement.interchange.imports.written_scores import agrees, written_score
from refinement.interchange.simmer.folder import simmer_run
from refinement.interchange.simmer.table import trajectory_table


@pytest.mark.parametrize(
    ("text", "value", "noted"),
    [
        ("7", "7", False), (" 7.25 ", "7.25", False), ("**8**", "8", False), ("7/10", "7", False),
        ("~7", "7", True), ("≈ 6.5", "6.5", True), ("5*", "5", True), ("6,5", "6.5", True),
        ("-1", "-1", False),
    ],
)  # fmt: skip
def test_scores_as_people_write_them(text, value, noted):
    read = written_score(text)
    assert read is not None
    assert (read.value, bool(read.notes)) == (Decimal(value), noted)


@pytest.mark.parametrize("text", ["", "–", "n/a", "7-8", "7/5", "high", "1e9", "NaN", "٧", "7 8", "=7"])
def test_what_is_no_score_is_none(text):
    assert written_score(text) is None


def test_a_stated_figure_agrees_as_far_as_its_digits_go():
    assert agrees(Decimal("4.8"), Decimal("4.75"))
    assert agrees(Decimal("7.7"), Decimal("7.666667"))
    assert not agrees(Decimal("7.2"), Decimal("7.333333"))
    assert not agrees(Decimal("7.20"), Decimal("7.24"))


cell = st.text(alphabet="0123456789~*.,/|\\- n\taé=", max_size=8)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(cell, min_size=1, max_size=7), max_size=8), st.booleans())
def test_any_table_is_read_without_a_stumble(rows, blank):
    """Every row is there with all its cells, or named in a note; no score is read that is not written."""
    head = "| Iter | A (PRIMARY) | B | Composite | Key Change |\n|---|---|---|---|---|\n"
    body = ("\n\n" if blank else "\n").join(f"| {' | '.join(row)} |" for row in rows)
    notes = Notes("trajectory.md")
    table = trajectory_table(head + body, notes)
    assert table is not None
    names = [column.name for column in table.columns]
    assert names == [name for name in ("A", "B") if name not in table.others]
    for row in table.rows:
        assert len(row.cells) == len(row.scores) == len(names)
        for written, score in zip(row.cells, row.scores, strict=True):
            read = written_score(written)
            assert score == (read.value if read else None)
    for row in table.counted.values():
        odd = [text for text, score in zip(row.cells, row.scores, strict=True) if score is None and text]
        assert all(any(note.line == row.line for note in notes.found) for text in odd if text.strip(" -–—?"))


def folder(trajectory: str, **files: str) -> list[SourceFile]:
    named = {"trajectory.md": trajectory} | {
        name.replace("_", "-") + ".md": text for name, text in files.items()
    }
    return [SourceFile(f"mail/{name}", text.encode()) for name, text in named.items()]


TABLE = """# Simmer Trajectory

| Iter | Clarity | Reply | Composite | Words | Key Change |
|---|---|---|---|---|---|
| 1 | 7 | 6.25 | 6.6 | 90 | first |

| 3 | ~8 | 12 | 9.9 | 80 | a | b |
| later | 1 | 2 | 3 | | |
"""


def test_an_irregular_folder_keeps_what_is_there_and_names_what_is_not():
    judgment = "Clarity: 7/10 — It is clear. — Cut it.\nReply: 5/10 — Weak. — Ask.\nASI: Ask one question."
    found = simmer_run(
        "mail",
        folder(
            TABLE,
            iteration_1_candidate="One",
            iteration_2_candidate="Two",
            iteration_1_judgment=judgment,
            notes="x",
        ),
    )
    assert found.document is not None
    rounds = found.document.rounds
    assert [(entry.number, entry.origin, entry.composite) for entry in rounds] == [
        (1, "draft", Decimal("6.625")),
        (2, "revision", None),
        (3, "absent", None),
    ]
    verdict = rounds[0].verdicts[0]
    assert [(said.score, said.reasoning) for said in verdict.scores] == [
        (7, "It is clear."), (Decimal("6.25"), "Weak."),
    ]  # fmt: skip
    assert verdict.asi == "Ask one question."
    whys = " ".join(note.why for note in found.notes)
    for told in (
        "Not a criterion", "Outside 1 to 10", "Iteration 2 has no row in the table",
        "Iteration 3 has no text", "Not an iteration number",
        "more cells than the head",
        "different scores; the table is used.", "This file is ignored",
    ):  # fmt: skip
        assert told in whys


def test_a_stated_composite_that_the_scores_do_not_come_to_is_told():
    found = simmer_run("mail", folder(TABLE.replace("6.6 ", "8.0 "), iteration_1_candidate="One"))
    assert found.stated["contradictions"] == [
        "For round 1 the file states a composite of 8.0; its scores give 6.6."
    ]


DIMS = {"depth": 7, "relevance": 8, "completeness": 7, "grounded": 6, "specificity": 6, "structure": 9}
LATER = {"depth": 8, "relevance": 9, "completeness": 8, "grounded": 8, "specificity": 8, "structure": 9}


def lines(*records: object) -> SourceFile:
    text = "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records)
    return SourceFile("runs.jsonl", text.encode())


def read(*records: object):
    notes: list = []
    return list(runs_in([lines(*records)], notes)), notes


def test_the_dialect_with_rounds_by_name():
    (found,), _ = read(
        {"wiggum_scores": {"r1": DIMS, "r2": LATER}, "wiggum_rounds": 2, "final_score": 8.55, "final": "PASS"}
    )
    assert found.document.run.trajectory == ["7.150000", "8.300000"]
    assert found.document.run.snapshot["name"] == "Wiggum six dimensions"
    assert found.document.run.outcome == "PASS"
    assert found.stated["contradictions"] == [
        "The file states a final score of 8.55; its best is round 2 with 8.30.",
        "The file says PASS; 8.30 is below the pass mark of 9.0 of the published loop.",
    ]


def test_the_dialect_with_lists_and_a_log():
    log = [
        {
            "round": 1,
            "score": 7.2,
            "dims": DIMS,
            "issues": ["Thin."],
            "feedback": "Say more.",
            "content": "# One",
        },
        {"round": 2, "score": 8.4, "dims": LATER, "issues": [], "content": "# Two", "took": 3},
    ]
    (found,), notes = read(
        {
            "task": "Explain", "wiggum_scores": [7.2, 8.4], "wiggum_dims": [DIMS, LATER],
            "wiggum_eval_log": log,
            "producer_model": "qwen", "evaluator_model": "selene", "input_tokens": 9, "final": "FAIL",
            "timestamp": "2026-03-01T10:00:00", "session_id": "s",
        }
    )  # fmt: skip
    run, rounds = found.document.run, found.document.rounds
    assert [entry.candidate for entry in rounds] == ["# One", "# Two"]
    assert (rounds[0].verdicts[0].issues, rounds[0].verdicts[0].asi) == (["Thin."], "Say more.")
    assert (run.producer.model, run.judge.model, run.prompt_tokens) == ("qwen", "selene", 9)
    assert [(note.text, note.why) for note in notes] == [
        ("session_id", "Unknown field on line 1; not imported.")
    ]
    assert any("took" in note.text for note in found.notes)
    assert found.stated["contradictions"] == [
        "For round 2 the file states a composite of 8.4; its scores give 8.30."
    ]


def test_scores_without_dims_and_a_text_of_the_result_alone():
    (found,), _ = read({"run_id": "a", "wiggum_scores": [6, 8, 7], "final_content": "The text"})
    assert found.document.run.best_round == 2
    assert [entry.candidate for entry in found.document.rounds] == ["", "The text", ""]
    assert [entry.origin for entry in found.document.rounds] == ["absent", "revision", "absent"]


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ("{", "not valid JSON"), ("[1]", "must be a JSON object"),
        ('{"a": NaN, "wiggum_scores": []}', "not valid JSON"),
        ({"task": "x"}, "Not a run of a Wiggum loop"),
        ({"wiggum_scores": "good"}, "must be an object or a list"),
        ("[" * 100_000, "nested too deeply"),
        (f'{{"wiggum_scores": {"[" * 200}{"]" * 200}}}', "nested too deeply"),
        ({"wiggum_scores": {"one": DIMS}}, "Not a round name"),
    ],
    ids=range(8),
)  # fmt: skip
def test_a_line_that_is_no_run_is_named_and_the_next_is_read(record, why):
    found, _ = read(record, {"wiggum_scores": {"r1": DIMS}})
    assert [entry.document is None for entry in found] == [True, False]
    assert why in " ".join(note.why for note in found[0].notes)
    assert {note.line for note in found[0].notes} == {1}


def test_odd_scores_leave_a_round_unscored_and_are_said():
    records = {"wiggum_scores": {"r1": DIMS, "r2": {**DIMS, "depth": 11}, "r3": {**DIMS, "depth": True}}}
    (found,), _ = read(records)
    assert [entry.composite is None for entry in found.document.rounds] == [False, True, True]
    whys = " ".join(note.why for note in found.notes)
    assert "Outside the scale of 0 to 10, so round 2 is unscored" in whys
    assert "Round 3 has no score for this" in whys


def test_links_in_a_zip_are_refused():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        entry = zipfile.ZipInfo("trajectory.md")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(BadUpload, match="a link or a device"):
        opened([SourceFile("a.zip", made.getvalue())])


def test_the_same_run_has_the_same_key_whatever_its_file_is_called():
    one, _ = read({"wiggum_scores": {"r1": DIMS}, "task": "x"})
    two, _ = read("", {"task": "x", "wiggum_scores": {"r1": DIMS}})
    other, _ = read({"task": "y", "wiggum_scores": {"r1": DIMS}})
    assert one[0].key == two[0].key != other[0].key
