"""What models cost, set by administrators."""

from typing import ClassVar

from django.db import models


class ModelPrice(models.Model):
    """The price of a model at an endpoint, per million tokens. Models without a row are free or unknown."""

    endpoint = models.CharField(max_length=200)
    model = models.CharField(max_length=200)
    prompt = models.DecimalField(max_digits=12, decimal_places=4)
    completion = models.DecimalField(max_digits=12, decimal_places=4)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["endpoint", "model"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["endpoint", "model"], name="model_price_unique"),
            models.CheckConstraint(
                condition=models.Q(prompt__gte=0, completion__gte=0), name="model_price_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.endpoint}/{self.model}"
