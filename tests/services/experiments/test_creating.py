"""Creating experiments: what is stored, in which order runs start, and what is refused."""

import pytest
from django.core.exceptions import ValidationError

from refinement.models import AuditEntry, ExperimentRun, QueuedMessage, Run
from refinement.providers.registry import Target
from refinement.services.experiments.creating import experiment_create
from refinement.services.rubrics.editing import rubric_archive
from refinement.services.suites.editing import suite_archive
from tests.services.experiments.given import a_configuration, a_rubric, an_experiment, dealt, going
from tests.services.suites.given import a_suite, a_task

pytestmark = pytest.mark.django_db


def test_every_task_has_a_cell_under_every_configuration_and_repeat(project, editor):
    experiment = an_experiment(project, tasks=3, names="AB", repeats=2, user=editor, token_budget=5_000)
    assert experiment.runs.count() == 3 * 2 * 2
    assert experiment.status == "running"
    assert [(row.letter, row.name, row.baseline) for row in experiment.configurations.all()] == [
        ("A", "A", True),
        ("B", "B", False),
    ]
    assert not Run.objects.exists()  # runs are created when they are started
    assert QueuedMessage.objects.filter(body__contains="advance_experiment").count() == 1
    entry = AuditEntry.objects.get(action="experiment.create")
    assert entry.user == editor
    assert entry.after["configurations"] == ["A", "B"]


def test_a_half_finished_experiment_compares_all_on_the_same_tasks(project):
    experiment = an_experiment(project, tasks=3, names="ABC", repeats=2)
    order = list(experiment.runs.values_list("repeat", "task__key", "configuration__name"))
    assert [(repeat, key) for repeat, key, _ in order[::3]] == [
        (repeat, f"task-{number}") for repeat in (1, 2) for number in (1, 2, 3)
    ]
    # Each starts first once in three tasks.
    assert ["".join(name for *_, name in order[at : at + 3]) for at in (0, 3, 6)] == ["ABC", "CAB", "BCA"]


def test_the_runs_have_the_tasks_checks_and_all_sources(project, monkeypatch):
    task = a_task(
        "restore",
        task_type="how-to",
        tags=("backup",),
        checks=(a_check("long"), a_check("long")),
        sources=(source("manual", "From the task."), source("style", "Of the task.")),
    )
    version = a_rubric(project)
    known = version.checks.count()
    experiment = an_experiment(
        project,
        suite=a_suite(project, task),
        configurations=[
            a_configuration(
                version,
                definition_changes={"policy.max_rounds": 2, "policy.pass_threshold": None},
                sources=[source("style", "Of the configuration.")],
            )
        ],
    )
    assert dealt(experiment, 5, monkeypatch) == 1
    (run,) = going(experiment)
    assert run.snapshot["policy"]["max_rounds"] == 2
    assert run.snapshot["policy"]["pass_threshold"] is None
    assert [check["key"] for check in run.snapshot["checks"]][known:] == ["long", "long-2"]
    assert list(run.sources.values_list("name", "text")) == [
        ("manual", "From the task."),
        ("style", "Of the configuration."),
    ]
    assert (run.task_type, run.title, run.experiment, run.suite) == (
        "how-to",
        task.title,
        experiment,
        experiment.suite_version.suite,
    )
    assert list(run.tags.values_list("name", flat=True)) == ["backup"]


def a_check(key: str):
    from refinement.engine.rubrics import Check

    return Check(key=key, kind="min_words", parameters={"count": 10})


def source(name: str, text: str):
    from refinement.judging.sources import SourceText

    return SourceText(name, text)


