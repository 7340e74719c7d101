"""Launching runs: form, estimate, and the example run."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.engine.types import Role, Rubric
from refinement.forms.runs.judges import judge_values
from refinement.forms.runs.launch import LaunchForm
from refinement.forms.runs.overrides import overrides_between
from refinement.forms.runs.sketches import sketched
from refinement.forms.runs.texts import texts_of
from refinement.models import RubricVersion, Run
from refinement.providers.registry import Target
from refinement.selectors.endpoints import endpoint_specs
from refinement.selectors.launch.available_models import Offer
from refinement.selectors.launch.checks import checks_for, privacy_words
from refinement.selectors.launch.choices import (
    Choices,
    definition_named,
    launch_choices,
    newest_runs,
    task_types,
    usual_values,
    values_of,
)
from refinement.selectors.launch.estimates import Estimate, RoleShare
from refinement.selectors.launch.facts import launch_facts
from refinement.selectors.launch.model_lists import (
    DEMO,
    facts_of,
    has_demo_model,
    info_of,
    models_for_launch,
)
from refinement.selectors.launch.paces import duration_words
from refinement.selectors.launch.plans import plan_of
from refinement.selectors.launch.warnings import DOWN, warnings_for
from refinement.selectors.rubrics.words import budget_words
from refinement.selectors.runs.history import definition_of_run
from refinement.services.runs.creating import title_of
from refinement.services.runs.launching import (
    EXAMPLE_SEED,
    EXAMPLE_TASK,
    EXAMPLE_TITLE,
    Launched,
    NothingAvailable,
    example_choice,
    example_launch,
    runs_launch,
)

ROLES = {Role.PRODUCER: "Writer", Role.JUDGE: "Judges", Role.CLERK: "Clerk"}
# The fields that a button of the form can set, by its name.
FIXABLE = {"judge": ("judge",), "judges": ("judges",), "models": ("producer", "judge")}

# A small task that the demo model can do in about a minute.
DEMO_VALUES = {
    "task": EXAMPLE_TASK,
    "title": EXAMPLE_TITLE,
    "start": "pasted",
    "seed": EXAMPLE_SEED,
    "producer": DEMO,
    "judge": DEMO,
}


@dataclass(frozen=True, slots=True)
class LaunchPage:
    """The form and its surroundings; no form if the project has no rubric."""

    form: LaunchForm | None
    offers: list[Offer]
    page: dict[str, Any]


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def run_new(request: ProjectRequest) -> HttpResponse:
    """The launch form. POST launches unless there are new warnings."""
    if request.method == "POST":
        return launch(request)
    offers = models_for_launch()
    initial, page = initial_values(request, offers)
    desk = launch_page(request, offers, initial=initial, earlier=page.get("from"))
    return shown(request, desk, **page)


def launch(request: ProjectRequest) -> HttpResponse:
    desk = launch_page(request, models_for_launch(), data=data_sent(request), files=request.FILES)
    form = desk.form
    if form is None or not form.is_valid():
        return shown(request, desk, status=422)
    panel = panel_for(request, form, desk.offers)
    cautions = {caution.code for caution in panel["cautions"] if not caution.blocks}
    unseen = cautions - set(request.POST.getlist("warned"))
    if unseen:
        return shown(request, desk, status=422, panel=panel, asked_first=True)
    try:
        launched = launched_from(request, form)
    except ValidationError as refusal:
        for name, words in refusal.message_dict.items():
            form.add_error(name if name in form.fields else None, words)
        return shown(request, desk, status=422)
    return redirect_to_first(request, launched)


def data_sent(request: ProjectRequest) -> QueryDict:
    """The form as it was sent, with what its button adds: the fix of a warning, or one round only."""
    data = request.POST.copy()
    field, _, value = data.get("use", "").partition("=")
    for name in FIXABLE.get(field, ()):
        data[name], data[f"{name}_typed"] = value, ""
    if "only_judge" in data:
        data["rounds"] = "1"
    return data


def launched_from(request: ProjectRequest, form: LaunchForm) -> Launched:
    values = form.cleaned_data
    return runs_launch(
        project=request.project,
        user=request.user,
        version=form.chosen_version,
        definition=values["definition"],
        task=values["task"],
        seed=values["seed_text"],
        sources=values["sources"],
        producer=values["producer_target"],
        judge=values["judge_target"],
        clerk=values["clerk_target"],
        held_out=values["held_out_target"],
        title=values["title"],
        task_type=values["task_type"],
        tags=values["tag_names"],
        repeats=values["repeats"],
        key=values["key"] or request.META["CSRF_COOKIE"],
    )


def redirect_to_first(request: ProjectRequest, launched: Launched) -> HttpResponse:
    """Redirects to the first run, with a message about the others."""
    first, count = launched.runs[0], len(launched.runs)
    if not launched.is_new:
        messages.info(request, "This was already launched. To launch it again, use Rerun.")
    elif count > 1:
        last = launched.runs[-1]
        messages.success(request, f"{count} runs launched: {first.pk} to {last.pk}.")
    return redirect("run_page", request.project.slug, first.pk)


@require_POST
@project_view(role="editor")
def run_estimate(request: ProjectRequest) -> HttpResponse:
    """Estimate and warnings for the current form; launches nothing."""
    desk = launch_page(request, models_for_launch(), data=data_sent(request), files=request.FILES)
    form = desk.form
    if form is None:
        return shown(request, desk)
    form.is_valid()
    form.complain_later()
    panel = panel_for(request, form, desk.offers)
    if request.htmx and not request.htmx.boosted:
        is_shown = request.POST.get("shown") == reference_to(form.chosen_version)
        page = desk.page | {"form": form, "panel": panel, "swap": True, "swap_rubric": not is_shown}
        return render(request, "refinement/runs/_launch_estimate.html", page)
    return shown(request, desk, panel=panel)


@require_POST
@project_view(role="editor")
def run_example(request: ProjectRequest) -> HttpResponse:
    """Starts a small example run on the best available model."""
    try:
        choice = example_choice(endpoint_specs(), models_for_launch())
        launched = example_launch(project=request.project, user=request.user, choice=choice)
    except NothingAvailable as nothing:
        messages.error(request, str(nothing))
        return redirect("project_home", request.project.slug)
    except ValidationError as refusal:
        messages.error(request, refusal.messages[0])
        return redirect("project_home", request.project.slug)
    messages.info(request, choice.why)
    return redirect("run_page", request.project.slug, launched.runs[0].pk)


# --- page context ---------------------------------------------------------------------------------
def initial_values(request: ProjectRequest, offers: list[Offer]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Initial form values, and a message about them."""
    wanted = request.GET.get("from", "")
    if wanted.isascii() and wanted.isdigit() and len(wanted) < 19:
        run = run_or_404(request, int(wanted))
        title = {} if run.title == title_of(run.task) else {"title": run.title}
        return {**values_of(run), **title}, {"from": run}
    usual = initial_models(usual_values(request.project, request.user), offers)
    if slug := request.GET.get("rubric"):
        usual["rubric"] = slug
        usual["version"] = request.GET.get("version", "")
    if request.GET.get("models") == "demo" and has_demo_model(offers):
        return {**usual, **DEMO_VALUES}, {"is_sample": True}
    return usual, {}


