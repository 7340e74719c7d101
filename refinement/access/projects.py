"""Access to project pages: 404 for non-members, 403 for too low a role."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, Literal, ParamSpec, Protocol, TypeVar

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django_htmx.middleware import HtmxDetails

from refinement.access.blindness import ReadsBlind
from refinement.models import MemberRole, Membership, Project, User
from refinement.selectors.projects.lists import RANKS, membership_for
from refinement.selectors.reviews.blindness import hiding, own_readings
from refinement.selectors.trust.labelling import LabelQueue, label_queues_of, queue_runs_of

P = ParamSpec("P")
Answer = TypeVar("Answer", bound=HttpResponseBase)
AS_A = {MemberRole.VIEWER: "a viewer", MemberRole.EDITOR: "an editor", MemberRole.OWNER: "an owner"}


class SignedInRequest(HttpRequest):
    """A request of a signed-in user."""

    user: User
    htmx: HtmxDetails


class ProjectRequest(SignedInRequest):
    """A request that passed `project_view`."""

    project: Project
    membership: Membership
    blind_runs: dict[int, int]  # runs that the user scores or labels blind, each with a round
    label_queues: tuple[LabelQueue, ...]  # the user's open ones
    label_runs: dict[int, int]  # of the blind runs, those with a text of a queue, each with its label set
    read_only: bool  # the page is about the prepared example, which nobody can change


class ProjectDecorator(Protocol):
    """Adds access checks to the view of a project page."""

    def __call__(
        self, view: Callable[Concatenate[ProjectRequest, P], Answer], /
    ) -> Callable[Concatenate[HttpRequest, str, P], Answer]: ...


def project_view(role: Literal["viewer", "editor", "owner"] = "viewer") -> ProjectDecorator:
    """Require membership with this role or a higher one. Sets `request.project` and `request.membership`."""
    least = MemberRole(role)

    def decorate(
        view: Callable[Concatenate[ProjectRequest, P], Answer],
    ) -> Callable[Concatenate[HttpRequest, str, P], Answer]:
        @login_required
        @wraps(view)
        def guarded(request: ProjectRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> Answer:
            with project_access(request, membership_for(request.user, slug), least):
                _remember(request)
                try:
                    return view(request, *args, **kwargs)
                except ReadsBlind as reading:
                    return reading.answer(request)  # type: ignore[return-value]

        return guarded  # type: ignore[return-value]

    return decorate


@contextmanager
def project_access(request: ProjectRequest, membership: Membership, least: MemberRole) -> Iterator[None]:
    """Check the role, and hide the runs that the user is scoring blind. Raises PermissionDenied."""
    request.project, request.membership = membership.project, membership
    request.read_only = False
    if RANKS[MemberRole(membership.role)] < RANKS[least]:
        raise PermissionDenied(_too_low(membership, least))
    _hide(request, membership)
    with hiding(request.blind_runs):
        yield


def _hide(request: ProjectRequest, membership: Membership) -> None:
    """Set what is hidden while the user scores or labels blind. No query if they do neither."""
    reads_blind: bool = membership.reads_blind  # type: ignore[attr-defined]
    labels: bool = membership.labels  # type: ignore[attr-defined]
    request.label_queues = label_queues_of(request.user, request.project) if labels else ()
    labelled = queue_runs_of(request.label_queues)
    request.label_runs = {run: label_set for run, (_, label_set) in labelled.items()}
    request.blind_runs = {run: number for run, (number, _) in labelled.items()}
    if reads_blind:
        request.blind_runs |= own_readings(request.user, request.project)


def _too_low(membership: Membership, least: MemberRole) -> str:
    needed = "the owner role" if least is MemberRole.OWNER else "the editor or owner role"
    return (
        f"You are {AS_A[MemberRole(membership.role)]} in {membership.project.name}. "
        f"This requires {needed}. An owner can change your role."
    )


def _remember(request: ProjectRequest) -> None:
    # Only when it changes, to avoid a write on every request.
    if request.session.get("project") != request.project.slug:
        request.session["project"] = request.project.slug
