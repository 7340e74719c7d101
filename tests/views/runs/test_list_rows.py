"""The list of runs: what its rows, headings, tabs and columns say."""

import pytest
from django.urls import reverse
from django.utils.http import urlencode

from refinement.models import CheckResult, HumanScore, PanelJudge, ReviewRequest, Round, SavedView
from refinement.selectors.runs.listing import lists as runs
from refinement.selectors.runs.listing import tabs
from refinement.views.runs import listing
from tests.views.runs.listed import runs_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(project):
    return reverse("run_list", args=[project.slug])


def ask(client, address, **query):
    return client.get(f"{address}?{urlencode(query)}")


def test_a_line_says_what_there_is_to_know(as_viewer, address, project, editor):
    [run] = runs_of(
        project, title="Explain the backups", created_by=editor, tags=("docs", "release", "night"),
        kinship="same_family", signal_rounds=1, prompt_tokens=12_345, cost="0.254",
    )  # fmt: skip
    page = as_viewer.get(address).content.decode()
    for words in (
        "Explain the backups", "FAIL", "round limit reached", "Wiggum six dimensions", "@ v1", "qwen3:14b",
        "gemma3:27b", "of the same family", "5.00", "6.00", "Scores by round: 5, 6", "12\u202fk", "$0.25",
        "Edgar Editor", ">EE<", ">docs<", ">+2<", 'title="night, release"',
        "Judge check:", "sparkline-threshold",
        f"/runs/{run.pk}/", "<time datetime=", ">now<",
    ):  # fmt: skip
        assert words in page, words


@pytest.mark.parametrize(
    ("fields", "chip", "note"),
    [
        ({"decision": "approved"}, "FAIL", "✓ approved"),
        ({"decision": "changes"}, "FAIL", "changes requested"),
        ({"outcome": "PASS", "stop_reason": "passed"}, "PASS", ""),
        ({"outcome": "ERROR", "stop_reason": "judge_failed"}, "ERROR", "judge failed"),
        ({"status": "running", "rounds_judged": 0}, "Running", "writing round 1"),
        ({"status": "queued"}, "Queued", "next in line"),
        ({"status": "waiting"}, "Waiting", "ollama does not answer"),
        (
            {
                "status": "waiting",
                "waiting_endpoint": "ollama",
                "waiting_for": "ollama cannot be reached at 127.0.0.1:11434: connection refused",
            },
            "Waiting",
            "ollama is down",
        ),
        ({"status": "paused"}, "Paused", ""),
        ({"status": "paused", "plateau_asked": True}, "Paused", "needs your answer"),
    ],
)
def test_the_outcome_says_the_decision_or_the_reason(as_viewer, address, project, fields, chip, note):
    runs_of(project, **fields)
    [row] = as_viewer.get(address).context["rows"]
    assert (row.state.word, row.state.note) == (chip, note)


def test_a_running_run_with_a_text_that_is_not_judged_is_being_judged(as_viewer, address, project):
    [run] = runs_of(project, status="running", rounds_judged=1)
    for number in (1, 2):
        Round.objects.create(run=run, number=number, origin="draft", candidate="x", candidate_chars=1)
    [row] = as_viewer.get(address).context["rows"]
    assert row.state.note == "judging round 2"


def test_queued_runs_of_all_projects_stand_in_one_line(as_viewer, address, project, other_project):
    runs_of(other_project, 2, status="queued")
    runs_of(project, status="queued")
    [row] = as_viewer.get(address).context["rows"]
    assert row.state.note == "3rd in line"


def test_a_pass_with_a_failed_check_says_so(as_viewer, address, project):
    [run] = runs_of(project, outcome="PASS", stop_reason="passed", best_round=1)
    row = Round.objects.create(run=run, number=1, origin="draft", candidate="x", candidate_chars=1)
    CheckResult.objects.create(round=row, position=1, key="k", passed=False, severity="warning", weight=1)
    [shown] = as_viewer.get(address).context["rows"]
    assert (shown.state.word, shown.state.note) == ("PASS", "✕ 1 check failed")


def scored_by_people(run, person, composite):
    row, _ = Round.objects.get_or_create(
        run=run, number=run.best_round,
        defaults={
            "origin": "draft", "candidate": "x", "candidate_chars": 1, "composite": run.best,
            "scores": {}, "judged_at": run.finished_at,
        },
    )  # fmt: skip
    HumanScore.objects.create(
        run=run, round=row, author=person, author_name=person.name, scores=[], composite=composite
    )


def test_peoples_gap_is_flagged_from_1_5_points(as_viewer, address, project, editor, owner):
    near, far = runs_of(project, 2, best="8")
    scored_by_people(near, editor, "6.6")
    scored_by_people(far, editor, "6")
    scored_by_people(far, owner, "7")
    rows = as_viewer.get(address).context["rows"]
    assert [(row.gap.text, row.gap.people, row.gap.flagged) for row in rows] == [
        ("−1.50", "(2)", True),
        ("−1.40", "(1)", False),
    ]


