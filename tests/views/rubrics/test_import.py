"""Importing a file as a rubric or a version, or with errors and without changes."""

from dataclasses import replace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from refinement.engine.profiles import rubric_for
from refinement.interchange.rubrics.yaml import MAX_BYTES, rubric_to_yaml
from refinement.models import AuditEntry, Rubric, RubricVersion
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics.editing import NewerVersion, rubric_archive
from refinement.views.rubrics import files
from tests.views.rubrics.given import MARKUP, a_rubric, hostile_definition, saved_again

pytestmark = pytest.mark.django_db

PAGE = "/p/alpha/rubrics/import/"
GOOD = rubric_to_yaml(replace(rubric_for("simmer"), name="Import"))


def upload(text, name="rubric.yaml"):
    return SimpleUploadedFile(name, text if isinstance(text, bytes) else text.encode())


def nothing_changed():
    return Rubric.objects.count() == RubricVersion.objects.count() == AuditEntry.objects.count() == 0


def test_the_page(as_editor, project):
    a_rubric(project)
    answer = as_editor.get(reverse("rubric_import", args=["alpha"]))
    assert answer.status_code == 200
    assert "A new rubric" in answer.content.decode()
    assert "Our own: version 2" in answer.content.decode()


@pytest.mark.parametrize("given", ["file", "text"])
def test_a_file_or_its_text_becomes_a_new_rubric(as_editor, editor, project, given):
    sent = {given: upload(GOOD) if given == "file" else GOOD, "target": "new", "note": "From git."}
    answer = as_editor.post(PAGE, sent)
    version = RubricVersion.objects.get()
    # "import" is the name of this very page, so the rubric's address is another one.
    assert answer.headers["Location"] == f"/p/alpha/rubrics/{version.rubric.slug}/"
    assert version.rubric.slug != "import"
    assert definition_of(version) == replace(rubric_for("simmer"), name="Import")
    assert (version.created_by, version.note, version.number) == (editor, "From git.", 1)
    assert AuditEntry.objects.filter(action="rubric.create", user=editor).exists()


def test_a_file_becomes_the_next_version_of_a_rubric(as_editor, project):
    first = a_rubric(project)
    answer = as_editor.post(PAGE, {"text": GOOD, "target": f"{first.rubric.slug}@1"})
    assert answer.status_code == 302
    second = first.rubric.versions.get(number=2)
    assert (second.name, second.note) == ("Import", "Imported from a file.")
    assert first.rubric.versions.count() == 2


def test_a_file_that_brings_nothing_new_makes_no_version(as_editor, project):
    version = a_rubric(project)
    sent = {"text": rubric_to_yaml(definition_of(version)), "target": f"{version.rubric.slug}@1"}
    answer = as_editor.post(PAGE, sent)
    assert answer.status_code == 422
    assert "The file is the same as version 1. Nothing was saved." in answer.content.decode()
    assert RubricVersion.objects.count() == 1


def test_a_rubric_that_was_changed_meanwhile_is_left_alone(as_editor, project):
    version = a_rubric(project)
    saved_again(version, name="Somebody's")
    answer = as_editor.post(PAGE, {"text": GOOD, "target": f"{version.rubric.slug}@1"})
    assert answer.status_code == 422
    assert "was changed or archived in the meantime" in answer.content.decode()
    assert "name: Import" in answer.content.decode()
    assert version.rubric.versions.count() == 2


def test_a_change_in_the_very_moment_is_a_conflict(as_editor, project, monkeypatch):
    def too_late(**given):
        raise NewerVersion(2)

    monkeypatch.setattr(files, "version_import", too_late)
    version = a_rubric(project)
    answer = as_editor.post(PAGE, {"text": GOOD, "target": f"{version.rubric.slug}@1"})
    assert answer.status_code == 409
    assert "Version 2 was saved in the meantime." in answer.content.decode()


def test_neither_archived_rubrics_nor_those_of_others_can_be_chosen(
    as_editor, editor, project, other_project
):
    theirs = a_rubric(other_project, slug="theirs")
    mine = a_rubric(project)
    rubric_archive(rubric=mine.rubric, user=editor)
    for slug in (theirs.rubric.slug, mine.rubric.slug):
        assert as_editor.post(PAGE, {"text": GOOD, "target": f"{slug}@1"}).status_code == 422
    assert RubricVersion.objects.count() == 2


