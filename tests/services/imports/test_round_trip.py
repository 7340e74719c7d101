"""An export that is imported and exported again is identical except for the run's number."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.downloads import whole
from refinement.engine.profiles import rubric_for
from refinement.interchange.exports.rows import runs_jsonl
from refinement.judging.sources import SourceText
from refinement.models import Membership, Project, Rubric, Run, User
from refinement.selectors.runs.exports import run_summaries
from refinement.services.imports.uploads import SourceFile, import_files
from refinement.services.reviews.decisions import decision_make
from refinement.services.reviews.human_scores import Reading, human_score_give
from refinement.services.runs.hand_rounds import Edit, round_edit
from refinement.services.runs.ledger import feedback_correct
from refinement.services.runs.steering import instruction_give
from tests.execution.wire.stage import drafts, verdict

pytestmark = pytest.mark.django_db
SOURCES = (
    SourceText("notes.txt", "Backups are made at 02:00.\n\n" * 4_000),  # longer than prompts contain
    SourceText("=1+1 “odd”.md", "Said\u2028so.\t</script>"),
)


def exported(run: Run) -> str:
    return "".join(whole(Run.objects.select_related("project", "rubric", "rubric_version").get(pk=run.pk)))


def imported(project: Project, text: str, name: str = "run.json", **options):
    return import_files([SourceFile(name, text.encode())], project=project, **options)


@pytest.fixture
def elsewhere(project):
    """An empty project of the same name, as on another instance."""
    there = Project.objects.create(name="Elsewhere", slug="elsewhere")

    def renamed():
        Project.objects.filter(pk=project.pk).update(slug="was")
        Project.objects.filter(pk=there.pk).update(slug="alpha")
        return Project.objects.get(pk=there.pk)

    return renamed


def steered_run(stage, editor) -> Run:
    """A run with an instruction, people's scores, decisions and a round by hand."""
    rubric = rubric_for("wiggum")
    stage.says(producer=drafts(3), judge=[verdict(rubric, score) for score in (7, 8.5, 6.25, 8.75)])
    run = stage.launch(rubric, sources=SOURCES)
    instruction_give(run=run, text="Name the owner of each step.", user=editor)
    stage.carry_on(run)
    reading = Reading({criterion.key: Decimal("7.5") for criterion in rubric.criteria}, {"depth": "Thin."})
    row = run.rounds.get(number=2)
    human_score_give(run=run, row=row, user=editor, submitted=reading, seen_version=0)
    decision_make(run=run, kind="result", reason="It reads better.", seen=0, user=editor, round_number=1)
    feedback_correct(run=run, number=1, kind="issue", position=0, fate="worse", version="0", user=editor)
    edit = Edit(base=2, text="The backups, told by a person.", newest=3, rounds=1)
    round_edit(run=run, edit=edit, user=editor)
    return stage.carry_on(run)


def test_a_run_with_people_in_it_comes_back_byte_by_byte(stage, project, editor, elsewhere):
    run = steered_run(stage, editor)
    before = exported(run)
    assert json.loads(before)["run"]["rounds_judged"] == 4
    assert [source["text"] for source in json.loads(before)["sources"]] == [each.text for each in SOURCES]
    there = elsewhere()
    Membership.objects.all().delete()
    User.objects.all().delete()
    (entry,) = imported(there, before).entries
    assert (entry.state, entry.notes, entry.contradictions) == ("new", (), ())
    copy = Run.objects.get(pk=entry.run)
    assert exported(copy) == before.replace(f'"run": {{"id": {run.pk},', f'"run": {{"id": {copy.pk},')
    assert (copy.created_by, copy.imported.launched_by) == (None, "")
    assert copy.human_scores.get().author_name == "Edgar Editor"
    again = imported(there, exported(copy), "other-name.json")
    assert [(entry.state, entry.run) for entry in again.entries] == [("here", copy.pk)]
    assert Run.objects.filter(project=there).count() == 1


@pytest.mark.parametrize("profile", ["ralph", "simmer"])
def test_checks_and_counting_from_zero_come_back(stage, project, elsewhere, profile):
    rubric = rubric_for(profile)
    stage.says(producer=drafts(4), judge=[verdict(rubric, score) for score in (5, 7, 6, 8)])
    run = stage.play(replace(rubric, background="Said “so”.\u2028\tand = 1"))
    before = exported(run)
    (entry,) = imported(elsewhere(), before).entries
    copy = Run.objects.get(pk=entry.run)
    assert exported(copy) == before.replace(f'"run": {{"id": {run.pk},', f'"run": {{"id": {copy.pk},')


def test_a_run_is_not_copied_into_the_project_it_is_from(stage, project, editor):
    rubric = rubric_for("wiggum")
    stage.says(producer=drafts(1), judge=[verdict(rubric, 9.5)])
    run = stage.play(rubric)
    (entry,) = imported(project, exported(run)).entries
    assert (entry.state, entry.run) == ("here", run.pk)


