"""Builders of rubrics and label sets."""

from dataclasses import replace
from decimal import Decimal

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Criterion, Scale
from refinement.models import LabelSet, Project, RubricVersion
from refinement.services.rubrics.editing import rubric_create
from refinement.services.trust.label_importing import FileText, LabelImport, label_files_import

RATINGS = """item,criterion,rater,score
a,clarity,Ada,4
a,depth,Ada,2
a,clarity,Ben,5
b,clarity,Ada,1
b,clarity,gpt#1,3
b,clarity,gpt#2,2
"""
ITEMS = '{"item": "a", "text": "# Backups\\n\\nCopy it."}\n{"item": "c", "text": "Nobody rated this."}\n'


def a_rubric(
    project: Project,
    *keys: str,
    slug: str = "summaries",
    least: int = 1,
    most: int = 5,
    step: int | None = 1,
) -> RubricVersion:
    """A rubric with these criteria and this scale."""
    base = rubric_for("simmer")
    definition = replace(
        base,
        name=slug.title(),
        scale=Scale(Decimal(least), Decimal(most), None if step is None else Decimal(step)),
        criteria=tuple(Criterion(key, key.title()) for key in keys or ("clarity", "depth")),
        policy=replace(base.policy, pass_threshold=None),
    )
    return rubric_create(project=project, slug=slug, definition=definition)


def imported(project: Project, ratings: str = RATINGS, items: str = "", **options) -> LabelImport:
    given = {"rubric": "summaries", "name": "First set", **options}
    return label_files_import(project=project, ratings=FileText(ratings), items=FileText(items), **given)


def a_label_set(project: Project, ratings: str = RATINGS, items: str = ITEMS, **options) -> LabelSet:
    """A set of the rubric `summaries`, created if there is none."""
    if "rubric" not in options and not project.rubrics.filter(slug="summaries").exists():
        a_rubric(project)
    result = imported(project, ratings, items, **options)
    return LabelSet.objects.get(pk=result.label_set)
