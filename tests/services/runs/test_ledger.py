"""A run's ledger is stored at its end, and people can correct it."""

from dataclasses import replace

import pytest
from django.core.exceptions import ValidationError

from refinement.engine.codec import rubric_from_json
from refinement.engine.profiles import rubric_for
from refinement.engine.types import FeedbackStyle
from refinement.models import AuditEntry, FeedbackCorrection, RunLedger
from refinement.selectors.projects.lists import NotFound
from refinement.selectors.runs.ledger import ledger_of, round_ledger, rubric_counts
from refinement.services.runs.ledger import CorrectionConflict, feedback_correct, ledgers_sweep
from tests.execution.wire.conftest import stage
from tests.execution.wire.stage import verdict
from tests.loopback.fixtures import ollama_server

__all__ = ["ollama_server", "stage"]
pytestmark = pytest.mark.django_db

ASKED = "Explain how to restore the database."
TEXTS = (
    "# Backups\n\nMade every night.",
    "# Backups\n\nMade every night.\n\nRestore the database from the newest one.",
)
ISSUE = (1, "issue", 0)


def style(wanted=FeedbackStyle.ISSUES):
    rubric = rubric_for("wiggum")
    return replace(rubric, policy=replace(rubric.policy, feedback=wanted, max_rounds=2))


@pytest.fixture
def run(stage, django_capture_on_commit_callbacks):
    rubric = style()
    first = verdict(rubric, 5, issues=[ASKED, "Name the owner of the service."], asi="Say more.")
    second = verdict(rubric, 6, issues=["Name the owner of the service."], asi="Say less.")
    stage.says(judge=[first, second], producer=[TEXTS[1]])
    with django_capture_on_commit_callbacks(execute=True):
        return stage.play(rubric, seed=TEXTS[0])


def fates(run):
    lines = ledger_of(run, rubric_from_json(run.snapshot)).lines
    return {key: line.fate for key, line in lines.items()}


def correct(run, user, fate, *, version="0", position=0, kind="issue"):
    feedback_correct(run=run, number=1, kind=kind, position=position, fate=fate, version=version, user=user)


def version_of(run):
    return ledger_of(run, rubric_from_json(run.snapshot)).lines[ISSUE].version


def test_it_is_kept_when_the_run_ends(run):
    stored = RunLedger.objects.get(run=run)
    assert (stored.covers, stored.rubric_id) == (2, run.rubric_id)
    assert fates(run) == {ISSUE: "addressed", (1, "issue", 1): "open"}
    assert (stored.items, stored.items_followed, stored.items_raised, stored.suggestions) == (2, 1, 1, 0)


def test_it_is_the_same_where_it_is_not_kept(run):
    before = ledger_of(run, rubric_from_json(run.snapshot))
    RunLedger.objects.all().delete()
    assert ledger_of(run, rubric_from_json(run.snapshot)) == before
    assert round_ledger(run, rubric_from_json(run.snapshot), 1) == tuple(before.lines.values())
    assert round_ledger(run, rubric_from_json(run.snapshot), 2) == ()


def test_a_sweep_keeps_it_after_a_worker_was_killed(run):
    RunLedger.objects.all().delete()
    assert ledgers_sweep() == 1
    assert RunLedger.objects.get(run=run).items == 2
    assert ledgers_sweep() == 0


def test_what_was_not_sent_to_the_writer_is_not_in_it(stage):
    rubric = style(FeedbackStyle.ASI)
    stage.says(
        judge=[verdict(rubric, 5, asi=ASKED), verdict(rubric, 6, asi="Say less.")], producer=[TEXTS[1]]
    )
    run = stage.play(rubric, seed=TEXTS[0])
    assert fates(run) == {(1, "suggestion", 0): "addressed"}


def test_improvements_are_in_it_where_they_stood_in_for_issues(stage):
    rubric = style()
    stage.says(
        judge=[verdict(rubric, 5, issues=[], asi=""), verdict(rubric, 6, issues=[], asi="")],
        producer=[TEXTS[1]],
    )
    assert set(fates(stage.play(rubric, seed=TEXTS[0]))) == {
        (1, "improvement", place) for place in range(len(rubric.criteria))
    }


def test_a_correction_replaces_what_the_code_says_and_is_in_the_audit_log(run, editor):
    correct(run, editor, "overtaken")
    assert fates(run)[ISSUE] == "overtaken"
    line = ledger_of(run, rubric_from_json(run.snapshot)).lines[ISSUE]
    assert (line.computed, line.corrected_by) == ("addressed", editor.display_name)
    entry = AuditEntry.objects.get(action="feedback.correct")
    assert (entry.before["fate"], entry.after["fate"], entry.user) == ("addressed", "overtaken", editor)
    assert RunLedger.objects.get(run=run).items_followed == 0


def test_it_is_taken_back(run, editor):
    correct(run, editor, "overtaken")
    correct(run, editor, "", version=version_of(run))
    assert fates(run)[ISSUE] == "addressed"
    assert not FeedbackCorrection.objects.exists()
    assert RunLedger.objects.get(run=run).items_followed == 1


def test_two_people_at_once(run, editor, owner):
    correct(run, editor, "overtaken")
    with pytest.raises(CorrectionConflict, match=f"{editor.display_name} set it to “overtaken”"):
        correct(run, owner, "open")
    assert fates(run)[ISSUE] == "overtaken"
    correct(run, owner, "overtaken")  # the same word: nothing to argue about
    correct(run, owner, "open", version=version_of(run))
    assert fates(run)[ISSUE] == "open"
    with pytest.raises(CorrectionConflict):
        correct(run, editor, "worse", version="1")
    seen = version_of(run)
    correct(run, owner, "", version=seen)
    with pytest.raises(CorrectionConflict, match="took the correction back"):
        correct(run, editor, "worse", version=seen)


def test_only_feedback_that_drove_a_revision(run, editor):
    for wrong in ({"position": 9}, {"kind": "suggestion"}):
        with pytest.raises(NotFound):
            correct(run, editor, "open", **wrong)
    for fate, kind in (("good", "issue"), ("open", "check")):
        with pytest.raises(ValidationError):
            correct(run, editor, fate, kind=kind)


def test_the_rubrics_counts(run, editor):
    counts = rubric_counts(run.rubric_id)
    assert counts.suggestions is None
    assert (counts.items.count, counts.items.share, counts.items.raised_share) == (2, 50, 100)
    correct(run, editor, "overtaken")
    assert rubric_counts(run.rubric_id).items.share == 0
    assert rubric_counts(run.rubric_id).items.raised_share == 0
    assert rubric_counts(0) is None


def test_queries_are_bounded(run, django_assert_num_queries):
    rubric = rubric_from_json(run.snapshot)
    with django_assert_num_queries(2):
        ledger_of(run, rubric)
    RunLedger.objects.all().delete()
    with django_assert_num_queries(4):
        ledger_of(run, rubric)
    with django_assert_num_queries(5):
        round_ledger(run, rubric, 1)
    with django_assert_num_queries(1):
        rubric_counts(run.rubric_id)
