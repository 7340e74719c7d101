"""The import page: upload, report, import in parts; clear errors, and no partial runs."""

import io
import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from refinement.models import BlindReading, ImportBatch, ImportFile, Project, Run, RunImport
from refinement.services.imports import batches as import_batches
from refinement.services.imports.batches import batch_advance, batch_open
from refinement.services.imports.uploads import SourceFile
from tests.conftest import signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/p/alpha/runs/import/"
TRAJECTORY = """# Simmer Trajectory — Mail

| Iter | Clarity | Reply (PRIMARY) | Composite | Key Change |
|------|---------|-----------------|-----------|------------|
| 0    | 5       | 4               | 4.5       | seed       |

| 1    | ~7      | 6.5             | 6.8       | =SUM(A1)   |

Best candidate: iteration 0 (4.5/10)
"""


def line(number: int = 1) -> str:
    scores = {"r1": {"depth": 7, "clarity": 8}, "r2": {"depth": 8, "clarity": 9}}
    return json.dumps({"task": f"Task {number}", "wiggum_scores": scores, "final": "PASS", "mood": "good"})


def upload(name: str, data: str | bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data.encode() if isinstance(data, str) else data)


def zipped(**files: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/"), text)
    return made.getvalue()


def test_an_upload_is_reported_first_and_imported_on_confirmation(as_editor, project, editor):
    files = [upload("trajectory.md", TRAJECTORY), upload("iteration-1-candidate.md", "Dear Sarah")]
    answer = as_editor.post(ADDRESS, {"upload": files})
    assert not Run.objects.exists()
    report = as_editor.get(answer["Location"])
    page = report.content.decode()
    for told in (
        "<b>1 new</b>", "Clarity ~7", "An estimate; the number is read as it is.", "Reply 6.5",
        "Iteration 0 has no text",
        "Line 9 names iteration 0 as best; by the scores it is iteration 1 (6.8).",
    ):  # fmt: skip
        assert told in page
    done = as_editor.post(answer["Location"], {"action": "import"}, follow=True)
    assert "1 run imported." in done.content.decode()
    run = Run.objects.get()
    record = RunImport.objects.get(run=run)
    assert (run.source, run.title, run.status, record.by) == ("simmer", "Mail", "finished", editor)
    assert [row.origin for row in run.rounds.all()] == ["absent", "revision"]
    assert not ImportFile.objects.exists()


def test_the_imported_run_is_marked_everywhere(as_editor, project, editor):
    batch = batch_open(
        project=project, user=editor, files=[SourceFile("a/trajectory.md", TRAJECTORY.encode())]
    )
    batch_advance(batch=batch, user=editor)
    run = Run.objects.get()
    lists = as_editor.get("/p/alpha/runs/?imported=any").content.decode()
    assert ">imported<" in lists
    assert (
        "Mail" not in as_editor.get("/p/alpha/runs/?imported=jsonl").content.decode().split("run-results")[1]
    )
    page = as_editor.get(f"/p/alpha/runs/{run.pk}/").content.decode()
    assert "More rounds" not in page
    assert "cannot be rerun unchanged" in page
    assert "has no text of round" in page
    table = b"".join(as_editor.get("/p/alpha/runs/export/csv/")).decode()
    assert ",simmer," in table
    report = b"".join(as_editor.get(f"/p/alpha/runs/{run.pk}/export/md/")).decode()
    assert "Imported from a" in report
    document = json.loads(b"".join(as_editor.get(f"/p/alpha/runs/{run.pk}/export/json/")))
    assert document["run"]["imported"]["stated"]["rows"][1]["scores"] == ["~7", "6.5"]


@pytest.mark.parametrize("action", ["retry", "continue", "rerun"])
def test_a_record_does_not_go_on(as_editor, project, editor, action):
    batch = batch_open(project=project, user=editor, files=[SourceFile("trajectory.md", TRAJECTORY.encode())])
    batch_advance(batch=batch, user=editor)
    run = Run.objects.get()
    Run.objects.filter(pk=run.pk).update(outcome="ERROR" if action == "retry" else "DONE")
    answer = as_editor.post(f"/p/alpha/runs/{run.pk}/do/{action}/", {"rounds": "1"})
    assert answer.status_code == 422
    assert "was imported" in answer.content.decode()
    assert Run.objects.count() == 1


def test_a_large_upload_goes_part_by_part(as_editor, project, editor, monkeypatch):
    text = "\n".join(line(number) for number in range(5))
    batch = batch_open(project=project, user=editor, files=[SourceFile("runs.jsonl", text.encode())])
    assert (batch.total, Run.objects.count()) == (5, 0)
    monkeypatch.setattr(import_batches, "SECONDS_A_PART", 0)
    batch = batch_advance(batch=batch, user=editor, seconds=0)
    assert (batch.done, batch.finished_at, Run.objects.count()) == (1, None, 1)
    going = as_editor.get(f"{ADDRESS}{batch.pk}/").content.decode()
    assert "1 of 5 imported." in going
    partial = as_editor.post(f"{ADDRESS}{batch.pk}/", headers={"hx-request": "true"})
    assert "5 runs imported." in partial.content.decode()
    assert "<html" not in partial.content.decode()
    assert ImportBatch.objects.get(pk=batch.pk).finished_at is not None
    assert Run.objects.count() == 5
    as_editor.post(f"{ADDRESS}{batch.pk}/")
    assert Run.objects.count() == 5


def test_an_upload_can_be_forgotten_and_is_the_projects_own(as_editor, project, editor):
    batch = batch_open(project=project, user=editor, files=[SourceFile("runs.jsonl", line().encode())])
    other = Project.objects.create(name="Else", slug="else")
    moved = batch_open(project=other, user=editor, files=[SourceFile("runs.jsonl", line().encode())])
    assert as_editor.get(f"{ADDRESS}{moved.pk}/").status_code == 404
    as_editor.post(f"{ADDRESS}{batch.pk}/", {"action": "discard"})
    assert not ImportBatch.objects.filter(pk=batch.pk).exists()
    assert not Run.objects.exists()


def test_only_who_uploaded_sees_the_report_and_no_score_that_is_read_blind(
    as_owner, as_editor, project, editor
):
    batch = batch_open(project=project, user=editor, files=[SourceFile("trajectory.md", TRAJECTORY.encode())])
    batch_advance(batch=batch, user=editor)
    address = f"{ADDRESS}{batch.pk}/"
    assert as_owner.get(address).status_code == 403
    assert "6.75" in as_editor.get(address).content.decode()
    BlindReading.objects.create(run=Run.objects.get(), reader=editor, round_number=2)
    assert "6.75" not in as_editor.get(address).content.decode()


def test_an_upload_needs_its_token(editor, project):
    client = Client(enforce_csrf_checks=True)
    client.force_login(editor)
    answer = client.post(ADDRESS, {"upload": upload("runs.jsonl", line())})
    assert answer.status_code == 403
    assert not ImportBatch.objects.exists()


def test_a_length_beyond_the_limit_is_refused_before_it_is_read(editor, project):
    answer = signed_in(editor).post(
        ADDRESS, b"", content_type="multipart/form-data; boundary=x", CONTENT_LENGTH="100000000"
    )
    assert answer.status_code == 413
    assert "This upload is larger than 64 MB" in answer.content.decode()


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.zip", zipped(**{"..__..__trajectory.md": TRAJECTORY}), "is outside its folder"),
        ("a.zip", zipped(**{"bomb.jsonl": "0" * 3_000_000}), "200 times its size"),
        ("a.zip", zipped(**{"inner.zip": "PK"}), "another zip file"),
        ("a.zip", b"PK\x03\x04 broken", "cannot be opened as a zip file"),
        ("big.jsonl", b" " * 32_000_001, "the limit is 32 MB"),
    ],
    ids=["path", "bomb", "nested", "broken", "large"],
)
def test_tricks_are_refused_and_nothing_is_kept(as_editor, project, name, data, told):
    answer = as_editor.post(ADDRESS, {"upload": upload(name, data)})
    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert not ImportBatch.objects.exists()


