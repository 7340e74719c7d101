"""`wiggum eval --suite`: keeps the cases of an evaluation as a suite."""

import re
from collections.abc import Sequence

from django.core.exceptions import ValidationError

from refinement.cli.exits import BadInput
from refinement.cli.output import print_message
from refinement.evals.as_suite import suite_of
from refinement.evals.planning import Job
from refinement.interchange.rubrics.yaml_reading import BadFile
from refinement.models import Project
from refinement.services.suites.files import suite_push

STATUS = {"created": "created as", "saved": "saved as", "unchanged": "is unchanged:"}


def suite_keep(project: Project, name: str, jobs: Sequence[Job]) -> None:
    """Saves every case once, whatever its targets and repeats. Raises BadInput."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60]
    if not slug:
        raise BadInput("--suite: the name must contain a letter or a digit.")
    cases = tuple({id(job.case): job.case for job in jobs}.values())
    try:
        suite, notes = suite_of(cases, name)
        saved = suite_push(project=project, slug=slug, suite=suite, force=True, note="From wiggum eval.")
    except BadFile as bad:
        raise BadInput("\n".join(f"--suite: {problem.message}" for problem in bad.problems)) from None
    except ValidationError as error:
        raise BadInput(f"--suite: {' '.join(error.messages)}") from None
    for note in notes:
        print_message(f"suite {slug}: {note}")
    print_message(f"suite {slug} {STATUS[saved.status]} version {saved.version.number}.")
