"""The estimate next to the launch form."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.db.models.functions import Length

from refinement.access.projects import ProjectRequest
from refinement.engine.codec import BadRubric
from refinement.engine.safeguards import Kinship
from refinement.forms.experiments.configurations import ConfigurationForm
from refinement.forms.experiments.launch import ExperimentForm
from refinement.models import SuiteTask
from refinement.providers.embedded import is_demo
from refinement.selectors.experiments.choices import SuiteChoices
from refinement.selectors.experiments.definitions import changes_text, definition_changed
from refinement.selectors.experiments.estimates import (
    ExperimentEstimate,
    Planned,
    TaskSizes,
    experiment_estimate,
)
from refinement.selectors.experiments.reports.rulers import kin_warnings, ruler_in, ruler_warnings
from refinement.selectors.launch.paces import duration_words
from refinement.selectors.launch.warnings import kinship_of
from refinement.services.experiments.checking import MOST_REPEATS


@dataclass(frozen=True, slots=True)
class Quote:
    """What the experiment will take, as far as its form is filled in."""

    estimate: ExperimentEstimate
    tasks: int
    configurations: int
    repeats: int
    time: str
    waiting: bool  # until a model is connected
    notes: tuple[str, ...]


def quote_of(
    request: ProjectRequest,
    form: ExperimentForm,
    configurations: Sequence[ConfigurationForm],
    choices: SuiteChoices | None,
) -> Quote:
    values = getattr(form, "cleaned_data", {})
    repeats = min(values.get("repeats") or 1, MOST_REPEATS)
    tasks = task_sizes(choices) if choices else []
    planned = [entry for each in configurations if (entry := planned_of(each))]
    estimate = experiment_estimate(
        project=request.project,
        configurations=planned,
        tasks=tasks,
        repeats=repeats,
        token_budget=values.get("token_budget"),
    )
    time = duration_words(estimate.seconds) if estimate.seconds else ""
    waiting = any(needs_server(each) for each in configurations)
    wait = [f"{estimate.runs:,} runs will wait until a model is connected."] if waiting else []
    notes = (*wait, *doubts_of(configurations), *notes_of(estimate, repeats))
    return Quote(estimate, len(tasks), len(configurations), repeats, time, waiting, notes)


def needs_server(form: ConfigurationForm) -> bool:
    """Whether no model server is connected and a role has another model than the demo one."""
    values = getattr(form, "cleaned_data", {})
    targets = [values.get("producer_target"), values.get("judge_target")]
    return form.needs_server and any(each and not is_demo(each.endpoint, each.model) for each in targets)


def task_sizes(choices: SuiteChoices) -> list[TaskSizes]:
    """The lengths of the suite's texts, without reading the texts."""
    rows = SuiteTask.objects.filter(version=choices.version).order_by("position")
    lengths = rows.annotate(task_chars=Length("task"), seed_chars=Length("seed"))
    return [
        TaskSizes(task or 0, seed or 0, tuple(len(str(source.get("text", ""))) for source in sources))
        for task, seed, sources in lengths.values_list("task_chars", "seed_chars", "sources")
    ]


def planned_of(form: ConfigurationForm) -> Planned | None:
    """The configuration as far as it is valid; None without a rubric version."""
    if form.chosen_version is None or form.as_saved is None:
        return None
    values = getattr(form, "cleaned_data", {})
    try:
        definition = definition_changed(form.chosen_version, changes_text(values.get("changes", {})))
    except (BadRubric, ValueError):
        definition = form.as_saved
    return Planned(
        name=values.get("name") or form.letter,
        definition=definition,
        producer=values.get("producer_target"),
        judge=values.get("judge_target"),
        clerk=values.get("clerk_target"),
        sources=tuple(len(source.text) for source in form.sources),
    )


def doubts_of(configurations: Sequence[ConfigurationForm]) -> list[str]:
    """Judges that differ between the configurations, and judges that are related to their writer."""
    rulers = [(each.letter, ruler) for each in configurations if (ruler := ruler_of(each))]
    kin = kin_warnings((each.letter, kin_of(each)) for each in configurations)
    return [*ruler_warnings(rulers), *kin, *repeated(configurations)]


def repeated(configurations: Sequence[ConfigurationForm]) -> list[str]:
    """A sentence for each group of configurations that run exactly the same."""
    groups: dict[str, list[str]] = {}
    for each in configurations:
        if (planned := planned_of(each)) and planned.producer:
            sources = [(source.name, source.text) for source in each.sources]
            groups.setdefault(repr((replace(planned, name=""), sources)), []).append(each.letter)
    return [
        f"{' and '.join(letters)} are the same: a difference between them is chance."
        for letters in groups.values()
        if len(letters) > 1
    ]


def ruler_of(form: ConfigurationForm) -> dict[str, str]:
    """What measures its texts, once its judge is chosen."""
    values = getattr(form, "cleaned_data", {})
    version, judge = form.chosen_version, values.get("judge_target")
    if version is None or form.as_saved is None or judge is None:
        return {}
    changes = {f"set.{path}": str(value) for path, value in values.get("changes", {}).items()}
    models = {"rubric": f"{version.rubric.slug}@{version.number}", "judge": f"{judge.endpoint}/{judge.model}"}
    return ruler_in({**models, **changes}, judged=bool(form.as_saved.criteria))


def kin_of(form: ConfigurationForm) -> Kinship | None:
    """How its writer and its judge are related, if a judge scores."""
    values = getattr(form, "cleaned_data", {})
    writer, judge = values.get("producer_target"), values.get("judge_target")
    if judge is None or form.as_saved is None or not form.as_saved.criteria:
        return None
    return None if is_demo(judge.endpoint, judge.model) else kinship_of(writer, judge, form.offers)


def notes_of(estimate: ExperimentEstimate, repeats: int) -> Iterator[str]:
    """What to think about before launching."""
    if estimate.over_budget:
        yield "The token budget may be used up before the end. The experiment then pauses."
    if estimate.project_budget.refusal:
        yield estimate.project_budget.refusal
    elif estimate.project_budget.warning:
        yield estimate.project_budget.warning
    if repeats == 1:
        yield "With one repeat, a difference on one task may be chance."
    if not estimate.workers:
        yield "No worker is online. Runs start when one is."
    if asking := [entry.name for entry in estimate.configurations if entry.asks]:
        yield f"On a plateau, runs of {', '.join(asking)} wait for a person."
