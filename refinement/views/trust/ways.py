"""Where a judge's page leads: to labels, to measurements, to its rubric."""

from typing import Any

from django.urls import reverse

from refinement.access.projects import ProjectRequest
from refinement.models import JudgeRecord, LabelSet, User
from refinement.selectors.trust.label_queue import waiting_for
from refinement.selectors.trust.lists import label_set_of

MOST_LOOKED_UP = 2_000  # texts


def ways_to_measure(request: ProjectRequest, record: JudgeRecord) -> dict[str, Any]:
    """Addresses of what can be done next; four queries."""
    slug, rubric = request.project.slug, record.rubric_version.rubric
    labels = label_set_of(rubric)
    asked = {"rubric": rubric.slug, "version": str(record.rubric_version.number)}
    asked["judge"] = record.address
    own = {"label_set": str(labels.pk)} if labels else {}
    return {
        "rubric": rubric,
        "label_set": labels,
        "label_address": place("label_queue", slug, labels.pk)
        if labels and has_texts_for(labels, request.user)
        else "",
        "label_add_address": place("label_set_add", slug, labels.pk) if labels else "",
        "label_set_address": place("label_set_page", slug, labels.pk) if labels else "",
        "label_new_address": place("label_set_new", slug, rubric=rubric.slug),
        "label_import_address": place("label_set_import", slug, rubric=rubric.slug),
        "retest_address": place("retest_new", slug, **asked),
        "scoring_address": place("retest_new", slug, **asked, **own) if labels else "",
        "planted_address": place("planted_new", slug, **asked),
        "replay_address": place("replay_new", slug, **asked),
    }


def has_texts_for(label_set: LabelSet, user: User) -> bool:
    """Whether texts of the set wait for the user. Of large sets, that is not looked up."""
    if label_set.items.count() > MOST_LOOKED_UP:
        return True
    rater = label_set.raters.filter(user=user).first()
    return waiting_for(label_set, rater).exists()


def place(name: str, *args: object, **query: str) -> str:
    """The address of a page with its query."""
    return reverse(name, args=args, query=query or None)
