"""Builders of suites."""

from refinement.interchange.suites.types import SuiteTaskText
from refinement.models import Project, SuiteVersion
from refinement.services.suites.editing import suite_create


def a_task(key: str = "restore", **fields) -> SuiteTaskText:
    values = {"title": f"Title of {key}", "task": f"Explain {key}.", **fields}
    return SuiteTaskText(key=key, **values)


def a_suite(project: Project, *tasks: SuiteTaskText, name: str = "Release notes", **options) -> SuiteVersion:
    return suite_create(project=project, name=name, tasks=tasks or (a_task(), a_task("rotate")), **options)