def test_too_many_files_are_sent_as_a_zip(as_editor, project, settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 2
    files = [upload(f"iteration-{number}-candidate.md", "Text") for number in range(3)]
    answer = as_editor.post(ADDRESS, {"upload": files})
    assert answer.status_code == 422
    assert "Put them into a zip file" in answer.content.decode()


def test_weights_from_the_form_count_in_the_report_and_the_import(as_editor, project):
    record = {"task": "A", "wiggum_scores": {"r1": {"novelty": 4, "wit": 8}, "r2": {"novelty": 6, "wit": 9}}}
    files = {"upload": upload("runs.jsonl", json.dumps(record)), "weights": "novelty=.75, wit=.25"}
    answer = as_editor.post(ADDRESS, files)
    assert "6.75" in as_editor.get(answer["Location"]).content.decode()
    as_editor.post(answer["Location"], {"action": "import"})
    assert [str(row.composite.normalize()) for row in Run.objects.get().rounds.all()] == ["5", "6.75"]


def test_bad_weights_are_named_beside_their_field(as_editor, project):
    files = {"upload": upload("runs.jsonl", line()), "weights": "depth=much"}
    answer = as_editor.post(ADDRESS, files)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "“depth=much” is not a weight such as depth=0.3." in page
    assert 'value="depth=much"' in page
    assert not ImportBatch.objects.exists()
