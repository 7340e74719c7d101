"""Rubric proposals by a worker: done, retried, waiting, failed, cancelled."""

import pytest

from refinement.execution.proposals import proposal_advance
from refinement.models import ProposalCall, ProposalStatus, QueuedMessage, RubricProposal
from refinement.providers.registry import Target
from refinement.services.rubrics.proposals import (
    TooManyProposals,
    proposal_cancel,
    proposal_create,
    proposals_clean,
)
from tests.judging.test_proposals import GOAL, reply
from tests.loopback.faults import Fault
from tests.loopback.fixtures import ollama_server
from tests.loopback.replies import from_lists

__all__ = ["ollama_server"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server(ollama_server, monkeypatch):
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    return ollama_server


@pytest.fixture
def ask(project, editor):
    def made() -> RubricProposal:
        return proposal_create(
            project=project,
            sample="# Reset your password",
            goal=GOAL,
            target=Target("ollama", "loopback:8b"),
            user=editor,
        )

    return made


def test_a_proposal_is_written_by_a_worker_and_saves_no_rubric(server, ask, project):
    server.replies = from_lists({"judge": [reply()]})
    proposal, before = ask(), project.rubrics.count()
    assert QueuedMessage.objects.count() == 1
    assert proposal_advance(proposal.pk)
    proposal.refresh_from_db()
    assert (proposal.status, proposal.definition["name"]) == (ProposalStatus.DONE, "Help center answers")
    assert project.rubrics.count() == before
    call = proposal.calls.get()
    assert call.messages == server.chats[0].body["messages"]
    assert (call.rung, call.complaint, proposal.calling) == ("strict", "", {})
    assert not proposal_advance(proposal.pk)


def test_an_unusable_reply_is_asked_for_again_with_the_complaint(server, ask):
    server.replies = from_lists({"judge": ["No.", reply()]})
    proposal = ask()
    proposal_advance(proposal.pk)
    proposal.refresh_from_db()
    assert proposal.status == ProposalStatus.QUEUED
    proposal_advance(proposal.pk)
    proposal.refresh_from_db()
    assert proposal.status == ProposalStatus.DONE
    assert "not a JSON object" in server.chats[1].body["messages"][-1]["content"]


def test_after_three_unusable_replies_it_fails_in_words(server, ask):
    server.replies = from_lists({"judge": ["No."] * 3})
    proposal = ask()
    for _ in range(3):
        proposal_advance(proposal.pk)
    proposal.refresh_from_db()
    assert proposal.status == ProposalStatus.FAILED
    assert proposal.error.startswith("loopback:8b did not return a usable rubric (3 tries).")
    assert ProposalCall.objects.count() == 3


def test_a_server_that_is_away_is_tried_again_and_given_up(server, ask):
    server.replies = from_lists({"judge": [reply()]})
    server.faults.extend([Fault("status", status=503)] * 3)
    proposal = ask()
    for status in (ProposalStatus.WAITING, ProposalStatus.WAITING, ProposalStatus.FAILED):
        RubricProposal.objects.filter(pk=proposal.pk).update(next_try_at=None)
        proposal_advance(proposal.pk)
        proposal.refresh_from_db()
        assert proposal.status == status
    assert proposal.error


def test_a_cancelled_proposal_is_not_carried_out(server, ask):
    proposal = ask()
    assert proposal_cancel(proposal=proposal)
    assert not proposal_advance(proposal.pk)
    assert not proposal_cancel(proposal=proposal)
    assert not server.chats


def test_one_person_asks_for_three_at_once_at_most(ask):
    for _ in range(3):
        ask()
    with pytest.raises(TooManyProposals, match="3 proposals in progress"):
        ask()


def test_old_proposals_are_deleted(ask):
    proposal = ask()
    assert proposals_clean() == 0
    RubricProposal.objects.filter(pk=proposal.pk).update(created_at="2026-01-01T00:00Z")
    assert proposals_clean() == 1
    assert not RubricProposal.objects.exists()
