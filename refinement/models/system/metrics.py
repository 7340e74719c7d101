"""Counters that workers increment, for the metrics page."""

from typing import ClassVar

from django.db import models


class MetricTotal(models.Model):
    """A monotonic counter with one label."""

    name = models.CharField(max_length=60)
    label = models.CharField(max_length=60, blank=True)
    value = models.FloatField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["name", "label"], name="metric_total_unique")
        ]

    def __str__(self) -> str:
        return f"{self.name}[{self.label}] = {self.value}"
