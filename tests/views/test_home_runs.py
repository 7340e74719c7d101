"""A project's home page: the tour and first steps, or what needs the reader."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from refinement.models import HumanScore
from refinement.selectors.projects import home
from refinement.services.people.accounts import project_create
from refinement.services.runs.prepared import example_open
from refinement.views.projects.home import has_own_model, problems_of
from tests.services.experiments.given import an_experiment
from tests.views.runs.listed import a_version, runs_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(project):
    return f"/p/{project.slug}/"


def titles(answer, part):
    return [entry.run.title for entry in getattr(answer.context["home"], part)]


def going(answer):
    return [each.entry.run.title for each in answer.context["home"].going]


def results(answer):
    return [each.entry.run.title for each in answer.context["home"].results]


def test_runs_are_where_they_belong(as_editor, editor, address, project, other_project):
    for status, title in (("running", "At work"), ("queued", "Next"), ("waiting", "Held up")):
        runs_of(project, status=status, title=title)
    (paused,) = runs_of(project, status="paused", title="Paused one", created_by=editor)
    runs_of(project, status="paused", title="Somebody else's")
    runs_of(project, status="paused", plateau_asked=True, title="Asks")
    runs_of(project, title="Done")
    failure = {"outcome": "ERROR", "stop_reason": "judge_failed", "why": "The judge failed: no reply."}
    runs_of(project, title="Broken", rounds_judged=0, **failure)
    runs_of(project, title="Away", archived_at=timezone.now())
    runs_of(other_project, title="Foreign")
    answer = as_editor.get(address)
    page = answer.content.decode()
    assert going(answer) == ["At work", "Next", "Held up", "Somebody else's"]
    assert titles(answer, "asking") == ["Asks"]
    assert titles(answer, "held") == ["Broken", "Paused one"]
    assert results(answer) == ["Done"]
    assert answer.context["home"].sentence.startswith(
        "3 items need you; one of them blocks a run. 1 running, 1 queued, 1 waiting, 3 paused."
    )
    for words in ("The judge failed: no reply.", "In progress", "Retry", "Resume", "Answer", f"#{paused.pk}"):
        assert words in page
    assert "Foreign" not in page
    assert ">Away<" not in page


def test_a_paused_run_of_somebody_else_can_be_resumed_by_editors(as_editor, as_viewer, address, project):
    (run,) = runs_of(project, status="paused", rounds_judged=2)
    resume = f'action="/p/{project.slug}/runs/{run.pk}/do/resume/"'
    page = as_editor.get(address).content.decode()
    assert "Paused after round 2" in page
    assert resume in page
    page = as_viewer.get(address).content.decode()
    assert "Paused after round 2" in page
    assert resume not in page


def test_one_line_says_that_no_model_server_answers(as_editor, address, project, monkeypatch):
    system = [a_system(("ollama", False), ("embedded", True))]
    monkeypatch.setattr("refinement.views.projects.home.system_state", lambda: system[0])
    demo = {"judge_endpoint": "embedded", "judge_model": "smollm2-135m"}
    runs_of(project, status="queued", **demo)
    words = "No model server answers"
    assert words not in as_editor.get(address).content.decode()
    runs_of(project, status="queued")
    runs_of(project, status="waiting", waiting_endpoint="ollama")
    page = as_editor.get(address).content.decode()
    assert words in page
    assert "2 runs are waiting and continue when one is back." in page
    assert "ollama is down" not in page
    system[0] = a_system(("ollama", True))
    assert words not in as_editor.get(address).content.decode()


def test_runs_of_experiments_are_left_to_their_own_line(as_editor, editor, address, project):
    experiment = an_experiment(project, user=editor)
    runs_of(project, title="Ours")
    runs_of(project, 8, title="A cell", experiment=experiment)
    runs_of(project, outcome="ERROR", stop_reason="judge_failed", title="A cell", experiment=experiment)
    runs_of(project, status="paused", title="A cell", created_by=editor, experiment=experiment)
    answer = as_editor.get(address)
    assert (results(answer), titles(answer, "held")) == (["Ours"], [])
    assert "Their runs are not part of the figures" in answer.content.decode()


def test_who_cannot_edit_is_not_asked_to(as_viewer, address, project):
    runs_of(project, status="paused", plateau_asked=True)
    runs_of(project, outcome="ERROR", stop_reason="judge_failed")
    assert as_viewer.get(address).context["home"].attention == 0


def test_an_old_failure_waits_for_nobody(as_editor, address, project):
    long_ago = timezone.now() - home.FAILED_SINCE - timedelta(minutes=1)
    runs_of(project, outcome="ERROR", stop_reason="judge_failed", finished_at=long_ago)
    assert titles(as_editor.get(address), "held") == []


def test_a_newcomer_is_led_to_the_prepared_example(as_viewer, as_editor, address, project, monkeypatch):
    monkeypatch.setattr("refinement.views.projects.home.system_state", lambda: a_system(("embedded", True)))
    page = as_editor.get(address).content.decode()
    for words in (
        "Open the example run",
        "no model ran",
        "Get started",
        "5.90",
        "9.20",
        "No model server available",
    ):
        assert words in page
    assert (
        page.lower().count(f'<a href="/p/{project.slug}/runs/new/?models=demo">try the demo model</a>') == 2
    )
    assert f'action="/p/{project.slug}/example/"' not in page  # nothing starts unasked
    page = as_viewer.get(address).content.decode()
    assert "Open the example run" in page
    assert "try the demo model" not in page.lower()
    assert "/rubrics/new/" not in page


def test_a_failed_example_is_no_first_result(as_editor, address, project):
    runs_of(project, outcome="ERROR", stop_reason="judge_failed", rounds_judged=0, tags=("example",))
    answer = as_editor.get(address)
    assert not answer.context["home"].has_result
    assert "Get started" in answer.content.decode()


def test_nor_is_one_of_the_demo_model(as_editor, address, project):
    runs_of(project, home.MOST_RECENT, judge_endpoint="embedded", judge_model="smollm2-135m", best=10)
    answer = as_editor.get(address)
    page = answer.content.decode()
    assert len(results(answer)) == home.MOST_RECENT
    assert page.count(">demo</span>") == home.MOST_RECENT
    assert page.count("Judged by the demo model") == home.MOST_RECENT
    assert all(result.is_neutral for result in answer.context["home"].results), "its PASS is not green"
    for words in ("Open the example run", "Play the example", "Get started"):
        assert words in page
    runs_of(project, judge_endpoint="embedded", judge_model="own-large-model")  # of WIGGUM_GGUF
    assert as_editor.get(address).context["home"].has_result
    assert as_editor.get(f"{address}runs/").content.decode().count(">demo</span>") == home.MOST_RECENT


def test_nor_is_the_prepared_one(as_editor, address, project, owner):
    example_open(project=project, user=owner)
    answer = as_editor.get(address)
    assert not answer.context["home"].has_result
    assert not answer.context["home"].has_own_rubric
    assert results(answer) == []


def test_steps_that_are_done_are_ticked(as_owner, owner, monkeypatch):
    monkeypatch.setattr("refinement.views.projects.home.system_state", lambda: a_system(("ollama", True)))
    project = project_create(owner=owner, name="Fresh")
    page = as_owner.get(f"/p/{project.slug}/").content.decode()
    assert "1 of 3 done" in page
    assert f'href="/p/{project.slug}/runs/new/"' in page
    assert not as_owner.get(f"/p/{project.slug}/").context["home"].has_own_rubric
    runs_of(project)
    answer = as_owner.get(f"/p/{project.slug}/")
    assert (answer.context["home"].has_result, answer.context["home"].has_own_rubric) == (True, True)
    assert "Get started" not in answer.content.decode()


def test_people_beside_the_judge(as_viewer, address, project, owner):
    (run,) = runs_of(project, 1, best=Decimal(9), best_round=1)
    row = run.rounds.create(
        number=1,
        origin="draft",
        candidate="A",
        candidate_chars=1,
        judged_at=timezone.now(),
        composite=9,
        scores={},
    )
    HumanScore.objects.create(run=run, round=row, author=owner, author_name="Olga", scores=[], composite=7)
    answer = as_viewer.get(address)
    gap = answer.context["home"].results[0].gap
    assert (gap.words, gap.wide, gap.people) == ("−2.00", True, 1)
    assert "People are −2.00 from the judge" in answer.content.decode()


@pytest.mark.parametrize(
    ("states", "waiting", "names"),
    [
        ([("ollama", False), ("embedded", False)], {}, []),
        ([("ollama", False)], {"ollama": 2}, ["ollama is down"]),
        ([("ollama", True)], {"ollama": 1}, []),
        ([("gpu-1", False)], {}, ["gpu-1 is down"]),
    ],
)
def test_a_server_that_nobody_misses_is_not_broken(states, waiting, names):
    found = problems_of(a_system(*states), waiting)
    assert [problem.name for problem in found] == names
    if waiting and names:
        assert "2 runs are waiting and continue automatically" in found[0].message


def a_system(*endpoints):
    states = [{"name": name, "ok": ok, "message": ""} for name, ok in endpoints]
    return [
        ("Queue", {"ok": True, "message": ""}, True),
        ("Model servers", {"ok": True, "message": "", "endpoints": states}, False),
    ]


@pytest.mark.parametrize(
    ("endpoints", "gguf", "own"),
    [
        ([("ollama", False), ("embedded", True)], "", False),
        ([("ollama", True), ("embedded", True)], "", True),
        ([("embedded", True)], "/models/large.gguf", True),
        ([("embedded", False)], "/models/large.gguf", False),
        ([], "", False),
    ],
)
def test_a_model_of_ones_own_is_a_step_of_its_own(monkeypatch, endpoints, gguf, own):
    monkeypatch.setenv("WIGGUM_GGUF", gguf)
    assert has_own_model(a_system(*endpoints)) is own


def test_the_number_of_queries_does_not_grow_with_runs(as_viewer, address, project):
    def queries():
        with CaptureQueriesContext(connection) as found:
            as_viewer.get(address)
        return len(found)

    for status in ("running", "queued", "waiting", "paused", "finished"):
        runs_of(project, status=status)
    queries()
    few = queries()
    for number in range(5):
        for status in ("running", "queued", "waiting", "paused", "finished"):
            runs_of(project, 3, status=status, version=a_version(project, f"rubric-{number}"), tags=("docs",))
    assert queries() == few


def test_every_list_is_bounded(as_editor, editor, address, project):
    for status in ("running", "queued", "waiting", "paused", "finished"):
        runs_of(project, 15, status=status, created_by=editor)
    answer = as_editor.get(address)
    counts = (len(going(answer)), len(titles(answer, "held")), len(results(answer)))
    assert counts == (home.MOST_GOING, home.MOST_HELD, home.MOST_RECENT)


def test_hostile_words_are_shown_as_text(as_viewer, address, project):
    runs_of(project, title="<script>alert(1)</script>")
    runs_of(project, status="waiting", title="<script>alert(2)</script>")
    assert "<script>alert" not in as_viewer.get(address).content.decode()
