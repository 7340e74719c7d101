"""Launching from the form: the result, permissions, and errors."""

import re
from dataclasses import replace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.engine.codec import rubric_from_json
from refinement.engine.profiles import rubric_for
from refinement.engine.types import EvaluationMode, Evaluator
from refinement.models import Rubric, Run
from refinement.selectors.launch.available_models import offers
from refinement.selectors.launch.model_lists import contexts
from refinement.services.rubrics.editing import default_rubrics_install, rubric_create
from tests.loopback.fixtures import ollama_server
from tests.views.runs.launching import ESTIMATE, EVERY_WARNING, NEW, TASK, filled

__all__ = ["ollama_server"]
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _models(project, ollama_server, monkeypatch):
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    default_rubrics_install(project=project)
    offers.forget()
    contexts.forget()
    yield
    offers.forget()
    contexts.forget()


def launched(client, **changes) -> Run:
    answer = client.post(NEW, filled(**changes))
    assert answer.status_code == 302, answer.context["form"].errors
    run = Run.objects.latest("pk")
    assert answer.headers["Location"] in [
        f"/p/alpha/runs/{pk}/" for pk in Run.objects.values_list("pk", flat=True)
    ]
    return run


def errors(client, **changes) -> dict[str, list[str]]:
    answer = client.post(NEW, filled(**changes))
    assert answer.status_code == 422
    assert not Run.objects.exists()
    return answer.context["form"].errors


# --- the page -------------------------------------------------------------------------------------
def test_the_page_offers_models_with_what_is_known_of_them(as_editor):
    page = as_editor.get(NEW).content.decode()
    assert 'value="ollama/loopback:8b"' in page
    assert "40,960 tokens of context" in page
    assert "6 criteria, 1 check" in page
    assert "Not compared with people" in page
    assert "<h1>New run</h1>" in page


def test_an_endpoint_that_is_down_says_why(as_editor, ollama_server):
    ollama_server.go_offline()
    page = as_editor.get(NEW).content.decode()
    assert "<strong>ollama</strong>: <bdi>" in page
    assert "loopback:8b" not in page


def test_the_rubric_of_the_address_is_laid_out(as_editor):
    form = as_editor.get(NEW, {"rubric": "simmer"}).context["form"]
    assert form["rubric"].value() == "simmer"
    assert form.chosen_version.rubric.slug == "simmer"


def test_a_rubric_that_is_not_in_use_is_said(as_editor, project):
    Rubric.objects.filter(project=project, slug="ralph").update(archived_at="2026-01-01T00:00Z")
    page = as_editor.get(NEW, {"rubric": "ralph"}).content.decode()
    assert "The rubric you asked for is not in use" in page


def test_a_project_without_rubrics_shows_the_way(as_editor, project):
    Rubric.objects.filter(project=project).update(archived_at="2026-01-01T00:00Z")
    page = as_editor.get(NEW).content.decode()
    assert "No rubric yet" in page
    assert as_editor.post(NEW, filled()).status_code == 422


def test_queries_do_not_grow_with_runs_and_rubrics(as_editor, project):
    as_editor.get(NEW)
    with CaptureQueriesContext(connection) as few:
        as_editor.get(NEW)
    for number in range(3):
        launched(as_editor, key=f"form {number}", repeats="5")
    with CaptureQueriesContext(connection) as many:
        as_editor.get(NEW)
    assert len(many) == len(few)


# --- launching ------------------------------------------------------------------------------------
def test_it_launches_with_all_that_was_chosen(as_editor, editor):
    run = launched(as_editor, start="pasted", seed="Line one.\r\nLine two.", tags="guide, backups ,guide")
    assert (run.task, run.seed, run.created_by) == (TASK, "Line one.\nLine two.", editor)
    assert (run.producer_endpoint, run.producer_model) == ("ollama", "loopback:1b")
    assert (run.judge_endpoint, run.judge_model) == ("ollama", "loopback:8b")
    assert [tag.name for tag in run.tags.all()] == ["backups", "guide"]
    assert (run.status, run.batch, run.rubric.slug) == ("queued", "", "wiggum")


