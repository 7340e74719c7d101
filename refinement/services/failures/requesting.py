"""Has a project's failures brought up to date, or its categories named by a model, in a worker."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from refinement.execution.reports import report_request
from refinement.models import FailureNaming, Project, Report, ReportKind, User
from refinement.providers.registry import Target
from refinement.services.audit import audit_record

STALE = timedelta(minutes=10)  # a request older than this can be made again


class NamingUnderWay(Exception):
    """A model is naming the categories already."""


def failures_first_request(project: Project) -> Report:
    """The project's report; the first visit has its runs read."""
    report = Report.objects.filter(kind=ReportKind.FAILURES, subject=project.pk).first()
    return report or report_request(project=project, kind=ReportKind.FAILURES, subject=project.pk)


def failures_update(project: Project) -> Report:
    """Has new runs read now."""
    return report_request(project=project, kind=ReportKind.FAILURES, subject=project.pk)


@transaction.atomic
def naming_request(project: Project, user: User, target: Target) -> FailureNaming:
    """Has a model name the categories without a name. Raises NamingUnderWay."""
    now = timezone.now()
    open_ones = FailureNaming.objects.filter(project=project, ended_at__isnull=True)
    if open_ones.filter(asked_at__gt=now - STALE).exists():
        raise NamingUnderWay("A model is naming the categories already. Wait until it is done.")
    row, _ = FailureNaming.objects.update_or_create(
        project=project,
        defaults={
            "endpoint": target.endpoint,
            "model": target.model,
            "asked_by": user,
            "asked_at": now,
            "ended_at": None,
            "named": 0,
            "problem": "",
        },
    )
    audit_record(
        action="failures.name",
        object_type="failure category",
        object_id=project.pk,
        project=project,
        user=user,
        after={"model": f"{target.endpoint}/{target.model}"},
    )
    failures_update(project)
    return row
