"""Suite versions by name."""

from refinement.models import Project, Suite, SuiteVersion


class SuiteNotFound(LookupError):
    """The suite or version does not exist; the message lists what does."""


def suite_version_named(project: Project, reference: str) -> SuiteVersion:
    """The version that `slug` (the newest) or `slug@3` names in this project; a suite's name works, too.

    Raises SuiteNotFound.
    """
    slug, _, number = reference.strip().partition("@")
    suite = suite_named(project, slug)
    versions = SuiteVersion.objects.filter(suite=suite)
    newest = versions.select_related("suite").order_by("-number").first()
    if newest is None:
        known = ", ".join(project.suites.order_by("slug").values_list("slug", flat=True)[:20])
        available = f"Available: {known}." if known else "There are none yet."
        raise SuiteNotFound(f"There is no suite {slug!r} in this project. {available}")
    if not number:
        return newest
    wanted = number.removeprefix("v")
    found = versions.filter(number=int(wanted)).first() if wanted.isascii() and wanted.isdigit() else None
    if found is None:
        raise SuiteNotFound(f"The suite {slug!r} has no version {number!r}; the newest is {newest.number}.")
    return found


def suite_named(project: Project, name: str) -> Suite | None:
    """The suite with this slug, or else the only one with this name."""
    found = project.suites.filter(slug=name).first()
    if found is not None:
        return found
    same = list(project.suites.filter(name__iexact=name)[:2])
    return same[0] if len(same) == 1 else None
