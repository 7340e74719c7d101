"""The sample folders: every candidate, score and contradiction; a second import changes nothing."""

from decimal import Decimal
from pathlib import Path

import pytest

from refinement.models import Rubric, Run, RunImport
from refinement.services.imports.uploads import import_paths

# Beside the checkout, or beside a folder of checkouts.
PLACES = [parent / "shared" / "data" / "simmer" for parent in Path(__file__).parents[4:6]]
SAMPLES = next((place for place in PLACES if place.is_dir()), PLACES[0])
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        not SAMPLES.is_dir(), reason="the sample Simmer folders are not beside this checkout (../shared/data)"
    ),
]
# Iterations, their computed composites to two places, and what the page must say.
EXPECTED = {
    "dnd-agency-board": ([1, 2, 3], ["7.00", "7.67", "9.00"], []),
    "sdk-shakespeare-v1": (
        [0, 1, 2, 3],
        ["7.33", "6.83", "7.17", "7.17"],
        [
            "The text of result.md is that of iteration 0; "
            "by the primary criterion dramatic_tension the best is iteration 2."
        ],
    ),
    "simmer-adaptive-v2-test": (
        [0, 1, 2, 3, 4, 5],
        ["4.75", "4.50", "4.25", "4.50", "4.25", "4.00"],
        [
            "Line 14 names iteration 5 as best; by the scores it is iteration 0 (4.8).",
            "The text of result.md is that of iteration 5; by the scores the best is iteration 0.",
        ],
    ),
    "simmer-plateau-test": (
        list(range(9)),
        ["4.50", "5.50", "6.50", "7.50", "7.00", "7.00", "7.50", "7.50", "8.00"],
        [],
    ),
}


@pytest.fixture(scope="module")
def texts():
    return {
        folder: {path.name: path.read_text("utf-8") for path in (SAMPLES / folder).iterdir()}
        for folder in EXPECTED
    }


def test_all_folders_import_whole_and_once(project, owner, as_viewer, texts):
    report = import_paths([SAMPLES], project=project, user=owner)
    assert (report.count("new"), report.count("refused")) == (4, 0)
    for entry in report.entries:
        folder = entry.name.rpartition("/")[2]
        iterations, composites, contradictions = EXPECTED[folder]
        run = Run.objects.get(pk=entry.run)
        rounds = list(run.rounds.order_by("number"))
        assert [row.candidate for row in rounds] == [
            texts[folder][f"iteration-{number}-candidate.md"] for number in iterations
        ]
        assert [f"{row.composite:.2f}" for row in rounds] == composites
        assert run.imported.stated["contradictions"] == contradictions
        page = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/").content.decode()
        for words in contradictions:
            assert words.replace("'", "&#x27;") in page
        assert "Imported" in page
    rows = (Run.objects.count(), Rubric.objects.count(), RunImport.objects.count())
    again = import_paths([SAMPLES], project=project, user=owner)
    assert (again.count("new"), again.count("here")) == (0, 4)
    assert rows == (Run.objects.count(), Rubric.objects.count(), RunImport.objects.count())


def test_a_second_reading_of_an_iteration_is_shown_and_not_counted(project, as_viewer):
    (entry,) = import_paths([SAMPLES / "simmer-adaptive-v2-test"], project=project).entries
    run = Run.objects.get(pk=entry.run)
    assert (run.best_round, run.best) == (1, Decimal("4.75"))
    page = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/").content.decode()
    for written in ("5*", "~6.8", "~8", "Model non-determinism dominates"):
        assert written in page


def test_the_primary_criterion_is_one(project):
    (entry,) = import_paths([SAMPLES / "dnd-agency-board"], project=project).entries
    version = Run.objects.get(pk=entry.run).rubric_version
    assert [(row.name, row.primary) for row in version.criteria.all()] == [
        ("Narrative Tension", False),
        ("Player Agency", True),
        ("Specificity", False),
    ]
