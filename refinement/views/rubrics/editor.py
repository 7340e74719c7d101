"""The rubric editor; every save is a new version."""

import re
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from refinement.access.objects import rubric_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.engine.codec import rubric_to_json
from refinement.engine.types import Rubric
from refinement.forms.rubrics.initial import Fields, form_fields
from refinement.forms.rubrics.judges import with_judge, with_panel
from refinement.forms.rubrics.page import page_values, prototypes, with_check, with_criterion, with_metric
from refinement.forms.rubrics.presets import with_preset, with_preset_followed
from refinement.forms.rubrics.reading import Reading, clean_fields, read_definition
from refinement.forms.rubrics.trying.texts import checks_tried
from refinement.forms.rubrics.words import SEVERITIES
from refinement.selectors.launch.available_models import models_offered
from refinement.selectors.rubrics.commands import allowed_programs
from refinement.selectors.rubrics.comparisons import comparable
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.rubrics.past_runs import past_scores
from refinement.services.rubrics.editing import NewerVersion, version_create
from refinement.views.rubrics.case import case_asked
from refinement.views.rubrics.conflict import conflict_page, merged_fields
from refinement.views.rubrics.context import rubric_context
from refinement.views.rubrics.failure import failure_asked, with_failure
from refinement.views.rubrics.live_prompt import live_prompt

DRAFT = re.compile(r"[a-z0-9-]{1,40}")


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def rubric_edit(request: ProjectRequest, rubric: str) -> HttpResponse:
    """The editor. POST saves, or changes the form if another button was pressed."""
    if request.method != "POST":
        page = rubric_context(request, rubric)
        base = definition_of(page["version"])
        page |= case_asked(request, page["rubric"]) | failure_asked(request)
        fields = form_fields(rubric_to_json(base)) | {"note": page.get("case_note", "")}
        return editor_page(request, page, base, with_failure(fields, page), fresh=True)
    fields = clean_fields(request.POST.dict())
    page = rubric_context(request, rubric, version_number(fields, "edited_from"))
    page |= case_asked(request, page["rubric"]) | failure_asked(request)
    base = definition_of(page["version"])
    act = fields.get("act", "save")
    if act == "prompt" and request.htmx:
        return editor_prompt(request, base, fields)
    if act in ("merge", "merge-edit"):
        return _merge(request, page, base, fields, saving=act == "merge")
    if act in CHANGES:
        changed = CHANGES[act](with_preset_followed(fields, base.profile), base.profile)
        return editor_page(request, page, base, changed)
    return _save(request, page, base, fields)


@require_POST
@project_view(role="editor")
def rubric_try_check(request: ProjectRequest, rubric: str) -> HttpResponse:
    """Runs one or all checks on a text; the form is unchanged."""
    rubric_or_404(request, rubric)
    fields = clean_fields(request.POST.dict())
    tried = checks_tried(fields, fields.get("try", "all"))
    if request.htmx and not request.htmx.boosted:
        return render(request, "refinement/rubrics/editor/_tried.html", {"tried": tried})
    page = rubric_context(request, rubric, version_number(fields, "edited_from"))
    page["tried"] = tried
    return editor_page(request, page, definition_of(page["version"]), fields)


# The form's other buttons, for browsers without script and for restored drafts.
CHANGES: dict[str, Callable[[Fields, str], Fields]] = {
    "show": lambda fields, _: fields,
    "prompt": lambda fields, _: fields,
    "add-criterion": lambda fields, _: with_criterion(fields),
    "add-check": lambda fields, _: with_check(fields, fields.get("add-kind", "")),
    "add-metric": lambda fields, _: with_metric(fields),
    "add-judge": lambda fields, _: with_judge(fields),
    "use-panel": lambda fields, _: with_panel(fields),
    "preset": with_preset,
}


def version_number(fields: Fields, name: str) -> int:
    """A version number from the form; missing only if the form was not made by this page."""
    typed = fields.get(name, "")
    if not re.fullmatch(r"[1-9][0-9]{0,8}", typed):
        raise Http404("The form does not say which version it started from. Reload the editor.")
    return int(typed)


def editor_page(
    request: ProjectRequest,
    page: dict[str, Any],
    base: Rubric,
    fields: Fields,
    problems: dict[str, list[str]] | None = None,
    *,
    fresh: bool = False,
) -> HttpResponse:
    """The page, or its form as a partial for htmx; 422 with problems."""
    shown = base if fresh else read_definition(fields, base).definition or base
    page |= page_values(fields, problems or {}, base, shown, models_offered())
    page |= live_prompt(shown, fields.get("show", ""))
    page |= {
        **_past(page, base, shown),
        "prototypes": prototypes(),
        "severities": [(severity.value, label) for severity, label in SEVERITIES.items()],
        **_addresses(request, page),
    }
    page |= {"tab": "edit", "fresh": fresh, "saved": request.GET.get("saved", "")[:40] if fresh else ""}
    partial = request.htmx and not request.htmx.boosted
    template = "refinement/rubrics/editor/_form.html" if partial else "refinement/rubrics/editor.html"
    return render(request, template, page, status=422 if problems else 200)


