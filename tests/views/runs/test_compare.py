"""Comparing two to five runs."""

import re
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from refinement.engine.codec import rubric_with
from refinement.engine.profiles import rubric_for
from refinement.models import Run
from refinement.providers.registry import Target
from refinement.services.rubrics.editing import rubric_create
from refinement.services.runs.creating import run_create
from tests.views.runs.board_guide import board_rows
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def address(*runs, **more):
    query = [f"run={run.pk if isinstance(run, Run) else run}" for run in runs]
    query += [f"{name}={value}" for name, value in more.items()]
    return f"/p/alpha/runs/compare/?{'&'.join(query)}"


def text_of(answer):
    """The page's words without its tags, spaces joined."""
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def row_of(answer, label):
    """The words of a table's row."""
    row = re.search(
        rf'<tr><th scope="row">(?:<bdi>)?{re.escape(label)}.*?</tr>', answer.content.decode(), re.S
    )
    assert row, f"no row {label}"
    return " ".join(re.sub(r"<[^>]+>", " ", row[0]).split())


def test_figures_stand_side_by_side_with_what_changed_from_the_baseline(as_viewer, project):
    first = finished_run(project)
    second = finished_run(
        project, ["8.3", "9.1"], outcome="PASS", stop_reason="passed", prompt_tokens=30000, cost="0.25",
        why="9.10 reaches the pass mark of 9.0", candidates=["One.", "Two."],
    )  # fmt: skip
    answer = as_viewer.get(address(first, second))

    assert answer.status_code == 200
    assert row_of(answer, "Result score") == "Result score 8.60 round 2 9.10 highest +0.50 round 2"
    assert row_of(answer, "First score") == "First score 7.15 8.30 +1.15"
    assert row_of(answer, "Last − first") == "Last − first +1.15 +0.80 −0.35"
    assert row_of(answer, "Rounds judged") == "Rounds judged 3 of max. 3 2 of max. 3"
    assert row_of(answer, "Tokens") == "Tokens 18,420 33,420 +81 %"
    assert row_of(answer, "Cost") == "Cost – $0.25"
    assert row_of(answer, "Result") == "Result FAIL round limit reached PASS"
    assert row_of(answer, "Duration") == "Duration 1 m 52 s 1 m 52 s"
    assert "9.10 reaches the pass mark of 9.0" in text_of(answer)
    highest = f"Run {second.pk} scored highest: 9.10, +0.50 against the baseline, run {first.pk}."
    assert highest in text_of(answer)


def test_the_answer_says_that_both_failed_and_what_noise_is_known(as_viewer, project):
    first = finished_run(project, ["6.775", "7.275"])
    second = finished_run(project, ["6.6", "7.4", "7.254"], candidates=["One.", "Two.", "Three."])
    assert "scored with different rubrics or judges" in text_of(as_viewer.get(address(first, second)))
    Run.objects.filter(pk=second.pk).update(judge_record=first.judge_record)
    said = text_of(as_viewer.get(address(first, second)))
    assert "scored highest: 7.40, +0.12" in said
    assert "Both runs ended in FAIL. The judge&#x27;s noise is not measured" in said
    Run.objects.filter(pk__in=[first.pk, second.pk]).update(smallest_difference="0.05")
    said = text_of(as_viewer.get(address(first, second)))
    assert "The difference is larger than the judge&#x27;s noise." in said
    Run.objects.filter(pk=first.pk).update(outcome="PASS")
    assert f"Run {second.pk} ended in FAIL." in text_of(as_viewer.get(address(first, second)))


def test_a_difference_agrees_with_the_values_beside_it(as_viewer, project):
    first, second = finished_run(project, ["7.275"]), finished_run(project, ["7.254"], candidates=["One."])
    assert row_of(as_viewer.get(address(first, second)), "Last") == "Last 7.28 7.25 −0.03"


def test_the_baseline_can_be_chosen(as_viewer, project):
    first, second = finished_run(project), finished_run(project, ["8.3", "9.1"], candidates=["One.", "Two."])
    answer = as_viewer.get(address(first, second, base=second.pk))
    assert row_of(answer, "Result score") == "Result score 9.10 highest round 2 8.60 −0.50 round 2"
    assert f"No run scored higher than the baseline, run {second.pk}." in text_of(answer)
    assert f'<option value="{second.pk}" selected>' in answer.content.decode()
    assert as_viewer.get(address(first, second, base=999)).status_code == 404


