"""Judges of a project: lists, and the one that a name means."""

from django.db.models import Q, QuerySet

from refinement.models import JudgeRecord, Project, RubricVersion

MOST_NAMED = 20


def judges_in(project: Project) -> QuerySet[JudgeRecord]:
    return JudgeRecord.objects.filter(project=project).select_related("rubric_version__rubric", "project")


def judge_named(version: RubricVersion, name: str) -> JudgeRecord | None:
    """The version's judge with this model, `endpoint/model`, key or shown name; None if there is none."""
    judges = JudgeRecord.objects.filter(rubric_version=version).select_related("project", "rubric_version")
    exact = judges.filter(key=name).first()
    if exact is not None:
        return exact
    named = Q(name=name)
    if "/" in name:
        named |= Q(key=name.partition("/")[2])
    return judges.filter(named).order_by("-pk").first()


def judge_names(version: RubricVersion) -> list[str]:
    """The keys of the version's newest judges, for messages."""
    return list(version.judge_records.order_by("-pk").values_list("key", flat=True)[:MOST_NAMED])