def test_settings_are_changed_for_this_launch_alone(as_editor, project):
    run = launched(
        as_editor, rounds="5", threshold="8.5", tokens="9000", seconds="60", calls="12", judge_limit="700",
        producer_tokens="300", temperature="0.2",
    )  # fmt: skip
    policy = rubric_from_json(run.snapshot).policy
    assert (policy.max_rounds, str(policy.pass_threshold), policy.judge_limit_chars) == (5, "8.5", 700)
    assert (policy.budget.tokens, policy.budget.seconds, policy.budget.calls) == (9000, 60, 12)
    assert (policy.producer_tokens, str(policy.producer_temperature)) == (300, "0.2")
    assert run.rubric_version.policy["max_rounds"] == 3


def test_no_pass_mark_can_be_asked_for(as_editor):
    assert rubric_from_json(launched(as_editor, threshold="none").snapshot).policy.pass_threshold is None


def test_repeats_share_one_batch(as_editor):
    launched(as_editor, repeats="4")
    assert Run.objects.count() == 4
    (batch,) = set(Run.objects.values_list("batch", flat=True))
    assert batch


TYPED = re.compile(r'<details class="launch-who"( open)?>')


def test_the_boxes_for_typed_models_are_folded_until_they_are_of_use(as_editor, ollama_server):
    found = TYPED.search(as_editor.get(NEW).content.decode())
    assert found
    assert not found[1]
    wrong = as_editor.post(NEW, filled(judge_typed="nowhere/model")).content.decode()
    assert TYPED.search(wrong)[1]


def test_without_any_model_to_choose_one_can_be_typed_at_once(as_editor, monkeypatch):
    monkeypatch.setattr("refinement.views.runs.launch.models_for_launch", list)
    assert TYPED.search(as_editor.get(NEW).content.decode())[1]


def test_an_endpoint_that_is_away_is_said_to_be_in_one_sentence(as_editor, ollama_server):
    ollama_server.go_offline()
    page = as_editor.get(NEW).content.decode()
    assert f"Cannot connect to {ollama_server.address}. Check that the server is running" in page
    assert "Failed to connect" not in page


def test_a_typed_model_wins(as_editor):
    run = launched(as_editor, judge_typed="ollama:other:70b")
    assert (run.judge_endpoint, run.judge_model) == ("ollama", "other:70b")


def test_a_rubric_of_checks_alone_needs_no_judge(as_editor, project):
    from dataclasses import replace

    from refinement.engine.profiles import rubric_for
    from refinement.services.rubrics.editing import rubric_create

    rubric_create(project=project, slug="checks", definition=replace(rubric_for("ralph"), criteria=()))
    assert launched(as_editor, rubric="checks", judge="").judge_model == "loopback:1b"


def test_a_version_of_another_rubric_is_not_taken(as_editor):
    run = launched(as_editor, rubric="simmer", version="wiggum@1")
    assert run.rubric.slug == "simmer"


# --- once -----------------------------------------------------------------------------------------
def test_the_same_form_sent_twice_launches_once(as_editor):
    first = as_editor.post(NEW, filled(repeats="2"))
    second = as_editor.post(NEW, filled(repeats="2"), follow=True)
    assert Run.objects.count() == 2
    assert second.redirect_chain[0][0] == first.headers["Location"]
    assert "This was already launched" in second.content.decode()


@pytest.mark.parametrize("change", [{"task": "Another."}, {"key": "another form"}, {"rounds": "2"}])
def test_what_was_changed_or_opened_anew_is_another_launch(as_editor, change):
    launched(as_editor)
    launched(as_editor, **change)
    assert Run.objects.count() == 2


def test_two_people_with_one_key_launch_two(as_editor, as_owner):
    launched(as_editor)
    launched(as_owner)
    assert Run.objects.count() == 2