def test_only_what_differs(as_viewer, project):
    first, second = finished_run(project), finished_run(project, ["8.3", "9.1"], candidates=["One.", "Two."])
    page = as_viewer.get(address(first, second, differs=1)).content.decode()
    assert "<bdi>Result score</bdi>" in page
    assert "<bdi>Calls</bdi>" not in page


def test_criteria_that_lost_most_come_first_if_asked_for(as_viewer, project):
    first, second = finished_run(project), finished_run(project, ["8.3", "9.1"], candidates=["One.", "Two."])
    scores = {"depth": "9.5", "relevance": "4", "completeness": "6.6", "grounded": "8.6"}
    second.rounds.filter(number=2).update(scores=scores)
    names = r'<th scope="row"><bdi>(Depth|Relevance|Completeness|Grounded)</bdi>'
    assert re.findall(names, as_viewer.get(address(first, second)).content.decode()) == [
        "Depth", "Relevance", "Completeness", "Grounded",
    ]  # fmt: skip
    answer = as_viewer.get(address(first, second, order="loss"))
    assert re.findall(names, answer.content.decode())[:2] == ["Relevance", "Completeness"]
    assert row_of(answer, "Relevance") == "Relevance 8.6 4 −4.6"
    assert row_of(answer, "Grounded") == "Grounded 8.6 8.6"


def test_identical_texts_have_no_winner(as_viewer, project):
    texts = ["One.", "The same."]
    first = finished_run(project, ["7", "8"], candidates=texts)
    second = finished_run(project, ["7", "8.5"], candidates=texts)
    answer = as_viewer.get(address(first, second))
    assert "highest" not in row_of(answer, "Result score")
    assert "Both results are the identical text. Differences in scores are the judge’s." in text_of(answer)
    third = finished_run(project, ["7", "7.5"], candidates=["One.", "Another."])
    answer = as_viewer.get(address(third, first, second))
    assert f"Runs {first.pk} and {second.pk} have identical text." in text_of(answer)
    assert row_of(answer, "Result score").count("highest") == 2


def test_both_lines_are_in_the_chart_and_in_its_table(as_viewer, project):
    first, second = finished_run(project), finished_run(project, ["8.3", "9.1"])
    answer = as_viewer.get(address(first, second))

    page = answer.content.decode()
    assert "chart-series-1" in page
    assert "chart-series-2" in page
    assert "chart-threshold" in page
    assert row_of(answer, "Round 2") == "Round 2 8.60 9.10"
    assert row_of(answer, "Round 3") == "Round 3 8.30 –"
    assert "different scales" not in page


def test_a_loss_has_a_minus_and_no_warning_is_called_none(as_viewer, project):
    answer = as_viewer.get(address(finished_run(project, ["8", "7.5"]), finished_run(project, ["6", "7"])))
    assert row_of(answer, "Last − first") == "Last − first \N{MINUS SIGN}0.50 +1.00 +1.50"
    assert row_of(answer, "Warnings") == "Warnings none none"


def test_different_scales_become_shares_and_the_page_says_so(as_viewer, project):
    first = finished_run(project, ["5", "7.5"])
    second = finished_run(project, ["0.4", "0.9"], definition=ralph())
    answer = as_viewer.get(address(first, second))

    assert "different scales" in text_of(answer)
    assert row_of(answer, "Round 2") == "Round 2 75 % 90 %"
    assert "highest" not in row_of(answer, "Result score")


def ralph():
    """The ralph profile with one criterion, so that its judge has something to score."""
    rubric = rubric_for("ralph")
    return rubric if rubric.criteria else replace(rubric, criteria=rubric_for("wiggum").criteria)


