"""Blind labelling: a member with an open label queue sees no scores of its texts, and no judge's figures."""

from typing import TYPE_CHECKING

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from refinement.access.blindness import ReadsBlind
from refinement.models import Label, LabelItem, LabelSet, Run
from refinement.selectors.trust.labelling import LabelQueue

if TYPE_CHECKING:
    from refinement.access.projects import ProjectRequest


class LabelsOpen(ReadsBlind):
    """The user has a label queue open, so what was asked for is hidden. The API answers 403 `reads_blind`."""

    def __init__(self, queue: LabelQueue) -> None:
        Exception.__init__(
            self,
            f"You are labelling “{queue.name}”, so its runs, others' scores and the figures of its judges "
            "are hidden. Finish or leave labelling first.",
        )
        self.queue = queue

    def answer(self, request: "ProjectRequest") -> HttpResponse:
        """Redirect to the queue if a browser asked for a page. Raises PermissionDenied otherwise."""
        address = reverse("label_queue", args=[request.project.slug, self.queue.label_set])
        if request.htmx:
            return HttpResponseClientRedirect(address)
        if request.method in ("GET", "HEAD") and request.accepts("text/html") and "Accept" in request.headers:
            messages.info(request, str(self))
            return redirect(address)
        raise PermissionDenied(str(self))


def trust_or_labelling(request: "ProjectRequest", rubric_id: int) -> None:
    """Raises LabelsOpen while the user labels texts for this rubric, ReadsBlind while they score a run of it.

    Every page, partial, export and endpoint calls it that shows labels, judges' figures, disagreements,
    measurements or reports of the rubric.
    """
    for queue in request.label_queues:
        if queue.rubric == rubric_id:
            raise LabelsOpen(queue)
    if request.blind_runs:
        rows = Run.objects.filter(pk__in=request.blind_runs, rubric=rubric_id).order_by("pk")
        runs_or_blind(request, *rows.values_list("pk", flat=True)[:1])


def labelled_rubrics(request: "ProjectRequest") -> frozenset[int]:
    """The rubrics whose judges' figures have to be left out of lists."""
    return frozenset(queue.rubric for queue in request.label_queues)


def label_set_or_404(request: "ProjectRequest", number: int) -> LabelSet:
    """The project's label set with this number. Its pages without scores are open to raters."""
    rows = LabelSet.objects.filter(project=request.project).select_related("rubric", "rubric_version")
    row = rows.filter(pk=number).first()
    if row is None:
        raise Http404("There is no such label set in this project.")
    row.project = request.project
    return row


def scored_set_or_404(request: "ProjectRequest", number: int) -> LabelSet:
    """The same for what shows scores. Raises ReadsBlind while the user may not see them."""
    row = label_set_or_404(request, number)
    trust_or_labelling(request, row.rubric_id)
    return row


def label_item_or_404(label_set: LabelSet, position: int) -> LabelItem:
    """The set's text at this position, with its round and run."""
    rows = label_set.items.select_related("round__run").filter(position=position)
    row = rows.first()
    if row is None:
        raise Http404("There is no such text in this label set.")
    row.label_set = label_set
    return row


def label_or_404(item: LabelItem, number: int) -> Label:
    row = item.labels.select_related("rater").filter(pk=number).first()
    if row is None:
        raise Http404("There is no such label of this text.")
    return row


def runs_or_blind(request: "ProjectRequest", *runs: int) -> None:
    """Raises ReadsBlind if one of these runs is hidden from the user."""
    for run in runs:
        label_run_or_blind(request, run)
        if run in request.blind_runs:
            raise ReadsBlind(run, request.blind_runs[run])


def label_run_or_blind(request: "ProjectRequest", run: int) -> None:
    """Raises LabelsOpen if the run has a text of an open queue; then its scoring page is hidden, too."""
    found = request.label_runs.get(run)
    if found is not None:
        raise LabelsOpen(next(queue for queue in request.label_queues if queue.label_set == found))
