"""Judges of a project, and who may see their figures."""

from django.http import Http404

from refinement.access.blindness import ReadsBlind
from refinement.access.projects import ProjectRequest
from refinement.models import JudgeRecord, Run


def judge_or_404(request: ProjectRequest, number: int) -> JudgeRecord:
    """The project's judge with this number, with its rubric."""
    rows = JudgeRecord.objects.filter(project=request.project).select_related("rubric_version__rubric")
    row = rows.filter(pk=number).first()
    if row is None:
        raise Http404("There is no such judge in this project.")
    row.project = row.rubric_version.rubric.project = request.project
    return row


def judge_figures_or_blind(request: ProjectRequest, *records: JudgeRecord) -> None:
    """Raises ReadsBlind if the user is scoring a run of these judges blind: figures show scores."""
    if not request.blind_runs:
        return
    versions = {record.rubric_version_id for record in records}
    rows = Run.objects.filter(pk__in=request.blind_runs, rubric_version__in=versions)
    run = rows.values_list("pk", flat=True).order_by("pk").first()
    if run is not None:
        raise ReadsBlind(run, request.blind_runs[run])


def hidden_judges(request: ProjectRequest) -> set[int]:
    """The rubric versions whose judges' figures are hidden from the user, who scores a run of them blind."""
    if not request.blind_runs:
        return set()
    rows = Run.objects.filter(pk__in=request.blind_runs)
    return set(rows.values_list("rubric_version_id", flat=True))
