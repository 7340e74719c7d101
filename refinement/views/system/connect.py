"""Connecting a model: what was found, a server to test and save, and a check of one model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from refinement.access.projects import SignedInRequest
from refinement.forms.endpoints import ConnectForm
from refinement.models import ModelCheck, User
from refinement.providers.base import ModelInfo, ProviderError
from refinement.providers.embedded import is_demo
from refinement.providers.preflight import preflight
from refinement.providers.registry import EndpointSpec, build
from refinement.providers.sorting import display_address
from refinement.selectors.endpoints import NoSuchEndpoint, endpoint_spec, endpoint_specs
from refinement.selectors.launch.available_models import models_offered, offers, problem_message
from refinement.selectors.launch.model_lists import facts_of
from refinement.selectors.launch.warnings import EMBEDDED
from refinement.selectors.projects.lists import current_project
from refinement.services.endpoints import endpoint_create, endpoint_try, model_check

MOST_ADMINISTRATORS = 10
MOST_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Server:
    """A model server, and its models or why there are none."""

    name: str
    address: str
    models: list[tuple[str, str, ModelCheck | None]]  # name, details and the newest check
    problem: str


@dataclass(frozen=True, slots=True)
class Tested:
    """The result of a connection test."""

    address: str
    models: list[tuple[str, str, ModelCheck | None]]
    problem: str = ""


@require_http_methods(["GET", "HEAD", "POST"])
def connect(request: SignedInRequest) -> HttpResponse:
    """For administrators; others see who to ask."""
    if not request.user.is_superuser:
        if request.method == "POST":
            raise PermissionDenied("Only administrators of this instance connect model servers.")
        return _page(request, administrators=administrators())
    if request.method != "POST":
        return _page(request, form=ConnectForm())
    if name := request.POST.get("endpoint", ""):
        return _checked(request, name)
    form = ConnectForm(request.POST)
    if not form.is_valid():
        return _page(request, form=form, status=422)
    try:
        if request.POST.get("do") == "save":
            return _saved(request, form)
        spec = endpoint_try(by=request.user, values=form.values)
    except ValidationError as error:
        for field, words in error.message_dict.items():
            form.add_error(field if field in form.fields else None, words)
        return _page(request, form=form, status=422)
    tested = connection_test(spec)
    model = request.POST.get("model", "")
    flight = preflight(build(spec), model) if model and request.POST.get("do") == "check" else None
    return _page(request, form=form, tested=tested, flight=flight)


def _saved(request: SignedInRequest, form: ConnectForm) -> HttpResponse:
    row = endpoint_create(by=request.user, values=form.values)
    offers.forget()
    messages.success(request, f"{row.name} is connected. Every project can use its models.")
    return redirect("connect")


def _checked(request: SignedInRequest, name: str) -> HttpResponse:
    """Checks a model of a server that is already connected."""
    try:
        spec = endpoint_spec(name)
    except NoSuchEndpoint:
        return redirect("connect")
    model = request.POST.get("model", "")
    flight = model_check(spec, model) if model and spec.name != EMBEDDED else None
    return _page(request, form=ConnectForm(), flight=flight, flight_of=name)


def connection_test(spec: EndpointSpec) -> Tested:
    """Lists the server's models with a real request."""
    address = display_address(spec.url)
    try:
        models = build(spec).models()
    except ProviderError as error:
        return Tested(address, [], problem_message(spec, error))
    problem = "" if models else "It answers, but has no models. Load or pull one there, then test again."
    return Tested(address, _shown(sorted(models, key=lambda info: info.name)), problem)


def servers() -> list[Server]:
    """Every server that is set up, but not the demo model."""
    urls = {spec.name: spec.url for spec in endpoint_specs()}
    checks = {
        (check.endpoint, check.model): check
        for check in ModelCheck.objects.all()
        if check.address == urls.get(check.endpoint)
    }
    return [
        Server(
            offer.endpoint,
            display_address(url) if (url := urls.get(offer.endpoint, "")) else "",
            _shown(
                offer.models,
                {model: check for (name, model), check in checks.items() if name == offer.endpoint},
            ),
            offer.problem,
        )
        for offer in models_offered()
        if offer.endpoint != EMBEDDED
    ]


def _shown(
    models: Sequence[ModelInfo], checks: Mapping[str, ModelCheck] | None = None
) -> list[tuple[str, str, ModelCheck | None]]:
    found = checks or {}
    return [(info.name, ", ".join(facts_of(info)), found.get(info.name)) for info in models[:MOST_SHOWN]]


def administrators() -> list[str]:
    people = User.objects.filter(is_superuser=True, is_active=True).order_by("pk")[:MOST_ADMINISTRATORS]
    return [person.display_name for person in people]


def _page(request: SignedInRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    page: dict[str, Any] = {
        "section": "home",
        "servers": servers(),
        "has_demo_model": any(
            is_demo(offer.endpoint, info.name) for offer in models_offered() for info in offer.models
        ),
        "demo_project": current_project(request.user, request.session.get("project")),
        **more,
    }
    return render(request, "refinement/home/connect.html", page, status=status)
