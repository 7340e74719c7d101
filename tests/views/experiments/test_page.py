"""An experiment's page: figures, table, cost, and permissions."""

import json
from datetime import timedelta

import pytest
from django.urls import reverse

from refinement.models import BlindReading, Configuration, Experiment, ExperimentRun, Project, Report, Run
from refinement.selectors.experiments.reports.results import experiment_results
from refinement.services.runs.creating import run_create
from tests.selectors.experiments.given import a_suite_of, an_experiment
from tests.services.experiments.given import JUDGE, PRODUCER
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
QUERIES = 18


def page_of(experiment, **query):
    return reverse("experiment_page", args=[experiment.project.slug, experiment.pk], query=query)


def computed(experiment):
    """The figures as a worker stores them."""
    Report.objects.create(
        project=experiment.project, kind="experiment", subject=experiment.pk, status="done", computed=1,
        computed_at=experiment.created_at, result=experiment_results(experiment.pk),
    )  # fmt: skip
    return experiment


def better(project, tasks=12, **more):
    """B is better by 2 on every task, D worse on one of them, and repeats agree."""
    base = [[6.0 + at % 3, 6.1 + at % 3] for at in range(tasks)]
    up = [[first + 2 - at % 2 / 10, second + 2] for at, (first, second) in enumerate(base)]
    down = [[first, second] for first, second in base[:-1]] + [[1.0, 1.1]]
    suite = a_suite_of(project, tasks, ("how-to", "research"))
    return computed(an_experiment(suite, {"A": base, "B": up, "D": down}, **more))


def test_the_page_says_which_is_better_and_where_one_is_worse(as_viewer, project):
    html = as_viewer.get(page_of(better(project))).content.decode()
    assert "B is better than A by" in html
    assert html.index('<span class="key">B</span><span><bdi>B</bdi>') < html.index(
        '<span class="key">A</span><span><bdi>A</bdi>'
    )
    assert 'class="verdict verdict-better"' in html
    assert "no difference shown" in html
    first_row = html.split('<table class="heat-table">')[1].split("<tbody>")[1].split("</tr>")[0]
    assert "tile-worse" in first_row
    assert "style=" not in html


def test_other_judges_have_no_verdict_and_related_ones_are_named(as_viewer, project):
    experiment = better(project)
    assert "experiment-doubts" not in as_viewer.get(page_of(experiment)).content.decode()
    Configuration.objects.filter(experiment=experiment, name="B").update(judge_model="writer:1b")
    Report.objects.update(result=experiment_results(experiment.pk))
    html = as_viewer.get(page_of(experiment)).content.decode()
    assert (
        "The judges differ, so the scores do not compare. A, C: ollama/judge:8b; B: ollama/writer:1b." in html
    )
    assert "B: writer and judge are the same model. Models rate their own family about 0.9" in html
    assert "B does not compare with A: the judge or the rubric version differs." in html
    assert "B is better" not in html
    assert 'class="verdict verdict-better"' not in html.split('id="leaderboard"')[1].split("</table>")[0]
    assert "Make B the baseline" not in html


def test_stopping_and_running_what_is_missing_ask_first(as_editor, project):
    experiment = an_experiment(a_suite_of(project, 3), {"A": [7.0, 7.0, 7.0]}, finished=False)
    cell = ExperimentRun.objects.filter(experiment=experiment).first()
    ExperimentRun.objects.filter(pk=cell.pk).update(state="waiting", r1=None)
    assert "Stop 1 run? Finished runs are kept." in as_editor.get(page_of(experiment)).content.decode()
    ended = {"status": "cancelled", "finished_at": experiment.created_at}
    Experiment.objects.filter(pk=experiment.pk).update(**ended)
    ExperimentRun.objects.filter(pk=cell.pk).update(state="cancelled")
    assert "Run 1 run?" in as_editor.get(page_of(experiment)).content.decode()


def test_queries_do_not_grow(as_viewer, project, django_assert_max_num_queries):
    small = better(project, 4)
    version = small.configurations.first().rubric_version
    large = better(project, 60, name="Large", version=version)
    for experiment in (small, large):
        with django_assert_max_num_queries(QUERIES):
            as_viewer.get(page_of(experiment))


