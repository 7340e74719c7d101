"""Launching experiments, and adding a configuration to one."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.forms import BaseForm
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from refinement.access.objects import experiment_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.engine.safeguards import Kinship
from refinement.forms.experiments.configurations import ConfigurationForm, values_of
from refinement.forms.experiments.launch import ExperimentForm
from refinement.forms.experiments.posted import (
    MOST,
    Values,
    arranged,
    baseline_posted,
    configurations_posted,
    with_configurations,
)
from refinement.models import Experiment
from refinement.providers.registry import Target
from refinement.selectors.experiments.choices import (
    SuiteChoices,
    rubric_version_choices,
    rubric_versions,
    suite_choices,
)
from refinement.selectors.experiments.page import configurations_of
from refinement.selectors.launch.choices import launch_choices, usual_values
from refinement.selectors.launch.model_lists import models_for_launch
from refinement.selectors.launch.warnings import largest_judge
from refinement.services.experiments.control import configuration_add
from refinement.services.experiments.creating import experiment_create
from refinement.services.runs.lifecycle import WrongState
from refinement.views.experiments.quote import quote_of
from refinement.views.runs.launch import initial_models


@dataclass(frozen=True, slots=True)
class LaunchDesk:
    """The form with its configurations; None without a suite or a rubric."""

    form: ExperimentForm | None
    configurations: list[ConfigurationForm]
    choices: SuiteChoices | None
    baseline: int
    away: list[Any]

    @property
    def is_valid(self) -> bool:
        form_valid = self.form is not None and self.form.is_valid()
        wrong = [each for each in self.configurations if not each.is_valid()]  # all of them are checked
        return form_valid and not wrong


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def experiment_new(request: ProjectRequest) -> HttpResponse:
    """The form. POST launches the experiment."""
    if request.method != "POST":
        return shown(request, desk_of(request, initial_data(request), typed=False))
    desk = desk_of(request, arranged(request.POST))
    if desk.form is None or desk.choices is None or not desk.is_valid:
        return shown(request, desk, status=422)
    values = desk.form.cleaned_data
    try:
        made = experiment_create(
            project=request.project,
            user=request.user,
            suite_version=desk.choices.version,
            name=values["name"],
            configurations=[each.spec(baseline=each.number == desk.baseline) for each in desk.configurations],
            repeats=values["repeats"],
            token_budget=values["token_budget"],
            note=values["note"],
        )
    except ValidationError as refusal:
        refuse(desk, refusal)
        return shown(request, desk, status=422)
    return redirect("experiment_page", request.project.slug, made.pk)


@require_POST
@project_view(role="editor")
def experiment_estimate(request: ProjectRequest) -> HttpResponse:
    """The form after one of its buttons; for htmx without a button, only the estimate."""
    desk = desk_of(request, arranged(request.POST))
    if desk.form is None:
        return shown(request, desk)
    complain_later([desk.form, *desk.configurations])
    is_part = request.htmx and not request.htmx.boosted and "do" not in request.POST
    if is_part and request.htmx.target == "experiment-estimate":
        page = {
            "quote": quote_of(request, desk.form, desk.configurations, desk.choices),
            "desk": desk,
            "swap": True,
        }
        return render(request, "refinement/experiments/_estimate.html", page)
    return shown(request, desk)


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def configuration_new(request: ProjectRequest, experiment: int) -> HttpResponse:
    """Adds a configuration to an experiment; its runs start at once."""
    found = experiment_or_404(request, experiment)
    if request.method == "POST":
        data = with_configurations(request.POST, configurations_posted(request.POST)[:1], 0)
    else:
        data = with_configurations(QueryDict(), [addition_values(found)], 0)
    forms = configuration_forms(request, data, typed=request.method == "POST")
    status = 200
    if request.method != "POST":
        complain_later(forms)
    elif forms:
        if forms[0].is_valid() and "show" not in request.POST:
            try:
                added = configuration_add(found, forms[0].spec(baseline=False), request.user)
            except ValidationError as refusal:
                forms[0].add_error(None, " ".join(refusal.messages))
            except WrongState as refusal:
                forms[0].add_error(None, str(refusal))
            else:
                messages.success(request, f"{added.letter} {added.name} added. Its runs start now.")
                return redirect("experiment_page", request.project.slug, found.pk)
        status = 200 if "show" in request.POST else 422
    page = {"section": "suites", "experiment": found, "configuration": forms[0] if forms else None}
    return render(request, "refinement/experiments/configuration_new.html", page, status=status)


# --- the form ---------------------------------------------------------------------------------------
def initial_data(request: ProjectRequest) -> QueryDict:
    """What the form is filled with: an earlier experiment, or a baseline and a copy of it."""
    wanted = request.GET.get("from", "")
    if wanted.isascii() and wanted.isdigit() and len(wanted) < 19:
        return data_of(experiment_or_404(request, int(wanted)))
    values = first_values(request)
    data = QueryDict(mutable=True)
    data["suite"], data["repeats"] = request.GET.get("suite", ""), "2"
    data["suite_version"] = request.GET.get("version", "")
    second = values | {"name": [""]}
    return with_configurations(data, [values | {"name": ["Baseline"]}, second] if values else [], 0)


def first_values(request: ProjectRequest) -> Values:
    """Rubric and models of the user's last launch, or what is there. Writer and judge differ if they can."""
    offers = models_for_launch()
    usual = initial_models(usual_values(request.project, request.user), offers)
    choices = launch_choices(request.project, usual.get("rubric", ""), "")
    if choices is None:
        return {}
    version = f"{choices.version.rubric.slug}@{choices.version.number}"
    roles = {role: [str(usual[role])] for role in ("producer", "judge") if usual.get(role)}
    if "producer" in roles and roles["producer"] == roles.get("judge"):
        endpoint, _, model = roles["producer"][0].partition("/")
        other = largest_judge(Target(endpoint, model), offers, (None, Kinship.SAME_FAMILY))
        if other is not None:
            roles["judge"] = [f"{other.endpoint}/{other.model}"]
    return {"version": [version], **roles}


