"""An experiment on a model server where B is better by 0.4, C is equal, and D is worse on one task type.

The results say so, and a plain computation on the exported runs gives the same figures.
"""

import csv
import io
import json
import signal
from collections import defaultdict

import numpy as np
import pytest
from scipy import stats

from refinement.engine.profiles import rubric_for
from refinement.interchange.experiments.rows import cells_csv
from refinement.models import Experiment, Project, Run
from refinement.selectors.experiments.reports.exports import cell_rows
from refinement.selectors.experiments.reports.results import experiment_results
from refinement.services.rubrics.editing import rubric_create
from tests.cli.conftest import called
from tests.experiments.stage import configurations_yaml, noise, replies_with
from tests.loopback.fixtures import ollama_server
from tests.selectors.experiments.given import a_suite_of

__all__ = ["ollama_server"]
pytestmark = pytest.mark.django_db(transaction=True)
TASKS = 40
TYPES = ("how-to", "research", "summary", "extraction")
BETTER = 0.4 / 0.7  # in the first score, for 0.4 in the composite
WORSE = 1.5


def quality(model: str, task: int) -> float:
    """Below the mark that criteria have to reach, so that only the first score differs."""
    score = 5 + noise("task", task, spread=0.8) + noise(model, task, spread=0.15)
    is_how_to = task % len(TYPES) == 0
    return score + {"b": BETTER, "d": -WORSE if is_how_to else 0}.get(model, 0)


@pytest.fixture
def command(tmp_path, ollama_server, monkeypatch):
    """`wiggum suite run answers` with four configurations, in this process."""
    project = Project.objects.create(name="Alpha", slug="alpha")
    rubric_create(project=project, slug="wiggum", definition=rubric_for("wiggum"))
    a_suite_of(project, TASKS, TYPES)
    ollama_server.models = ("a", "b", "c", "d", "judge")
    ollama_server.replies = replies_with(rubric_for("wiggum"), quality)
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configurations.yaml").write_text(configurations_yaml("A", "B", "C", "D"))
    return lambda *arguments: called("suite", "run", "answers", *arguments)


def test_the_results_say_what_is_true(command, tmp_path):
    result = command(
        *("--config", "configurations.yaml", "-j", 4, "--fail-on", "worse", "--json"),
        *("--junit", "junit.xml", "--summary", "summary.md"),
    )
    assert result.exit_code in (0, 1), result.output
    experiment = Experiment.objects.get()
    assert (experiment.status, Run.objects.count()) == ("finished", 4 * TASKS)
    report = experiment_results(experiment.pk)

    _, b, c, d = report["configurations"]
    assert b["against_baseline"]["verdict"] == "better"
    assert b["against_baseline"]["difference"] == pytest.approx(0.4, abs=0.06)
    assert c["against_baseline"]["verdict"] == "no_difference"
    on_types = {
        group["task_type"]: group["configurations"][3]["against_baseline"] for group in report["task_types"]
    }
    assert {name: entry["verdict"] for name, entry in on_types.items()} == {
        **dict.fromkeys(TYPES, "no_difference"),
        "how-to": "worse",
    }
    assert "B is better than A by 0.37 (" in report["headline"]
    assert "For C no difference was shown." in report["headline"]
    assert "how-to tasks" in report["headline"]

    printed = json.loads(result.stdout)
    assert list(printed) == ["experiment", "suite", "configurations", "gate"]
    assert {
        *("name", "runs", "scored", "composite", "mean_r1", "criteria_rate", "pass_rate", "against_baseline")
    } <= set(printed["configurations"][1])
    assert printed["gate"]["passed"] == (d["against_baseline"]["verdict"] != "worse")
    assert result.exit_code == (0 if printed["gate"]["passed"] else 1)
    summary = (tmp_path / "summary.md").read_text()
    assert report["headline"].split(" by ")[0] in summary
    assert "## Worst regressions" in summary
    assert (tmp_path / "junit.xml").read_text().count("<testcase") == 4

    equal_to_a_plain_computation(report, "".join(cells_csv(cell_rows(experiment))))


def equal_to_a_plain_computation(report, exported: str) -> None:
    """Means, intervals and paired differences, computed from the CSV file with numpy in the simplest way."""
    cells: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in csv.DictReader(io.StringIO(exported)):
        rate = int(row["criteria_met"]) / int(row["criteria_total"])
        composite = 0.7 * float(row["r1"]) + 0.3 * 10 * rate
        assert float(row["composite"]) == pytest.approx(composite, abs=1e-5)
        cells[row["configuration"]][row["task"]].append(composite)
    scores = {name: np.array([np.mean(values) for values in tasks.values()]) for name, tasks in cells.items()}
    for entry in report["configurations"]:
        own = scores[entry["name"]]
        assert entry["composite"]["value"] == pytest.approx(own.mean(), abs=1e-5)
        same_interval(entry["composite"], own, 0.05)
        if entry["against_baseline"] is not None:
            differences = own - scores["A"]
            assert entry["against_baseline"]["difference"] == pytest.approx(differences.mean(), abs=1e-5)
            same_interval(entry["against_baseline"], differences, 0.03 / 3)


def same_interval(found, values: np.ndarray, missed: float) -> None:
    """A bootstrap of its own, with another seed and a loop: the ends differ only by the draws."""
    random = np.random.default_rng(1)
    mean, error = values.mean(), stats.sem(values)
    ratios = []
    for _ in range(8_000):
        drawn = random.choice(values, len(values))
        ratios.append(abs(drawn.mean() - mean) / stats.sem(drawn))
    reach = max(np.quantile(ratios, 1 - missed), stats.t.ppf(1 - missed / 2, len(values) - 1)) * error
    assert found["low"] == pytest.approx(mean - reach, abs=0.1 * reach)
    assert found["high"] == pytest.approx(mean + reach, abs=0.1 * reach)