def test_every_problem_is_told_with_its_line_and_nothing_changes(as_editor, project):
    bad = GOOD.replace("max_rounds: 4", "max_rounds: none").replace("profile: simmer", "profil: simmer")
    answer = as_editor.post(PAGE, {"file": upload(bad), "target": "new", "note": "Kept <b>note</b>"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert nothing_changed()
    lines = bad.split("\n")
    for start, words in (
        ("  max_rounds: none", "must be a whole number"),
        ("profil: simmer", "Unknown key"),
    ):
        number = lines.index(start) + 1
        assert f"Line {number}</span>" in page
        assert words in page
    # What was in the file is in the field now, and all that was typed is kept.
    assert "profil: simmer" in page.split("<textarea", 1)[1]
    assert "Kept &lt;b&gt;note&lt;/b&gt;" in page
    assert "nothing was saved" in page


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({}, "Choose a file or paste its text."),
        ({"text": "  \n"}, "Choose a file or paste its text."),
        ({"text": "a" * (MAX_BYTES + 1)}, "The text is larger than 1,000,000 bytes"),
        ({"text": "é" * (MAX_BYTES // 2 + 1)}, "The text is larger than 1,000,000 bytes"),
        ({"text": GOOD, "target": "nope@1"}, "choose again"),
        ({"text": GOOD, "target": ""}, "This field is required"),
        ({"text": GOOD, "note": "n" * 401}, "at most 400 characters"),
        ({"text": "{{ hostile }}<script>alert(1)</script>"}, "Line 1"),
        ({"text": "wiggum_rubric: 1\n<script>alert(1)</script>: x"}, "Unknown key"),
    ],
)
def test_bad_input_is_told_beside_its_field(as_editor, project, sent, words):
    answer = as_editor.post(PAGE, {"target": "new", **sent})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert words in page
    assert "<script>alert" not in page
    assert nothing_changed()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe\x00", "not UTF-8 text"),
        (b"x" * (MAX_BYTES + 1), "The file is larger than 1,000,000 bytes"),
        (b"", "The submitted file is empty"),
        (b"\x89PNG\r\n\x1a\n", "not UTF-8 text"),
    ],
)
def test_a_file_that_is_none(as_editor, project, content, words):
    answer = as_editor.post(PAGE, {"file": upload(content), "target": "new"})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert nothing_changed()


def test_both_a_file_and_a_text_are_one_too_many(as_editor, project):
    answer = as_editor.post(PAGE, {"file": upload(GOOD), "text": GOOD, "target": "new"})
    assert "Choose a file or paste its text, not both." in answer.content.decode()
    assert nothing_changed()


def test_hostile_text_is_imported_as_text(as_editor, project):
    hostile = replace(hostile_definition(), templates={"judge": MARKUP})
    assert as_editor.post(PAGE, {"text": rubric_to_yaml(hostile), "target": "new"}).status_code == 302
    assert definition_of(RubricVersion.objects.get()) == hostile
    assert "<script>alert" not in as_editor.get(PAGE).content.decode()


@pytest.mark.parametrize(("client", "status"), [("as_viewer", 403), ("as_outsider", 404), ("anonymous", 302)])
def test_only_editors_import(request, project, client, status):
    client = request.getfixturevalue(client)
    assert client.get(PAGE).status_code == status
    assert client.post(PAGE, {"text": GOOD, "target": "new"}).status_code == status
    assert nothing_changed()


def test_the_queries_do_not_grow_with_rubrics_and_versions(as_editor, project):
    def queries():
        with CaptureQueriesContext(connection) as captured:
            assert as_editor.get(PAGE).status_code == 200
        return len(captured)

    version = a_rubric(project)
    as_editor.get(PAGE)
    few = queries()
    for number in range(8):
        saved_again(version, name=f"Again {number}")
        a_rubric(project, slug=f"more-{number}")
    assert queries() == few
