"""Start a measurement with planted defects: good texts, and spoiled and harmless copies of them."""

from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from refinement.access.objects import can_edit
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.measurements.planted import HARMLESS, PlantedForm
from refinement.forms.measurements.retest import texts_in
from refinement.models import Rubric, RubricVersion
from refinement.selectors.launch.available_models import models_offered
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.trust.good_texts import good_label_items, good_rounds, planted_measurements_of
from refinement.selectors.trust.measurements.choosing import (
    EARLIER,
    LABELS,
    PASTED,
    label_sets_of,
    rounds_in,
    rounds_loaded,
)
from refinement.services.trust.planting import (
    GoodText,
    OwnCopy,
    Planned,
    copies_again,
    planted_plan,
    planted_values,
)
from refinement.views.measurements import starting
from refinement.views.measurements.starting import (
    rubric_asked,
    rubrics_to_choose,
    shown_form,
    started,
    usual_values,
    version_chosen,
    versions_of,
)


@require_http_methods(["GET", "HEAD", "POST"])
def planted_new(request: HttpRequest, slug: str) -> HttpResponse:
    """The form with its quote; POST quotes or starts."""
    shown_or_started = planted_post if request.method == "POST" else planted_form
    return shown_or_started(request, slug)


@project_view()
def planted_form(request: ProjectRequest) -> HttpResponse:
    rubric = rubric_asked(request)
    if rubric is None or not can_edit(request):
        return no_rubric(request, rubric)
    first = form_for(rubric)
    usual = {name: field.initial for name, field in first.fields.items() if field.initial is not None}
    data = {**usual, **usual_values(request, rubric, versions_of(rubric))}
    data["label_set"] = next(iter(first.label_sets), "")
    form = form_for(rubric, data=data, initial=data)
    plan, notes = plan_of(request, rubric, form)
    if plan.quote is None:
        form = form_for(rubric, initial=data)
    return shown(request, rubric, form, plan, notes)


@project_view(role="editor")
def planted_post(request: ProjectRequest) -> HttpResponse:
    rubric = rubric_asked(request)
    if rubric is None:
        return no_rubric(request, rubric)
    form = form_for(rubric, data=request.POST)
    plan, notes = plan_of(request, rubric, form)
    if request.POST.get("act") == "start" and (answer := started(request, form, plan)):
        return answer
    return shown(request, rubric, form, plan, notes, status=422 if form.errors else 200)


def no_rubric(request: ProjectRequest, rubric: Rubric | None) -> HttpResponse:
    page = {
        "section": "trust",
        "rubric": rubric,
        "rubrics": rubrics_to_choose(request),
        "can_edit": can_edit(request),
        "heading": "Planted defects",
        "purpose": "Judge good texts and spoiled copies of them to see which defects a judge notices.",
    }
    return render(request, "refinement/measurements/choose_rubric.html", page)


def form_for(rubric: Rubric, **given: Any) -> PlantedForm:
    return PlantedForm(
        versions=versions_of(rubric),
        offers=models_offered(),
        label_sets=label_sets_of(rubric),
        earlier=planted_measurements_of(rubric),
        has_rounds=rounds_in(rubric).exists(),
        criteria=list(versions_of(rubric)[0].criteria.values_list("key", "name")),
        **given,
    )


def plan_of(request: ProjectRequest, rubric: Rubric, form: PlantedForm) -> tuple[starting.Planned, list[str]]:
    """What would be created with its quote, and which copies cannot be made; no quote if there are errors."""
    if not form.is_valid():
        return starting.Planned(), []
    version = version_chosen(rubric, form.cleaned_data["version"])
    copies = copies_of(rubric, version, form)
    longest = max((len(item.text) for item in copies.items), default=0)
    source = form.cleaned_data["source"]
    try:
        values = planted_values(
            version=version,
            judge=form.judge_choice(definition_of(version), longest),
            planned=copies,
            repeats=form.cleaned_data["repeats"],
            ask_again=form.cleaned_data["ask_again"],
            token_budget=form.cleaned_data["token_budget"],
            label_set=form.label_set_chosen if source == LABELS else None,
            chosen={"source": source, "words": chosen_words(form, copies)},
        )
    except ValidationError as refusal:
        starting.add_refusal(form, refusal)
        return starting.Planned(), copies.notes
    return starting.planned(form, values), copies.notes


def copies_of(rubric: Rubric, version: RubricVersion, form: PlantedForm) -> Planned:
    """The texts and their copies; those of an earlier measurement are judged as they are."""
    values = form.cleaned_data
    if values["source"] == EARLIER and form.earlier_chosen is not None:
        return copies_again(form.earlier_chosen)
    texts = texts_of(rubric, version, form)
    return planted_plan(version, texts, edits=values["edits"], own=own_of(form))


def texts_of(rubric: Rubric, version: RubricVersion, form: PlantedForm) -> list[GoodText]:
    values, count = form.cleaned_data, form.cleaned_data["count"]
    if values["source"] == PASTED:
        return [GoodText(text, values["task"]) for text in texts_in(values["texts"])][:count]
    if values["source"] == LABELS and form.label_set_chosen is not None:
        rows = good_label_items(form.label_set_chosen, count)
        return [GoodText(row.text, row.task, label_item=row, round=row.round) for row in rows]
    loaded = rounds_loaded(good_rounds(rubric, version, count))
    return [GoodText(row.candidate, row.run.task, round=row) for row in loaded]


def own_of(form: PlantedForm) -> list[OwnCopy]:
    values = form.cleaned_data
    if not values["own_copy"].strip():
        return []
    return [
        OwnCopy(
            GoodText(values["own_text"], values["task"] if values["source"] == PASTED else ""),
            values["own_copy"],
            harmless=values["own_effect"] == HARMLESS,
            criterion=values["own_criterion"],
            change=values["own_change"],
        )
    ]


def chosen_words(form: PlantedForm, copies: Planned) -> str:
    """How the texts were chosen, for the measurement's page."""
    values, source = form.cleaned_data, form.cleaned_data["source"]
    words = "best rounds of runs"
    if source == PASTED:
        words = "pasted texts"
    elif source == LABELS and form.label_set_chosen is not None:
        words = f"the best of {form.label_set_chosen.name}"
    elif source == EARLIER:
        words = f"those of measurement {values['earlier']}"
    return f"{words}, {copies.copies} copies of {copies.texts}"


def shown(
    request: ProjectRequest,
    rubric: Rubric,
    form: PlantedForm,
    plan: starting.Planned,
    notes: list[str],
    *,
    status: int = 200,
) -> HttpResponse:
    page = {"rubric": rubric, "form": form, "quote": plan.quote, "notes": notes, "verb": "Plant defects"}
    return shown_form(request, "planted", page, status=status)
