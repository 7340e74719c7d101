"""The preview: the messages of a round for every member; nothing is sent or stored."""

import html
import re
from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from refinement.engine.profiles import context_rules_for, rubric_for
from refinement.engine.types import ContextRules, EvaluationMode, Evaluator, Information
from refinement.forms.rubrics.trying.staging import NONCE
from refinement.judging.context import Brief, producer_view
from refinement.judging.prompts import producer_prompt
from refinement.judging.rehearsal import EXAMPLE_SOURCE, Draft, History
from refinement.models import AuditEntry, Round, Run, Verdict
from refinement.selectors.rubrics import judged_rounds
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics.editing import rubric_create
from tests.models.given import a_run
from tests.views.rubrics.given import HOSTILE, MARKUP, a_rubric, hostile_definition, saved_again

pytestmark = pytest.mark.django_db

PAGE = "/p/alpha/rubrics/own/preview/"
HTMX = {"HTTP_HX_REQUEST": "true"}


def asked(**changes):
    return {
        "version": "1",
        "run": "",
        "number": "2",
        "task": "The task itself.",
        "candidate": "The candidate itself.",
        "earlier": "The earlier text.",
        "score": "",
        "issues": "First issue.\n\nSecond issue.",
        "asi": "The direction.",
        **changes,
    }


def prompts(page: str) -> list[str]:
    """The messages on the page, as a reader's eye joins their parts."""
    found = re.findall(r'<div class="prompt"[^>]*>(.*?)</div>', page, re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]+>", "", part)) for part in found]


def fates(page: str, act: str) -> dict[str, str]:
    table = page.split(f'id="{act}-kinds"', 1)[1].split("</table>", 1)[0]
    row = r'<th scope="row"[^>]*>(.*?)</th><td><span class="chip [^"]*">(.*?)</span>'
    return dict(re.findall(row, table))


def a_judged_run(project, version, rounds=2, **changes):
    """A run whose rounds are judged but the last, with verdicts of the wiggum profile."""
    run = a_run(project, version, seed="Text of round 1.", **changes)
    for number in range(2, rounds + 1):
        text = f"Text of round {number}."
        Round.objects.create(run=run, number=number, origin="revision", base_round=number - 1,
                             candidate=text, candidate_chars=len(text))  # fmt: skip
    for row in run.rounds.filter(number__lt=rounds):
        scores = {criterion.key: "6" for criterion in rubric_for("wiggum").criteria}
        Round.objects.filter(pk=row.pk).update(judged_at=timezone.now(), composite=6, scores=scores)
        entries = [{"key": key, "score": score} for key, score in scores.items()]
        issues = [f"Issue of round {row.number}."]
        Verdict.objects.create(round=row, judge="judge:8b", scores=entries, issues=issues)
    Run.objects.filter(pk=run.pk).update(rounds_judged=rounds - 1)
    return run


def test_it_shows_something_at_once(as_viewer, project):
    a_rubric(project)
    answer = as_viewer.get(PAGE)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "Nothing is sent" in page
    assert len(prompts(page)) == 6  # a system and a user message for judge, draft and revision
    assert "Each run has its own code" in page


def test_the_messages_are_what_the_prompt_builders_make(as_viewer, project):
    version = a_rubric(project, background="The facts.\n  Indented & <b>bold</b>.")
    page = as_viewer.post(PAGE, asked()).content.decode()
    brief = Brief("The task itself.", definition_of(version), NONCE, sources=(EXAMPLE_SOURCE,))
    draft = producer_prompt(producer_view(brief, History(), Draft()))
    assert prompts(page)[2:4] == [message.content for message in draft.messages]
    assert page.count('<details class="act-fold" open>') == 1


def test_a_later_round_is_built_on_an_invented_past_and_says_so(as_viewer, project):
    a_rubric(project, context=context_rules_for("simmer"))
    page = as_viewer.post(PAGE, asked(number="3")).content.decode()
    judge, revision = prompts(page)[1], prompts(page)[5]
    assert "<<<SEED " in judge
    assert "The earlier text." in judge
    assert "depth 5, relevance 5" in judge
    assert "This is round 3 (the last is 3)." in judge
    assert "- First issue.\n- Second issue." in revision
    assert "Rounds 1 to 2 are assumed, with the text of the earlier rounds and this verdict: " in page
    assert "5 on every criterion, 2 issues, a direction" in page
    assert "ends after round 3. There is a revision only if more rounds are requested" in page
    first = as_viewer.post(PAGE, asked(number="1")).content.decode()
    assert "<<<SEED " not in prompts(first)[1]
    assert "The earlier text." not in "".join(prompts(first))


