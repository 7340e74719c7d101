"""Read-only operations: estimates, previews, checks and comparisons."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from refinement.engine.profiles import rubric_for
from refinement.engine.types import JudgeMode, Judges
from refinement.interchange.rubrics.yaml import rubric_to_fields
from refinement.models import Call, Project, Run
from refinement.services.reviews.blind_readings import blind_reading_begin
from refinement.services.rubrics.editing import default_rubrics_install, rubric_create
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HERE = "/projects/alpha"
LAUNCH = {
    "task": "Explain our backups.",
    "rubric": "wiggum",
    "producer": "ollama/loopback:1b",
    "judge": "ollama/loopback:1b",
}


@pytest.fixture
def rubrics(project):
    default_rubrics_install(project=project)


# --- what a launch would cost ---------------------------------------------------------------------
def test_an_estimate_says_what_it_costs_and_what_to_know(api_editor, rubrics):
    answer = api_editor.post(f"{HERE}/runs/estimate", LAUNCH | {"settings": {"rounds": 2}, "repeats": 3})
    told = answer.json()
    assert answer.status_code == 200
    assert told["rounds"]["high"] == 2
    assert told["calls"]["high"] == 3 * (2 + 2)  # a draft, a revision and two readings, three times
    assert 0 < told["tokens"]["low"] < told["tokens"]["high"]
    codes = [entry["code"] for entry in told["warnings"]]
    assert {"no-worker", "same_model"} <= set(codes)
    assert Run.objects.count() == 0


def test_a_seed_that_is_longer_than_the_judge_reads_is_warned_of(api_editor, rubrics):
    body = LAUNCH | {"seed": "x " * 600, "settings": {"judge_limit": 1000}}
    codes = [entry["code"] for entry in api_editor.post(f"{HERE}/runs/estimate", body).json()["warnings"]]
    assert "long-seed" in codes


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"rubric": "none"}, "rubric"),
        ({"producer": "x"}, "producer"),
        ({"settings": {"rounds": 0}}, "settings.rounds"),
    ],
)
def test_an_estimate_refuses_what_a_launch_refuses(api_editor, rubrics, change, where):
    for address in ("runs/estimate", "runs"):
        answer = api_editor.post(f"{HERE}/{address}", LAUNCH | change)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["where"] == f"body.{where}"


# --- what a judge would be sent -------------------------------------------------------------------
def test_a_preview_shows_every_word_and_where_it_comes_from(api_viewer, rubrics):
    body = {"task": "Ztask", "candidate": "Zcandidate", "issues": ["Zissue"], "asi": "Zasi", "round": 2}
    told = api_viewer.post(f"{HERE}/rubrics/wiggum/preview", body).json()
    assert (told["version"], told["round"]) == (1, 2)
    assert [prompt["name"] for prompt in told["prompts"]] == ["judge", "draft", "revision"]
    judge, _, revision = told["prompts"]
    text = "".join(message["content"] for message in judge["messages"])
    assert "Zcandidate" in text
    for message in judge["messages"]:
        assert "".join(part["text"] for part in message["parts"]) == message["content"]
    sources = {part["source"]: part["text"] for message in judge["messages"] for part in message["parts"]}
    assert "Zcandidate" in sources["candidate"]
    assert judge["information"]["candidate"] == "seen"
    assert "Zissue" in "".join(message["content"] for message in revision["messages"])
    assert told["assumptions"]
    assert Call.objects.count() == 0


def test_a_preview_borrows_a_run(api_viewer, project):
    run = finished_run(project)
    told = api_viewer.post(f"{HERE}/rubrics/{run.rubric.slug}/preview", {"run": run.pk, "round": 2}).json()
    text = "".join(message["content"] for message in told["prompts"][0]["messages"])
    assert "Version 1: deploy ingest 1." in text
    late = api_viewer.post(f"{HERE}/rubrics/{run.rubric.slug}/preview", {"run": run.pk, "round": 9})
    assert late.json()["errors"][0]["where"] == "body.round"
    assert api_viewer.post(f"{HERE}/rubrics/{run.rubric.slug}/preview", {"run": 999}).status_code == 404
    empty = api_viewer.post(f"{HERE}/rubrics/{run.rubric.slug}/preview", {})
    assert {entry["where"] for entry in empty.json()["errors"]} == {"body.task", "body.candidate"}


def test_a_preview_of_a_board_has_each_judge_and_the_clerk(api_viewer, project):
    judges = Judges(JudgeMode.BOARD, deliberation=True)
    rubric_create(project=project, slug="board", definition=replace(rubric_for("simmer"), judges=judges))
    body = {"task": "Explain.", "candidate": "A text.", "earlier": "Before.", "round": 2}
    told = api_viewer.post(f"{HERE}/rubrics/board/preview", body).json()
    shown = {prompt["name"]: prompt for prompt in told["prompts"]}
    assert list(shown) == [
        "compose", *(f"judge-{seat}" for seat in (1, 2, 3)), *(f"deliberation-{seat}" for seat in (1, 2, 3)),
        "merge", "describe", "draft", "revision",
    ]  # fmt: skip
    for prompt in shown.values():
        for message in prompt["messages"]:
            assert "".join(part["text"] for part in message["parts"]) == message["content"]
    assert shown["deliberation-2"]["messages"][:2] == shown["judge-2"]["messages"]
    assert shown["merge"]["information"]["candidate"] == "withheld"
    assert any("the clerk composes the board" in sentence for sentence in told["assumptions"])


def test_checks_are_tried_on_a_text(api_editor, rubrics):
    definition = rubric_to_fields(rubric_for("wiggum"))
    definition["checks"] = [{"key": "links", "kind": "contains", "parameters": {"text": "http"}}]
    address = f"{HERE}/rubrics/wiggum/checks"
    for text, passed in (("See http://x", True), ("See nothing", False)):
        told = api_editor.post(address, {"text": text, "definition": definition}).json()
        assert [(entry["key"], entry["passed"]) for entry in told["items"]] == [("links", passed)], told
    assert api_editor.post(address, {"text": "x", "definition": {"name": 1}}).status_code == 422


def test_slow_checks_are_ended_and_each_says_what_became_of_it(api_editor, rubrics):
    definition = rubric_to_fields(rubric_for("wiggum"))
    slow = {"kind": "regex", "parameters": {"pattern": "^(?:(?:a|aa)+)+0$"}}
    definition["checks"] = [{"key": f"slow-{number}"} | slow for number in range(30)]
    sent = {"text": "a" * 60 + "!", "definition": definition}
    told = api_editor.post(f"{HERE}/rubrics/wiggum/checks", sent).json()
    assert len(told["items"]) == 30
    assert not any(entry["passed"] for entry in told["items"])
    assert "longer than" in told["items"][0]["message"]
    assert "before it did not end" in told["items"][-1]["message"]


def test_a_preview_of_a_slow_template_is_ended(api_viewer, project):
    terms = " or ".join(["(a.description|upper|lower|title|upper|lower) == 'x'"] * 30)
    loops = (
        "{% for a in criteria %}{% for b in criteria %}{% if "
        + terms
        + " %}y{% endif %}{% endfor %}{% endfor %}x"
    )
    plain = rubric_for("wiggum")
    more = tuple(replace(plain.criteria[0], key=f"k{n}", description="Depth. " * 400) for n in range(60))
    slow = replace(plain, criteria=plain.criteria + more, templates={"judge": loops})
    rubric_create(project=project, slug="slow", definition=slow)
    answer = api_viewer.post(f"{HERE}/rubrics/slow/preview", {"task": "A task.", "candidate": "A text."})
    assert answer.status_code == 422
    assert "takes longer than 1 second" in answer.json()["detail"]


def test_two_versions_of_a_rubric_are_compared(api_editor, rubrics):
    read = api_editor.get(f"{HERE}/rubrics/wiggum")
    definition = read.json()["definition"] | {"purpose": "Another."}
    api_editor.put(f"{HERE}/rubrics/wiggum", {"definition": definition}, If_Match=read.headers["ETag"])
    told = api_editor.get(f"{HERE}/rubrics/wiggum/compare").json()
    assert (told["a"], told["b"]) == (1, 2)
    assert [(entry["label"], entry["after"]) for entry in told["changed"]] == [("Purpose", "Another.")]
    assert told["unchanged"] > 10
    assert api_editor.get(f"{HERE}/rubrics/wiggum/compare", {"a": "7"}).status_code == 404


# --- runs side by side ----------------------------------------------------------------------------
def compared(script, *runs, **query):
    return script.get(f"{HERE}/runs/compare", {"run": [str(run) for run in runs], **query})


def test_runs_are_compared(api_viewer, project):
    one = finished_run(project, ("7", "8"), tags=["a"], batch="b")
    two = finished_run(
        project, ("6", "9"), candidates=("First.", "Then watch it well."), batch="b", task="Other"
    )
    told = compared(api_viewer, one.pk, two.pk).json()
    assert [entry["id"] for entry in told["runs"]] == [one.pk, two.pk]
    assert [entry["trajectory"] for entry in told["runs"]] == [["7", "8"], ["6", "9"]]
    assert told["runs"][0]["tags"] == ["a"]
    assert told["one_scale"] is True
    assert [entry["values"] for entry in told["settings"] if entry["label"] == "Task"] == [
        [one.task, "Other"]
    ]
    assert told["same_settings"] > 10
    diff = told["diff"]
    assert (diff["a"], diff["b"], diff["compared"]) == (one.pk, two.pk, True)
    later = "".join(
        piece["text"]
        for piece in diff["pieces"]
        if piece["kind"] in ("same", "inserted", "moved_in", "copied", "blank")
    )
    assert "watch it well." in later
    (repeats,) = told["repeats"]
    best = next(figure for figure in repeats["figures"] if figure["label"] == "Best")
    assert (best["mean"], best["lowest"], best["highest"]) == ("8.5", "8", "9")
    swapped = compared(api_viewer, one.pk, two.pk, a=str(two.pk), b=str(one.pk)).json()["diff"]
    assert (swapped["a"], swapped["b"]) == (two.pk, one.pk)


def test_what_cannot_be_compared(api_viewer, api_outsider, project, viewer):
    one, two = finished_run(project), finished_run(project)
    assert compared(api_viewer, one.pk).status_code == 422
    assert compared(api_viewer, *range(1, 7)).status_code == 422
    assert compared(api_viewer, one.pk, one.pk).status_code == 404
    assert compared(api_viewer, one.pk, 999).status_code == 404
    assert compared(api_viewer, one.pk, two.pk, a="999").status_code == 404
    assert compared(api_outsider, one.pk, two.pk).status_code == 404
    project.blind_scores = True
    project.save(update_fields=["blind_scores"])
    blind_reading_begin(run=one, number=1, user=viewer)
    assert compared(api_viewer, one.pk, two.pk).json()["code"] == "reads_blind"
    slug = two.rubric.slug
    hidden = api_viewer.post(f"{HERE}/rubrics/{slug}/preview", {"run": one.pk})
    assert hidden.json()["code"] == "reads_blind"


def test_a_comparison_takes_a_fixed_number_of_queries(api_viewer, project):
    runs = [finished_run(project, tags=["a", "b"]).pk for _ in range(5)]

    def queries(*chosen) -> int:
        with CaptureQueriesContext(connection) as taken:
            assert compared(api_viewer, *chosen).status_code == 200
        return len(taken)

    assert queries(*runs) == queries(*runs[:2])


def test_a_launch_over_the_budget_is_refused(api_editor, rubrics, project):
    Project.objects.filter(pk=project.pk).update(monthly_tokens=1_000)
    Run.objects.filter(pk=finished_run(project).pk).update(prompt_tokens=1_000, created_at=timezone.now())
    answer = api_editor.post(f"{HERE}/runs", LAUNCH)
    assert answer.status_code == 422
    assert "used up its budget for this month" in answer.json()["detail"]
    told = api_editor.post(f"{HERE}/runs/estimate", LAUNCH).json()
    assert "budget" in [entry["code"] for entry in told["warnings"]]
