"""What fails most: runs are read, issues are placed, and people's edits of categories stay."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from refinement.engine.types import Outcome
from refinement.execution.failures import naming
from refinement.execution.failures.requesting import failures_request_later
from refinement.models import (
    AuditEntry,
    BlindReading,
    FailureCategory,
    FailureIssue,
    FailureNaming,
    FailureSuggestion,
    Report,
    Round,
    Run,
    Verdict,
)
from refinement.providers.base import CallControl, CompletionRequest, ModelInfo, Reply
from refinement.services.announcements import on_run_ended
from tests.services.experiments.given import an_experiment
from tests.views.failures.given import brought_up_to_date, criticised, many_criticised

pytestmark = pytest.mark.django_db
NO_SOURCE = ["The claim has no source.", "This claim lacks a source.", "The claim is without any source."]
NO_ROLLBACK = ["The rollback steps are missing.", "Rollback steps are not described.", "No rollback steps."]


@pytest.fixture
def page(project):
    return reverse("failure_page", args=[project.slug])


@pytest.fixture
def small(project):
    """Six runs with two kinds of issues: one is fixed by the next round, the other never."""
    for n in range(6):
        criticised(project, [[NO_SOURCE[n % 3], NO_ROLLBACK[n % 3]], [NO_SOURCE[(n + 1) % 3]]])
    brought_up_to_date(project)


def category(word: str) -> FailureCategory:
    return next(row for row in FailureCategory.objects.all() if word in row.automatic_name.lower())


def edits() -> list[tuple[object, ...]]:
    """Everything that people did to categories and issues."""
    rows = FailureCategory.objects.exclude(edition=1, by_hand=False).order_by("pk")
    moved = FailureIssue.objects.filter(by_hand=True).order_by("pk").values_list("pk", "category")
    fields = ("pk", "name", "note", "pinned", "merged_into", "edition")
    return [*rows.values_list(*fields), *moved]


def test_categories_say_how_often_the_next_round_fixed_them(as_viewer, page, small):
    assert FailureCategory.objects.count() == 2
    text = as_viewer.get(page).content.decode()
    assert "is the lowest criterion in 6 of 6 runs" in text
    source, rollback = category("source"), category("rollback")
    assert source.issues.count() == 12
    assert rollback.issues.count() == 6
    answer = as_viewer.get("/api/v1/projects/alpha/failures").json()
    fixed = {entry["id"]: (entry["followed"], entry["fixed_share"]) for entry in answer["categories"]}
    assert fixed[source.pk] == (6, 0)
    assert fixed[rollback.pk] == (6, 1)
    depth = next(entry for entry in answer["criteria"] if entry["criterion"] == "Depth")
    assert (depth["lowest"], depth["lift"], depth["lift_low"], depth["below_first"]) == (6, 2, 2, 1)


def test_adding_100_runs_keeps_every_edit_and_later_issues_join(as_editor, project, page):
    many_criticised(project, 120)
    brought_up_to_date(project)
    rows = list(FailureCategory.objects.all())
    assert len(rows) > 8
    one, other, third, fourth = rows[:4]
    as_editor.post(
        reverse("failure_edit", args=[project.slug, one.pk]),
        {"edition": one.edition, "name": "Ours", "note": "Attach the sources."},
    )
    as_editor.post(reverse("failure_pin", args=[project.slug, one.pk]), {"pinned": "1"})
    as_editor.post(reverse("failure_merge", args=[project.slug, third.pk]), {"into": other.pk})
    moved = list(fourth.issues.values_list("pk", flat=True)[:2])
    move = reverse("failure_issues_move", args=[project.slug])
    as_editor.post(move, {"issue": moved[:1], "to": "new", "name": "Split off"})
    as_editor.post(move, {"issue": moved[1:], "to": "none"})
    before = edits()
    placed = dict(FailureIssue.objects.exclude(category=None).values_list("pk", "category"))
    assert len(before) == 6  # one, other, third and the new category; two issues
    many_criticised(project, 100, seed=2)
    brought_up_to_date(project)
    assert edits() == before
    now = dict(FailureIssue.objects.filter(pk__in=placed).values_list("pk", "category"))
    assert now == placed
    late = FailureIssue.objects.exclude(pk__in=placed).filter(category__in=rows, by_hand=False)
    assert late.count() > 150
    as_editor.get(page)  # shows the messages of the edits
    text = as_editor.get(f"{page}?all=1").content.decode()
    assert "Ours" in text
    assert f"/categories/{third.pk}/" not in text  # it counts for the other one
    assert set(AuditEntry.objects.values_list("action", flat=True)) >= {
        "failures.change",
        "failures.merge",
        "failures.move",
    }


def test_merging_can_be_undone(as_editor, project, small):
    source, rollback = category("source"), category("rollback")
    as_editor.post(
        reverse("failure_bulk", args=[project.slug]), {"category": [source.pk, rollback.pk], "act": "merge"}
    )
    address = reverse("failure_category", args=[project.slug, source.pk])
    assert "18 issues in 6 runs" in as_editor.get(address).content.decode()
    merged = as_editor.get(reverse("failure_category", args=[project.slug, rollback.pk]))
    assert merged.headers["Location"] == address
    as_editor.post(reverse("failure_separate", args=[project.slug, rollback.pk]))
    assert "12 issues in 6 runs" in as_editor.get(address).content.decode()


def test_what_is_no_issue_counts_no_more_and_can_come_back(as_editor, project, page, small):
    row = category("source")
    assert row.shown_name in as_editor.get(page).content.decode().split("fail-categories")[1]
    as_editor.post(reverse("failure_bulk", args=[project.slug]), {"category": [row.pk], "act": "dismiss"})
    html = as_editor.get(page).content.decode()
    table, below = html.split("fail-categories")[1].split("</table>", 1)
    assert row.shown_name not in table.split("fail-open")[0]
    assert "1 not an issue" in below
    assert f"“{row.shown_name}”" not in html.split("fail-answer")[1].split("</p>")[0]
    address = reverse("failure_category", args=[project.slug, row.pk])
    assert "Figures leave it out." in as_editor.get(address).content.decode()
    undo = reverse("failure_dismiss_category", args=[project.slug, row.pk])
    as_editor.post(undo, {"dismissed": "0"})
    assert "1 not an issue" not in as_editor.get(page).content.decode()
    changed = as_editor.patch(
        f"/api/v1/projects/{project.slug}/failures/categories/{row.pk}",
        {"edition": 3, "dismissed": True},
        content_type="application/json",
    )
    assert changed.json()["dismissed"] is True


def test_a_category_keeps_the_filter_that_the_reader_came_with(as_viewer, project, page, small):
    row = category("source")
    address = reverse("failure_category", args=[project.slug, row.pk])
    assert "12 issues in 6 runs" in as_viewer.get(address).content.decode()
    run = row.issues.first().run
    html = as_viewer.get(f"{page}?outcome={run.outcome}").content.decode()
    assert f'href="{address}?outcome={run.outcome}&amp;window=300"' in html
    Run.objects.filter(pk=run.pk).update(producer_model="other:1b")
    html = as_viewer.get(f"{address}?producer=other:1b&window=300").content.decode()
    assert "2 issues in 1 run ·" in html
    assert "In the newest 1 ended runs." in html
    assert f'href="{address}">All issues ever</a>' in html


def test_nobody_overwrites_an_edit_unseen(as_editor, as_owner, project, small):
    row = category("source")
    address = reverse("failure_edit", args=[project.slug, row.pk])
    assert as_owner.post(address, {"edition": 1, "name": "Theirs", "note": ""}).status_code == 302
    answer = as_editor.post(address, {"edition": 1, "name": "Mine", "note": ""})
    assert answer.status_code == 422
    assert "changed by somebody else" in answer.content.decode()
    row.refresh_from_db()
    assert row.name == "Theirs"
    refused = as_editor.patch(
        f"/api/v1/projects/{project.slug}/failures/categories/{row.pk}",
        {"edition": 1, "name": "Mine"},
        content_type="application/json",
    )
    assert refused.status_code == 409


def test_a_continued_run_is_read_again(project, small):
    run = criticised(project, [[NO_ROLLBACK[0]]])
    brought_up_to_date(project)
    first = FailureIssue.objects.get(run=run)
    assert (first.next_round, first.category) == (None, category("rollback"))
    row = Round.objects.create(
        run=run, number=2, origin="revision", candidate="B", candidate_chars=1, judged_at=run.finished_at,
        composite=7, scores={"depth": "7"}, feedback={"from_round": 1},
    )  # fmt: skip
    scores = [{"key": "depth", "score": "7", "reasoning": "", "improvement": ""}]
    Verdict.objects.create(round=row, judge="j", issues=[NO_ROLLBACK[0]], scores=scores)
    type(run).objects.filter(pk=run.pk).update(finished_at=row.created_at)
    brought_up_to_date(project)
    first.refresh_from_db()
    assert (first.next_round, first.again) == (2, True)
    assert FailureIssue.objects.filter(run=run).count() == 2


def test_runs_that_end_are_read_only_once_somebody_has_looked(as_viewer, project, page):
    run = criticised(project, [NO_SOURCE])
    on_run_ended(run=run, outcome=Outcome.FAIL)
    assert not Report.objects.exists()
    html = as_viewer.get(page).content.decode()
    assert "Reading issues: 0 of 1 runs." in html
    assert "The issues of these runs are still being read." in html
    for words in ("fail-answer", "0 of 0 issues", "fail-categories"):
        assert words not in html
    brought_up_to_date(project)
    assert "Reading issues" not in as_viewer.get(page).content.decode()
    on_run_ended(run=run, outcome=Outcome.FAIL)
    report = Report.objects.get()
    assert report.status == "waiting"
    assert not failures_request_later(project.pk)  # it is scheduled already


@pytest.mark.parametrize(
    "query", ["", "?tab=checks", "?tab=names", "?tab=stops", "?window=1000&order=unfixed"]
)
def test_the_page_makes_a_fixed_number_of_queries(as_viewer, project, page, small, query):
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            assert as_viewer.get(page + query).status_code == 200
        return len(found)

    queries()
    before = queries()
    for _ in range(4):
        criticised(project, [[*NO_SOURCE, *NO_ROLLBACK], NO_SOURCE])
    brought_up_to_date(project)
    assert queries() == before <= 26


def test_a_partial_for_htmx_a_page_without(as_viewer, page, small):
    assert "<html" in as_viewer.get(page).content.decode()
    partial = as_viewer.get(page, headers={"HX-Request": "true"}).content.decode()
    assert partial.lstrip().startswith('<div id="failures"')
    assert as_viewer.get(f"{page}?outcome=nonsense").status_code == 422
    assert "No ended runs match" in as_viewer.get(f"{page}?outcome=PASS").content.decode()


def test_runs_of_experiments_count_only_if_asked_for(as_viewer, project, page):
    experiment = an_experiment(project)
    criticised(project, [NO_SOURCE])
    for _ in range(2):
        criticised(project, [NO_SOURCE], experiment=experiment, suite=experiment.suite_version.suite)

    def runs(query: str) -> tuple[int, bool]:
        answer = as_viewer.get(page + query)
        return len(answer.context["window"].runs), "Runs of experiments:" in answer.content.decode()

    assert runs("") == runs("?experiments=leave_out") == runs("?experiments=nonsense") == (1, True)
    assert runs("?experiments=include") == (3, True)
    assert runs("?experiments=only") == (2, True)
    assert runs(f"?experiment={experiment.pk}") == (2, False)
    assert runs(f"?suite={experiment.suite_version.suite.slug}") == (2, False)
    text = as_viewer.get(f"{page}?experiments=only").content.decode()
    assert '<input type="hidden" name="experiments" value="only">' in text
    for query, shown in (("", "?origin=own"), ("?experiments=only", "?origin=experiments")):
        assert f'/runs/{shown}">Show runs' in as_viewer.get(page + query).content.decode()
    assert runs("?origin=own") == (1, False)
    address = "/api/v1/projects/alpha/failures"
    assert [as_viewer.get(address + query).json()["runs"] for query in ("", "?experiments=include")] == [1, 3]


def test_the_top_issue_is_the_one_in_the_sentence(as_viewer, page, small):
    answer = as_viewer.get(f"{page}?order=unfixed")
    words = "".join(text for text, _ in answer.context["answer"])
    top = answer.context["top"]
    assert f"most frequent issue is “{top.name}”" in words
    link = f'<a class="button button-primary" href="/p/alpha/failures/categories/{top.row.pk}/?window=300">'
    assert link in answer.content.decode()


def test_another_project_has_none_of_it(as_outsider, as_editor, project, other_project, small):
    row = category("source")
    for name, values in (("failure_page", []), ("failure_category", [row.pk]), ("failure_unplaced", [])):
        assert as_outsider.get(reverse(name, args=[project.slug, *values])).status_code == 404
    foreign = FailureCategory.objects.create(project=other_project, automatic_name="Foreign")
    merge = reverse("failure_merge", args=[project.slug, row.pk])
    assert as_editor.post(merge, {"into": foreign.pk}).status_code == 404
    bulk = reverse("failure_bulk", args=[project.slug])
    assert as_editor.post(bulk, {"category": [foreign.pk], "act": "pin"}).status_code == 404


def test_who_scores_blind_sees_nothing_of_that_run(as_viewer, viewer, project, page, small):
    run = criticised(project, [["Quagga claim without any source."]])
    brought_up_to_date(project)
    address = reverse("failure_category", args=[project.slug, category("source").pk])
    assert "Quagga" in as_viewer.get(address).content.decode()
    BlindReading.objects.create(run=run, reader=viewer, round_number=1)
    project.memberships.filter(user=viewer).update()
    assert "Quagga" not in as_viewer.get(address).content.decode()
    assert "6 ended runs" in as_viewer.get(page).content.decode()


def test_no_name_is_worded_by_a_run_that_the_reader_scores_blind(as_editor, editor, project, page, small):
    run = criticised(project, [["Quagga claim without any source.", "Quagga steps are missing."]])
    brought_up_to_date(project)
    source, rollback = category("source"), category("rollback")
    FailureIssue.objects.filter(run=run).update(category=source)
    FailureCategory.objects.filter(pk=source.pk).update(automatic_name="Quagga claim", model_name="Quaggas")
    other = FailureCategory.objects.create(project=project, automatic_name="Quagga steps")
    FailureIssue.objects.filter(run=run, position=1).update(category=other)
    visible = FailureIssue.objects.exclude(run=run).filter(category=rollback).first().run
    BlindReading.objects.create(run=run, reader=editor, round_number=1)
    FailureSuggestion.objects.create(project=project, first=source, second=rollback, likeness=0.5)
    addresses = [
        page,
        reverse("failure_category", args=[project.slug, source.pk]),
        reverse("failure_category", args=[project.slug, rollback.pk]),
        reverse("failure_unplaced", args=[project.slug]),
        reverse("run_round", args=[project.slug, visible.pk, 1]),
        "/api/v1/projects/alpha/failures",
        "/api/v1/projects/alpha/failures/categories",
    ]
    for address in addresses:
        answer = as_editor.get(address)
        assert answer.status_code == 200, address
        assert "Quagga" not in answer.content.decode(), address
    assert "laim" in as_editor.get(page).content.decode()  # in the words of a visible issue
    as_editor.post(reverse("failure_pin", args=[project.slug, source.pk]), {"pinned": "1"})
    assert "Quagga" not in as_editor.get(page).content.decode()
    as_editor.post(reverse("failure_merge", args=[project.slug, rollback.pk]), {"into": source.pk})
    assert "Quagga" not in as_editor.get(addresses[1]).content.decode()


def test_a_suggestion_is_dismissed_for_good(as_editor, project, small):
    pair = sorted((category("source"), category("rollback")), key=lambda row: row.pk)
    row = FailureSuggestion.objects.create(project=project, first=pair[0], second=pair[1], likeness=0.5)
    text = as_editor.get(reverse("failure_page", args=[project.slug])).content.decode()
    assert "Both appear in 6 of 6 runs" in text
    as_editor.post(reverse("failure_dismiss", args=[project.slug, row.pk]))
    row.refresh_from_db()
    assert row.dismissed


def test_exports_have_no_formulas_and_no_markup(as_viewer, project, small):
    row = category("source")
    FailureCategory.objects.filter(pk=row.pk).update(name="=1+1 <b>|x")
    csv = b"".join(as_viewer.get(reverse("failure_export", args=[project.slug, "csv"])).streaming_content)
    report = b"".join(as_viewer.get(reverse("failure_export", args=[project.slug, "md"])).streaming_content)
    assert b"\n=1+1" not in csv
    assert b"<b>" not in report
    assert b"## Categories" in report
    assert as_viewer.get(reverse("failure_export", args=[project.slug, "exe"])).status_code == 404


def test_a_round_links_each_issue_to_its_category(as_viewer, project, small):
    run = FailureIssue.objects.order_by("-run_id")[0].run
    text = as_viewer.get(reverse("run_round", args=[project.slug, run.pk, 1])).content.decode()
    assert reverse("failure_category", args=[project.slug, category("source").pk]) in text


class Clerk:
    """A provider that names every category it is asked for."""

    def __init__(self, reply: str = "") -> None:
        self.reply, self.requests = reply, []

    def model_info(self, name: str) -> ModelInfo:
        return ModelInfo(name, context_length=8_192)

    def complete(self, request: CompletionRequest, control: CallControl) -> Reply:
        self.requests.append(request)
        names = [{"number": n, "name": f"Named {n}"} for n in (1, 2)]
        return Reply(self.reply or json.dumps({"names": names}))


def test_a_model_names_categories_but_not_those_that_people_named(as_editor, project, small, monkeypatch):
    clerk = Clerk()
    monkeypatch.setattr(naming, "provider_for", lambda endpoint: clerk)
    first, second = FailureCategory.objects.order_by("pk")
    as_editor.post(
        reverse("failure_edit", args=[project.slug, first.pk]), {"edition": 1, "name": "Ours", "note": ""}
    )
    as_editor.post(reverse("failure_names", args=[project.slug]), {"model": "ollama/qwen3:4b"})
    brought_up_to_date(project)
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.shown_name, second.shown_name) == ("Ours", "Named 1")
    [request] = clerk.requests
    prompt = request.messages[-1].content
    assert second.examples[0] in prompt
    assert first.examples[0] not in prompt
    naming_row = FailureNaming.objects.get()
    assert (naming_row.named, naming_row.problem) == (1, "")


def test_an_unusable_reply_is_said(as_editor, project, small, monkeypatch):
    monkeypatch.setattr(naming, "provider_for", lambda endpoint: Clerk("no names"))
    as_editor.post(reverse("failure_names", args=[project.slug]), {"model": "ollama/qwen3:4b"})
    brought_up_to_date(project)
    assert "did not return usable names" in FailureNaming.objects.get().problem
    page = as_editor.get(reverse("failure_page", args=[project.slug])).content.decode()
    assert "did not return usable names" in page
