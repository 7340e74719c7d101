"""What every page about one run starts from."""

from django.http import Http404

from refinement.access.blindness import ReadsBlind
from refinement.access.projects import ProjectRequest
from refinement.models import Run

LONG_TEXTS = ("task", "seed", "snapshot", "calibration")


def run_or_404(request: ProjectRequest, run_id: int, *, whole: bool = True, blind: bool = False) -> Run:
    """The project's run with this number; unless `whole`, without its long texts.

    Whoever reads it blind gets no other page than those that say `blind`: they show no score of it.
    """
    if not blind and run_id in request.blind_runs:
        raise ReadsBlind(run_id, request.blind_runs[run_id])
    found = _runs_numbered(request.project.pk, run_id, whole)
    if not found:
        raise Http404("There is no such run in this project.")
    found[0].project = request.project
    return found[0]


def _runs_numbered(project: int, number: int, whole: bool) -> list[Run]:
    runs = Run.objects.filter(project=project).select_related("rubric_version", "rubric", "created_by")
    return list((runs if whole else runs.defer(*LONG_TEXTS)).filter(pk=number).order_by("pk"))
