"""Imported runs on their page and in the command line: unscored records, key changes, notes on rounds."""

import json

import pytest

from refinement.models import Run
from refinement.services.imports.uploads import SourceFile, import_files
from tests.interchange.simmer.irregular import CONFIG
from tests.interchange.simmer.real import SCENE_WITH_REPORT

pytestmark = pytest.mark.django_db


def imported(project, owner, *files: tuple[str, str]) -> Run:
    sources = [SourceFile(name, text.encode()) for name, text in files]
    (entry,) = import_files(sources, project=project, user=owner).entries
    assert entry.state == "new"
    return Run.objects.get(pk=entry.run)


def test_a_record_without_rounds_has_a_page_and_exports(project, owner, as_viewer):
    record = {"task": "Draft a mail", "wiggum_scores": [], "final": "ERROR", "producer_model": "small"}
    run = imported(project, owner, ("runs.jsonl", json.dumps(record)))
    assert (run.rounds.count(), run.outcome, run.best) == (0, "ERROR", None)
    address = f"/p/{project.slug}/runs/{run.pk}/"
    assert "Draft a mail" in as_viewer.get(address).content.decode()
    for kind in ("json", "md"):
        assert as_viewer.get(f"{address}export/{kind}/").status_code == 200
    assert as_viewer.get(f"/p/{project.slug}/runs/").status_code == 200
    document = b"".join(as_viewer.get(f"{address}export/json/")).decode()
    copy = imported(project, owner, ("run.json", document))
    assert (copy.rounds.count(), copy.outcome, copy.title) == (0, "ERROR", "Draft a mail")


def test_the_page_has_the_files_other_columns_and_details(project, owner, as_viewer):
    run = imported(project, owner, ("pipe/trajectory.md", CONFIG))
    page = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/").content.decode()
    assert "large, single call" in page
    files = [(f"scene/{name}", text) for name, text in SCENE_WITH_REPORT.files.items()]
    run = imported(project, owner, *files)
    page = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/").content.decode()
    assert "Key convergence: all judges named the same gap." in page
    assert "judge_mode" in page
    assert run.rubric_version.criteria.get(primary=True).description == "escalating scene, power shifts"