def test_the_table_is_windowed_sorted_and_filtered(as_viewer, project):
    experiment = better(project, 70)
    html = as_viewer.get(page_of(experiment)).content.decode()
    assert html.count('class="heat-cell"') == 90
    assert "1–30 of 70 tasks" in html
    last = as_viewer.get(page_of(experiment, page=3, sort="task")).content.decode()
    assert "61–70 of 70 tasks" in last
    research = as_viewer.get(page_of(experiment, type="research")).content.decode()
    assert "1–30 of 35 tasks" in research
    for query in ({"page": "999"}, {"page": "x"}, {"sort": "x"}, {"type": "nothing"}, {"show": "scores"}):
        assert as_viewer.get(page_of(experiment, **query)).status_code == 200


def test_htmx_gets_the_content_and_nothing_if_nothing_changed(as_viewer, project):
    experiment = better(project)
    whole = as_viewer.get(page_of(experiment), headers={"HX-Request": "true"})
    html = whole.content.decode()
    assert "<html" not in html
    mark = html.split('data-mark="')[1].split('"')[0]
    again = as_viewer.get(page_of(experiment, mark=mark), headers={"HX-Request": "true"})
    assert again.status_code == 204
    ExperimentRun.objects.filter(pk=ExperimentRun.objects.first().pk).update(state="error")
    changed = as_viewer.get(page_of(experiment, mark=mark), headers={"HX-Request": "true"})
    assert changed.status_code == 200


def test_gaps_have_a_look_and_words_of_their_own(as_viewer, project):
    suite = a_suite_of(project, 3)
    experiment = an_experiment(suite, {"A": [7.0, 7.0, 7.0], "B": [None, 8.0, 8.0]}, finished=False)
    cells = ExperimentRun.objects.filter(experiment=experiment, configuration__name="B").order_by("order")
    ExperimentRun.objects.filter(pk=cells[1].pk).update(state="unscored", r1=None)
    ExperimentRun.objects.filter(pk=cells[2].pk).update(state="waiting", r1=None)
    html = as_viewer.get(page_of(experiment)).content.decode()
    for look in ("tile-error", "tile-unscored", "tile-waiting"):
        assert look in html
    assert "unscored: the judge gave no usable reply" in html
    assert "Running" in html
    assert 'class="square is-waiting"' in html
    assert "5 of 6 runs ended, 2 without a score." in html
    board = as_viewer.get(page_of(computed(experiment))).content.decode().split('id="leaderboard"')[1]
    assert "0 of 3 runs: 1 error, 1 unscored, 1 waiting" in board.split("</table>")[0]


def test_while_it_runs_figures_say_over_what_and_that_verdicts_may_change(as_viewer, project):
    suite = a_suite_of(project, 6)
    experiment = an_experiment(suite, {"A": [5.0] * 6, "B": [9.0] * 6}, finished=False)
    last = ExperimentRun.objects.filter(experiment=experiment, configuration__name="B").last()
    ExperimentRun.objects.filter(pk=last.pk).update(state="waiting", r1=None)
    html = as_viewer.get(page_of(computed(experiment))).content.decode()
    assert "Provisional until all runs have ended." in html
    assert 'class="card is-provisional" id="leaderboard"' in html
    assert "11 of 12 runs scored so far" in html
    assert "5 of 6 tasks have a score under all configurations" in html
    assert "stays fair" not in html
    assert "5 of 6 runs: 1 waiting" in html


def started(experiment, task: str, project, **fields):
    """A cell of the experiment whose run is under way."""
    run = run_create(
        project=project, version=experiment.configurations.first().rubric_version, task="Anything.",
        producer=PRODUCER, judge=JUDGE, experiment=experiment,
    )  # fmt: skip
    Run.objects.filter(pk=run.pk).update(**fields)
    cells = ExperimentRun.objects.filter(experiment=experiment, task__key=task, configuration__name="A")
    cells.update(state="running", r1=None, run=run)
    return run


