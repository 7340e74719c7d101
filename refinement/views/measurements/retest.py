"""Start a retest: the same texts several times, to learn how much a judge's scores vary."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from refinement.access.objects import can_edit
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.measurements.retest import RetestForm, texts_in
from refinement.models import MeasurementKind, Rubric
from refinement.selectors.launch.available_models import models_offered
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.trust.measurements.choosing import (
    LABELS,
    MOST_LOOKED_AT,
    PASTED,
    evenly,
    label_items_of,
    label_sets_of,
    round_keys,
    rounds_in,
    rounds_loaded,
)
from refinement.selectors.trust.words import REPEATED_TEXTS, REPEATS, enough_repeats
from refinement.services.trust.measurements.creating import NewItem
from refinement.views.measurements.starting import (
    Planned,
    planned,
    rubric_asked,
    rubrics_to_choose,
    shown_form,
    started,
    usual_values,
    version_chosen,
    versions_of,
)


@require_http_methods(["GET", "HEAD", "POST"])
def retest_new(request: HttpRequest, slug: str) -> HttpResponse:
    """The form with its quote; POST quotes or starts."""
    shown_or_started = retest_post if request.method == "POST" else retest_form
    return shown_or_started(request, slug)


@project_view()
def retest_form(request: ProjectRequest) -> HttpResponse:
    rubric = rubric_asked(request)
    if rubric is None or not can_edit(request):
        return no_rubric(request, rubric)
    values = usual_values(request, rubric, versions_of(rubric))
    if label_set := request.GET.get("label_set", ""):
        values |= {"source": LABELS, "label_set": label_set[:20]}
    first = form_for(rubric)
    usual = {name: field.initial for name, field in first.fields.items() if field.initial is not None}
    data = {**usual, **values}
    if data["source"] == LABELS and not data.get("label_set"):
        data["label_set"] = next(iter(first.rows), "")
    form = form_for(rubric, data=data, initial=data)
    plan = plan_of(request, rubric, form)
    if plan.quote is None:
        form = form_for(rubric, initial=data)
    return shown(request, rubric, form, plan)


@project_view(role="editor")
def retest_post(request: ProjectRequest) -> HttpResponse:
    rubric = rubric_asked(request)
    if rubric is None:
        return no_rubric(request, rubric)
    form = form_for(rubric, data=request.POST)
    plan = plan_of(request, rubric, form)
    if request.POST.get("act") == "start" and (answer := started(request, form, plan)):
        return answer
    return shown(request, rubric, form, plan, status=422 if form.errors else 200)


def no_rubric(request: ProjectRequest, rubric: Rubric | None) -> HttpResponse:
    page = {
        "section": "trust",
        "rubric": rubric,
        "rubrics": rubrics_to_choose(request),
        "can_edit": can_edit(request),
        "heading": "Retest",
        "purpose": "Judge the same texts several times to learn which differences are just noise.",
    }
    return render(request, "refinement/measurements/choose_rubric.html", page)


def form_for(rubric: Rubric, **given: Any) -> RetestForm:
    return RetestForm(
        versions=versions_of(rubric),
        offers=models_offered(),
        label_sets=label_sets_of(rubric),
        has_rounds=rounds_in(rubric).exists(),
        **given,
    )


def plan_of(request: ProjectRequest, rubric: Rubric, form: RetestForm) -> Planned:
    """What would be created, with its quote; without one if the form has errors."""
    if not form.is_valid():
        return Planned()
    version = version_chosen(rubric, form.cleaned_data["version"])
    items = items_of(rubric, form)
    if not items:
        form.add_error(None, "There are no texts to judge. Choose others.")
        return Planned()
    longest = max(len(item.text) for item in items)
    values = {
        "project": request.project,
        "version": version,
        "kind": MeasurementKind.RETEST,
        "judge": form.judge_choice(definition_of(version), longest),
        "items": items,
        "repeats": form.cleaned_data["repeats"],
        "ask_again": form.cleaned_data["ask_again"],
        "token_budget": form.cleaned_data["token_budget"],
        "label_set": form.label_set_chosen if form.cleaned_data["source"] == LABELS else None,
        "chosen": {"source": form.cleaned_data["source"], "words": chosen_words(form)},
    }
    return planned(form, values)


def items_of(rubric: Rubric, form: RetestForm) -> list[NewItem]:
    """The chosen texts. Rounds are spread evenly from low to high scores."""
    values = form.cleaned_data
    if values["source"] == PASTED:
        return [NewItem(text, values["task"]) for text in texts_in(values["texts"])][: values["count"]]
    if values["source"] == LABELS and form.label_set_chosen is not None:
        rows = label_items_of(form.label_set_chosen)
        step = evenly(rows, values["count"])
        return [NewItem(row.text, row.task, label_item=row, round=row.round) for row in step]
    keys = round_keys(rounds_in(rubric).order_by("-run_id", "-number")[:MOST_LOOKED_AT])
    spread = evenly(sorted(keys, key=lambda key: key.composite), values["count"])
    loaded = rounds_loaded([key.pk for key in spread])
    return [NewItem(row.candidate, row.run.task, round=row) for row in loaded]


def chosen_words(form: RetestForm) -> str:
    source = form.cleaned_data["source"]
    if source == PASTED:
        return "pasted texts"
    if source == LABELS and form.label_set_chosen is not None:
        return form.label_set_chosen.name
    return "rounds of runs, from low to high scores"


def shown(
    request: ProjectRequest, rubric: Rubric, form: RetestForm, plan: Planned, *, status: int = 200
) -> HttpResponse:
    notes = few_words(plan.quote.texts, plan.values["repeats"]) if plan.quote and plan.values else []
    page = {"rubric": rubric, "form": form, "quote": plan.quote, "notes": notes, "verb": "Run retest"}
    return shown_form(request, "retest", page, status=status)


def few_words(texts: int, repeats: int) -> list[str]:
    """That these texts alone are too few to know the judge's noise."""
    if enough_repeats(texts, texts * repeats):
        return []
    return [f"These are too few: it takes {REPEATS} repeats of at least {REPEATED_TEXTS} texts."]