def test_the_calibration_example_stands_beside_the_first_version(as_viewer, project):
    a_rubric(
        project,
        calibration_text="A calibrated text.",
        calibration_scores={"depth": Decimal("3.5")},
        context=context_rules_for("simmer"),
    )
    for number in ("1", "2"):
        judge = prompts(as_viewer.post(PAGE, asked(number=number)).content.decode())[1]
        assert "<<<CALIBRATION EXAMPLE " in judge
        assert "A calibrated text." in judge
        assert "depth 3.5" in judge
        assert ("The earlier text." in judge) == (number == "2")


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        (EvaluationMode.RUNNABLE, "it is what you score by"),
        (EvaluationMode.HYBRID, "evidence beside your own reading"),
    ],
)
def test_the_judges_instructions_follow_the_evaluation_mode(as_viewer, project, mode, words):
    a_rubric(
        project,
        evaluation_mode=mode,
        evaluator=Evaluator(("pytest", "{file}")),
        context=context_rules_for("wiggum", evaluator=True),
    )
    assert words in prompts(as_viewer.post(PAGE, asked()).content.decode())[0]


def test_what_became_of_each_kind_of_information(as_viewer, project):
    rules = context_rules_for("simmer")
    hidden = ContextRules(rules.judge - {Information.TASK}, rules.producer)
    a_rubric(project, context=hidden, templates={"judge": "Score it, please. {{ scale }}"})
    page = as_viewer.post(PAGE, asked(number="1")).content.decode()
    judge = fates(page, "judge")
    assert judge["Task"] == "hidden"
    assert judge["Text"] == "seen"
    assert judge["First version"] == "empty"
    assert judge["History"] == "hidden"
    assert judge["Criteria"] == "allowed, but not in the template"
    assert "The task itself." not in prompts(page)[1]
    assert fates(page, "revision")["Feedback"] == "seen"
    assert fates(page, "draft")["Feedback"] == "empty"
    assert "this rubric&#x27;s template: judge" in page


def test_any_version_can_be_looked_at(as_viewer, project):
    version = a_rubric(project, background="Background of one.")
    saved_again(version, background="Background of two.")
    assert "Background of two." in as_viewer.get(PAGE).content.decode()
    assert "Background of one." in as_viewer.get(PAGE, {"version": "1"}).content.decode()
    assert "Background of one." in as_viewer.post(PAGE, asked(version="1")).content.decode()
    assert as_viewer.get(PAGE, {"version": "3"}).status_code == 404
    assert as_viewer.post(PAGE, asked(version="3")).status_code == 404
    assert as_viewer.post(PAGE, asked(version="x")).status_code == 422


def test_a_run_brings_its_texts_and_verdicts(as_viewer, project):
    run = a_judged_run(project, a_rubric(project, context=context_rules_for("simmer")), rounds=2)
    page = as_viewer.get(PAGE, {"run": run.pk}).content.decode()
    judge, revision = prompts(page)[1], prompts(page)[5]
    assert run.nonce in judge
    assert "Text of round 2." in judge
    assert "Text of round 1." in judge  # the seed
    assert "depth 6" in judge
    assert f"The task and the texts come from run {run.pk}, rounds 1 to 2" in page
    assert "Round 2 has no verdict yet" in page
    assert "Text of round 2." in revision
    first = as_viewer.post(PAGE, asked(run=str(run.pk), number="1")).content.decode()
    assert "Issue of round 1." in prompts(first)[5]
    assert "First issue." not in prompts(first)[5]
    assert "there was no first draft" in first


def test_the_latest_run_of_the_rubric_is_the_example(as_viewer, project):
    version = a_rubric(project)
    a_judged_run(project, version, task="The older task.")
    a_judged_run(project, version, task="The newest task.")
    page = as_viewer.get(PAGE).content.decode()
    assert "The newest task." in page
    assert "The older task." not in page.replace("<option", "\n<option").split("</select>")[-1]


def test_a_run_of_another_rubric_lends_its_texts(as_viewer, project):
    run = a_judged_run(project, a_rubric(project, slug="second"), rounds=2)
    a_rubric(project, "simmer")
    page = as_viewer.get(PAGE, {"run": run.pk, "round": "2"}).content.decode()
    assert "Text of round 2." in prompts(page)[1]
    assert "used another rubric or version" in page
    assert "Round 1, 2 has no verdict yet, or none that fits these criteria" in page


def test_a_round_that_the_run_does_not_have(as_viewer, project):
    run = a_judged_run(project, a_rubric(project), rounds=2)
    answer = as_viewer.post(PAGE, asked(run=str(run.pk), number="3"))
    assert answer.status_code == 422
    assert f"Run {run.pk} has 2 rounds. Choose an existing round." in answer.content.decode()
    empty = a_run(project, run.rubric_version)
    answer = as_viewer.post(PAGE, asked(run=str(empty.pk)))
    assert answer.status_code == 422
    assert "has no text yet" in answer.content.decode()


def test_a_run_of_another_project_is_not_found(as_viewer, project, other_project):
    a_rubric(project)
    theirs = a_judged_run(other_project, a_rubric(other_project), rounds=2)
    assert as_viewer.get(PAGE, {"run": theirs.pk}).status_code == 404
    assert as_viewer.post(PAGE, asked(run=str(theirs.pk))).status_code == 404
    assert f"Run {theirs.pk}:" not in as_viewer.get(PAGE).content.decode()


