"""Saving suites: versions, concurrent edits, restoring, pushing and tasks from runs."""

from dataclasses import replace

import pytest
from django.core.exceptions import ValidationError

from refinement.interchange.suites.types import SuiteText
from refinement.judging.sources import SourceText
from refinement.models import AuditEntry, SuiteTask, SuiteVersion
from refinement.models.rubrics.rubrics import ImmutableRow
from refinement.selectors.suites.tasks import tasks_of
from refinement.services.suites.collecting import runs_add, suite_from_runs
from refinement.services.suites.editing import (
    NewerVersion,
    suite_archive,
    suite_create,
    suite_rename,
    suite_restore,
    version_save,
)
from refinement.services.suites.files import UnknownBase, suite_push
from tests.interchange.test_suite_files import FULL
from tests.services.suites.given import a_suite, a_task
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db


def audited(action):
    return AuditEntry.objects.filter(action=action).latest("id").after


def test_a_version_keeps_what_was_saved(project, editor):
    version = a_suite(project, FULL, user=editor)
    assert (version.number, version.task_count, version.suite.slug) == (1, 1, "release-notes")
    assert tasks_of(version) == (FULL,)
    for row in (version, version.tasks.get()):
        with pytest.raises(ImmutableRow):
            row.save()
    assert audited("suite.create")["added"] == ["restore"]


def test_only_a_change_adds_a_version(project, editor):
    version = a_suite(project)
    first, second = tasks_of(version)
    save = {"suite": version.suite, "edited_from": 1, "user": editor}
    assert version_save(tasks=(first, second), **save) is None
    saved = version_save(tasks=(second, replace(first, task="Other.")), note="Why", **save)
    assert (saved.number, saved.note) == (2, "Why")
    assert [task.key for task in tasks_of(saved)] == ["rotate", "restore"]
    assert tasks_of(version) == (first, second)
    assert audited("suite.save")["changed"] == ["restore"]


def test_a_concurrent_save_is_never_overwritten(project, editor):
    version = a_suite(project)
    version_save(suite=version.suite, tasks=(a_task(),), edited_from=1, user=editor)
    with pytest.raises(NewerVersion) as caught:
        version_save(suite=version.suite, tasks=(), edited_from=1, user=editor)
    assert caught.value.newest == 2
    assert SuiteVersion.objects.count() == 2


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        ([a_task(), a_task()], "Two tasks have the key 'restore'"),
        ([a_task(str(number)) for number in range(2_001)], "2,000 are allowed"),
        ([a_task(str(n), task="x" * 200_000) for n in range(41)], "8,000,000 are"),
    ],
)
def test_limits(project, tasks, words):
    with pytest.raises(ValidationError, match=words):
        suite_create(project=project, name="Big", tasks=tasks)
    assert not SuiteTask.objects.exists()


def test_names_are_checked_and_slugs_are_free(project):
    assert a_suite(project).suite.slug == "release-notes"
    assert a_suite(project).suite.slug == "release-notes-2"
    assert a_suite(project, name="New").suite.slug == "new-2"
    for name in (" \n", "x" * 161):
        with pytest.raises(ValidationError):
            a_suite(project, name=name)


def test_rename_archive_and_restore(project, editor):
    suite = a_suite(project).suite
    assert suite_rename(suite=suite, name=" New  name ", description="For\r\ngit", user=editor)
    assert not suite_rename(suite=suite, name="New name", description="For\ngit", user=editor)
    assert (suite.name, suite.description) == ("New name", "For\ngit")
    assert suite_archive(suite=suite, user=editor)
    assert not suite_archive(suite=suite, user=editor)
    assert suite_archive(suite=suite, user=editor, archived=False)
    version_save(suite=suite, tasks=(), edited_from=1, user=editor)
    with pytest.raises(NewerVersion):
        suite_restore(suite=suite, number=1, edited_from=1, user=editor)
    restored = suite_restore(suite=suite, number=1, edited_from=2, user=editor)
    assert (restored.number, restored.task_count) == (3, 2)
    assert suite_restore(suite=suite, number=1, edited_from=3, user=editor) is None
    assert audited("suite.restore")["restored_from"] == 1


def test_a_push_creates_saves_or_does_nothing(project, editor):
    text = SuiteText("Guides", "", (a_task(),))

    def push(suite, **options):
        pushed = suite_push(project=project, slug="guides", suite=suite, user=editor, **options)
        return pushed.status, pushed.version.number

    assert push(text) == ("created", 1)
    assert push(text) == ("unchanged", 1)
    other = replace(text, tasks=(a_task("other"),))
    with pytest.raises(UnknownBase):
        push(other)
    assert push(other, base=1) == ("saved", 2)
    with pytest.raises(NewerVersion):
        push(text, base=1)
    assert push(text, force=True) == ("saved", 3)
    assert push(replace(text, name="Renamed"), base=3) == ("saved", 3)
    assert project.suites.get().name == "Renamed"


def test_runs_become_tasks(project, editor, other_project):
    options = {"tags": ["ops"], "task_type": "how-to", "sources": [SourceText("a", "Facts.")]}
    first = finished_run(project, task="Restore a backup.", seed="# Draft", **options)
    twin = finished_run(project, task="Restore a backup.", seed="# Draft")
    elsewhere = finished_run(other_project)
    made = suite_from_runs(
        project=project, name="Ops", numbers=[first.pk, twin.pk, elsewhere.pk], user=editor
    )
    [task] = tasks_of(made.version)
    assert (task.key, task.title, task.seed) == ("restore-a-backup", "Restore a backup", "# Draft")
    assert (task.tags, task.task_type) == (("ops",), "how-to")
    assert task.sources == (SourceText("a", "Facts."),)
    assert made.version.tasks.get().from_run == first
    assert [words.split(" is ")[-1] for words in made.refused] == [
        "in the suite already, as restore-a-backup.",
        "not in this project.",
    ]

    later = finished_run(project, task="Rotate keys.")
    added = runs_add(suite=made.version.suite, numbers=[first.pk, later.pk], user=editor)
    assert (added.version.number, added.keys, len(added.refused)) == (2, ["rotate-keys"], 1)
    assert dict(added.version.tasks.values_list("key", "from_run")) == {
        "restore-a-backup": first.pk,
        "rotate-keys": later.pk,
    }
    assert runs_add(suite=made.version.suite, numbers=[first.pk], user=editor).version is None
    first.delete()
    assert added.version.tasks.get(key="restore-a-backup").from_run is None
