"""Model calls: short in the list, complete on their page."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.engine.profiles import rubric_for
from refinement.models import Call, Run
from tests.execution.wire.stage import verdict
from tests.loopback.faults import Fault
from tests.loopback.replies import Answer
from tests.views.runs.board_guide import board_rows
from tests.views.runs.finished import finished_run
from tests.views.runs.guide import guide_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def address(run, rest=""):
    return f"/p/{run.project.slug}/runs/{run.pk}/calls/{rest}"


def text_of(client, run, rest="", **more):
    answer = client.get(address(run, rest), **more)
    assert answer.status_code == 200
    return answer.content.decode()


def test_every_call_is_listed_with_what_it_cost(as_viewer, stage):
    run = guide_run(stage)
    text = text_of(as_viewer, run)
    assert text.count('class="call-head"') == 5
    assert "valid reply" in text
    call = run.calls.first()
    assert f"{call.prompt_tokens:,} tokens in, {call.completion_tokens:,} out" in text


def test_the_calls_of_one_round_with_who_saw_what(as_viewer, stage):
    text = text_of(as_viewer, guide_run(stage), "?round=2")
    assert text.count('class="call-head"') == 2
    assert "Who saw what in this round" in text


def test_one_call_has_its_exact_messages(as_viewer, stage):
    run = guide_run(stage)
    call = run.calls.first()
    text = text_of(as_viewer, run, f"?call={call.pk}&form=text")
    for message in call.messages:
        assert message["content"] in text
    assert call.reply in text
    page = text_of(as_viewer, run, f"?call={call.pk}")
    assert "All of it as plain text" in page
    piece = text_of(as_viewer, run, f"?call={call.pk}", headers=HTMX)
    assert "<html" not in piece


def test_thinking_is_folded(as_viewer, stage):
    rubric = rubric_for("wiggum")
    stage.says(judge=[Answer(verdict(rubric, 9.5), thinking="Let me see what this is.")])
    run = stage.play(rubric, seed="# A text.")
    text = text_of(as_viewer, run, f"?call={run.calls.get().pk}")
    assert "Thinking, 24 characters" in text


def test_errors_and_unreadable_replies_are_said(as_viewer, stage):
    rubric = rubric_for("wiggum")
    stage.server.faults = [Fault("status", nth=(1,))]
    stage.says(judge=["nothing to read", verdict(rubric, 9.5)])
    text = text_of(as_viewer, stage.play(rubric, seed="# A text."))
    assert "invalid reply" in text
    assert "status 500" in text
    assert "could not be read" in text
    assert "attempt 3" in text


def test_the_usage_of_each_role_is_told_with_its_cost(as_viewer, project):
    run = finished_run(project)
    assert '<th scope="row">Judges</th>' in text_of(as_viewer, run)
    assert ">Cost</th>" not in text_of(as_viewer, run)
    run.calls.filter(role="judge").update(cost=Decimal("0.05"))
    Run.objects.filter(pk=run.pk).update(cost=Decimal("0.15"))
    text = text_of(as_viewer, run)
    assert '<td class="number">$0.15</td>' in text
    assert '<td class="number">free</td>' in text
    assert "· $0.05 ·" in text


def test_long_texts_are_bounded_and_a_link_away(as_viewer, project):
    run = finished_run(project)
    call = run.calls.first()
    Call.objects.filter(pk=call.pk).update(
        reply="r" * 500_000, messages=[{"role": "user", "content": "m" * 500_000}]
    )
    assert len(text_of(as_viewer, run)) < 60_000
    assert len(text_of(as_viewer, run, f"?call={call.pk}")) < 120_000
    assert "r" * 500_000 in text_of(as_viewer, run, f"?call={call.pk}&form=text")


def test_many_calls_have_pages(as_viewer, project):
    run = finished_run(project, [str(n % 10) for n in range(30)])
    text = text_of(as_viewer, run)
    assert text.count('class="call-head"') == 20
    assert "page=2" in text


def test_the_wrong_person_call_and_method(as_viewer, as_outsider, as_owner, project, other_project):
    run, other = finished_run(project), finished_run(other_project)
    assert as_outsider.get(address(run)).status_code == 404
    assert as_viewer.get(address(run, f"?call={other.calls.first().pk}")).status_code == 404
    assert as_viewer.get(address(run, "?call=x")).status_code == 404
    assert as_owner.post(address(run)).status_code == 405


def test_a_judge_s_reply_begins_with_what_it_says(as_viewer, project):
    run = finished_run(project, ["7"])
    reply = '{"criteria": {"depth": {"reasoning": "It <b>names</b> the steps.", "score": 7}}, "issues": []}'
    Call.objects.filter(run=run, role="judge").update(reply=reply)
    page = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/calls/").content.decode()
    assert '<b><bdi>Depth</bdi></b> <span class="num">7</span>' in page
    assert "It &lt;b&gt;names&lt;/b&gt; the steps." in page
    assert "{&quot;criteria" not in page


def test_a_board_s_calls_say_who_is_asked_and_what_for(as_viewer, project):
    run = board_rows(project)
    text = text_of(as_viewer, run, "?round=3")
    for title in (
        "Writer: revision", "Score · Operator", "Deliberation · Fact checker", "Clerk: merge",
        "Clerk: key change",
    ):  # fmt: skip
        assert f"<b><bdi>{title}</bdi></b>" in text, title
    call = run.calls.get(round_number=3, purpose="deliberate", seat=2)
    assert "Deliberation · Newcomer" in text_of(as_viewer, run, f"?call={call.pk}")


def test_a_single_judge_s_calls_have_their_roles(as_viewer, project):
    text = text_of(as_viewer, finished_run(project, ["5", "6"]))
    for title in ("Writer: first draft", "Writer: revision", "Judge"):
        assert f"<b><bdi>{title}</bdi></b>" in text, title


def test_the_names_of_a_board_s_judges_cost_one_query(as_viewer, project):
    counts = []
    for run in (finished_run(project), board_rows(project)):
        for _ in range(2):
            with CaptureQueriesContext(connection) as queries:
                text_of(as_viewer, run)
        counts.append([query["sql"] for query in queries if "paneljudge" in query["sql"]])
    assert [len(count) for count in counts] == [0, 2]  # the head's panel, and the calls' judges