def initial_models(usual: dict[str, Any], offers: list[Offer]) -> dict[str, Any]:
    """The values of the last launch. Models that are gone are replaced by available ones.

    The judge is of another family than the writer where possible. An endpoint that does not answer now may
    answer later, so its models stay.
    """
    answering = tuple(f"{offer.endpoint}/" for offer in offers if offer.models)
    known = {f"{offer.endpoint}/{info.name}" for offer in offers for info in offer.models}
    chosen = [str(usual.get(role, "")) for role in ("producer", "judge")]
    if all(name and (name in known or not name.startswith(answering)) for name in chosen):
        return usual
    try:
        choice = example_choice(endpoint_specs(), offers)
    except NothingAvailable:
        return usual
    roles = {"producer": choice.producer, "judge": choice.judge}
    return {**usual, **{role: f"{target.endpoint}/{target.model}" for role, target in roles.items()}}


def changes_of(run: Run | None, choices: Choices) -> dict[str, str]:
    """The earlier run's changes to its rubric, if the rubric is the same."""
    if run is None or choices.version.pk != run.rubric_version_id:
        return {}
    saved, used = choices.definition, definition_of_run(run)
    return {**overrides_between(saved, used), **texts_of(used), **judge_values(run, saved, used)}


def launch_page(
    request: ProjectRequest,
    offers: list[Offer],
    *,
    initial: dict[str, Any] | None = None,
    earlier: Run | None = None,
    **given: Any,
) -> LaunchPage:
    values = given.get("data", initial or {})
    choices = launch_choices(request.project, values.get("rubric") or "", values.get("version") or "")
    page: dict[str, Any] = {"section": "runs", "away": [offer for offer in offers if offer.problem]}
    if choices is None:
        return LaunchPage(None, offers, page)
    if initial is not None:
        # The rubric that is shown, not the one requested: an archived one cannot be launched.
        page["wished"] = initial.get("rubric") not in (None, choices.version.rubric.slug)
        initial = {**initial, **changes_of(earlier, choices), "rubric": choices.version.rubric.slug}
    form = LaunchForm(
        project=request.project,
        rubrics=choices.rubrics,
        version=choices.version,
        definition=choices.definition,
        versions=choices.versions,
        offers=offers,
        shown=rubric_shown(request, choices.version),
        initial={**(initial or {}), "version": reference_to(choices.version)},
        **given,
    )
    page["newest_runs"] = newest_runs(request.project)
    page["task_types"] = task_types(request.project)
    return LaunchPage(form, offers, page)


