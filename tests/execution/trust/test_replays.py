"""Results of a replay: flips, noise, moved criteria, and who is closer to people."""

import json

import pytest

from refinement.engine.codec import rubric_to_json, rubric_with
from refinement.execution.trust.replays import compute_replay
from refinement.models import HumanScore, JudgeRecord, LabelItem, Round, Verdict
from refinement.services.trust.judges import judge_ensure
from refinement.services.trust.label_importing import FileText, label_files_import
from refinement.services.trust.measurements.creating import NewItem
from tests.execution.trials.given import JUDGE, Table, definition
from tests.loopback.replies import valid_replies
from tests.services.trust.measurements.given import a_measurement, carried_out
from tests.services.trust.measurements.replaying import a_judged_run, a_replay

pytestmark = pytest.mark.django_db


def replayed(table: Table, before: list[float], after: list[float], **more):
    """The results of a replay of one run with these scores before and after."""
    run = a_judged_run(table, *before)
    table.says(*after)
    measurement = a_replay(table, run, **more)
    return measurement, compute_replay(carried_out(measurement).pk)


def noise(table: Table, value: float, **criteria: float) -> JudgeRecord:
    record = judge_ensure(project=table.project, version=table.version, model=JUDGE.model)
    record.smallest_difference, record.criteria_differences = value, criteria
    record.save()
    return record


def test_verdicts_flip_in_both_directions(table: Table):
    """The pass mark is 9."""
    _, found = replayed(table, [9.5, 9, 8, 7], [8, 9.2, 9.1, 7])
    verdicts = found["verdicts"]
    assert (verdicts["pass_fail"], verdicts["fail_pass"]) == (1, 1)
    assert (verdicts["pass_pass"], verdicts["fail_fail"], verdicts["n"]) == (1, 1, 4)
    assert [point["flip"] for point in found["points"]] == ["to_fail", "", "to_pass", ""]
    assert found["noise"] is None
    assert verdicts["noise_known"] is False


def test_flips_within_noise_are_counted(table: Table):
    noise(table, 0.5, depth=0.3)
    _, found = replayed(table, [9.2, 9.5], [8.9, 8])
    assert (found["noise"], found["verdicts"]["within_noise"]) == (0.5, 1)
    depth, *_, total = found["criteria"]
    assert (depth["beyond"], total["beyond"]) == (1, 1)  # 0.3 is not beyond 0.3
    assert found["criteria"][1]["beyond"] is None  # not known


def test_another_pass_mark_in_a_draft_flips_without_a_change_of_scores(table: Table):
    draft = rubric_to_json(rubric_with(definition(), {"policy.pass_threshold": "7"}))
    _, found = replayed(table, [8, 6], [8, 6], definition=draft)
    assert found["pass_mark"] == 7.0
    assert found["verdicts"]["fail_pass"] == 1
    assert found["criteria"][0]["wording"] == ""


def test_changed_words_are_marked_and_means_compared_in_pairs(table: Table):
    rubric = rubric_to_json(definition())
    rubric["criteria"][0]["description"] = "Other words."
    _, found = replayed(table, [5, 7, 9, 6, 5, 7, 9, 6], [4, 6, 8, 5, 4, 6, 8, 5.2], definition=rubric)
    depth = found["criteria"][0]
    assert (depth["wording"], depth["before"], depth["after"]) == ("changed", 6.75, 5.775)
    assert depth["change"]["value"] == pytest.approx(-0.975)
    assert depth["verdict"] == "worse"
    assert found["criteria"][-1]["key"] == ""


def test_a_criterion_that_is_new_has_nothing_before(table: Table):
    rubric = rubric_to_json(definition())
    rubric["criteria"][0]["key"] = "new"
    rubric["policy"]["penalties"]["criterion"] = "new"
    run = a_judged_run(table, 5, 6)
    table.server.replies = valid_replies()
    found = compute_replay(carried_out(a_replay(table, run, definition=rubric)).pk)
    first = found["criteria"][0]
    assert (first["wording"], first["n"], first["before"]) == ("added", 0, None)