# --- files ----------------------------------------------------------------------------------------
def test_a_file_with_a_mark_at_its_beginning_is_read(as_editor):
    upload = SimpleUploadedFile("notes.md", b"\xef\xbb\xbf# Caf\xc3\xa9\r\n")
    assert launched(as_editor, start="file", seed_file=upload).seed == "# Café\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"caf\xe9", "not UTF-8 text"),
        ("text".encode("utf-16"), "not UTF-8 text"),
        (b"PK\x03\x04\x00\x00", "not UTF-8 text"),
        (b"   \n", "has no text"),
        (b"", "The file is empty"),
        (b"x" * 5_000_001, "at most 5 MB"),
    ],
)
def test_other_files_are_refused_in_words(as_editor, content, words):
    found = errors(as_editor, start="file", seed_file=SimpleUploadedFile("seed.md", content))
    assert words in found["seed_file"][0]


def test_a_file_stays_as_text_when_something_else_is_wrong(as_editor):
    upload = SimpleUploadedFile("seed.md", b"A text from a file.")
    answer = as_editor.post(NEW, filled(task="", start="file", seed_file=upload))
    form = answer.context["form"]
    assert answer.status_code == 422
    assert (form["start"].value(), form["seed"].value()) == ("pasted", "A text from a file.")