def rubric_shown(request: ProjectRequest, chosen: RubricVersion) -> Rubric | None:
    """The rubric that the sent page was filled with; None if it is the chosen one, or not known."""
    reference = request.POST.get("shown", "")
    return None if reference in ("", reference_to(chosen)) else definition_named(request.project, reference)


def reference_to(version: RubricVersion) -> str:
    return f"{version.rubric.slug}@{version.number}"


def panel_for(request: ProjectRequest, form: LaunchForm, offers: list[Offer]) -> dict[str, Any]:
    """Who judges, the rubric in short, the estimate, what is in order and what is not."""
    sketch, specs = sketched(form), endpoint_specs()
    plan = plan_of(
        request.project,
        sketch.definition,
        task_chars=sketch.task_chars,
        seed_chars=sketch.seed_chars,
        source_chars=sketch.source_chars,
        producer=sketch.producer,
        judge=sketch.judge,
        clerk=sketch.clerk,
        held_out=sketch.held_out,
        repeats=sketch.repeats,
    )
    cautions = warnings_for(plan, offers)
    down = [caution.code.removeprefix(DOWN) for caution in cautions if caution.code.startswith(DOWN)]
    return {
        "waits_for": " and ".join(down),
        "facts": launch_facts(form.chosen_version.rubric, sketch.definition),
        "limits": ", ".join(budget_words(sketch.definition.policy.budget)) or "No limit",
        "estimate": plan.estimate,
        "roles": roles_of(plan.estimate),
        "judging": plan.judging,
        "time": duration_words(plan.seconds) if plan.seconds else "",
        "cost": plan.cost,
        "budget": plan.budget,
        "checks": checks_for(plan, offers),
        "cautions": cautions,
        "privacy": privacy_words(plan, specs) if sketch.producer else "",
        "models": {role: model_words(offers, getattr(sketch, role)) for role in ("producer", "judge")},
    }


def roles_of(estimate: Estimate) -> list[tuple[str, RoleShare]]:
    after = [("Held-out judge", estimate.held_out)] if estimate.held_out else []
    return [*((ROLES[share.role], share) for share in estimate.roles), *after]


def model_words(offers: list[Offer], target: Target | None) -> str:
    """What is known of a chosen model: its size and context, or that it is not available."""
    info = info_of(offers, target) if target else None
    if target and not info:
        return "Not available now"
    return ", ".join(facts_of(info)[-2:]) if info else ""


def shown(request: ProjectRequest, desk: LaunchPage, status: int = 200, **more: Any) -> HttpResponse:
    page = desk.page | {"form": desk.form, **more}
    if desk.form is not None:
        page.setdefault("panel", panel_for(request, desk.form, desk.offers))
        if desk.form.is_bound:
            desk.form.keep_file()
    return render(request, "refinement/runs/launch.html", page, status=status)
