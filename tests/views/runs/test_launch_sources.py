"""Sources on the launch form: paste, upload, remove, refuse and estimate; with and without scripts."""

from dataclasses import replace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Information
from refinement.judging.sources import SourceText
from refinement.models import Run
from refinement.services.rubrics.editing import rubric_create
from tests.views.runs.finished import finished_run
from tests.views.runs.launching import ESTIMATE, NEW, filled
from tests.views.runs.test_launch import _models, errors, launched, ollama_server

__all__ = ["_models", "ollama_server"]
pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
NOTES = "Backups are made\r\nat 02:00."


def pasted(*sources: tuple[str, str], **more):
    return {
        "source_name": [name for name, _ in sources],
        "source_text": [text for _, text in sources],
        **more,
    }


def file(name: str, content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def kept(run: Run) -> list[tuple[str, str]]:
    return list(run.sources.values_list("name", "text"))


def codes(answer) -> set[str]:
    return {caution.code for caution in answer.context["panel"]["cautions"]}


def test_the_form_says_the_limits_and_has_an_empty_row(as_editor):
    page = as_editor.get(NEW).content.decode()
    assert "Up to 20 UTF-8 texts of 200,000 characters each, 500,000 together." in page
    assert page.count('name="source_text"') == 2  # the empty row, and the one that a script copies
    assert 'name="source_files"' in page
    assert "multiple" in page


def test_pasted_texts_and_files_become_sources(as_editor):
    uploads = [file("mail.txt", b"\xef\xbb\xbfRestores take an hour."), file("b.md", b"More.")]
    run = launched(
        as_editor, **pasted(("notes.md", NOTES), ("", "Unnamed."), (" ", "")), source_files=uploads
    )
    assert kept(run) == [
        ("notes.md", "Backups are made\nat 02:00."),
        ("Source 2", "Unnamed."),
        ("mail.txt", "Restores take an hour."),
        ("b.md", "More."),
    ]
    assert list(run.sources.values_list("position", flat=True)) == [1, 2, 3, 4]


def test_every_repeat_has_them(as_editor):
    launched(as_editor, **pasted(("notes.md", NOTES)), repeats="3")
    assert [run.sources.count() for run in Run.objects.all()] == [1, 1, 1]


def test_a_removed_row_is_left_out(as_editor):
    rows = pasted(("a", "A text."), ("b", "B text."), ("c", "C text."), source_remove=["0", "2"])
    assert kept(launched(as_editor, **rows)) == [("b", "B text.")]


def test_the_same_form_with_other_sources_is_another_launch(as_editor):
    first = launched(as_editor, **pasted(("a", "A text.")))
    assert launched(as_editor, **pasted(("a", "A text."))).pk == first.pk
    assert launched(as_editor, **pasted(("a", "Another text."))).pk != first.pk


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (pasted(("a.txt", "")), "a.txt has no text"),
        (pasted(("a.txt", "x" * 200_001)), "a.txt has 200,001 characters"),
        (pasted(*[("a", "x" * 200_000)] * 3), "600,000 characters together"),
        (pasted(*[("a", "x")] * 21), "at most 20"),
        ({"source_files": [file("scan.pdf", b"%PDF-1.7\x00\xff")]}, "scan.pdf is not UTF-8 text"),
        ({"source_files": [file("big.txt", b"x" * 800_001)]}, "big.txt is too long"),
        ({"source_files": [file("empty.txt", b"")]}, "A file is empty"),
    ],
)
def test_what_is_wrong_stands_at_the_field(as_editor, given, words):
    found = errors(as_editor, **given)
    assert list(found) == ["source_files"]
    assert words in str(found["source_files"])


def test_a_refused_form_keeps_texts_and_the_files_that_were_read(as_editor):
    """Browsers do not keep uploads, so what could be read becomes rows."""
    uploads = [file("mail.txt", b"Restores take an <hour>."), file("scan.pdf", b"\x00")]
    answer = as_editor.post(NEW, filled(**pasted(("notes.md", NOTES)), source_files=uploads))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert 'value="notes.md"' in page
    assert "Restores take an &lt;hour&gt;." in page
    assert "24 characters" in page
    assert "scan.pdf is not UTF-8 text" in page


def test_another_row_without_script(as_editor):
    """The button sends the form to the estimate, which shows it again with one more empty row."""
    answer = as_editor.post(
        ESTIMATE, filled(**pasted(("notes.md", NOTES)), source_files=[file("b.md", b"B")])
    )
    assert [row.name for row in answer.context["form"].source_rows] == ["notes.md", "b.md", ""]
    assert not Run.objects.exists()


def test_edit_and_rerun_brings_them_along(as_editor, project):
    run = finished_run(project, sources=[SourceText("notes.md", "Facts & <more>.")])
    page = as_editor.get(NEW, {"from": run.pk}).content.decode()
    assert "Facts &amp; &lt;more&gt;." in page
    assert 'value="notes.md"' in page


# --- the estimate -----------------------------------------------------------------------------------
def test_the_page_may_send_lengths_instead_of_texts(as_editor):
    plain = as_editor.post(ESTIMATE, filled(), headers=HTMX)
    long = as_editor.post(ESTIMATE, filled(source_chars="20000,30000"), headers=HTMX)
    tokens = [answer.context["panel"]["estimate"].tokens.low for answer in (plain, long)]
    assert tokens[1] > tokens[0] + 10_000


@pytest.mark.parametrize("odd", ["x", ",,", "-1", "9" * 40, "1," * 500, "²"])
def test_odd_lengths_break_nothing(as_editor, odd):
    assert as_editor.post(ESTIMATE, filled(source_chars=odd), headers=HTMX).status_code == 200


def test_a_launch_warns_before_sources_are_cut_or_do_not_fit(as_editor, ollama_server):
    answer = as_editor.post(NEW, filled(**pasted(("a", "word " * 20_000)), warned=[]))
    assert answer.status_code == 422
    assert "long-sources" in codes(answer)
    assert "100,000 characters, but a prompt contains at most 60,000" in answer.content.decode()
    assert not Run.objects.exists()


def test_a_model_whose_context_is_too_small_for_them_is_said(as_editor):
    """The loopback models have a context of 40,960 tokens."""
    given = pasted(*[(f"{n}", "word " * 26_000) for n in range(2)])
    answer = as_editor.post(ESTIMATE, filled(**given, source_limit="500000"))
    assert {"context", "producer-context"} <= codes(answer)
    assert not {"context", "producer-context"} & codes(as_editor.post(ESTIMATE, filled()))


@pytest.mark.parametrize("role", ["judge", "producer"])
def test_a_rule_that_hides_them_is_said(as_editor, project, role):
    base = rubric_for("wiggum")
    rules = replace(base.context, **{role: getattr(base.context, role) - {Information.SOURCES}})
    rubric_create(project=project, slug="hides", definition=replace(base, name="Hides", context=rules))
    answer = as_editor.post(ESTIMATE, filled(rubric="hides", **pasted(("a", "A text."))))
    assert f"hidden-sources-{role}" in codes(answer)
    without = as_editor.post(ESTIMATE, filled(rubric="hides"))
    assert f"hidden-sources-{role}" not in codes(without)
