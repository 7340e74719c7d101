"""One notice and one webhook event for a whole experiment."""

import json

import pytest

from refinement.models import Notice, Webhook, WebhookDelivery
from refinement.services.experiments.control import experiment_cancel
from refinement.services.runs.lifecycle import run_cancel
from refinement.vault import sealed
from refinement.webhooks.formats import body_of
from tests.services.experiments.given import an_experiment, dealt, end, end_all, going

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def hook(project):
    events = ["experiment.finished", "run.finished"]
    return Webhook.objects.create(
        project=project, address="http://localhost:1/", events=events, sealed_secret=sealed("x", "webhook")
    )


def test_its_end_is_announced_once(project, editor, monkeypatch):
    experiment = an_experiment(project, user=editor, name="Judges in March.")
    end_all(experiment, monkeypatch)
    dealt(experiment, 5, monkeypatch)
    (notice,) = Notice.objects.all()
    assert notice.text == "Experiment “Judges in March” finished: 4 runs."
    assert (notice.user, notice.experiment, notice.run) == (editor, experiment, None)
    (delivery,) = WebhookDelivery.objects.all()
    told = json.loads(delivery.payload)
    assert told["event"] == "experiment.finished"
    assert {"status": "finished", "runs": 4, "done": 4, "missing": 0}.items() <= told["experiment"].items()


def test_what_has_no_result_is_said(project, editor, monkeypatch):
    end_all(an_experiment(project, user=editor), monkeypatch, "ERROR", r1=None)
    assert Notice.objects.get().text.endswith("finished: 4 of 4 runs without a result.")


def test_a_used_up_budget_is_said(project, editor, monkeypatch):
    experiment = an_experiment(project, user=editor, token_budget=10)
    dealt(experiment, 1, monkeypatch)
    end(going(experiment)[0], prompt_tokens=11)
    dealt(experiment, 1, monkeypatch)
    assert "is paused. The experiment's budget is used up" in Notice.objects.get().text


def test_who_stops_somebody_elses_is_named(project, editor, owner, monkeypatch):
    experiment = an_experiment(project, user=editor)
    dealt(experiment, 2, monkeypatch)
    run_cancel(run=going(experiment)[0], user=editor)  # one run: no news
    experiment_cancel(experiment, owner)
    assert Notice.objects.get().text.endswith("was stopped by Olivia Owner.")
    assert json.loads(WebhookDelivery.objects.get().payload)["experiment"]["status"] == "cancelled"
    again = an_experiment(project, user=editor)
    experiment_cancel(again, editor)
    assert not Notice.objects.filter(experiment=again).exists()  # they know


@pytest.mark.parametrize("form", ["slack", "teams", "discord"])
@pytest.mark.parametrize(
    ("status", "done", "headline", "runs"),
    [("finished", 4, "Experiment finished", "4"), ("cancelled", 1, "Experiment stopped", "1 of 4")],
)
def test_chats_get_a_message(form, status, done, headline, runs):
    experiment = {
        "id": 1, "name": "<Judges>", "status": status, "suite": "How-to", "suite_version": 2,
        "configurations": 3, "runs": 4, "done": done, "missing": 4 - done, "link": "https://w.example/p/a",
    }  # fmt: skip
    payload = {"event": "experiment.finished", "project": {"name": "Alpha"}, "experiment": experiment}
    text = json.dumps(body_of(form, payload))
    for part in (
        headline,
        "How-to @ v2",
        f'"{runs}"' if form == "discord" else runs,
        "https://w.example/p/a",
    ):
        assert part in text
