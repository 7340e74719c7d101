"""New rubric from a sample: the form, the progress, and an editor in which nothing is saved yet."""

import json

import pytest
from django.urls import reverse

from refinement.engine.codec import rubric_to_json
from refinement.judging.proposals import read_proposal
from refinement.models import AuditEntry, ProposalStatus, Rubric, RubricProposal
from refinement.providers.base import ModelInfo
from refinement.selectors.launch.available_models import Offer
from refinement.selectors.rubrics.definitions import definition_of
from refinement.views.rubrics import sample
from tests.judging.test_proposals import GOAL, reply

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}
GIVEN = {"goal": GOAL, "sample": "# Reset your password", "model": "ollama/qwen3:14b"}


@pytest.fixture(autouse=True)
def offers(monkeypatch):
    found = [Offer("ollama", (ModelInfo("qwen3:14b"),))]
    monkeypatch.setattr(sample, "models_offered", lambda: found)
    return found


@pytest.fixture
def address(project):
    return reverse("rubric_sample", args=[project.slug])


@pytest.fixture
def proposal(project, editor) -> RubricProposal:
    definition = rubric_to_json(read_proposal(reply(), GOAL).answer)
    return RubricProposal.objects.create(
        project=project,
        created_by=editor,
        endpoint="ollama",
        model="qwen3:14b",
        nonce="0123456789ab",
        goal=GOAL,
        sample="# Reset your password",
        status=ProposalStatus.DONE,
        finished_at="2026-11-18T10:00Z",
        definition=definition,
    )


def editing(proposal: RubricProposal) -> str:
    return reverse("rubric_proposal_edit", args=[proposal.project.slug, proposal.pk])


def fields_of(client, address: str) -> dict[str, str]:
    """The editor's fields as a browser would send them."""
    return {name: value for name, value in client.get(address).context["fields"].items() if value is not None}


def test_the_form_offers_the_models_and_the_gallery_leads_to_it(as_editor, address, project):
    page = as_editor.get(address).content.decode()
    assert "Propose a rubric" in page
    assert "qwen3:14b" in page
    assert address in as_editor.get(reverse("rubric_gallery", args=[project.slug])).content.decode()


def test_the_demo_model_is_not_preselected(as_editor, address, offers):
    offers[:] = [Offer("embedded", (ModelInfo("smollm2-135m"),))]
    answer = as_editor.get(address)
    assert "Only the demo model is available." in answer.content.decode()
    assert not answer.context["form"]["model"].value()


def test_without_a_model_the_gallery_is_offered(as_editor, address, offers):
    offers[:] = [Offer("ollama", problem="unreachable")]
    page = as_editor.get(address).content.decode()
    assert "No model is available right now." in page
    assert 'type="submit" disabled' in page


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"goal": " "}, "Say in a sentence what the work should achieve."),
        ({"sample": ""}, "Paste a sample of the work."),
        ({"sample": " \n "}, "Paste a sample of the work."),
        ({"sample": "x" * 200_001}, "200000"),
        ({"model": ""}, "Choose a model."),
        ({"model": "qwen"}, "errorlist"),
    ],
)
def test_what_is_missing_is_said_at_its_field(as_editor, address, changes, words):
    answer = as_editor.post(address, {**GIVEN, **changes})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not RubricProposal.objects.exists()


def test_asking_queues_a_proposal_and_shows_its_progress(as_editor, address, editor):
    answer = as_editor.post(address, GIVEN)
    row = RubricProposal.objects.get()
    assert (row.created_by, row.model, row.goal) == (editor, "qwen3:14b", GOAL)
    assert AuditEntry.objects.filter(action="rubric.propose").count() == 1
    page = as_editor.get(answer.url).content.decode()
    assert "Queued. Starts when a worker is free." in page
    assert 'hx-trigger="every 1s"' in page


def test_the_progress_is_a_partial_for_htmx_and_ends_in_the_editor(as_editor, project, proposal):
    progress = reverse("rubric_proposal", args=[project.slug, proposal.pk])
    RubricProposal.objects.update(status=ProposalStatus.RUNNING, finished_at=None)
    partial = as_editor.get(progress, **HTMX).content.decode()
    assert "qwen3:14b</bdi> is reading your sample." in partial
    assert "<html" not in partial
    RubricProposal.objects.update(status=ProposalStatus.DONE)
    assert as_editor.get(progress, **HTMX)["HX-Redirect"] == editing(proposal)
    assert as_editor.get(progress).url == editing(proposal)


def test_a_failure_says_why_and_offers_the_gallery(as_editor, project, proposal):
    RubricProposal.objects.update(
        status=ProposalStatus.FAILED, error="<b>qwen3</b> said no.", definition=None
    )
    page = as_editor.get(reverse("rubric_proposal", args=[project.slug, proposal.pk])).content.decode()
    assert "&lt;b&gt;qwen3&lt;/b&gt; said no." in page
    assert "Use the gallery" in page
    assert as_editor.get(editing(proposal)).status_code == 302


def test_the_editor_opens_with_the_proposal_and_saves_nothing(as_editor, project, proposal):
    before = project.rubrics.count()
    page = as_editor.get(editing(proposal)).content.decode()
    for words in ("Findability", "At first glance.", "Markdown with one heading.", "nothing is saved yet"):
        assert words in page
    assert "Create rubric" in page
    assert "Try it" not in page
    assert project.rubrics.count() == before


def test_other_buttons_of_the_form_change_the_form_only(as_editor, project, proposal):
    fields = fields_of(as_editor, editing(proposal))
    before = project.rubrics.count()
    answer = as_editor.post(editing(proposal), {**fields, "act": "add-criterion"}, **HTMX)
    assert answer.status_code == 200
    assert len(answer.context["criteria"]) == 3
    assert project.rubrics.count() == before


def test_a_mistake_is_shown_and_creates_nothing(as_editor, project, proposal):
    fields = fields_of(as_editor, editing(proposal))
    before = project.rubrics.count()
    answer = as_editor.post(editing(proposal), {**fields, "name": "", "act": "save"})
    assert answer.status_code == 422
    assert project.rubrics.count() == before


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_saving_creates_the_rubric_with_its_changes(as_editor, project, proposal, headers):
    fields = fields_of(as_editor, editing(proposal))
    answer = as_editor.post(editing(proposal), {**fields, "name": "Help answers", "act": "save"}, **headers)
    rubric = Rubric.objects.get(project=project, name="Help answers")
    target = reverse("rubric_edit", args=[project.slug, rubric.slug])
    assert (answer["HX-Redirect"] if headers else answer.url) == target
    saved = definition_of(rubric.versions.get())
    assert [entry.key for entry in saved.criteria] == ["findability", "accuracy"]
    assert saved.criteria[0].ideal == "At first glance."
    assert rubric.versions.get().note == "Created from a sample."
    assert json.loads(json.dumps(rubric_to_json(saved)))["judges"]["mode"] == "board"


def test_cancelling_stops_it_and_returns_to_the_form(as_editor, project, proposal, address):
    RubricProposal.objects.update(status=ProposalStatus.QUEUED, finished_at=None, definition=None)
    answer = as_editor.post(reverse("rubric_proposal_cancel", args=[project.slug, proposal.pk]))
    assert answer.url == address
    proposal.refresh_from_db()
    assert proposal.status == ProposalStatus.CANCELLED


def test_nobody_else_sees_it(as_viewer, as_outsider, proposal):
    assert as_viewer.get(editing(proposal)).status_code == 403
    assert as_outsider.get(editing(proposal)).status_code == 404