def data_of(experiment: Experiment) -> QueryDict:
    """An experiment as its form would have sent it."""
    data = QueryDict(mutable=True)
    data["suite"] = experiment.suite_version.suite.slug
    data["name"], data["note"] = experiment.name, experiment.note
    data["repeats"] = str(experiment.repeats)
    data["token_budget"] = str(experiment.token_budget or "")
    rows = configurations_of(experiment)[:MOST]
    baseline = next((number for number, row in enumerate(rows) if row.baseline), 0)
    return with_configurations(data, [values_of(row) for row in rows], baseline)


def addition_values(experiment: Experiment) -> Values:
    """A copy of the baseline without a name."""
    rows = configurations_of(experiment)
    base = next((row for row in rows if row.baseline), rows[0] if rows else None)
    return (values_of(base) if base else {}) | {"name": [""]}


def desk_of(request: ProjectRequest, data: QueryDict, *, typed: bool = True) -> LaunchDesk:
    """The form for this data. Unless `typed`, it is shown without errors."""
    choices = suite_choices(request.project, data.get("suite", ""), data.get("suite_version", ""))
    configurations = configuration_forms(request, data, typed=typed)
    baseline = min(baseline_posted(data), max(len(configurations) - 1, 0))
    away = [offer for offer in models_for_launch() if offer.problem]
    if choices is None or not configurations:
        return LaunchDesk(None, configurations, choices, baseline, away)
    data = data.copy()
    data["suite"], data["suite_version"] = choices.version.suite.slug, str(choices.version.number)
    form = ExperimentForm(data, suites=choices.suites, versions=choices.versions)
    desk = LaunchDesk(form, configurations, choices, baseline, away)
    if not typed:
        complain_later([form, *configurations])
    return desk


def configuration_forms(request: ProjectRequest, data: QueryDict, *, typed: bool) -> list[ConfigurationForm]:
    posted = configurations_posted(data)
    references = [next(iter(fields.get("version", [])), "") for fields in posted]
    versions, offers = rubric_versions(request.project, references), models_for_launch()
    groups = rubric_version_choices(request.project, references)
    return [
        ConfigurationForm(
            data,
            numbered_files(request, number) if typed else None,
            number=number,
            version=versions[reference][0] if reference in versions else None,
            definition=versions[reference][1] if reference in versions else None,
            versions=groups,
            offers=offers,
        )
        for number, reference in enumerate(references)
    ]


def numbered_files(request: ProjectRequest, number: int) -> Any:
    """Files keep their numbers: no button that renumbers the configurations sends any."""
    return request.FILES if "do" not in request.POST else None


def complain_later(forms: Iterable[BaseForm | None]) -> None:
    """Before the first submit: drops errors of empty fields, keeps those of entered values."""
    for form in forms:
        if form is None:
            continue
        form.is_valid()
        for name in [name for name in form.errors if name != "__all__" and not form[name].value()]:
            del form.errors[name]


def refuse(desk: LaunchDesk, refusal: ValidationError) -> None:
    """Shows a service's refusal at the field or the configuration that it names."""
    assert desk.form is not None
    for field, words in refusal.message_dict.items():
        for message in words:
            owner = next((each for each in desk.configurations if named(each, message)), None)
            if field == "configurations" and owner is not None:
                owner.add_error(None, message.partition(": ")[2] or message)
            else:
                desk.form.add_error(field if field in desk.form.fields else None, message)


def named(form: ConfigurationForm, message: str) -> bool:
    name = form.cleaned_data.get("name") if hasattr(form, "cleaned_data") else ""
    return bool(name) and message.startswith(f"{name}: ")


def shown(request: ProjectRequest, desk: LaunchDesk, status: int = 200) -> HttpResponse:
    page: dict[str, Any] = {"section": "suites", "desk": desk, "most": MOST}
    if desk.form is not None:
        page["quote"] = quote_of(request, desk.form, desk.configurations, desk.choices)
    return render(request, "refinement/experiments/launch.html", page, status=status)
