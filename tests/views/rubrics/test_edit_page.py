"""The editor next to its fields: topics, the prompt, past runs, and settings without effect."""

from dataclasses import replace

import pytest
from django.urls import reverse

from refinement.engine.profiles import rubric_for
from refinement.selectors.reviews.blindness import hiding
from refinement.selectors.rubrics.past_runs import past_scores
from refinement.services.rubrics.editing import rubric_create
from tests.views.rubrics.given import MARKUP, a_finished_run, a_rubric
from tests.views.rubrics.test_edit import HTMX, typed

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(project):
    return a_rubric(project)


@pytest.fixture
def address(project, version):
    return reverse("rubric_edit", args=[project.slug, "own"])


def test_a_topic_says_its_value_and_what_differs_from_the_profile(as_editor, address, version):
    topics = as_editor.get(address).context["topics"]
    assert all(topic.changed == 0 for topic in topics.values())
    assert topics["scoring"].summary == "0 to 10, decimals allowed; weighted mean"
    changes = {"scale-maximum": "20", "policy-budget-calls": "9", "context-judge-history": "on"}

    topics = as_editor.post(address, typed(version, act="show", **changes)).context["topics"]

    found = {key: topic.changed for key, topic in topics.items() if topic.changed}
    assert found == {"scoring": 1, "limits": 1, "context": 1}
    assert topics["limits"].summary.startswith("9 calls")


def test_a_topic_with_a_problem_is_open(as_editor, address, version):
    answer = as_editor.post(address, typed(version, **{"policy-judge_limit_chars": "x"}))

    assert [key for key, topic in answer.context["topics"].items() if topic.open] == ["limits"]
    assert '<details class="topic" id="limits" open>' in answer.content.decode()


def test_the_prompt_follows_the_fields(as_editor, address, version):
    sent = typed(version, act="prompt", **{"criterion-0-description": f"Is it deep? {MARKUP}"})

    part = as_editor.post(address, sent, headers=HTMX).content.decode()
    writer = as_editor.post(address, sent | {"show": "writer"}, headers=HTMX).content.decode()
    page = as_editor.post(address, sent).content.decode()

    assert part.lstrip().startswith('<div id="prompt">')
    for shown in (part, page):
        assert "Is it deep? &lt;script&gt;" in shown
        assert "<script>alert" not in shown
    assert "(The judge&#x27;s issues go here.)" in writer
    assert version.rubric.versions.count() == 1


def test_the_prompt_says_when_the_fields_are_not_valid(as_editor, address, version):
    part = as_editor.post(address, typed(version, act="prompt", name=""), headers=HTMX).content.decode()

    assert "Fix the fields to update the prompt." in part


def test_the_pass_mark_says_what_it_would_have_done(as_editor, address, project, version):
    for best in ("9.5", "9.0", "7.75"):
        a_finished_run(project, version, "PASS" if best > "8" else "FAIL", best)
    held_back = a_finished_run(project, version, "FAIL", "9.9")

    answer = as_editor.post(address, typed(version, act="show", **{"policy-pass_threshold": "7.5"}))

    assert answer.context["past_words"] == "Of the last 4 runs, 3 would pass with 7.5, 2 with 9.0."
    with hiding({held_back.pk: 1}):
        assert past_scores(version.rubric, rubric_for("wiggum").scale).runs == 3


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"criterion-0-weight": "9"}, True), ({"scale-step": "0.5"}, True), ({"purpose": "Other."}, False)],
)
def test_a_save_says_if_scores_will_not_compare(as_editor, address, version, changes, said):
    page = as_editor.post(address, typed(version, **changes), follow=True).content.decode()

    assert "Version 2 saved." in page
    assert ("Scores will not compare with version 1." in page) is said


@pytest.mark.parametrize(
    ("rounds", "said"),
    [(4, "can apply only after the last round"), (3, "never applies: it needs 4 rounds"), (6, "")],
)
def test_a_plateau_that_cannot_be_found_is_said(as_editor, project, rounds, said):
    base = rubric_for("simmer")
    definition = replace(base, policy=replace(base.policy, max_rounds=rounds))
    rubric_create(project=project, slug="slow", definition=definition)

    notes = (
        as_editor.get(reverse("rubric_edit", args=[project.slug, "slow"])).context["topics"]["stopping"].notes
    )

    assert [said in note for note in notes] == ([True] if said else [])


def test_a_closed_check_is_neither_red_nor_a_regular_expression(as_editor, project):
    rubric_create(project=project, slug="checked", definition=rubric_for("ralph"))
    page = as_editor.get(reverse("rubric_edit", args=[project.slug, "checked"])).content.decode()
    lines = [part.split("</summary>")[0] for part in page.split('<summary class="check-line">')[1:]]
    assert any('<span class="chip end">required</span>' in line for line in lines)
    assert not any("chip-bad" in line or "lorem" in line for line in lines)
