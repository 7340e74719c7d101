"""Sources: texts that a run's work must be grounded in."""

from typing import ClassVar

from django.db import models

from refinement.judging.sources import MOST_NAME_CHARS
from refinement.models.rubrics.rubrics import Immutable
from refinement.models.runs.runs import Run


class Source(Immutable):
    """A source text of a run, copied at launch. The database refuses changes."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="sources")
    position = models.PositiveSmallIntegerField()  # from 1
    name = models.CharField(max_length=MOST_NAME_CHARS)
    chars = models.PositiveIntegerField()
    shown_chars = models.PositiveIntegerField()  # how many of them the run's prompts contain
    text = models.TextField()

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "position"], name="source_unique_in_run"),
            models.CheckConstraint(condition=~models.Q(name=""), name="source_has_name"),
            models.CheckConstraint(
                condition=models.Q(shown_chars__lte=models.F("chars")), name="source_shown_within_text"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_cut(self) -> bool:
        return self.shown_chars < self.chars
