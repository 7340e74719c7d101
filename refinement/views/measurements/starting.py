"""What the pages for new measurements share: the rubric, the quote, and the start."""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from refinement.access.objects import rubric_or_404, version_or_404
from refinement.access.projects import ProjectRequest
from refinement.forms.measurements.base import MeasuringForm
from refinement.models import Rubric, RubricVersion
from refinement.selectors.launch.available_models import Offer, models_offered
from refinement.selectors.projects.budgets import budget_of
from refinement.selectors.trust.measurements.choosing import judge_used
from refinement.services.idempotency import key_complete, key_take
from refinement.services.trust.measurements.creating import measurement_create
from refinement.services.trust.measurements.quoting import Quote, measurement_quote

MOST_VERSIONS = 100
MOST_RUBRICS = 100


@dataclass(frozen=True, slots=True)
class Planned:
    """What `measurement_create` will be given, or why it cannot be; or nothing, if the form has errors."""

    values: Mapping[str, Any] | None = None
    quote: Quote | None = None


def rubric_asked(request: ProjectRequest) -> Rubric | None:
    """The rubric of the query string; None if none is named and the project has several."""
    slug = request.GET.get("rubric", "")
    if slug:
        return rubric_or_404(request, slug[:100])
    rubrics = list(Rubric.objects.filter(project=request.project, archived_at=None)[:2])
    if len(rubrics) == 1:
        rubrics[0].project = request.project
        return rubrics[0]
    return None


def rubrics_to_choose(request: ProjectRequest) -> list[Rubric]:
    """Those with criteria: checks alone need no judge."""
    rows = Rubric.objects.filter(project=request.project, archived_at=None)
    rows = rows.filter(versions__criteria__isnull=False).distinct()
    return list(rows.order_by("name")[:MOST_RUBRICS])


def versions_of(rubric: Rubric) -> list[RubricVersion]:
    rows = list(rubric.versions.only("rubric", "number", "note")[:MOST_VERSIONS])
    if not rows:
        raise Http404("This rubric has no versions.")
    return rows


def usual_values(
    request: ProjectRequest, rubric: Rubric, versions: Sequence[RubricVersion]
) -> dict[str, Any]:
    """The form's initial values: the asked or newest version, and the judge of the newest run."""
    asked = request.GET.get("version", "")
    numbers = [version.number for version in versions]
    number = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 9 else 0
    judge = judge_asked(request)
    return {
        "version": number if number in numbers else numbers[0],
        "judge": judge_used(rubric) if judge is None else judge,
    }


def judge_asked(request: ProjectRequest) -> str | None:
    """The judge of the query string as `endpoint/model`, empty if no endpoint has it; None if none is named.

    A judge whose scores were recorded elsewhere is named by its model alone.
    """
    asked = request.GET.get("judge", "")[:400]
    if not asked:
        return None
    known = {offer.endpoint for offer in models_offered()}
    if any(asked.startswith(f"{endpoint}/") for endpoint in known):
        return asked
    named = [f"{offer.endpoint}/{asked}" for offer in models_offered() if offers_model(offer, asked)]
    return named[0] if named else ""


def offers_model(offer: Offer, name: str) -> bool:
    return any(info.name == name for info in offer.models)


def judge_missing(request: ProjectRequest) -> list[str]:
    """That no endpoint has the judge of the query string."""
    if judge_asked(request) != "":
        return []
    name = request.GET["judge"][:400]
    return [f"No connected endpoint has the model {name}. Connect it, or choose another judge."]


def version_chosen(rubric: Rubric, number: int) -> RubricVersion:
    return version_or_404(rubric, number)


def planned(form: MeasuringForm, values: Mapping[str, Any]) -> Planned:
    """The quote; problems become errors of the form."""
    try:
        return Planned(values, measurement_quote(**values))
    except ValidationError as refusal:
        add_refusal(form, refusal)
        return Planned()


def add_refusal(form: MeasuringForm, refusal: ValidationError) -> None:
    """Adds a service's errors to the fields they are about."""
    for name, words in refusal.message_dict.items():
        form.add_error(name if name in form.fields else None, words)


def started(request: ProjectRequest, form: MeasuringForm, plan: Planned) -> HttpResponse | None:
    """Creates the measurement and redirects to it; None if it is refused."""
    if plan.values is None or plan.quote is None:
        return None
    try:
        pk = created_once(request, {**plan.values, "quote": plan.quote.as_json()})
    except ValidationError as refusal:
        add_refusal(form, refusal)
        return None
    return redirect("measurement_page", request.project.slug, pk)


@transaction.atomic
def created_once(request: ProjectRequest, values: Mapping[str, Any]) -> int:
    """The measurement's id; the same one if the same form is sent twice. Raises ValidationError.

    The second request waits for the first one's transaction, because both insert the same key.
    """
    if not request.POST.get("key"):
        return measurement_create(**values, user=request.user).pk
    said = sorted((name, given) for name, given in request.POST.lists() if name != "csrfmiddlewaretoken")
    digest = hashlib.sha256(repr((request.get_full_path(), said)).encode()).hexdigest()
    taken = key_take(sender=f"form:{request.user.pk}", key=digest, fingerprint=digest)
    if taken.status is not None:
        return int(taken.body)
    row = measurement_create(**values, user=request.user)
    key_complete(taken, status=201, body=str(row.pk), headers={})
    return row.pk


def shown_form(
    request: ProjectRequest, template: str, page: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """The page; for htmx, the quote alone."""
    key = request.POST.get("key") or secrets.token_hex(12)  # a double click does not start two
    page = {"section": "trust", "budget": budget_of(request.project), "key": key, **page}
    if request.method != "POST":
        page["notes"] = [*judge_missing(request), *page.get("notes", [])]
    if request.htmx and not request.htmx.boosted:
        return render(request, "refinement/measurements/_quote.html", page | {"is_partial": True})
    return render(request, f"refinement/measurements/{template}.html", page, status=status)
