"""New rubric from a sample: a model proposes one, the editor opens with it, and nothing is saved before."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from refinement.access.objects import can_edit
from refinement.access.projects import ProjectRequest, project_view
from refinement.engine.codec import rubric_from_json, rubric_to_json
from refinement.engine.types import Rubric as Definition
from refinement.forms.rubrics.initial import Fields, form_fields
from refinement.forms.rubrics.presets import with_preset_followed
from refinement.forms.rubrics.reading import clean_fields, read_definition
from refinement.forms.rubrics.sample import SampleForm
from refinement.models import ProposalStatus, Rubric, RubricProposal
from refinement.providers.embedded import is_demo
from refinement.selectors.launch.available_models import models_offered
from refinement.selectors.launch.model_lists import has_real_model
from refinement.services.rubrics.editing import rubric_create, rubric_slug_for
from refinement.services.rubrics.proposals import TooManyProposals, proposal_cancel, proposal_create
from refinement.views.rubrics.editor import CHANGES, editor_page, editor_prompt


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def rubric_sample(request: ProjectRequest) -> HttpResponse:
    """The form; POST asks a model for a proposal."""
    offers = models_offered()
    if request.method != "POST":
        return sample_page(request, SampleForm(offers=offers, initial=first_model(offers)), offers)
    form = SampleForm(request.POST, offers=offers)
    if form.is_valid():
        given = form.cleaned_data
        try:
            proposal = proposal_create(
                project=request.project,
                sample=given["sample"],
                goal=given["goal"],
                target=given["model"],
                user=request.user,
            )
        except ValidationError as invalid:
            form.add_error(None, invalid)
        except TooManyProposals as limit:
            form.add_error(None, str(limit))
        else:
            return redirect("rubric_proposal", request.project.slug, proposal.pk)
    return sample_page(request, form, offers, status=422)


def first_model(offers: list[Any]) -> dict[str, str]:
    """The first model that is offered, but not the demo model: it is too small to propose a rubric."""
    for offer in offers:
        for info in offer.models:
            if is_demo(offer.endpoint, info.name):
                continue
            return {"model": f"{offer.endpoint}/{info.name}"}
    return {}


def sample_page(
    request: ProjectRequest, form: SampleForm, offers: list[Any], status: int = 200
) -> HttpResponse:
    usable = any(offer.models for offer in offers)
    only_demo = usable and not has_real_model(offers)
    page = {"section": "rubrics", "form": form, "usable": usable, "only_demo": only_demo}
    return render(request, "refinement/rubrics/sample.html", page, status=status)


@require_safe
@project_view(role="editor")
def rubric_proposal(request: ProjectRequest, proposal: int) -> HttpResponse:
    """The proposal's progress; once it is done, the editor opens."""
    found = proposal_or_404(request, proposal)
    editor = reverse("rubric_proposal_edit", args=[request.project.slug, found.pk])
    partial = request.htmx and not request.htmx.boosted
    if found.status == ProposalStatus.DONE:
        return HttpResponseClientRedirect(editor) if partial else redirect(editor)
    page = {"section": "rubrics", "proposal": found}
    name = "_proposal" if partial else "proposal"
    return render(request, f"refinement/rubrics/{name}.html", page)


@require_POST
@project_view(role="editor")
def rubric_proposal_cancel(request: ProjectRequest, proposal: int) -> HttpResponse:
    """Stops the model and returns to the form."""
    proposal_cancel(proposal=proposal_or_404(request, proposal))
    return redirect("rubric_sample", request.project.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def rubric_proposal_edit(request: ProjectRequest, proposal: int) -> HttpResponse:
    """The editor with the proposal. Saving it creates the rubric; nothing is saved before."""
    found = proposal_or_404(request, proposal)
    if found.definition is None:
        return redirect("rubric_proposal", request.project.slug, found.pk)
    base = rubric_from_json(found.definition)
    page = unsaved_page(request, found, base)
    if request.method != "POST":
        return editor_page(request, page, base, form_fields(rubric_to_json(base)))
    fields = clean_fields(request.POST.dict())
    act = fields.get("act", "save")
    if act == "prompt" and request.htmx:
        return editor_prompt(request, base, fields)
    if act in CHANGES:
        changed = CHANGES[act](with_preset_followed(fields, base.profile), base.profile)
        return editor_page(request, page, base, changed)
    return save_new(request, page, base, fields)


def save_new(request: ProjectRequest, page: dict[str, Any], base: Definition, fields: Fields) -> HttpResponse:
    reading = read_definition(fields, base)
    if reading.definition is None:
        return editor_page(request, page, base, fields, reading.problems)
    version = rubric_create(
        project=request.project,
        slug=rubric_slug_for(request.project, reading.definition.name),
        definition=reading.definition,
        user=request.user,
        note=fields.get("note", "").strip() or "Created from a sample.",
    )
    messages.success(request, f"{version.name} created. Every save is a new version.")
    for notice in reading.notices:
        messages.warning(request, notice)
    address = reverse("rubric_edit", args=[request.project.slug, version.rubric.slug])
    if request.htmx and not request.htmx.boosted:
        return HttpResponseClientRedirect(address)
    return redirect(address)


def unsaved_page(request: ProjectRequest, proposal: RubricProposal, base: Definition) -> dict[str, Any]:
    """The editor's context for a rubric that does not exist yet."""
    return {
        "section": "rubrics",
        "rubric": Rubric(project=request.project, name=base.name),
        "version": None,
        "newest": None,
        "proposal": proposal,
        "can_edit": can_edit(request),
        "editor_address": reverse("rubric_proposal_edit", args=[request.project.slug, proposal.pk]),
    }


def proposal_or_404(request: ProjectRequest, pk: int) -> RubricProposal:
    found = RubricProposal.objects.filter(project=request.project, pk=pk).first()
    if found is None:
        raise Http404("There is no such proposal. Old proposals are deleted.")
    return found
