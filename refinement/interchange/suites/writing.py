"""The formats that a suite is exported in."""

from collections.abc import Callable, Iterable, Mapping

from refinement.interchange.suites.tables import tasks_to_csv, tasks_to_jsonl
from refinement.interchange.suites.types import SuiteText
from refinement.interchange.suites.yaml import suite_to_yaml

MEDIA_TYPES = {"yaml": "application/yaml", "csv": "text/csv", "jsonl": "application/jsonl"}
FORMS: Mapping[str, Callable[[SuiteText], Iterable[str]]] = {
    "yaml": lambda suite: [suite_to_yaml(suite)],
    "csv": lambda suite: tasks_to_csv(suite.tasks),
    "jsonl": lambda suite: tasks_to_jsonl(suite.tasks),
}
