"""Judges of the request's project, and who must not see their figures."""

from django.http import Http404

from refinement.access.blindness import ReadsBlind
from refinement.access.labelling import labelled_rubrics, trust_or_labelling
from refinement.access.projects import ProjectRequest
from refinement.models import JudgeRecord, LabelSet, Run
from refinement.selectors.trust.judges import judges_in


def judge_or_404(request: ProjectRequest, number: int) -> JudgeRecord:
    """The project's judge with this number, with its rubric version and rubric."""
    row = judges_in(request.project).filter(pk=number).first()
    if row is None:
        raise Http404("There is no such judge in this project.")
    row.project = request.project
    return row


def label_set_of_judge_or_404(request: ProjectRequest, record: JudgeRecord, name: str) -> LabelSet | None:
    """The label set of the judge's rubric with this name; None without a name."""
    if not name:
        return None
    rows = LabelSet.objects.filter(project=request.project, rubric=record.rubric_version.rubric_id)
    row = rows.filter(name=name[:200]).first()
    if row is None:
        raise Http404("There is no label set with this name for the judge's rubric.")
    return row


def figures_or_blind(request: ProjectRequest, *records: JudgeRecord) -> None:
    """Raises ReadsBlind while the user labels texts for these judges' rubrics, or scores their runs blind."""
    rubrics = {record.rubric_version.rubric_id for record in records}
    for rubric in sorted(rubrics):
        trust_or_labelling(request, rubric)
    if request.blind_runs:
        runs = Run.objects.filter(pk__in=request.blind_runs, rubric__in=rubrics).order_by("pk")
        run = runs.values_list("pk", flat=True).first()
        if run is not None:
            raise ReadsBlind(run, request.blind_runs[run])


def hidden_rubrics(request: ProjectRequest) -> frozenset[int]:
    """The rubrics whose judges' figures lists leave out, because the user labels or scores blind for them."""
    if not request.blind_runs:
        return labelled_rubrics(request)
    runs = Run.objects.filter(pk__in=request.blind_runs)
    return labelled_rubrics(request) | frozenset(runs.values_list("rubric_id", flat=True))
