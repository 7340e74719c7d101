"""Trying the evaluator in the editor: by a worker, in the sandbox, from unsaved fields."""

import threading
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from refinement.execution.commands import running
from refinement.execution.commands.trials import evaluator_trial_advance
from refinement.models import EvaluatorTrial, EvaluatorTrialResult, QueuedMessage
from refinement.providers.sandbox import running as sandbox
from refinement.services.runs import evaluator_trials
from refinement.services.runs.evaluator_trials import evaluator_trial_cancel, evaluator_trials_clean
from tests.sandboxed import needs_sandbox
from tests.views.rubrics.given import MARKUP, a_rubric
from tests.views.rubrics.test_edit import HTMX, typed

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(project, settings):
    settings.COMMANDS = ["/bin/sh"]
    return a_rubric(project)


@pytest.fixture
def address(project, version):
    return reverse("rubric_try_evaluator", args=[project.slug, "own"])


def sent(version, command="/bin/sh -c 'cat; exit 3'", **more):
    fields = {"evaluation_mode": "runnable", "evaluator-command": command, "evaluator-handover": "stdin"}
    return typed(version, **{**fields, "evaluator-try-text": "my text", **more})


def test_a_worker_runs_it_and_the_editor_shows_how_it_ended(as_editor, editor, address, version):
    needs_sandbox()
    answer = as_editor.post(address, sent(version, **{"evaluator-try-text": f"said {MARKUP}"}), headers=HTMX)
    page = answer.content.decode()
    trial = EvaluatorTrial.objects.get()
    assert (answer.status_code, trial.status, trial.created_by) == (200, "queued", editor)
    assert not EvaluatorTrialResult.objects.exists()  # nothing runs in the web process
    assert QueuedMessage.objects.filter(body__contains="try_evaluator").count() == 1
    follow = reverse("evaluator_trial", args=[version.rubric.project.slug, trial.pk])
    assert f'hx-get="{follow}"' in page
    assert "Queued. Starts when a worker is free." in page
    assert evaluator_trial_advance(trial.pk)
    assert not evaluator_trial_advance(trial.pk)  # a second message changes nothing
    shown = as_editor.get(follow, headers=HTMX)
    page = shown.content.decode()
    assert shown.status_code == 286  # stops polling
    assert "exit code 3" in page
    assert "said &lt;script&gt;" in page
    assert "<script>" not in page
    assert "<html" in as_editor.get(follow).content.decode()
    assert version.rubric.versions.count() == 1


def test_without_script_it_opens_a_page(as_editor, address, version, project):
    answer = as_editor.post(address, sent(version))
    assert answer["Location"] == reverse(
        "evaluator_trial", args=[project.slug, EvaluatorTrial.objects.get().pk]
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"evaluator-try-text": " "}, "Paste a text"),
        ({"evaluator-command": "", "evaluation_mode": "judge_only"}, "Enter a command first."),
        ({"evaluator-command": "/bin/rm -rf /"}, "which is not allowed here"),
        ({"evaluator-timeout": "0"}, "Fix these fields"),
    ],
)
def test_what_cannot_be_tried_is_said(as_editor, address, version, changes, words):
    for headers in (HTMX, {}):
        answer = as_editor.post(address, sent(version, **changes), headers=headers)
        assert (answer.status_code, words in answer.content.decode()) == (422, True)
    assert not EvaluatorTrial.objects.exists()


def test_one_person_may_only_run_some_at_once_and_in_an_hour(as_editor, address, version, monkeypatch):
    for _ in range(3):
        as_editor.post(address, sent(version))
    assert as_editor.post(address, sent(version)).status_code == 429
    page = as_editor.post(address, sent(version), headers=HTMX).content.decode()
    assert "You have 3 commands running." in page
    EvaluatorTrial.objects.update(status="cancelled", finished_at="2026-01-01T00:00Z")
    monkeypatch.setattr(evaluator_trials, "MOST_AN_HOUR", 3)
    assert "in an hour" in as_editor.post(address, sent(version), headers=HTMX).content.decode()
    assert EvaluatorTrial.objects.count() == 3


def test_a_trial_that_is_cancelled_stops_its_command(as_editor, editor, address, version, monkeypatch):
    needs_sandbox()
    as_editor.post(address, sent(version, command="/bin/sh -c 'sleep 100'"))
    trial = EvaluatorTrial.objects.get()
    real = running.run_job

    def cancelled(*given):
        assert evaluator_trial_cancel(trial=trial, user=editor)
        return real(*given)

    monkeypatch.setattr(running, "run_job", cancelled)
    evaluator_trial_advance(trial.pk)
    trial.refresh_from_db()
    assert (trial.status, EvaluatorTrialResult.objects.exists()) == ("cancelled", False)
    assert not evaluator_trial_cancel(trial=trial, user=editor)


def test_a_command_that_cannot_start_is_said(as_editor, address, version, settings, project):
    needs_sandbox()
    settings.COMMANDS = ["no-such-program"]
    as_editor.post(address, sent(version, command="no-such-program"))
    trial = EvaluatorTrial.objects.get()
    evaluator_trial_advance(trial.pk)
    page = as_editor.get(reverse("evaluator_trial", args=[project.slug, trial.pk])).content.decode()
    assert "Not run: the evaluator&#x27;s command no-such-program cannot be started" in page


def test_a_trial_waits_for_a_free_core(as_editor, address, version, monkeypatch):
    as_editor.post(address, sent(version))
    trial = EvaluatorTrial.objects.get()
    monkeypatch.setattr(sandbox, "_slots", threading.Semaphore(0))
    evaluator_trial_advance(trial.pk)
    trial.refresh_from_db()
    assert (trial.status, trial.waiting_for) == ("waiting", "a free slot at the evaluator")


def test_others_and_other_methods_are_refused(as_viewer, as_outsider, as_editor, address, version, project):
    assert as_viewer.post(address, sent(version)).status_code == 403
    assert as_outsider.post(address, sent(version)).status_code == 404
    assert as_editor.get(address).status_code == 405
    as_editor.post(address, sent(version))
    follow = reverse("evaluator_trial", args=[project.slug, EvaluatorTrial.objects.get().pk])
    assert (as_viewer.get(follow).status_code, as_outsider.get(follow).status_code) == (403, 404)


def test_texts_that_were_tried_are_deleted_after_a_day(as_editor, address, version):
    for _ in range(2):
        as_editor.post(address, sent(version))
    old, new = EvaluatorTrial.objects.order_by("pk")
    EvaluatorTrial.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(hours=25))
    assert (evaluator_trials_clean(), evaluator_trials_clean()) == (1, 0)
    assert EvaluatorTrial.objects.get() == new