def test_runs_that_wait_for_a_model_server_are_named(as_viewer, project):
    experiment = an_experiment(a_suite_of(project, 2), {"A": [5.0] * 2}, finished=False)
    mark = as_viewer.get(page_of(experiment)).content.decode().split('data-mark="')[1].split('"')[0]
    away = {"status": "waiting", "step_failures": 1, "next_try_at": experiment.created_at}
    started(experiment, "task-000", project, waiting_for="Ollama could not be reached.", **away)
    answer = as_viewer.get(page_of(experiment, mark=mark), headers={"HX-Request": "true"})
    html = answer.content.decode()  # not 204: open pages show it, too
    assert '<span class="chip chip-warn">Waiting</span>' in html
    assert "1 run waits for a model server: <bdi>Ollama could not be reached.</bdi> It continues" in html
    assert "0 running now, 1 waiting for a model server." in html
    # A busy server is no reason to worry.
    Run.objects.update(step_failures=0)
    html = as_viewer.get(page_of(experiment)).content.decode()
    assert '<span class="chip chip-info">Running</span>' in html
    assert "1 running now." in html


def test_a_paused_experiment_says_that_nothing_is_running(as_viewer, project):
    experiment = an_experiment(a_suite_of(project, 2), {"A": [5.0] * 2}, finished=False)
    Experiment.objects.filter(pk=experiment.pk).update(status="paused")
    html = as_viewer.get(page_of(experiment)).content.decode()
    assert "Nothing is running." in html
    assert "running now" not in html


def test_the_time_it_took_leaves_out_pauses(as_viewer, project):
    experiment = an_experiment(a_suite_of(project, 2), {"A": [5.0] * 2})
    began = experiment.created_at
    for task, (first, last) in {"task-000": (0, 40), "task-001": (3_600, 3_650)}.items():
        ended = {"status": "finished", "outcome": "PASS", "stop_reason": "passed"}
        times = {"started_at": began + timedelta(seconds=first), **ended}
        started(experiment, task, project, **times, finished_at=began + timedelta(seconds=last))
    ExperimentRun.objects.update(state="done", r1=5)
    rows = Experiment.objects.filter(pk=experiment.pk)
    rows.update(finished_at=began + timedelta(seconds=3_660))
    html = as_viewer.get(page_of(computed(experiment))).content.decode()
    assert "<dt>Took</dt><dd>1 m 30 s</dd>" in html


def test_the_same_reason_is_said_once(as_viewer, project):
    experiment = an_experiment(a_suite_of(project, 6), {"A": [None] * 6})
    ExperimentRun.objects.update(problem="Ollama has no model named judge:8b.")
    html = as_viewer.get(page_of(computed(experiment))).content.decode()
    assert "None of the 6 runs ended with a score." in html
    assert html.count("Ollama has no model named judge:8b.") == 1
    assert '<b class="num">6</b> <span>error' in html


def test_cells_of_another_judge_are_not_compared(as_viewer, project):
    experiment = better(project)
    Configuration.objects.filter(experiment=experiment, name="B").update(judge_model="other:70b")
    Report.objects.update(result=experiment_results(experiment.pk))
    html = as_viewer.get(page_of(experiment)).content.decode()
    assert "tile-better" not in html.split('class="heat-table"')[1].split("</table>")[0]
    other = experiment.configurations.get(name="B").pk
    cell = reverse("experiment_cell", args=[project.slug, experiment.pk, 1], query={"configuration": other})
    html = as_viewer.get(cell).content.decode()
    assert "Does not compare with the baseline: the judge differs." in html
    assert "▲" not in html


def test_figures_of_an_earlier_version_are_computed_again(as_viewer, project):
    experiment = better(project)
    as_viewer.get(page_of(experiment))
    assert Report.objects.get().status == "done"
    old = Report.objects.get().result
    del old["schema"]
    Report.objects.update(result=old)
    as_viewer.get(page_of(experiment))
    assert Report.objects.get().status == "queued"


