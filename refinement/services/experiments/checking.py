"""Checks an experiment before it is created, in words that say what to change."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError

from refinement.engine.codec import BadRubric
from refinement.engine.types import Rubric
from refinement.judging.sources import SourceText
from refinement.judging.templating import check_template
from refinement.models import Project, RubricVersion, SuiteTask
from refinement.providers.context import text_size
from refinement.providers.registry import Target, scripted_specs
from refinement.selectors.experiments.definitions import (
    TEMPLATES,
    changes_text,
    definition_changed,
    definition_for_task,
)
from refinement.selectors.launch.contexts import TextSizes
from refinement.selectors.rubrics.commands import command_refusal
from refinement.services.runs.launching import contexts_check
from refinement.services.runs.sources import sources_validate
from refinement.texts import storable

MOST_CONFIGURATIONS = 10
MOST_REPEATS = 20
MOST_CELLS = 20_000
NAME_CHARS = 160
CONFIGURATION_NAME_CHARS = 80


@dataclass(frozen=True, slots=True)
class ConfigurationSpec:
    """One configuration of an experiment. Without a `clerk`, the rubric's or the judge's model is used.

    `definition_changes` are changes to the version's rubric by dotted path, such as `policy.max_rounds` to
    `2`, or `templates.judge` to a template.
    """

    name: str
    version: RubricVersion
    producer: Target
    judge: Target
    definition_changes: dict[str, object] = field(default_factory=dict)
    clerk: Target | None = None
    sources: Sequence[SourceText] = ()
    baseline: bool = False


@dataclass(frozen=True, slots=True)
class CheckedConfiguration:
    """A configuration as it will be stored, with the rubric that its runs use."""

    name: str
    spec: ConfigurationSpec
    changes: dict[str, str]
    sources: tuple[SourceText, ...]
    definition: Rubric


def name_cleaned(name: str, *, field: str = "name", most: int = NAME_CHARS) -> str:
    """A name on one line. Raises ValidationError."""
    cleaned = " ".join(storable(name).split())
    if not cleaned:
        raise ValidationError({field: "Enter a name."})
    if len(cleaned) > most:
        raise ValidationError({field: f"A name has at most {most} characters."})
    return cleaned


def size_check(*, tasks: int, configurations: int, repeats: int) -> None:
    """Raises ValidationError if the experiment is empty or too large."""
    if not tasks:
        raise ValidationError({"suite": "This version of the suite has no tasks. Add some first."})
    if not 1 <= configurations <= MOST_CONFIGURATIONS:
        raise ValidationError(
            {"configurations": f"An experiment has 1 to {MOST_CONFIGURATIONS} configurations."}
        )
    if not 1 <= repeats <= MOST_REPEATS:
        raise ValidationError({"repeats": f"Enter 1 to {MOST_REPEATS} repeats."})
    if (cells := tasks * configurations * repeats) > MOST_CELLS:
        raise ValidationError(
            {
                NON_FIELD_ERRORS: f"This would be {cells:,} runs; an experiment has at most {MOST_CELLS:,}. "
                "Choose fewer configurations or repeats, or a smaller suite."
            }
        )


def budget_cleaned(token_budget: int | None) -> int | None:
    """Raises ValidationError."""
    if token_budget is not None and not 1 <= token_budget <= 2**62:
        raise ValidationError({"token_budget": "The token budget must be at least 1. Leave it out for none."})
    return token_budget


def configurations_check(
    project: Project,
    specs: Sequence[ConfigurationSpec],
    tasks: Sequence[SuiteTask],
    taken: Iterable[str] = (),
) -> list[CheckedConfiguration]:
    """The configurations as they will be stored. `taken` are names in use.

    Asks model servers for their context lengths if texts are long: not in a transaction. Raises
    ValidationError, with the configuration's name in the message.
    """
    checked: list[CheckedConfiguration] = []
    names = {name.casefold() for name in taken}
    for spec in specs:
        name = name_cleaned(spec.name, field="configurations", most=CONFIGURATION_NAME_CHARS)
        if name.casefold() in names:
            raise refused(name, "There is already a configuration with this name.")
        names.add(name.casefold())
        checked.append(configuration_check(project, name, spec, tasks))
    if sum(spec.baseline for spec in specs) > 1:
        raise ValidationError({"configurations": "Only one configuration can be the baseline."})
    for entry in checked:
        texts_check(entry, tasks)
    return checked


def configuration_check(
    project: Project, name: str, spec: ConfigurationSpec, tasks: Sequence[SuiteTask]
) -> CheckedConfiguration:
    """Raises ValidationError."""
    rubric = spec.version.rubric
    if rubric.project_id != project.pk:
        raise refused(name, "Its rubric belongs to another project.")
    if rubric.archived_at is not None:
        raise refused(name, f"The rubric {rubric.name} is archived. Unarchive it or choose another.")
    targets = [target for target in (spec.producer, spec.judge, spec.clerk) if target is not None]
    if not all(target.endpoint and target.model for target in targets):
        raise refused(name, "Choose a producer and a judge.")
    if scripted_specs(*(target.endpoint for target in targets)):
        raise refused(name, "Scripted replies only work with “wiggum refine” on the command line.")
    changes = changes_text(spec.definition_changes)
    definition = definition_check(name, spec.version, changes, tasks)
    try:
        sources = sources_validate(spec.sources)
    except ValidationError as problem:
        raise refused(name, " ".join(problem.messages)) from problem
    return CheckedConfiguration(name, spec, changes, sources, definition)


def definition_check(
    name: str, version: RubricVersion, changes: dict[str, str], tasks: Sequence[SuiteTask]
) -> Rubric:
    """The configuration's rubric, which must also accept the checks of every task."""
    for path, text in changes.items():
        if path.startswith(TEMPLATES) and (problems := check_template(path.removeprefix(TEMPLATES), text)):
            raise refused(name, f"{path}: {problems[0].message}")
    try:
        definition = definition_changed(version, changes)
        for task in tasks:
            if task.checks:
                definition_for_task(definition, task.checks)
    except (BadRubric, ValueError) as problem:
        raise refused(name, f"Its settings do not fit: {problem}.") from problem
    if refusal := command_refusal(definition):
        raise refused(name, refusal)
    return definition


def texts_check(entry: CheckedConfiguration, tasks: Sequence[SuiteTask]) -> None:
    """Raises ValidationError if a task's texts are certainly too long for the configuration's models.

    Only the longest task is checked; short ones ask no server.
    """
    longest = max(tasks, key=lambda task: sum(sizes_of(entry, task)))
    task_size, seed_size, *sources = sizes_of(entry, longest)
    if not TextSizes(task_size, seed_size, sources).may_be_long:
        return
    try:
        contexts_check(
            definition=entry.definition,
            task=longest.task,
            seed=longest.seed,
            sources=[*(SourceText(each["name"], each["text"]) for each in longest.sources), *entry.sources],
            producer=entry.spec.producer,
            judge=entry.spec.judge,
        )
    except ValidationError as problem:
        raise refused(entry.name, f"Task {longest.key}: {' '.join(problem.messages)}") from problem


def sizes_of(entry: CheckedConfiguration, task: SuiteTask) -> list[int]:
    """The lengths of the task, its seed and each source."""
    sources = [*(str(each["text"]) for each in task.sources), *(each.text for each in entry.sources)]
    return [text_size(text) for text in (task.task, task.seed, *sources)]


def refused(name: str, message: str) -> ValidationError:
    return ValidationError({"configurations": f"{name}: {message}"})
