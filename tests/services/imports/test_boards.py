"""Boards in files: exported completely, shown in reports, and older files can still be imported."""

import csv
import io
import json

import pytest

from refinement.downloads import report, whole
from refinement.engine.codec import rubric_from_json
from refinement.interchange.exports.rows import runs_csv, runs_jsonl
from refinement.models import BoardVerdict, Call, Event, Project, Round, Run
from refinement.selectors.runs.exports import COLUMNS, run_summaries
from refinement.services.imports.uploads import SourceFile, import_files
from refinement.services.runs.lifecycle import run_rerun
from tests.services.runs.board_rows import board_run
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
SIMMER = """# Simmer Trajectory — Mail

| Iter | Clarity | Composite | Key Change |
|---|---|---|---|
| 0 | 5 | 5.0 | seed |
| 1 | 6 | 6.0 | asks for a reply by Friday |
| 2 | 7 | 7.0 | led with the personal finding and moved the pitch to the very end of it |
| 3 | 7 | 7.0 | — |
"""


@pytest.fixture
def there(project):
    """An empty project of another instance."""
    return Project.objects.create(name="Elsewhere", slug="elsewhere")


def written(run: Run) -> str:
    return "".join(whole(Run.objects.select_related("project", "rubric", "rubric_version").get(pk=run.pk)))


def brought(project: Project, text: str, name: str = "run.json"):
    (entry,) = import_files([SourceFile(name, text.encode())], project=project).entries
    return entry


def the_board(project: Project, **fields) -> Run:
    """A finished run of a board whose figures and times are those of its rows."""
    run = board_run(project, outcome="DONE", escalated_after=1, plateau_accepted=True, **fields)
    Run.objects.filter(pk=run.pk).update(
        clerk_model="clerk:4b",
        other_contexts={"ollama/reader:1b": 8192},
    )
    run.panel.filter(seat=3).update(by_clerk=True)
    return Run.objects.get(pk=run.pk)


def test_all_of_a_board_comes_back(project, there):
    run = the_board(project)
    before = written(run)
    entry = brought(there, before)
    assert (entry.state, entry.notes) == ("new", ())
    copy = Run.objects.get(pk=entry.run)
    old, new = json.loads(before), json.loads(written(copy))
    assert old["run"]["panel"] == new["run"]["panel"]
    assert [judge["by_clerk"] for judge in new["run"]["panel"]] == [False, False, True]
    assert new["run"]["clerk"] == {"endpoint": "ollama", "model": "clerk:4b"}
    for name in ("escalated_after", "plateau_accepted", "other_contexts"):
        assert old["run"][name] == new["run"][name], name
    assert (old["rounds"], old["calls"]) == (new["rounds"], new["calls"])
    reader, expert, editor = new["rounds"][1]["board"]
    assert (reader["stances"][0]["stance"], expert["stances"][0]["stance"]) == ("concede", "challenge")
    assert (editor["problem"], editor["stances"]) == ("The reply has no scores.", None)
    assert new["rounds"][1]["summary"]["working"] == ["short"]
    assert new["rounds"][1]["key_change"] == "adds example 2"
    assert copy.rounds.get(number=2).board.get(seat=1).judge.name == "Reader"
    assert {call["purpose"] for call in new["calls"]} == {"draft", "revise", "score", "deliberate", "merge"}
    assert written(copy) == written(Run.objects.get(pk=copy.pk))


def test_an_imported_board_can_be_rerun(project, there):
    copy = Run.objects.get(pk=brought(there, written(the_board(project))).run)
    again = run_rerun(run=copy)
    assert (again.clerk_model, again.panel.count()) == ("clerk:4b", 3)