def test_a_finished_board_has_no_provisional_words_and_names_the_judge(as_viewer, project):
    html = as_viewer.get(page_of(better(project))).content.decode()
    assert "rovisional" not in html
    assert "over 12 tasks × 2 repeats" in html
    assert "Scores are judge judge:8b&#x27;s opinion; not compared with people." in html
    assert "not compared with people</span>" in html


def test_without_repeats_cells_are_neutral(as_viewer, project):
    suite = a_suite_of(project, 6)
    experiment = computed(an_experiment(suite, {"A": [5.0] * 6, "B": [9.0] * 6}))
    table = as_viewer.get(page_of(experiment)).content.decode().split('id="heatmap"')[1]
    assert "noise unknown: repeats or a" in table
    assert "tile-better" not in table
    assert "within noise" not in table
    cell = reverse("experiment_cell", args=[project.slug, experiment.pk, 1])
    assert "Noise unknown" in as_viewer.get(cell).content.decode()


def test_another_baseline_after_results_is_another_comparison(as_editor, project):
    experiment = better(project)
    address = reverse("experiment_baseline", args=[project.slug, experiment.pk])
    chosen = experiment.configurations.get(name="B").pk
    html = as_editor.post(address, {"configuration": chosen}, follow=True).content.decode()
    assert "Everyone in this project now sees this experiment compared with B B instead of A A." in html
    assert "This is another comparison, chosen after results were known." in html


def test_an_experiment_without_budget_left_resumes_with_a_larger_one(as_editor, project):
    experiment = an_experiment(a_suite_of(project, 2), {"A": [7.0, 7.0]}, finished=False)
    Experiment.objects.filter(pk=experiment.pk).update(status="paused", token_budget=100)
    address = reverse("experiment_action", args=[project.slug, experiment.pk, "resume"])
    ExperimentRun.objects.filter(experiment=experiment).update(tokens=40)
    assert "New token budget" not in as_editor.get(page_of(experiment)).content.decode()
    ExperimentRun.objects.filter(experiment=experiment).update(tokens=600)
    html = as_editor.get(page_of(experiment)).content.decode()
    assert "New token budget" in html
    assert 'value="2000"' in html  # 1,200 used by two of two runs, and a tenth more
    refused = as_editor.post(address, {"token_budget": "1100"}, follow=True).content.decode()
    assert "used up: 1,200 of 1,100 tokens" in refused
    as_editor.post(address, {"token_budget": "2000"})
    experiment.refresh_from_db()
    assert (experiment.status, experiment.token_budget) == ("running", 2_000)


def test_a_person_who_scores_one_of_its_runs_blind_sees_no_figures(as_viewer, viewer, project, owner):
    experiment = better(project)
    version = experiment.configurations.first().rubric_version
    run = run_create(
        project=project, version=version, task="Say it.", seed="", producer=PRODUCER, judge=JUDGE, user=owner
    )
    cell = ExperimentRun.objects.filter(experiment=experiment).first()
    ExperimentRun.objects.filter(pk=cell.pk).update(run=run)
    BlindReading.objects.create(run=run, reader=viewer, round_number=1)
    html = as_viewer.get(page_of(experiment)).content.decode()
    assert "its figures are hidden" in html
    assert "Leaderboard" not in html
    assert "heat-cell" not in html
    task = reverse("experiment_cell", args=[project.slug, experiment.pk, 1])
    assert as_viewer.get(task).status_code == 302
    export = reverse("experiment_export", args=[project.slug, experiment.pk, "runs"])
    assert as_viewer.get(export).status_code == 403
    assert Run.objects.filter(experiment_run__experiment=experiment).count() == 1