@pytest.mark.parametrize(
    ("given", "field", "words"),
    [
        ({"names": "AA"}, "configurations", "A: There is already a configuration with this name."),
        ({"names": "ABCDEFGHIJK"}, "configurations", "1 to 10 configurations"),
        ({"names": ""}, "configurations", "1 to 10 configurations"),
        ({"repeats": 21}, "repeats", "1 to 20 repeats"),
        ({"repeats": 0}, "repeats", "1 to 20 repeats"),
        ({"name": " "}, "name", "Enter a name."),
        ({"token_budget": 0}, "token_budget", "at least 1"),
    ],
)
def test_refuses(project, given, field, words):
    with pytest.raises(ValidationError) as refused:
        an_experiment(project, **given)
    assert words in " ".join(refused.value.message_dict[field])
    assert not ExperimentRun.objects.exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"policy.nothing": "1"}, "unknown setting 'policy.nothing'"),
        ({"policy.max_rounds": "none at all"}, "policy.max_rounds"),
        ({"templates.judge": "{{ nothing }}"}, "templates.judge"),
    ],
)
def test_refuses_settings_that_the_rubric_does_not_take(project, changes, words):
    given = a_configuration(a_rubric(project), "Strict", definition_changes=changes)
    with pytest.raises(ValidationError) as refused:
        an_experiment(project, configurations=[given])
    (message,) = refused.value.message_dict["configurations"]
    assert message.startswith("Strict: ")
    assert words in message


def test_refuses_what_is_archived_empty_or_too_large(project, editor, monkeypatch):
    version = a_rubric(project)
    rubric_archive(rubric=version.rubric, user=editor)
    with pytest.raises(ValidationError, match="is archived"):
        an_experiment(project, version=version)
    suite = a_suite(project)
    suite_archive(suite=suite.suite, user=editor)
    with pytest.raises(ValidationError, match="suite is archived"):
        an_experiment(project, suite=suite)
    empty = suite_of(project)
    with pytest.raises(ValidationError, match="has no tasks"):
        an_experiment(project, suite=empty)
    monkeypatch.setattr("refinement.services.experiments.checking.MOST_CELLS", 3)
    with pytest.raises(ValidationError, match="This would be 4 runs"):
        an_experiment(project)


def suite_of(project):
    from refinement.services.suites.editing import suite_create

    return suite_create(project=project, name="Empty", tasks=())


def test_refuses_other_projects_and_scripted_models(project, other_project):
    with pytest.raises(ValidationError, match="belongs to another project"):
        an_experiment(project, suite=a_suite(other_project))
    with pytest.raises(ValidationError, match="Its rubric belongs to another project"):
        an_experiment(project, version=a_rubric(other_project))
    scripted = a_configuration(a_rubric(project), producer=Target("scripted:replies.jsonl", "scripted"))
    with pytest.raises(ValidationError, match="Scripted"):
        an_experiment(project, configurations=[scripted])


def test_refuses_a_used_up_project_budget(project):
    project.monthly_tokens = 0
    project.save()
    with pytest.raises(ValidationError, match="used up its budget"):
        an_experiment(project)


def test_asks_servers_only_about_long_texts_and_once_per_configuration(project, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "refinement.services.experiments.checking.contexts_check", lambda **given: asked.append(given["task"])
    )
    an_experiment(project, tasks=3)
    assert asked == []
    long = "word " * 20_000
    suite = a_suite(project, a_task("short"), a_task("long", task=long), a_task("longest", task=long + long))
    an_experiment(project, suite=suite)
    assert [len(text) for text in asked] == [len(long + long)] * 2


def test_takes_ten_thousand_cells_in_a_moment(project, django_assert_max_num_queries):
    tasks = [a_task(f"task-{number}") for number in range(500)]
    suite = a_suite(project, *tasks)
    version = a_rubric(project)
    configurations = [a_configuration(version, name) for name in "ABCDEFGHIJ"]
    with django_assert_max_num_queries(260):
        experiment = experiment_create(
            project=project,
            user=None,
            suite_version=suite,
            name="Large",
            configurations=configurations,
            repeats=2,
        )
    assert experiment.runs.count() == 10_000