def test_a_rubric_of_checks_alone_asks_no_judge(as_viewer, project):
    a_rubric(project, "ralph")
    page = as_viewer.post(PAGE, asked()).content.decode()
    assert "no judge is called" in page
    assert len(prompts(page)) == 4
    assert "Divide the text under at least two Markdown headings." in prompts(page)[3]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"task": " "}, "Enter a task. Or choose a run above."),
        ({"candidate": ""}, "Enter a text to judge. Or choose a run above."),
        ({"candidate": "x" * 1_000_000}, "1,000,000 characters; at most 200,000 are allowed."),
        ({"number": "0"}, "greater than or equal to 1"),
        ({"number": "101"}, "less than or equal to 100"),
        ({"number": "x"}, "Enter a whole number"),
        ({"score": "11"}, "11 is not on the scale: numbers from 0 to 10."),
        ({"score": "NaN"}, "Enter a number"),
        ({"issues": "issue\n" * 51}, "At most 50 lines."),
        ({"run": "nope"}, "not one of the available choices"),
    ],
)
def test_bad_input_is_told_beside_its_field_and_everything_typed_is_kept(as_viewer, project, changes, words):
    a_rubric(project)
    answer = as_viewer.post(PAGE, asked(**{"asi": f"Kept {MARKUP}", **changes}))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert words in page
    assert "Kept &lt;script&gt;" in page
    assert "<script>alert" not in page
    assert prompts(page) == []


def test_htmx_gets_the_part_and_a_plain_request_the_page(as_viewer, project):
    a_rubric(project)
    part = as_viewer.post(PAGE, asked(), **HTMX).content.decode()
    assert part.lstrip().startswith('<div class="preview" id="preview">')
    assert "<html" not in part
    whole = as_viewer.post(PAGE, asked()).content.decode()
    assert whole.startswith("<!doctype html>")
    assert prompts(part) == prompts(whole)
    boosted = as_viewer.post(PAGE, asked(), **HTMX, HTTP_HX_BOOSTED="true").content.decode()
    assert boosted.startswith("<!doctype html>")
    bad = as_viewer.post(PAGE, asked(task=""), **HTMX)
    assert (bad.status_code, "<html" in bad.content.decode()) == (422, False)


def test_hostile_text_is_shown_as_text_and_counted_as_it_is(as_viewer, project):
    hostile = replace(hostile_definition(), templates={"judge": f"{MARKUP} {{{{ artifact }}}}"})
    rubric_create(project=project, slug="own", definition=hostile)
    texts = {name: f"{name} {HOSTILE}" for name in ("task", "candidate", "earlier", "issues", "asi")}
    page = as_viewer.post(PAGE, asked(**texts)).content.decode()
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert f"candidate {HOSTILE}" in prompts(page)[1]


def test_a_long_part_is_cut_on_the_page_and_counted_whole(as_viewer, project):
    a_rubric(project)
    page = as_viewer.post(PAGE, asked(candidate="word " * 30_000)).content.decode()
    assert "126,000 more characters would be sent" in page
    assert len(page) < 400_000


def test_nothing_is_kept(as_viewer, project):
    a_rubric(project)
    before = (Run.objects.count(), Round.objects.count(), AuditEntry.objects.count())
    with CaptureQueriesContext(connection) as captured:
        as_viewer.post(PAGE, asked())
    written = [query["sql"] for query in captured if not query["sql"].startswith("SELECT")]
    assert [sql for sql in written if "refinement_" in sql] == []
    assert (Run.objects.count(), Round.objects.count(), AuditEntry.objects.count()) == before


@pytest.mark.parametrize(("client", "status"), [("as_outsider", 404), ("anonymous", 302)])
def test_only_members_look(request, project, client, status):
    a_rubric(project)
    visitor = request.getfixturevalue(client)
    assert visitor.get(PAGE).status_code == visitor.post(PAGE, asked()).status_code == status


def test_the_queries_do_not_grow_and_lists_read_no_texts(as_viewer, project):
    version = a_rubric(project)

    def queries():
        with CaptureQueriesContext(connection) as captured:
            assert as_viewer.get(PAGE, {"run": ""}).status_code == 200
        assert not any('"candidate"' in query["sql"] for query in captured)
        return len(captured)

    a_judged_run(project, version)
    as_viewer.get(PAGE)
    few = queries()
    for number in range(5):
        a_judged_run(project, version, task=f"Task {number}")
        saved_again(version, name=f"Version {number}")
    assert queries() == few


def test_an_older_run_that_is_asked_for_is_in_the_list(as_viewer, project, monkeypatch):
    version = a_rubric(project)
    runs = [a_judged_run(project, version) for _ in range(3)]
    monkeypatch.setattr(judged_rounds, "LISTED_RUNS", 1)
    page = as_viewer.get(PAGE, {"run": runs[0].pk}).content.decode()
    assert f'<option value="{runs[0].pk}" selected>' in page
    assert f'<option value="{runs[1].pk}"' not in page
