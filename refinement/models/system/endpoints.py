"""Model endpoints added by administrators."""

from typing import ClassVar

from django.db import models


class EndpointKind(models.TextChoices):
    OLLAMA = "ollama", "Ollama"
    OPENAI_COMPATIBLE = "openai_compatible", "OpenAI-compatible server"


class Endpoint(models.Model):
    """A model server. API keys are not stored, only the name of their environment variable."""

    Kind = EndpointKind

    name = models.SlugField(max_length=60, unique=True)
    kind = models.CharField(max_length=30, choices=EndpointKind)
    url = models.URLField(max_length=400)
    api_key_variable = models.CharField(max_length=120, blank=True)
    concurrency = models.PositiveSmallIntegerField(null=True, blank=True)
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(kind__in=EndpointKind.values), name="endpoint_kind_known"
            ),
            models.CheckConstraint(
                condition=models.Q(concurrency__isnull=True) | models.Q(concurrency__gte=1),
                name="endpoint_concurrency_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ModelCheck(models.Model):
    """What a model did when it was asked for a small verdict. The newest check counts."""

    endpoint = models.CharField(max_length=400)
    address = models.CharField(max_length=400, blank=True)  # where the endpoint was at that time
    model = models.CharField(max_length=200)
    answered = models.BooleanField()
    honours_schema = models.BooleanField()
    thinks = models.BooleanField()
    seconds = models.FloatField()
    message = models.TextField(blank=True)  # what is wrong, and what to do
    checked_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["endpoint", "model"], name="model_check_unique")
        ]

    def __str__(self) -> str:
        return f"check of {self.endpoint}/{self.model}"

    @property
    def ok(self) -> bool:
        return self.answered and self.honours_schema
