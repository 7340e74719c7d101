"""Open label queues: while a member labels, nothing shows them what others said of the texts.

A queue is open from its first page until all its texts are done or the member leaves it. Until then, the
runs that its texts come from are hidden (`selectors.reviews.blindness`), and so are all labels of the set
and all figures of the rubric's judges (`access.labelling`).
"""

from collections.abc import Collection
from dataclasses import dataclass

from refinement.models import LabelItem, LabelRater, Project, User


@dataclass(frozen=True, slots=True)
class LabelQueue:
    """A label set whose queue the user has open."""

    label_set: int
    rubric: int
    name: str
    project: str  # its slug


def label_queues_of(user: User, project: Project | None = None) -> tuple[LabelQueue, ...]:
    """The user's open queues."""
    rows = LabelRater.objects.filter(user=user, opened_at__isnull=False)
    if project is not None:
        rows = rows.filter(label_set__project=project)
    found = rows.order_by("label_set_id").values_list(
        "label_set", "label_set__rubric", "label_set__name", "label_set__project__slug"
    )
    return tuple(LabelQueue(*row) for row in found)


def queue_runs_of(queues: Collection[LabelQueue]) -> dict[int, tuple[int, int]]:
    """The runs that texts of these queues come from, each with a round and its label set."""
    if not queues:
        return {}
    items = LabelItem.objects.filter(
        label_set__in=[queue.label_set for queue in queues], round__isnull=False
    ).order_by("round__run_id", "round__number")
    rows = items.values_list("round__run", "round__number", "label_set")
    return {run: (number, label_set) for run, number, label_set in rows}


def queue_readers_of(run_ids: Collection[int]) -> dict[int, set[int]]:
    """The users who have a queue with a text of these runs open, by run."""
    raters = LabelRater.objects.filter(opened_at__isnull=False, user__isnull=False)
    rows = raters.filter(label_set__items__round__run__in=run_ids)
    found: dict[int, set[int]] = {}
    for run, user in rows.values_list("label_set__items__round__run", "user").distinct():
        if run in run_ids:
            found.setdefault(run, set()).add(user)
    return found