def test_only_settings_that_differ_are_listed(as_viewer, project):
    base = rubric_for("wiggum")
    first = finished_run(project, definition=base)
    second = finished_run(
        project, definition=rubric_with(base, {"policy.max_rounds": "5"}), judge=Target("rack", "llama3:70b")
    )
    answer = as_viewer.get(address(first, second))

    assert re.search(r"Rounds 3 5\b", text_of(answer))
    single = "Single judge: gemma3:27b at ollama Single judge: llama3:70b at rack"
    assert row_of(answer, "Judged by") == f"Judged by {single}"
    assert "settings differ" in text_of(answer)
    brief = "Judged by Single judge: gemma3:27b at ollama / Single judge: llama3:70b at rack"
    top = text_of(answer).split("Figures")[0]
    assert brief in top
    assert "Rounds 3 / 5" in top
    assert "Writer temperature" not in text_of(answer)


def test_a_board_beside_a_single_judge(as_viewer, project):
    single, board = finished_run(project), board_rows(project)
    answer = as_viewer.get(address(single, board))

    said = f"run {single.pk} by gemma3:27b, run {board.pk} by a board of 3."
    assert f"Scored by different judges: {said}" in text_of(answer)
    seats = ", ".join(f"{name} (gemma3:27b at ollama)" for name in ("Operator", "Newcomer", "Fact checker"))
    assert row_of(answer, "Judged by").endswith(f"Board of 3: {seats}")
    assert row_of(answer, "Grounded") == "Grounded 8.6 7.5 −1.1 spread 3 split"
    assert row_of(answer, "Completeness") == "Completeness 8.6 8 −0.6 spread 0.5"


def test_two_runs_of_the_same_judges_have_no_such_warning(as_viewer, project):
    for runs in ([finished_run(project), finished_run(project)], [board_rows(project), board_rows(project)]):
        assert "different judges" not in text_of(as_viewer.get(address(*runs)))


def test_a_board_that_took_over_is_said(as_viewer, project):
    base = rubric_for("wiggum")
    first = board_rows(project, definition=base, escalated_after=2)
    answer = as_viewer.get(address(first, finished_run(project, definition=base)))
    assert "Single judge: gemma3:27b at ollama. After round 2 board of 3: Operator" in text_of(answer)
    assert f"run {first.pk} by gemma3:27b, then a board of 3" in text_of(answer)


def test_the_same_settings_are_said_to_be_the_same(as_viewer, project):
    version = rubric_create(project=project, slug="one", definition=rubric_for("wiggum"))
    model = Target("ollama", "qwen3:14b")
    runs = [
        run_create(project=project, version=version, task="Say it.", producer=model, judge=model)
        for _ in range(2)
    ]
    answer = as_viewer.get(address(*runs))

    assert "Same settings" in text_of(answer)
    assert "No round has been judged yet." in text_of(answer)
    assert "One of these runs has no judged text yet." in text_of(answer)


def test_a_long_setting_is_shown_from_where_it_differs(as_viewer, project):
    first, second = (finished_run(project, task=f"{'same ' * 2000}{end}") for end in ("ALPHA", "OMEGA"))
    row = row_of(as_viewer.get(address(first, second)), "Task")
    assert "ALPHA (10,005 characters)" in row
    assert "OMEGA" in row
    assert len(row) < 500


def test_the_bests_are_compared_word_by_word(as_viewer, project):
    first = finished_run(
        project, ["5", "7"], candidates=["no", "Deploy it in a container and watch the log."]
    )
    second = finished_run(project, ["8", "6"], candidates=["Deploy it on a server and watch the log.", "no"])
    page = as_viewer.get(address(first, second)).content.decode()
    assert re.search(r"<del>[^<]*container[^<]*</del>", page)
    assert re.search(r"<ins>[^<]*server[^<]*</ins>", page)
    assert not re.search(r"<(del|ins)>[^<]*watch", page)


def test_any_two_can_be_compared_and_htmx_gets_that_part_alone(as_viewer, project):
    runs = [
        finished_run(project, ["5"], candidates=[f"The text number {name}."])
        for name in ("one", "two", "six")
    ]
    chosen = {"a": runs[2].pk, "b": runs[0].pk}
    whole = as_viewer.get(address(*runs, **chosen)).content.decode()
    part = as_viewer.get(address(*runs, **chosen), headers=HTMX).content.decode()

    assert "<html" in whole
    assert "<html" not in part
    assert part.lstrip().startswith('<section class="card" id="compare-diff"')
    for page in (whole, part):
        assert re.search(r"<del>[^<]*six", page)
        assert re.search(r"<ins>[^<]*one", page)
    boosted = as_viewer.get(address(*runs), headers={**HTMX, "HX-Boosted": "true"}).content.decode()
    assert "<html" in boosted