def editor_prompt(request: ProjectRequest, base: Rubric, fields: Fields) -> HttpResponse:
    """The prompt next to the form, for htmx; nothing is saved."""
    reading = read_definition(fields, base)
    page = live_prompt(reading.definition or base, fields.get("show", ""))
    return render(request, "refinement/rubrics/editor/_prompt.html", page | {"stale": not reading.definition})


def _past(page: dict[str, Any], base: Rubric, shown: Rubric) -> dict[str, Any]:
    """What the pass mark would have done to the rubric's latest runs."""
    if page["version"] is None:
        return {}
    past, before = past_scores(page["rubric"], shown.scale), base.policy.pass_threshold
    mark = shown.policy.pass_threshold
    return {
        "past_words": past.words(mark, before) if past.runs else "",
        "past": {"runs": past.runs, "scores": [float(score) for score in past.scores]},
    }


def _addresses(request: ProjectRequest, page: dict[str, Any]) -> dict[str, Any]:
    """Where the form is sent. A rubric that is not saved yet cannot be tried."""
    place = [request.project.slug, page["rubric"].slug]
    asked = {name: request.GET[name] for name in ("case", "failure", "kind") if name in request.GET}
    if page["version"] is None:
        return {"try_address": "", "commands": (), "evaluator_try_address": ""}
    return {
        "editor_address": reverse("rubric_edit", args=place) + (f"?{urlencode(asked)}" if asked else ""),
        "try_address": reverse("rubric_try_check", args=place),
        "commands": allowed_programs(),
        "evaluator_try_address": reverse("rubric_try_evaluator", args=place),
    }


def _save(request: ProjectRequest, page: dict[str, Any], base: Rubric, fields: Fields) -> HttpResponse:
    reading = read_definition(fields, base)
    if reading.definition is None:
        return editor_page(request, page, base, fields, reading.problems)
    if reading.definition == base and page["version"].number == page["newest"]:
        messages.info(request, "No changes to save.")
        return _back(request, page, fields)
    return _write(request, page, base, fields, fields, reading)


def _merge(
    request: ProjectRequest, page: dict[str, Any], base: Rubric, fields: Fields, *, saving: bool
) -> HttpResponse:
    """Merges both edits on top of the newer version; saves it or shows it in the editor."""
    mine = read_definition(fields, base)
    if mine.definition is None:
        return editor_page(request, page, base, fields, mine.problems)
    original = page
    page = rubric_context(request, page["rubric"].slug, version_number(fields, "theirs"))
    theirs = definition_of(page["version"])
    joined = merged_fields(base, mine, theirs, fields)
    reading = read_definition(joined, theirs)
    if not saving or reading.definition is None:
        return editor_page(request, page, theirs, joined, reading.problems)
    if page["version"].number != page["newest"]:
        return conflict_page(request, original, base, fields, mine)
    return _write(request, page, base, fields, joined, reading, original=original, mine=mine)


def _write(
    request: ProjectRequest,
    page: dict[str, Any],
    base: Rubric,
    fields: Fields,
    written: Fields,
    reading: Reading,
    *,
    original: dict[str, Any] | None = None,
    mine: Reading | None = None,
) -> HttpResponse:
    """Saves the next version on top of the one in `page`; after a concurrent save, shows the conflict."""
    assert reading.definition is not None
    try:
        version = version_create(
            rubric=page["rubric"],
            definition=reading.definition,
            user=request.user,
            note=written.get("note", "").strip(),
            edited_from=page["version"].number,
        )
    except NewerVersion:
        return conflict_page(request, original or page, base, fields, mine or reading)
    messages.success(request, f"Version {version.number} saved.")
    if not comparable(definition_of(page["version"]), reading.definition):
        messages.info(request, f"Scores will not compare with version {page['version'].number}.")
    for notice in reading.notices:
        messages.warning(request, notice)
    return _back(request, page, fields)


def _back(request: ProjectRequest, page: dict[str, Any], fields: Fields) -> HttpResponse:
    """Redirects to the editor and lets the browser delete its draft."""
    address = reverse("rubric_edit", args=[request.project.slug, page["rubric"].slug])
    if DRAFT.fullmatch(fields.get("draft", "")):
        address += f"?saved={fields['draft']}"
    if request.htmx and not request.htmx.boosted:
        return HttpResponseClientRedirect(address)
    return redirect(address)