def test_a_round_that_people_chose_is_shown_beside_the_best(as_viewer, address, project):
    [run] = runs_of(project, best="9.2", outcome="PASS", decision="result", chosen_round=1)
    run.rounds.create(
        number=1, origin="draft", candidate="x", candidate_chars=1, composite="7.25", scores={},
        judged_at=run.finished_at,
    )  # fmt: skip
    page = as_viewer.get(address)
    [row] = page.context["rows"]
    assert row.state.kind == "", "what people chose is below the pass mark"
    assert (row.best, row.state.note, row.state.title) == (
        "9.20",
        "people chose 7.25",
        "People chose round 1: 7.25",
    )
    home = as_viewer.get(f"/p/{project.slug}/").content.decode()
    assert "People chose round 1: 7.25" in home


def test_peoples_gap_is_hidden_until_the_reader_has_scored(as_viewer, address, project, editor, viewer):
    [run] = runs_of(project, best="8")
    scored_by_people(run, editor, "3")
    ReviewRequest.objects.create(project=project, run=run, reviewer=viewer)
    page = as_viewer.get(address)
    assert page.context["rows"][0].gap.text == ""
    assert "−5.00" not in page.content.decode()
    scored_by_people(run, viewer, "5")
    assert as_viewer.get(address).context["rows"][0].gap.text == "−4.00"


def test_a_board_is_said_in_place_of_the_judge(as_viewer, address, project):
    [run] = runs_of(project)
    for seat in (1, 2, 3):
        PanelJudge.objects.create(run=run, seat=seat, name=f"J{seat}", lens="x", endpoint="o", model="m")
    [row] = as_viewer.get(address).context["rows"]
    assert row.judge == "board of 3"


def test_matching_runs_are_counted_up_to_a_limit(as_viewer, address, project, monkeypatch):
    monkeypatch.setattr(runs, "PAGE_SIZE", 2)
    monkeypatch.setattr(listing, "MOST_COUNTED", 4)
    runs_of(project, 3, outcome="PASS", stop_reason="passed")
    runs_of(project, 2, task="zebras")
    assert "<strong>4+ runs</strong></p>" in as_viewer.get(address).content.decode()
    assert "<strong>3 runs</strong> of 4+</p>" in ask(as_viewer, address, outcome="PASS").content.decode()
    assert "<strong>2 runs</strong> of 4+</p>" in ask(as_viewer, address, q="zebras").content.decode()


def test_tabs_count_their_runs_and_the_rest_is_in_a_menu(as_viewer, address, project, monkeypatch):
    monkeypatch.setattr(tabs, "COUNT_SECONDS", 60)
    monkeypatch.setattr(tabs, "MOST_TABS", 1)
    runs_of(project, outcome="PASS", stop_reason="passed")
    runs_of(project, 2)
    for name, outcome in (("Bad", "FAIL"), ("Good", "PASS")):
        SavedView.objects.create(project=project, name=name, query=f"outcome={outcome}", shared=True)
    answer = ask(as_viewer, address, outcome="FAIL")
    assert [(tab.name, tab.count) for tab in answer.context["tabs"]][3:] == [("Bad", "2")]
    assert [tab.name for tab in answer.context["more_tabs"]] == ["Good"]
    assert f'href="{address}?outcome=FAIL" aria-current="page"' in answer.content.decode()


def test_columns_are_chosen_and_kept(as_viewer, address, project):
    runs_of(project, model_seconds="112", task_type="how-to")
    assert "1 m 52 s" not in as_viewer.get(address).content.decode()
    chosen = {"column": ["time", "type", "nonsense"], "query": "sort=best"}
    answer = as_viewer.post(reverse("run_columns", args=[project.slug]), chosen)
    assert answer.headers["Location"] == f"{address}?sort=best"
    page = as_viewer.get(address).content.decode()
    assert "1 m 52 s" in page
    assert f'href="{address}?task_type=how-to"' in page
    assert "Writer → judge</th>" not in page
    as_viewer.post(reverse("run_columns", args=[project.slug]), {"usual": "1"})
    assert "Writer → judge</th>" in as_viewer.get(address).content.decode()


def test_headings_sort_and_turn_the_order(as_viewer, address, project):
    runs_of(project)
    page = ask(as_viewer, address, outcome="FAIL").content.decode()
    assert 'aria-sort="descending"' in page
    assert f'href="{address}?outcome=FAIL&amp;sort=best"' in page
    assert f'href="{address}?outcome=FAIL&amp;sort=-newest"' in page
    page = ask(as_viewer, address, sort="best").content.decode()
    assert f'href="{address}?sort=-best" class="on"' in page


def test_hostile_words_are_shown_as_text(as_viewer, address, project):
    evil = '<script>alert(1)</script>"\u202e'
    runs_of(project, title=evil, tags=(evil,), producer_model=evil, why=evil)
    page = ask(as_viewer, address, q=evil, tag=evil, producer=evil).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
