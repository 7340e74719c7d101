"""/metrics: for administrators and with the token, in Prometheus' text format."""

from datetime import timedelta

import pytest
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from refinement.execution import metrics
from refinement.execution.metrics import count, totals_flush
from refinement.execution.workers import worker_beat
from refinement.models import MessageState, MetricTotal, QueuedMessage, Run, RunStatus
from refinement.providers.registry import Target
from refinement.selectors.rubrics.definitions import version_named
from refinement.services.projects.local import local_project
from refinement.services.runs.creating import run_create

TOKEN = "a-token-of-many-characters"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_counted_yet():
    """What other tests' steps have counted in this process is not this one's."""
    metrics._totals.clear()


@pytest.fixture
def as_administrator(as_owner, owner):
    owner.is_superuser = True
    owner.save(update_fields=["is_superuser"])
    return as_owner


def read(client, **headers):
    """Every sample by its name and label."""
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 200, answer.content
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    found = {}
    for family in text_string_to_metric_families(answer.content.decode()):
        for sample in family.samples:
            found[sample.name, *sample.labels.values()] = sample.value
    return found


def queued_runs(number):
    project = local_project()
    version = version_named(project, "wiggum")
    target = Target("ollama", "nothing:1b")
    return [
        run_create(project=project, version=version, task="Write.", producer=target, judge=target)
        for _ in range(number)
    ]


def test_an_administrator_reads_what_workers_counted(as_administrator):
    count("steps", "judge", 3)
    count("steps", "producer", 2)
    count("step_seconds", "judge", 1.5)
    count("failures", "timeout")
    count("lease_expiries", amount=2)
    count("swept", amount=4)
    count("model_seconds", amount=12.25)
    totals_flush()
    worker_beat(name="host:1:a", started_at=timezone.now(), threads=4)

    found = read(as_administrator)

    assert found["wiggum_steps_total", "judge"] == 3
    assert found["wiggum_steps_total", "producer"] == 2
    assert found["wiggum_step_seconds_total", "judge"] == 1.5
    assert found["wiggum_failures_total", "timeout"] == 1
    assert found["wiggum_lease_expiries_total",] == 2
    assert found["wiggum_swept_total",] == 4
    assert found["wiggum_model_seconds_total",] == 12.25
    assert found["wiggum_workers",] == 1


def test_an_idle_instance_has_its_zeros(as_administrator):
    found = read(as_administrator)

    assert found["wiggum_lease_expiries_total",] == found["wiggum_workers",] == 0
    assert {key[1] for key in found if key[0] == "wiggum_queue_depth"} == set(MessageState.values)
    assert {key[1] for key in found if key[0] == "wiggum_runs"} == set(RunStatus.values)


def test_model_seconds_are_summed_over_labels(as_administrator):
    MetricTotal.objects.create(name="model_seconds", label="judge", value=2)
    MetricTotal.objects.create(name="model_seconds", label="producer", value=3)

    assert read(as_administrator)["wiggum_model_seconds_total",] == 5


def test_it_counts_runs_and_waiting_messages(as_administrator):
    first, *_ = queued_runs(3)
    Run.objects.filter(pk=first.pk).update(status=RunStatus.PAUSED)
    QueuedMessage.objects.filter(pk=QueuedMessage.objects.earliest("pk").pk).update(state=MessageState.DEAD)

    found = read(as_administrator)

    assert (found["wiggum_runs", "queued"], found["wiggum_runs", "paused"]) == (2, 1)
    assert (found["wiggum_queue_depth", "queued"], found["wiggum_queue_depth", "dead"]) == (2, 1)


def test_with_another_broker_the_runs_that_are_due_are_counted(as_administrator, settings):
    first, second, _ = queued_runs(3)
    Run.objects.filter(pk=first.pk).update(status=RunStatus.PAUSED)
    Run.objects.filter(pk=second.pk).update(
        status=RunStatus.RUNNING, lease_owner="a", lease_until=timezone.now() + timedelta(minutes=1)
    )
    settings.BROKER_URL = "redis://127.0.0.1:1/0"

    found = read(as_administrator)

    assert {key: value for key, value in found.items() if key[0] == "wiggum_queue_depth"} == {
        ("wiggum_queue_depth", "due"): 1
    }


def test_the_number_of_queries_does_not_grow(as_administrator, django_assert_max_num_queries):
    queued_runs(5)
    for number in range(30):
        count("failures", f"kind {number}")
    totals_flush()
    with django_assert_max_num_queries(6):
        read(as_administrator)


def test_the_token_opens_it_without_a_session(anonymous, settings):
    settings.METRICS_TOKEN = TOKEN
    assert read(anonymous, Authorization=f"Bearer {TOKEN}")["wiggum_workers",] == 0


@pytest.mark.parametrize(
    "header", [f"Bearer {TOKEN}x", "Bearer ", "Bearer", f"Basic {TOKEN}", TOKEN, "Bearer \u00fc"]
)
def test_another_token_is_refused(anonymous, settings, header):
    settings.METRICS_TOKEN = TOKEN
    answer = anonymous.get("/metrics", headers={"Authorization": header})
    assert answer.status_code == 403
    assert b"wiggum_steps" not in answer.content


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", f"Bearer {TOKEN}"])
def test_no_token_is_right_where_none_is_set(anonymous, settings, header):
    settings.METRICS_TOKEN = ""
    assert anonymous.get("/metrics", headers={"Authorization": header}).status_code == 403


@pytest.mark.parametrize("person", ["as_owner", "as_editor", "as_viewer", "as_outsider"])
def test_other_people_are_told_whom_to_ask(request, person):
    answer = request.getfixturevalue(person).get("/metrics")
    assert answer.status_code == 403
    assert "Only administrators" in answer.content.decode()


def test_anonymous_people_sign_in_first(anonymous):
    answer = anonymous.get("/metrics")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/account/login/?next=/metrics")


def test_it_is_only_read_and_never_kept(as_administrator):
    assert as_administrator.post("/metrics").status_code == 405
    assert "no-store" in as_administrator.get("/metrics").headers["Cache-Control"]
