"""The estimate beside the launch form."""

from collections.abc import Sequence
from dataclasses import dataclass

from refinement.access.projects import ProjectRequest
from refinement.forms.experiments.configurations import ConfigurationForm
from refinement.forms.experiments.launch import ExperimentForm
from refinement.selectors.experiments.choices import SuiteChoices


@dataclass(frozen=True, slots=True)
class Quote:
    """What the experiment will take, as far as its form is filled in."""

    runs: int
    tasks: int
    configurations: int
    repeats: int
    calls: str = ""
    tokens: str = ""
    time: str = ""
    cost: str = ""
    notes: tuple[str, ...] = ()


def quote_of(
    request: ProjectRequest,
    form: ExperimentForm,
    configurations: Sequence[ConfigurationForm],
    choices: SuiteChoices | None,
) -> Quote:
    tasks = choices.version.task_count if choices else 0
    repeats = (getattr(form, "cleaned_data", None) or {}).get("repeats") or 1
    return Quote(tasks * len(configurations) * repeats, tasks, len(configurations), repeats)
