"""Where an experiment's page is."""

from django.urls import reverse


def experiment_path(slug: str, number: int) -> str:
    """The path of the experiment's page in its project."""
    return reverse("experiment_page", args=[slug, number])