# --- refusals -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"task": "  "}, "task", "Enter a task"),
        ({"start": "pasted", "seed": " \n"}, "seed", "Paste a text"),
        ({"start": "file"}, "seed_file", "Choose a file"),
        ({"producer": ""}, "producer", "Choose a model"),
        ({"judge": ""}, "judge", "Choose a model"),
        ({"judge_typed": "nowhere:model"}, "judge_typed", "Available model servers:"),
        ({"producer": "scripted:/etc/passwd"}, "producer", "Available model servers:"),
        ({"repeats": "0"}, "repeats", "greater than or equal to 1"),
        ({"repeats": "21"}, "repeats", "less than or equal to 20"),
        ({"rounds": "0"}, "rounds", "between 1 and 100"),
        ({"rounds": "many"}, "rounds", "Not a whole number"),
        ({"threshold": "11"}, "threshold", "from 0 to 10"),
        ({"tokens": "-4"}, "tokens", "between 1 and"),
        ({"temperature": "3"}, "temperature", "between 0 and 2"),
        ({"tags": ",".join(f"t{n}" for n in range(21))}, "tags", "20 tags"),
        ({"tags": "x" * 51}, "tags", "longer than 50"),
        ({"rubric": "no-such"}, "rubric", "not one of the available choices"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(as_editor, changes, field, words):
    found = errors(as_editor, **changes)
    assert words in found[field][0]
    assert list(found) == [field]


def test_what_was_typed_stays(as_editor):
    page = as_editor.post(NEW, filled(task="<b>Mine</b>", rounds="none", tags="a, b")).content.decode()
    assert "&lt;b&gt;Mine&lt;/b&gt;" in page
    assert 'value="none"' in page
    assert 'value="a, b"' in page


# --- warnings first -------------------------------------------------------------------------------
def test_what_was_not_shown_yet_is_shown_before_anything_is_launched(as_editor):
    answer = as_editor.post(NEW, filled(warned=[]))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert not Run.objects.exists()
    assert "Writer and judge are of the same family." in page
    assert "No worker online." in page
    assert "Launch anyway" in page
    shown = [caution.code for caution in answer.context["panel"]["cautions"]]
    launched(as_editor, warned=shown)


def test_a_command_that_is_off_is_said_and_refused(as_editor, project, settings):
    command = replace(
        rubric_for("wiggum"),
        evaluation_mode=EvaluationMode.HYBRID,
        evaluator=Evaluator(("/opt/<b>/score", "{file}")),
    )
    rubric_create(project=project, slug="tried", definition=command)
    page = as_editor.get(f"{NEW}?rubric=tried").content.decode()
    assert "is not allowed.</bdi>" in page
    assert "/opt/&lt;b&gt;/score, but commands are disabled on this instance" in page
    said = errors(as_editor, rubric="tried", warned=[*EVERY_WARNING, "command"])
    assert "add it to WIGGUM_COMMANDS" in said["rubric"][0]
    settings.COMMANDS = ["/opt/<b>/score"]
    assert (
        "but the rubric&#x27;s visibility table hides its output"
        in as_editor.get(f"{NEW}?rubric=tried").content.decode()
    )
    warned = [*EVERY_WARNING, "unseen-command"]
    run = launched(as_editor, rubric="tried", warned=warned)
    assert run.snapshot["evaluator"]["command"] == ["/opt/<b>/score", "{file}"]


def test_the_estimate_alone_launches_nothing(as_editor):
    page = as_editor.post(ESTIMATE, filled()).content.decode()
    assert "Before you launch" in page
    assert not Run.objects.exists()


# --- again, but -----------------------------------------------------------------------------------
def test_an_earlier_run_fills_the_form(as_editor):
    run = launched(as_editor, start="pasted", seed="A seed.", tags="a", rounds="7", judge_limit="900")
    answer = as_editor.get(NEW, {"from": run.pk})
    form = answer.context["form"]
    wanted = {
        "task": TASK, "start": "pasted", "seed": "A seed.", "rubric": "wiggum", "version": "wiggum@1",
        "producer": "ollama/loopback:1b", "judge": "ollama/loopback:8b", "tags": "a", "rounds": "7",
        "judge_limit": "900",
    }  # fmt: skip
    assert {name: form[name].value() for name in wanted} == wanted
    assert form["threshold"].value() in (None, "")
    assert f"run {run.pk}</a>: change what should be different." in answer.content.decode()


def test_a_run_of_another_project_fills_nothing(as_editor, other_project):
    from tests.models.given import a_run, a_version

    run = a_run(other_project, a_version(other_project))
    assert as_editor.get(NEW, {"from": run.pk}).status_code == 404


@pytest.mark.parametrize("odd", ["x", "-1", "9" * 30, ""])
def test_an_odd_number_fills_nothing(as_editor, odd):
    assert as_editor.get(NEW, {"from": odd}).status_code == 200


def test_the_last_models_are_chosen_already(as_editor):
    launched(as_editor, rubric="simmer")
    form = as_editor.get(NEW).context["form"]
    assert form["rubric"].value() == "simmer"
    assert form["judge"].value() == "ollama/loopback:8b"


# --- who ------------------------------------------------------------------------------------------
def test_a_viewer_is_told_who_may(as_viewer):
    assert as_viewer.get(NEW).status_code == 403
    assert as_viewer.post(NEW, filled()).status_code == 403
    assert not Run.objects.exists()


def test_an_outsider_finds_nothing(as_outsider):
    assert as_outsider.post(NEW, filled()).status_code == 404
    assert not Run.objects.exists()


# --- the task type ----------------------------------------------------------------------------------
def test_a_task_type_is_kept_offered_again_and_part_of_an_edited_rerun(as_editor):
    run = launched(as_editor, task_type="  Release Notes ")
    assert run.task_type == "release notes"
    page = as_editor.get(f"{NEW}?from={run.pk}").content.decode()
    assert re.search(r'name="task_type" value="release notes"[^>]* list="task-types"', page)
    offered = re.search(r'<datalist id="task-types">(.*?)</datalist>', page)[1]
    assert re.findall(r'value="([^"]+)"', offered)[:3] == ["release notes", "research", "how-to"]
    head = as_editor.get(f"/p/alpha/runs/{run.pk}/").content.decode()
    assert '<a href="/p/alpha/runs/?task_type=release%20notes"><bdi>release notes</bdi></a>' in head


def test_another_task_type_is_another_launch(as_editor):
    first = launched(as_editor, task_type="research")
    assert launched(as_editor, task_type="how-to").pk != first.pk


def test_a_long_task_type_is_refused_beside_its_field(as_editor):
    assert errors(as_editor, task_type="x" * 51) == {"task_type": ["A task type has at most 50 characters."]}
