"""What every page about one run starts from."""

from django.http import Http404

from refinement.models import Run
from refinement.views.access import ProjectRequest
from refinement.views.blindness import ReadsBlind

LONG_TEXTS = ("task", "seed", "snapshot", "calibration")


def run_or_404(request: ProjectRequest, run_id: int, *, whole: bool = True, blind: bool = False) -> Run:
    """The project's run with this number; unless `whole`, without its long texts.

    Whoever reads it blind gets no other page than those that say `blind`: they show no score of it.
    """
    if not blind and run_id in request.blind_runs:
        raise ReadsBlind(run_id, request.blind_runs[run_id])
    runs = Run.objects.filter(project=request.project).select_related(
        "rubric_version", "rubric", "created_by"
    )
    found = (runs if whole else runs.defer(*LONG_TEXTS)).filter(pk=run_id).first()
    if found is None:
        raise Http404("There is no such run in this project.")
    found.project = request.project
    return found