@pytest.mark.parametrize("name", ["a", "b"])
def test_a_diff_with_a_run_that_is_not_compared_is_not_found(as_viewer, project, name):
    runs = [finished_run(project) for _ in range(3)]
    assert as_viewer.get(address(*runs[:2], **{name: runs[2].pk})).status_code == 404


def test_equal_texts_and_one_run_twice_are_said(as_viewer, project):
    first, second = (finished_run(project, ["5"], candidates=["Just this."]) for _ in range(2))
    assert "Identical text." in text_of(as_viewer.get(address(first, second)))
    assert "Choose two different runs." in text_of(as_viewer.get(address(first, second, b=first.pk)))


def test_repeats_of_one_launch_get_mean_and_spread(as_viewer, project, other_project):
    runs = [finished_run(project, ["5", best], batch="abc") for best in ("7", "8", "9")]
    finished_run(other_project, ["1", "1"], batch="abc")
    answer = as_viewer.get(address(*runs[:2]))

    assert "Repeats of one launch 3 of 3 finished" in text_of(answer)
    section = answer.content.decode().split("Repeats of one launch")[1]
    row = re.search(r'<tr><th scope="row">Best.*?</tr>', section, re.S)[0]
    assert " ".join(re.sub(r"<[^>]+>", " ", row).split()) == "Best 8.00 ± 1.00 7.00 9.00"


def test_runs_of_different_launches_are_no_repeats(as_viewer, project):
    first, second = finished_run(project, batch="abc"), finished_run(project, batch="xyz")
    assert "Repeats of one launch" not in text_of(as_viewer.get(address(first, second)))


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_lead_to_a_choice(as_viewer, project, count):
    runs = [finished_run(project) for _ in range(3)]
    answer = as_viewer.get(address(*runs[:count]))

    assert answer.status_code == 200
    assert "Choose runs" in text_of(answer)
    boxes = re.findall(
        r'<input type="checkbox" name="run" value="(\d+)"( checked)?>', answer.content.decode()
    )
    assert {int(number) for number, _ in boxes} == {run.pk for run in runs}
    assert [int(number) for number, checked in boxes if checked] == [run.pk for run in runs[:count]]


def test_the_same_run_twice_counts_once(as_viewer, project):
    run = finished_run(project)
    finished_run(project)
    assert "One run is selected" in text_of(as_viewer.get(address(run, run)))


def test_more_than_five_are_refused_and_stay_chosen(as_viewer, project):
    runs = [finished_run(project) for _ in range(6)]
    answer = as_viewer.get(address(*runs))
    assert answer.status_code == 422
    assert "6 runs are selected. Select at most 5." in text_of(answer)
    assert answer.content.decode().count(" checked>") == 6
    assert as_viewer.get(address(*runs[:5])).status_code == 200


def test_an_empty_project_is_told_what_a_comparison_needs(as_viewer):
    assert "A comparison needs two runs" in text_of(as_viewer.get(address()))


@pytest.mark.parametrize("odd", ["x", "-1", "999999", "1.5", "٣", "9" * 30, ""])
def test_an_odd_number_is_not_found(as_viewer, project, odd):
    run = finished_run(project)
    assert as_viewer.get(address(run, odd)).status_code == 404


def test_a_run_of_another_project_is_not_found(as_viewer, project, other_project):
    own, foreign = finished_run(project), finished_run(other_project)
    assert as_viewer.get(address(own, foreign)).status_code == 404
    assert as_viewer.get(address(foreign)).status_code == 404
    assert as_viewer.get(address(own, foreign, choose=1)).status_code == 404


def test_outsiders_and_strangers_are_kept_out(as_outsider, anonymous, project):
    runs = [finished_run(project) for _ in range(2)]
    assert as_outsider.get(address(*runs)).status_code == 404
    assert anonymous.get(address(*runs)).status_code == 302


def test_posting_is_refused(as_owner, project):
    assert as_owner.post(reverse("run_compare", args=["alpha"])).status_code == 405


