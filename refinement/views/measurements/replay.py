"""Start a replay: stored rounds under another version, an unsaved draft or another judge."""

import json
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from refinement.access.objects import can_edit
from refinement.access.projects import ProjectRequest, project_view
from refinement.engine.codec import rubric_from_json, rubric_to_json
from refinement.engine.types import Rubric as Definition
from refinement.forms.measurements.replay import ReplayForm
from refinement.forms.rubrics.reading import clean_fields, read_definition
from refinement.models import MeasurementKind, Rubric
from refinement.selectors.launch.available_models import models_offered
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.trust.measurements.choosing import (
    EXPERIMENT,
    LABELS,
    NEWEST,
    RUNS,
    SUITE,
    experiments_of,
    label_items_of,
    label_sets_of,
    rounds_chosen,
    rounds_in,
    rounds_loaded,
    suites_of,
)
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
from refinement.views.rubrics.context import rubric_context
from refinement.views.rubrics.editor import editor_page, version_number


@require_http_methods(["GET", "HEAD", "POST"])
def replay_new(request: Any, slug: str) -> HttpResponse:
    """The form. POST quotes or starts; `act=draft` comes from the rubric editor with its fields."""
    shown_or_started = replay_post if request.method == "POST" else replay_form
    return shown_or_started(request, slug)


@project_view()
def replay_form(request: ProjectRequest) -> HttpResponse:
    rubric = rubric_asked(request)
    if rubric is None or not can_edit(request):
        return no_rubric(request, rubric)
    return fresh_form(request, rubric)


def no_rubric(request: ProjectRequest, rubric: Rubric | None) -> HttpResponse:
    page = {
        "section": "trust",
        "rubric": rubric,
        "rubrics": rubrics_to_choose(request),
        "can_edit": can_edit(request),
        "heading": "Replay",
        "purpose": "Judge stored rounds again with another rubric version or judge, and see what changes.",
    }
    return render(request, "refinement/measurements/choose_rubric.html", page)


def fresh_form(
    request: ProjectRequest, rubric: Rubric, draft: Definition | None = None, base: int | None = None
) -> HttpResponse:
    """The form with usual values, and the quote for them."""
    versions = versions_of(rubric)
    values = usual_values(request, rubric, versions)
    if draft is not None:
        values |= {"version": base, "draft": json.dumps(rubric_to_json(draft))}
    label_set = request.GET.get("label_set", "")
    if label_set:
        values |= {"source": LABELS, "label_set": label_set[:20]}
    first = form_for(request, rubric)
    usual = {name: field.initial for name, field in first.fields.items() if field.initial is not None}
    data = {**usual, **{name: value for name, value in values.items() if value is not None}}
    form = form_for(request, rubric, data=data, initial=data)
    plan = plan_of(request, rubric, form) if data.get("judge") else Planned()
    if not data.get("judge") or (form.errors and plan.quote is None):
        notes = [str(words) for words in form.non_field_errors()]
        form = form_for(request, rubric, initial=data)
        return shown(request, rubric, form, plan, notes=notes)
    return shown(request, rubric, form, plan)


@project_view(role="editor")
def replay_post(request: ProjectRequest) -> HttpResponse:
    rubric = rubric_asked(request)
    if rubric is None:
        return no_rubric(request, rubric)
    act = request.POST.get("act", "quote")
    if act == "draft":
        return draft_from_editor(request, rubric)
    form = form_for(request, rubric, data=request.POST)
    plan = plan_of(request, rubric, form)
    if act == "start" and (answer := started(request, form, plan)):
        return answer
    return shown(request, rubric, form, plan, status=422 if form.errors else 200)


def draft_from_editor(request: ProjectRequest, rubric: Rubric) -> HttpResponse:
    """The form for a draft; the editor with its problems if it is not valid."""
    fields = clean_fields(request.POST.dict())
    page = rubric_context(request, rubric.slug, version_number(fields, "edited_from"))
    base = definition_of(page["version"])
    reading = read_definition(fields, base)
    if reading.definition is None:
        return editor_page(request, page, base, fields, reading.problems)
    same = reading.definition == base
    return fresh_form(request, rubric, None if same else reading.definition, page["version"].number)


def form_for(request: ProjectRequest, rubric: Rubric, **given: Any) -> ReplayForm:
    return ReplayForm(
        versions=versions_of(rubric),
        offers=models_offered(),
        suites=suites_of(request.project),
        experiments=experiments_of(request.project),
        label_sets=label_sets_of(rubric),
        **given,
    )


def plan_of(request: ProjectRequest, rubric: Rubric, form: ReplayForm) -> Planned:
    """What would be created, with its quote; without one if the form has errors."""
    if not form.is_valid():
        return Planned()
    version = version_chosen(rubric, form.cleaned_data["version"])
    draft = form.cleaned_data["draft"]
    definition = rubric_from_json(draft) if draft else definition_of(version)
    items = items_of(rubric, form, definition)
    if not items:
        form.add_error(None, "No judged rounds match. Choose others.")
        return Planned()
    longest = max(len(item.text) for item in items)
    values = {
        "project": request.project,
        "version": version,
        "kind": MeasurementKind.REPLAY,
        "judge": form.judge_choice(definition, longest),
        "items": items,
        "repeats": form.cleaned_data["repeats"],
        "definition": draft,
        "ask_again": form.cleaned_data["ask_again"],
        "token_budget": form.cleaned_data["token_budget"],
        "label_set": form.chosen("label_set") if form.cleaned_data["source"] == LABELS else None,
        "chosen": chosen_words(form),
    }
    return planned(form, values)


def items_of(rubric: Rubric, form: ReplayForm, definition: Definition) -> list[NewItem]:
    values = form.cleaned_data
    if values["source"] == LABELS:
        rows = label_items_of(form.chosen("label_set"), values["count"])
        return [NewItem(row.text, row.task, label_item=row, round=row.round) for row in rows]
    chosen = rounds_in(
        rubric,
        suite=form.chosen("suite").pk if values["source"] == SUITE else None,
        experiment=form.chosen("experiment").pk if values["source"] == EXPERIMENT else None,
    )
    keys = rounds_chosen(
        chosen,
        count=values["count"],
        order=values["pick"],
        mark=definition.policy.pass_threshold,
        runs=values["runs"] if values["source"] == RUNS else None,
    )
    return [NewItem(row.candidate, row.run.task, round=row) for row in rounds_loaded(keys)]


def chosen_words(form: ReplayForm) -> dict[str, Any]:
    """How the texts were chosen, for the page."""
    values = form.cleaned_data
    source = values["source"]
    named = {SUITE: "suite", EXPERIMENT: "experiment", LABELS: "label_set"}.get(source)
    words = f"newest {values['runs']} runs" if source == RUNS else str(form.chosen(named or "").name)
    order = "newest first" if values["pick"] == NEWEST else "near the pass mark first"
    return {"source": source, "words": words if source == LABELS else f"{words}, {order}"}


def shown(
    request: ProjectRequest,
    rubric: Rubric,
    form: ReplayForm,
    plan: Planned,
    *,
    notes: list[str] | None = None,
    status: int = 200,
) -> HttpResponse:
    page = {
        "rubric": rubric,
        "form": form,
        "quote": plan.quote,
        "notes": notes or [],
        "verb": "Run replay",
    }
    return shown_form(request, "replay", page, status=status)