def test_people_say_who_is_closer(table: Table, editor, viewer):
    run = a_judged_run(table, 9.5, 8)
    for row, score in zip(run.rounds.order_by("number"), (6, 8), strict=True):
        for person in (editor, viewer):
            keys = [criterion.key for criterion in definition().criteria]
            HumanScore.objects.create(
                run=run,
                round=row,
                author=person,
                author_name=person.display_name,
                scores=[{"key": key, "score": str(score), "reason": ""} for key in keys],
                composite=score,
            )
    table.says(7, 9.2)
    found = compute_replay(carried_out(a_replay(table, run)).pk)
    assert [point["closer"] for point in found["points"]] == ["after", "before"]
    assert [point["people"] for point in found["points"]] == [6, 8]
    assert (found["verdicts"]["scored_flips"], found["verdicts"]["closer_after"]) == (2, 1)
    agreement = found["agreement"]
    assert agreement["labels"] == 2
    assert agreement["criteria"][0]["mae_before"] == pytest.approx(1.75)
    assert agreement["criteria"][0]["mae_after"] == pytest.approx(1.1)


def a_recorded_set(table: Table, *scores: float, judge: str = JUDGE.model) -> list[NewItem]:
    """Texts of a label set that a judge scored elsewhere, alike on all criteria."""
    keys = [criterion.key for criterion in definition().criteria]
    rows = [f"t{at},{key},j,{score}" for at, score in enumerate(scores) for key in keys]
    items = [json.dumps({"item": f"t{at}", "text": f"# Text {at}"}) for at in range(len(scores))]
    label_files_import(
        project=table.project,
        rubric=table.version.rubric.slug,
        name=judge,
        ratings=FileText("\n".join(["item,criterion,rater,score", *rows])),
        items=FileText("\n".join(items)),
        judges={"j": judge},
    )
    return [NewItem(row.text, label_item=row) for row in LabelItem.objects.filter(label_set__name=judge)]


def test_a_recorded_judge_is_what_a_replay_of_its_texts_is_compared_with(table: Table):
    items = a_recorded_set(table, 9.5, 8)
    draft = rubric_to_json(rubric_with(definition(), {"purpose": "Stricter."}))
    table.says(7, 9.2)
    measurement = a_measurement(table, kind="replay", items=items, definition=draft)
    found = compute_replay(carried_out(measurement).pk)
    assert [point["flip"] for point in found["points"]] == ["to_fail", "to_pass"]
    assert (found["versions"], found["judges"]) == (["v1"], [JUDGE.model])


def test_the_same_model_comes_before_another_recorded_one(table: Table):
    items = a_recorded_set(table, 9.5, judge="other:1b")
    table.says(7)
    earlier = carried_out(a_measurement(table, kind="replay", items=items))
    assert compute_replay(earlier.pk)["judges"] == ["other:1b"]
    table.says(6)
    draft = rubric_to_json(rubric_with(definition(), {"purpose": "Stricter."}))
    again = carried_out(a_measurement(table, kind="replay", items=items, definition=draft))
    found = compute_replay(again.pk)
    assert (found["judges"], found["points"][0]["before"]) == ([JUDGE.model], 7)


def test_repeats_are_averaged(table: Table):
    _, found = replayed(table, [8], [6, 8], repeats=2)
    assert found["points"][0]["after"] == 7


def test_stored_scores_do_not_change(table: Table):
    before = lambda: list(Round.objects.values_list("composite", "scores"))  # noqa: E731
    run = a_judged_run(table, 8, 7)
    was = before()
    table.says(3, 4)
    carried_out(a_replay(table, run))
    assert before() == was
    assert Verdict.objects.count() == 2


def test_a_replay_that_was_deleted_has_no_results(table: Table):
    assert compute_replay(404) == {}
