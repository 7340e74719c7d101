"""Looks up the objects of a URL in the request's project. Raises Http404 for other projects' objects."""

from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, Subquery
from django.http import Http404

from refinement.access.labelling import label_run_or_blind, runs_or_blind, trust_or_labelling
from refinement.access.projects import ProjectRequest
from refinement.models import (
    Comment,
    Event,
    Experiment,
    HumanScore,
    Measurement,
    MemberRole,
    Round,
    Rubric,
    RubricVersion,
    Run,
    Suite,
    SuiteTask,
    SuiteVersion,
    Thread,
)
from refinement.selectors.projects.lists import RANKS
from refinement.selectors.reviews.blindness import blind_run_in, not_blind_reason
from refinement.selectors.reviews.comments import Reader
from refinement.selectors.trust.measurements.lists import measured_runs, measurement_found

LONG_TEXTS = ("task", "seed", "snapshot", "calibration")


def run_or_404(request: ProjectRequest, run_id: int, *, whole: bool = True, blind: bool = False) -> Run:
    """The project's run with this number; without its long texts unless `whole`.

    Its `newest_event` is read with it: an open page asks for everything that happened after that.

    Raises ReadsBlind if the user is scoring it blind, unless the view passes `blind`: it shows no scores.
    Raises LabelsOpen, a kind of ReadsBlind, if the user labels a text of it.
    Raises PermissionDenied for a change to the prepared example.
    """
    label_run_or_blind(request, run_id)
    if not blind:
        runs_or_blind(request, run_id)
    runs = _runs_numbered(request.project.pk, run_id, whole)
    if not runs:
        raise Http404("There is no such run in this project.")
    runs[0].project = request.project
    request.read_only = runs[0].is_example
    if request.read_only and request.method == "POST":
        raise PermissionDenied("The prepared example is read only.")
    return runs[0]


def _runs_numbered(project: int, number: int, whole: bool) -> list[Run]:
    newest = Event.objects.filter(run=OuterRef("pk")).order_by("-id").values("id")[:1]
    runs = Run.objects.filter(project=project).select_related("rubric_version", "rubric", "created_by")
    runs = runs.annotate(newest_event=Subquery(newest))
    return list((runs if whole else runs.defer(*LONG_TEXTS)).filter(pk=number).order_by("pk"))


def rubric_or_404(request: ProjectRequest, slug: str) -> Rubric:
    """The project's rubric with this slug."""
    row = Rubric.objects.filter(project=request.project, slug=slug).first()
    if row is None:
        raise Http404("There is no such rubric in this project.")
    row.project = request.project
    return row


def version_or_404(rubric: Rubric, number: int | None = None) -> RubricVersion:
    """The version with this number, or the newest, with criteria and checks prefetched."""
    versions = rubric.versions.select_related("created_by").prefetch_related("criteria", "checks")
    row = versions.first() if number is None else versions.filter(number=number).first()
    if row is None:
        raise Http404("There is no such version of this rubric.")
    row.rubric = rubric
    return row


def suite_or_404(request: ProjectRequest, slug: str) -> Suite:
    """The project's suite with this slug."""
    row = Suite.objects.filter(project=request.project, slug=slug).first()
    if row is None:
        raise Http404("There is no such suite in this project.")
    row.project = request.project
    return row


def suite_version_or_404(suite: Suite, number: int | None = None) -> SuiteVersion:
    """The version with this number, or the newest."""
    versions = suite.versions.select_related("created_by")
    row = versions.first() if number is None else versions.filter(number=number).first()
    if row is None:
        raise Http404("There is no such version of this suite.")
    row.suite = suite
    return row


def suite_task_or_404(version: SuiteVersion, key: str) -> SuiteTask:
    """The version's task with this key."""
    row = version.tasks.filter(key=key[:80]).first()
    if row is None:
        raise Http404("There is no such task in this version of the suite.")
    row.version = version
    return row


def can_edit(request: ProjectRequest) -> bool:
    """Whether the user may change what the page is about."""
    return not request.read_only and RANKS[MemberRole(request.membership.role)] >= RANKS[MemberRole.EDITOR]


def reader_of(request: ProjectRequest) -> Reader:
    return Reader(request.user, request.membership.is_owner)


def thread_or_404(run: Run, number: int) -> Thread:
    row = Thread.objects.filter(run=run, pk=number).first()
    if row is None:
        raise Http404("There is no such thread in this run.")
    row.run = run
    return row


def comment_or_404(run: Run, number: int) -> Comment:
    row = Comment.objects.filter(run=run, pk=number).select_related("thread", "author").first()
    if row is None:
        raise Http404("There is no such comment in this run.")
    row.run = row.thread.run = run
    return row


def round_or_404(run: Run, number: int) -> Round:
    row = Round.objects.filter(run=run, number=number).first()
    if row is None:
        raise Http404("There is no such round in this run.")
    return row


def own_score(request: ProjectRequest, row: Round) -> HumanScore | None:
    return HumanScore.objects.filter(round=row, author=request.user).first()


def must_read_blind(request: ProjectRequest, run: Run) -> bool:
    """Whether the project requires blind scores and the user can still give one, but has not started."""
    return request.project.blind_scores and can_read_blind(request, run)


def can_read_blind(request: ProjectRequest, run: Run) -> bool:
    """Whether the user can start to score the run blind."""
    return run.pk not in request.blind_runs and not not_blind_reason(run, request.user)


def experiment_or_404(request: ProjectRequest, number: int) -> Experiment:
    """The project's experiment with this number, with its suite version."""
    rows = Experiment.objects.filter(project=request.project).select_related(
        "suite_version__suite", "created_by"
    )
    row = rows.filter(pk=number).first()
    if row is None:
        raise Http404("There is no such experiment in this project.")
    row.project = request.project
    return row


def measurement_or_404(request: ProjectRequest, number: int) -> Measurement:
    """The project's measurement with this number.

    Raises ReadsBlind if the user is scoring one of its runs blind, or labels texts for its rubric: it shows
    what judges gave.
    """
    row = measurement_found(request.project, number)
    if row is None:
        raise Http404("There is no such measurement in this project.")
    trust_or_labelling(request, row.rubric_version.rubric_id)
    if request.blind_runs:
        runs_or_blind(request, *sorted(measured_runs(row) | ({row.run_id} if row.run_id else set())))
    return row


def figures_or_blind(request: ProjectRequest, *experiments: Experiment) -> None:
    """Raises ReadsBlind if the user is scoring a run of these experiments blind: figures show scores."""
    run = blind_run_in([row.pk for row in experiments], request.blind_runs)
    if run is not None:
        runs_or_blind(request, run)