def test_a_run_names_its_experiment_and_the_list_filters_by_it(as_viewer, project, owner):
    experiment = better(project)
    version = experiment.configurations.first().rubric_version
    mine, other = (
        run_create(
            project=project, version=version, task=text, seed="", producer=PRODUCER, judge=JUDGE, user=owner
        )
        for text in ("Write one.", "Write two.")
    )
    cell = ExperimentRun.objects.filter(experiment=experiment).order_by("order").first()
    ExperimentRun.objects.filter(pk=cell.pk).update(run=mine)
    Run.objects.filter(pk=mine.pk).update(experiment=experiment)
    html = as_viewer.get(reverse("run_page", args=[project.slug, mine.pk])).content.decode()
    assert "part of" in html
    assert reverse("experiment_page", args=[project.slug, experiment.pk]) in html
    listed = as_viewer.get(reverse("run_list", args=[project.slug], query={"experiment": experiment.pk}))
    assert "Write one" in listed.content.decode()
    assert "Write two" not in listed.content.decode()
    letter = f'<span aria-hidden="true">exp. {experiment.pk} A</span>'
    assert letter in listed.content.decode()
    for origin, there, away in (("own", "two", "one"), ("experiments", "one", "two")):
        listed = as_viewer.get(reverse("run_list", args=[project.slug], query={"origin": origin}))
        assert f"Write {there}" in listed.content.decode()
        assert f"Write {away}" not in listed.content.decode()
    assert other.pk != mine.pk


def exported(client, experiment, form):
    return client.get(reverse("experiment_export", args=[experiment.project.slug, experiment.pk, form]))


def test_the_menu_offers_every_file(as_viewer, project):
    experiment = better(project)
    html = as_viewer.get(page_of(experiment)).content.decode()
    files = {}
    for form in ("leaderboard", "runs", "json", "md"):
        assert reverse("experiment_export", args=[project.slug, experiment.pk, form]) in html
        files[form] = exported(as_viewer, experiment, form).getvalue().decode()
    lines = files["leaderboard"].splitlines()
    assert lines[0].startswith("configuration,name,judge,runs,")
    assert [line.split(",")[0] for line in lines[1:]] == ["A", "B", "C"]
    assert len(files["runs"].splitlines()) == 1 + 12 * 3 * 2
    assert json.loads(files["json"])["headline"] in html
    assert f"http://testserver{page_of(experiment)}" in files["md"]
    assert "Scores are judge judge:8b's opinion; not compared with people." in files["md"]
    assert json.loads(files["json"])["chance"] in files["md"]
    assert exported(as_viewer, experiment, "exe").status_code == 404


def test_figures_that_are_not_computed_are_no_file(as_viewer, project):
    experiment = an_experiment(a_suite_of(project, 1), {"A": [7.0]})
    assert exported(as_viewer, experiment, "json").status_code == 404
    assert len(exported(as_viewer, experiment, "runs").getvalue().splitlines()) == 2


def test_another_projects_experiment_is_not_found(as_viewer, project, other_project):
    elsewhere = an_experiment(a_suite_of(other_project, 1), {"A": [7.0]})
    address = reverse("experiment_page", args=[project.slug, elsewhere.pk])
    assert as_viewer.get(address).status_code == 404


def test_an_unproven_judge_is_said_where_the_project_requires_a_proven_one(as_viewer, project):
    experiment = better(project)
    assert "unproven judge" not in as_viewer.get(page_of(experiment)).content.decode()
    Project.objects.filter(pk=project.pk).update(gate_labels=100)
    run = finished_run(project, ["7"], outcome="PASS", stop_reason="passed")
    Run.objects.filter(pk=run.pk).update(experiment=experiment)
    cell = ExperimentRun.objects.filter(experiment=experiment, configuration__name="B").first()
    ExperimentRun.objects.filter(pk=cell.pk).update(run=run)
    assert (
        "B: unproven judge, 0 of 100 texts labelled." in as_viewer.get(page_of(experiment)).content.decode()
    )
    assert "B (unproven judge)" in exported(as_viewer, experiment, "md").getvalue().decode()


def test_the_suite_shows_what_its_latest_experiments_found(as_viewer, project):
    experiment = better(project)
    suite = experiment.suite_version.suite
    address = reverse("suite_page", args=[project.slug, suite.slug])
    headline = experiment_results(experiment.pk)["headline"]
    assert as_viewer.get(address).content.decode().count(headline) == 1
    report = Report.objects.get(subject=experiment.pk)
    Report.objects.update(result={**report.result, "schema": 0})  # by rules that no longer hold
    assert headline not in as_viewer.get(address).content.decode()