def test_figures_that_were_changed_in_the_file_are_computed_anew(stage, elsewhere):
    rubric = rubric_for("wiggum")
    stage.says(producer=drafts(3), judge=[verdict(rubric, score) for score in (7, 8, 6)])
    document = json.loads(exported(stage.play(rubric)))
    document["run"]["best"] = "9.9"
    document["rounds"][0]["composite"] = "9.9"
    document["run"]["wished"] = 1
    (entry,) = imported(elsewhere(), json.dumps(document)).entries
    run = Run.objects.get(pk=entry.run)
    assert (run.best, run.rounds.get(number=1).composite) == (8, 7)
    assert entry.contradictions == (
        "For round 1 the file states 9.9; its scores give 7.00.",
        "For best the file states 9.9; its scores give 8.",
    )
    assert [note.text for note in entry.notes] == ["run.wished"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda d: d["run"].update(status="running"), "run.status"),
        (lambda d: d["run"].update(finished_at=None), "finished_at"),
        (lambda d: d["rounds"].reverse(), "rounds"),
        (lambda d: d.update(sources=[{"position": 2, "name": "a", "text": "x"}]), "sources"),
        (lambda d: d.update(sources=[{"position": 1, "name": "a", "text": ""}]), "sources.0.text"),
        (lambda d: d.update(sources=[{"position": 1, "name": "a", "text": "x" * 200_001}]), "sources.0.text"),
        (lambda d: d["rounds"][0].update(candidate=""), "round 1"),
        (lambda d: d["rounds"][1].update(origin="stolen"), "rounds.1.origin"),
        (lambda d: d["rounds"][0]["verdicts"][0]["scores"].pop(), "snapshot, calibration or rounds"),
        (lambda d: d["run"]["snapshot"].update(templates={"judge": "{{ nobody }}"}), "snapshot"),
        (lambda d: d["calls"].append(d["calls"][0]), "calls"),
        (lambda d: d.update(wiggum_run=2), "wiggum_run: 2"),
        (lambda d: d["run"].update(created_at="0001-01-01T00:00:00+14:00"), "run.created_at"),
    ],
)
def test_what_cannot_be_a_run_is_refused_whole(stage, elsewhere, change, told):
    rubric = rubric_for("wiggum")
    stage.says(producer=drafts(2), judge=[verdict(rubric, score) for score in (7, 9.5)])
    document = json.loads(exported(stage.play(rubric)))
    change(document)
    there = elsewhere()
    (entry,) = imported(there, json.dumps(document)).entries
    assert entry.state == "refused"
    assert told in [note.text for note in entry.notes]
    assert not Run.objects.filter(project=there).exists()
    assert not Rubric.objects.filter(project=there).exists()


def test_the_line_of_what_does_not_fit_is_named(stage, elsewhere):
    rubric = rubric_for("wiggum")
    stage.says(producer=drafts(2), judge=[verdict(rubric, score) for score in (7, 9.5)])
    lines = exported(stage.play(rubric)).split("\n")
    place = next(number for number, line in enumerate(lines) if line.startswith('{"number": 2'))
    lines[place] = lines[place].replace('"origin": "revision"', '"origin": "odd"')
    (entry,) = imported(elsewhere(), "\n".join(lines)).entries
    assert [(note.line, note.text) for note in entry.notes] == [(place + 1, "rounds.1.origin")]


def test_a_task_type_comes_back(stage, project, elsewhere):
    rubric = rubric_for("wiggum")
    stage.says(producer=drafts(2), judge=[verdict(rubric, score) for score in (7, 9.5)])
    run = stage.play(rubric, task_type="research")
    before = exported(run)
    (entry,) = imported(elsewhere(), before).entries
    copy = Run.objects.get(pk=entry.run)
    assert (copy.task_type, copy.passed_in_round) == ("research", 2)
    assert exported(copy) == before.replace(f'"run": {{"id": {run.pk},', f'"run": {{"id": {copy.pk},')


def test_a_line_of_runs_jsonl_comes_back_with_task_task_type_and_rubric(stage, project, elsewhere):
    rubric = rubric_for("wiggum")
    stage.says(producer=drafts(2), judge=[verdict(rubric, score) for score in (7, 9.5)])
    run = stage.play(rubric, task_type="research")
    before = line_of(run)
    there = elsewhere()
    (entry,) = imported(there, before, "runs.jsonl").entries
    assert entry.notes == ()
    copy = Run.objects.get(pk=entry.run)
    assert (copy.task, copy.task_type, copy.passed_in_round) == (run.task, "research", 2)
    kept = ("task", "task_type", "rubric", "rubric_version", "passed_in_round", "wiggum_scores", "final")
    old, new = json.loads(before), json.loads(line_of(copy))
    assert {name: new[name] for name in kept} == {name: old[name] for name in kept}
    named = json.loads(exported(copy))["run"]["rubric"]
    assert named == {"slug": old["rubric"], "name": old["rubric"], "version": 1}


def line_of(run: Run) -> str:
    return "".join(runs_jsonl(run_summaries(run.project, [run.pk], tasks=True)))


@pytest.mark.parametrize(
    ("task_type", "kept", "noted"),
    [("  How-To ", "how-to", False), ("x" * 60, "x" * 50, True), (7, "", False), (None, "", False)],
)
def test_a_foreign_task_type_is_made_to_fit(project, task_type, kept, noted):
    record = {"task": "Explain.", "task_type": task_type, "wiggum_scores": {"r1": {"clear": 7}}}
    (entry,) = imported(project, json.dumps(record), "runs.jsonl").entries
    assert Run.objects.get(pk=entry.run).task_type == kept
    assert any("50 characters" in str(note) for note in entry.notes) is noted