def test_a_file_from_before_there_were_boards(project, there):
    document = json.loads(written(finished_run(project)))
    for name in ("clerk", "panel", "other_contexts", "escalated_after", "plateau_accepted"):
        del document["run"][name]
    del document["run"]["snapshot"]["judges"]
    del document["run"]["snapshot"]["policy"]["on_plateau"]
    for entry in document["rounds"]:
        for name in ("key_change", "spread", "summary"):
            del entry[name]
    for call in document["calls"]:
        del call["purpose"], call["seat"]
    entry = brought(there, json.dumps(document))
    assert (entry.state, entry.notes) == ("new", ())
    run = Run.objects.get(pk=entry.run)
    assert (run.clerk_model, run.panel.count(), run.escalated_after) == ("", 0, 0)
    assert list(run.rounds.values_list("key_change", "spread")) == [(None, None)] * 3
    calls = Call.objects.filter(run=run).order_by("id").values_list("round_number", "role", "purpose", "seat")
    assert list(calls[:4]) == [
        (1, "producer", "draft", 0),
        (1, "judge", "score", 0),
        (2, "producer", "revise", 0),
        (2, "judge", "score", 0),
    ]
    assert rubric_from_json(run.snapshot).judges.mode == "single"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda d: d["run"]["panel"].pop(), "board"),
        (lambda d: d["run"]["panel"].reverse(), "run.panel"),
        (lambda d: d["run"]["panel"].extend(d["run"]["panel"]), "run.panel"),
        (lambda d: d["run"]["panel"][0].update(name=""), "run.panel.0.name"),
        (lambda d: d["rounds"][0]["board"].append(d["rounds"][0]["board"][0]), "board of round 1"),
        (lambda d: d["rounds"][0]["board"][0]["stances"][0].update(stance="shrug"), None),
        (lambda d: d["rounds"][0].update(key_change="x" * 61), "rounds.0.key_change"),
        (lambda d: d["rounds"][0].update(spread={"clarity": "wide"}), "rounds.0.spread.clarity"),
        (lambda d: d["calls"][0].update(seat=6), "calls.0.seat"),
    ],
)
def test_a_board_that_cannot_be_is_refused_whole(project, there, change, told):
    document = json.loads(written(the_board(project)))
    change(document)
    entry = brought(there, json.dumps(document))
    assert entry.state == "refused"
    assert told is None or told in [note.text for note in entry.notes]
    assert not Run.objects.filter(project=there).exists()


def test_the_report_names_the_judges_and_what_they_said(project):
    text = "".join(report(the_board(project)))
    assert "| Board, after round 1 | Reader (reader:1b at ollama); Expert (gemma3:27b at ollama);" in text
    assert "| Clerk | clerk:4b at ollama |" in text
    assert "| Key change | Remarks |" in text
    assert "adds example 2" in text
    assert "judges disagree on " in text
    assert "The judges of the board, before and after the deliberation:" in text
    assert "| 3 → 7 | 3 |" in text
    assert "Editor was left out: The reply has no scores." in text
    assert "- Reader concedes " in text
    assert ": Expert answers." in text
    assert "- Expert: Expert wants an example." in text
    assert "Working: short" in text
    assert "Direction: Be concrete." in text


def test_a_report_without_a_board_says_nothing_of_one(project):
    text = "".join(report(finished_run(project)))
    assert not [word for word in ("Board", "Clerk", "Key change", "Deliberation") if word in text]


def test_what_judges_say_is_no_markup(project):
    run = the_board(project)
    run.panel.filter(seat=1).update(name="**Eve** <b>|")
    BoardVerdict.objects.filter(round__run=run, seat=1).update(asi="[x](http://example.org) | <script>")
    Round.objects.filter(run=run).update(key_change="# <i>|")
    text = "".join(report(run))
    assert not [word for word in ("<script>", "<b>", "<i>", "[x]") if word in text]


def test_many_runs_in_lines(project):
    run = the_board(project)
    summaries = list(run_summaries(project, [run.pk], tasks=True))
    (row,) = csv.DictReader(io.StringIO("".join(runs_csv(COLUMNS, summaries))))
    assert (row["clerk"], row["board_rounds"]) == ("ollama/clerk:4b", "2")
    assert row["key_changes"] == "r2: adds example 2"
    line = json.loads("".join(runs_jsonl(summaries)))
    assert line["wiggum_key_changes"] == {"r2": "adds example 2"}
    assert list(line["wiggum_judges"]["r2"]) == ["Reader", "Expert"]
    assert set(line["wiggum_judges"]["r2"]["Reader"].values()) == {7}
    assert set(line["wiggum_spread"]["r1"].values()) == {2}


def test_our_own_lines_keep_the_key_changes(project, there):
    text = "".join(runs_jsonl(run_summaries(project, [the_board(project).pk], tasks=True)))
    entry = brought(there, text, "runs.jsonl")
    assert [note for note in entry.notes if "Unknown field" in note.why] == []
    run = Run.objects.get(pk=entry.run)
    assert list(run.rounds.order_by("number").values_list("key_change", flat=True)) == [
        None,
        "adds example 2",
    ]


def test_a_simmer_tables_key_changes_are_the_rounds(project):
    files = [SourceFile("mail/trajectory.md", SIMMER.encode())]
    (entry,) = import_files(files, project=project).entries
    rounds = Run.objects.get(pk=entry.run).rounds.order_by("number")
    assert list(rounds.values_list("key_change", flat=True)) == [
        None,
        "asks for a reply by Friday",
        "led with the personal finding and moved the pitch to the…",
        None,
    ]


def test_events_of_a_board_come_back(project, there):
    run = the_board(project)
    Event.objects.create(run=run, kind="deliberated", actor="worker", data={"round": 1, "seat": 2})
    copy = Run.objects.get(pk=brought(there, written(run)).run)
    assert copy.events.filter(kind="deliberated").get().data == {"round": 1, "seat": 2}
