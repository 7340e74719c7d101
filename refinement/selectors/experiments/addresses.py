"""Where an experiment's page is."""

from django.urls import NoReverseMatch, reverse


def experiment_path(slug: str, number: int) -> str:
    """The path of the experiment's page in its project."""
    try:
        return reverse("experiment_page", args=[slug, number])
    except NoReverseMatch:  # until the page exists
        return f"{reverse('project_home', args=[slug])}experiments/{number}/"
