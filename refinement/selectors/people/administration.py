"""The instance as its administrators see it."""

from collections.abc import Mapping
from dataclasses import dataclass

from allauth.mfa.models import Authenticator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Lower

from refinement.models import Endpoint, ExternalIdentity, MemberRole, Membership, Project, Run, User
from refinement.providers.registry import EndpointSpec
from refinement.providers.sorting import display_address
from refinement.selectors.endpoints import endpoint_specs, fixed_specs

MOST_PEOPLE = 200
MOST_PROJECTS = 200
MOST_ENDPOINTS = 200
SECOND_FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
KINDS = {
    "ollama": "Ollama",
    "openai_compatible": "OpenAI-compatible server",
    "embedded": "Demo model",
    "scripted": "Scripted replies",
}


def people_found(words: str) -> QuerySet[User]:
    """Accounts whose name or email matches, with their number of projects."""
    means = Authenticator.objects.filter(user=OuterRef("pk"), type__in=SECOND_FACTORS)
    identities = ExternalIdentity.objects.filter(user=OuterRef("pk"))
    people = User.objects.annotate(
        project_count=Count("memberships"), has_two_factor=Exists(means), has_provider=Exists(identities)
    ).order_by(Lower("name"), "email")
    if words:
        people = people.filter(Q(name__icontains=words) | Q(email__icontains=words))
    return people[: MOST_PEOPLE + 1]


def projects_listed() -> QuerySet[Project]:
    """All projects with their number of members and runs, and whether an owner can sign in."""
    owners = Membership.objects.filter(project=OuterRef("pk"), role=MemberRole.OWNER, user__is_active=True)
    return Project.objects.annotate(
        member_count=_how_many(Membership.objects.all()),
        run_count=_how_many(Run.objects.all()),
        has_owner=Exists(owners),
    ).order_by("name", "pk")[: MOST_PROJECTS + 1]


def _how_many(rows: "QuerySet[Membership] | QuerySet[Run]") -> Coalesce:
    # Counted separately: in one joined query each run would count once per member.
    of_project = rows.filter(project=OuterRef("pk")).order_by()
    return Coalesce(Subquery(of_project.values("project").annotate(number=Count("pk")).values("number")), 0)


@dataclass(frozen=True, slots=True)
class ListedEndpoint:
    """An endpoint and its last known health."""

    name: str
    kind: str
    address: str
    places: int | None
    key_variable: str
    origin: str
    ok: bool
    message: str


def endpoints_listed(states: Mapping[str, tuple[bool, str]]) -> list[ListedEndpoint]:
    """Every active endpoint, without secrets, with its health by name."""
    fixed = {spec.name for spec in fixed_specs()}
    return [_listed(spec, spec.name in fixed, states) for spec in endpoint_specs()]


def endpoints_off() -> list[Endpoint]:
    """Unused rows: disabled, or hidden by an environment endpoint of the same name."""
    taken = [spec.name for spec in fixed_specs()]
    return list(Endpoint.objects.filter(Q(enabled=False) | Q(name__in=taken))[:MOST_ENDPOINTS])


def _listed(spec: EndpointSpec, is_fixed: bool, states: Mapping[str, tuple[bool, str]]) -> ListedEndpoint:
    ok, message = states.get(spec.name, (False, "Not checked yet."))
    return ListedEndpoint(
        name=spec.name,
        kind=KINDS.get(spec.kind, spec.kind),
        address=display_address(spec.url) if spec.url else "",
        places=spec.concurrency,
        key_variable=spec.api_key_variable,
        origin="environment" if is_fixed else "added here",
        ok=ok,
        message=message,
    )
