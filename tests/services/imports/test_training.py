"""Training data: passed texts, pairs, and what must never be included."""

import json

import pytest

from refinement.engine.profiles import rubric_for
from refinement.models import BlindReading, HumanScore, Round, Run, RunImport, Verdict
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db


def lines(client, kind: str, query: str = "") -> list[dict]:
    answer = client.get(f"/p/alpha/runs/training/{kind}/{query}")
    assert answer.status_code == 200
    return [json.loads(line) for line in b"".join(answer).decode().splitlines()]


def imported_run(project, **fields) -> Run:
    run = finished_run(project, source="jsonl", **fields)
    RunImport.objects.create(run=run, project=project, key=f"{run.pk}", name="runs.jsonl", by_name="x")
    return run


def test_what_passed_is_a_chat(as_viewer, project):
    run = finished_run(project, ("7", "9.25", "9.1"), outcome="PASS", seed="The old text.")
    finished_run(project, ("9.5",), outcome="FAIL")
    (found,) = lines(as_viewer, "sft")
    best = run.rounds.get(number=2)
    assert found == {
        "messages": [
            {"role": "user", "content": f"{run.task}\n\nThe old text."},
            {"role": "assistant", "content": best.candidate},
        ],
        "run": run.pk, "round": 2, "score": 9.25, "edited_by_hand": False, "scale": [0, 10],
        "rubric": run.rubric.slug, "imported": None,
    }  # fmt: skip
    assert lines(as_viewer, "sft", "?least=9.25") == [found]
    assert lines(as_viewer, "sft", "?least=9.26") == []


@pytest.mark.parametrize("decision", ["rejected", "changes"])
def test_what_people_did_not_accept_is_left_out(as_viewer, project, decision):
    finished_run(project, ("9.5",), outcome="PASS", decision=decision)
    assert lines(as_viewer, "sft") == []


def test_the_round_that_people_chose_counts(as_viewer, project):
    finished_run(project, ("9.1", "9.5"), outcome="PASS", decision="result", chosen_round=1)
    assert [(entry["round"], entry["score"]) for entry in lines(as_viewer, "sft")] == [(1, 9.1)]


def test_two_rounds_apart_are_a_pair_and_ties_are_none(as_viewer, project):
    run = finished_run(project, ("7", "8.5", "8.5", "8"))
    Round.objects.filter(run=run, number=2).update(origin="hand", penalties=[])
    found = lines(as_viewer, "pairs", "?least=1")
    assert [(e["chosen_round"], e["rejected_round"], e["difference"]) for e in found] == [
        (2, 1, 1.5),
        (3, 1, 1.5),
        (4, 1, 1),
    ]
    assert found[0]["chosen"] == run.rounds.get(number=2).candidate
    assert found[0]["prompt"] == run.task
    assert [entry["edited_by_hand"] for entry in found] == [["chosen"], [], []]
    every = lines(as_viewer, "pairs")
    assert (2, 3) not in {(e["chosen_round"], e["rejected_round"]) for e in every}
    assert len(every) == 5


def test_the_better_round_is_the_one_that_the_run_ranks_higher(as_viewer, project):
    run = finished_run(project, ("6", "7"), definition=rubric_for("simmer"))
    Round.objects.filter(run=run).update(penalties=[])
    for number, primary, rest in ((1, "8", "5"), (2, "7", "7")):
        scores = {"clarity": rest, "completeness": rest, "usefulness": primary}
        said = [{"key": key, "score": score} for key, score in scores.items()]
        Verdict.objects.filter(round__run=run, round__number=number).update(scores=said)
    (found,) = lines(as_viewer, "pairs")
    assert (found["chosen_round"], found["rejected_round"]) == (1, 2)


def test_unscored_rounds_and_equal_texts_are_never_used(as_viewer, project):
    run = finished_run(project, ("7", "8", "9"), candidates=("same", "same ", "other"))
    Round.objects.filter(run=run, number=3).update(judged_at=None, composite=None, scores=None)
    assert lines(as_viewer, "pairs") == []


def test_imported_runs_only_where_asked_for_and_with_a_task(as_viewer, project):
    run = imported_run(project, outcome="PASS")
    Run.objects.filter(pk=imported_run(project, outcome="PASS").pk).update(task="")
    assert lines(as_viewer, "sft") == lines(as_viewer, "pairs") == []
    (found,) = lines(as_viewer, "sft", "?with_imported=on")
    assert (found["run"], found["imported"]) == (run.pk, "jsonl")


def test_a_run_that_the_reader_scores_blind_is_left_out(as_viewer, viewer, project):
    run = finished_run(project, ("7", "9.5"), outcome="PASS")
    BlindReading.objects.create(run=run, reader=viewer, round_number=1)
    assert HumanScore.objects.count() == 0
    assert lines(as_viewer, "sft") == lines(as_viewer, "pairs") == []


def test_filters_and_chosen_runs_narrow_it(as_viewer, project):
    runs = [finished_run(project, ("9.5",), outcome="PASS", tags=["a"] if n else []) for n in range(2)]
    assert [entry["run"] for entry in lines(as_viewer, "sft", "?tag=a")] == [runs[1].pk]
    assert [entry["run"] for entry in lines(as_viewer, "sft", f"?run={runs[0].pk}")] == [runs[0].pk]
    onward = as_viewer.post("/p/alpha/runs/bulk/", {"action": "training", "run": [runs[0].pk]})
    page = as_viewer.get(onward["Location"]).content.decode()
    assert f'<input type="hidden" name="run" value="{runs[0].pk}">' in page


def test_what_is_no_number_is_said_beside_its_field(as_viewer, project):
    answer = as_viewer.get("/p/alpha/runs/training/sft/?least=much")
    assert answer.status_code == 422
    assert "Enter a number such as 8.5." in answer.content.decode()
    assert as_viewer.get("/p/alpha/runs/training/odd/").status_code == 404