def test_the_number_of_queries_does_not_grow(as_viewer, project):
    small = [finished_run(project, ["5"], batch="abc") for _ in range(2)]
    large = [finished_run(project, ["5"] * 30, batch="xyz", tags=["a", "b"]) for _ in range(5)]
    counts = []
    for runs in (small, large):
        as_viewer.get(address(*runs))
        with CaptureQueriesContext(connection) as queries:
            as_viewer.get(address(*runs))
        counts.append(len(queries))
    assert counts[0] == counts[1]


HOSTILE = "</td><script>alert(1)</script><img src=x onerror=alert(1)> \u202eabc 😀 {{ 7|add:7 }} \x00 =1+1"


def test_hostile_text_is_text(as_viewer, project):
    runs = [
        finished_run(
            project, ["5", "6"], task=f"{name} {HOSTILE}", candidates=[HOSTILE, f"{name} {HOSTILE}"],
            said=HOSTILE, why=HOSTILE.replace("\x00", ""), producer=Target("ollama", "<b>model</b>"),
        )
        for name in ("one", "two")
    ]  # fmt: skip
    for page in (as_viewer.get(address(*runs)), as_viewer.get(address(runs[0]))):
        text = page.content.decode()
        assert page.status_code == 200
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "<b>model" not in text
        assert "&lt;script&gt;alert(1)" in text
        assert "\x00" not in text


def test_five_megabytes_and_one_long_line_are_shown_in_part(as_viewer, project):
    long = "x" * 5_000_000
    runs = [finished_run(project, ["5"], candidates=[f"{name}{long}"], task=f"{name}{long}") for name in "ab"]
    answer = as_viewer.get(address(*runs))
    assert "The first 20,000 characters are shown; download the whole text" in text_of(answer)
    assert "their first 200,000 characters are compared" in text_of(answer)
    assert len(answer.content) < 1_500_000


def test_there_is_a_picture_for_a_phone(as_viewer, project):
    runs = [finished_run(project, ["5", "7"]) for _ in range(2)]
    page = as_viewer.get(address(*runs)).content.decode()
    assert 'viewBox="0 0 400 240"' in page


def test_task_types_that_differ_are_a_setting(as_viewer, project):
    pair = [finished_run(project, task_type=kind) for kind in ("research", "how-to")]
    assert row_of(as_viewer.get(address(*pair)), "Task type") == "Task type research how-to"


def test_the_round_that_people_chose_is_what_is_compared(as_viewer, project):
    first = finished_run(project, ["8.3", "9.1"], candidates=["# Title one", "Two."])
    second = finished_run(project, ["8.4", "8.6"], candidates=["Three.", "Four."])
    Run.objects.filter(pk=first.pk).update(chosen_round=1, decision="result")
    answer = as_viewer.get(address(first, second))
    said = row_of(answer, "Result score")
    assert said.startswith("Result score 8.30 round 1, chosen by people 8.60 highest +0.30")
    page = answer.content.decode()
    assert "Title one</h" in page  # rendered
    assert "# Title one" not in page.split('id="compare-diff"')[0]


def test_the_diff_of_different_tasks_is_folded(as_viewer, project):
    first, second = (
        finished_run(project, ["8.3", "9.1"], candidates=["One.", text]) for text in ("Two.", "Three.")
    )
    folded = "The tasks differ: show the differences anyway"
    assert folded not in as_viewer.get(address(first, second)).content.decode()
    Run.objects.filter(pk=first.pk).update(task="Another task")
    assert folded in as_viewer.get(address(first, second)).content.decode()
    assert folded not in as_viewer.get(address(first, second, a=first.pk)).content.decode()


def test_people_who_rejected_the_highest_run_are_in_the_first_sentence(as_viewer, project, editor):
    worse = finished_run(project, ["7"], candidates=["One text."])
    better = finished_run(project, ["9"], candidates=["Another text."])
    Run.objects.filter(pk=better.pk).update(decision="rejected")
    page = as_viewer.get(f"/p/alpha/runs/compare/?run={worse.pk}&run={better.pk}")
    said = f"Run {better.pk} scored highest (9.00, +2.00 against run {worse.pk}), but people rejected it."
    assert said in page.context["answer"]
    rows = {row.label: [cell.text for cell, _ in cells] for row, cells in page.context["figures"]}
    assert rows["Decision"] == ["", "rejected"]
