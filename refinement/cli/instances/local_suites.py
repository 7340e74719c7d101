"""Suites of the local database."""

from django.core.exceptions import ValidationError

from refinement.cli.exits import BadInput, Refused
from refinement.cli.instances.local import LocalInstance
from refinement.cli.instances.suites import (
    SuiteLine,
    SuitePush,
    SuitePushed,
    SuiteRead,
    newer_version,
    unknown_base,
)
from refinement.selectors.suites.lists import ListedSuite, suites_found, suites_listed
from refinement.selectors.suites.tasks import suite_text
from refinement.services.suites.editing import NewerVersion
from refinement.services.suites.files import UnknownBase, suite_push


class LocalSuites:
    """One project of the local database."""

    def __init__(self, instance: LocalInstance) -> None:
        self.instance = instance

    def suites(self, *, archived: bool) -> list[SuiteLine]:
        rows = suites_found(self.instance.project, archived=archived)
        return [suite_line(entry) for entry in suites_listed(rows)]

    def suite(self, slug: str, version: int | None) -> SuiteRead:
        project = self.instance.project
        row = project.suites.filter(slug=slug).first()
        if row is None:
            raise Refused(f"suite {slug!r} does not exist in project {project.slug}.")
        newest = row.versions.order_by("-number")[0]
        found = row.versions.filter(number=version).first() if version else newest
        if found is None:
            raise Refused(f"suite {slug!r} has no version {version}; the newest is {newest.number}.")
        return SuiteRead(slug, found.number, suite_text(found))

    def push(self, push: SuitePush) -> SuitePushed:
        project = self.instance.project
        row = project.suites.filter(slug=push.slug).first()
        suite = push.named_like(row.name, row.description) if row else push.suite
        try:
            result = suite_push(
                project=project,
                slug=push.slug,
                suite=suite,
                base=push.base,
                force=push.force,
                note=push.note,
            )
        except UnknownBase as error:
            raise unknown_base(push, error.newest) from None
        except NewerVersion as error:
            raise newer_version(push, error.newest) from None
        except ValidationError as error:
            raise BadInput(" ".join(error.messages)) from None
        return SuitePushed(suite=push.slug, version=result.version.number, status=result.status)


def suite_line(entry: ListedSuite) -> SuiteLine:
    suite = entry.version.suite
    return SuiteLine(
        slug=suite.slug,
        name=suite.name,
        version=entry.version.number,
        tasks=entry.version.task_count,
        description=entry.description,
        archived=suite.archived_at is not None,
    )
