"""A label set with a queue, and the data of the queue's form."""

from refinement.models import LabelItem, LabelSet, Project
from refinement.services.trust.label_items import NewText, label_texts_add
from refinement.services.trust.labels import label_set_create
from tests.services.trust.given import a_rubric


def a_queue(project: Project, texts: int = 3, **options) -> LabelSet:
    """A set of this many texts, each for two raters, with scores from 1 to 5 for clarity and depth."""
    row = label_set_create(project=project, version=a_rubric(project), name="Answers", **options)
    given = [NewText(f"# Text {number}\n\nBody {number}.", task="Explain.") for number in range(1, texts + 1)]
    label_texts_add(label_set=row, texts=given, user=None)
    return row


def scores(item: LabelItem | int, clarity: object = 4, depth: object = 2, version: int = 0, **more) -> dict:
    """The form data for a text."""
    position = item if isinstance(item, int) else item.position
    return {
        "text": position, "version": version, "score-clarity": clarity, "score-depth": depth, **more
    }  # fmt: skip
