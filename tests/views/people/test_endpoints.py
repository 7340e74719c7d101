"""Endpoints in the browser: added, changed, switched off and removed by administrators."""

import pytest
from django.test import Client

from refinement.models import AuditEntry, Endpoint, User
from refinement.selectors import health
from refinement.selectors.endpoints import endpoint_specs

pytestmark = pytest.mark.django_db
NEW = "/administration/endpoints/new/"
GPU = "/administration/endpoints/gpu/"
VALUES = {
    "name": "gpu",
    "kind": "openai_compatible",
    "url": "https://gpu.example.org/v1",
    "api_key_variable": "WIGGUM_KEY_GPU",
    "concurrency": "2",
    "enabled": "on",
}


@pytest.fixture(autouse=True)
def nobody_asked(monkeypatch):
    monkeypatch.setattr(health, "check_endpoints", lambda specs: [])
    health.health_cache.forget()
    yield
    health.health_cache.forget()


@pytest.fixture
def boss(db) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("berta@example.org", None, name="Berta Boss"))
    return client


@pytest.fixture
def gpu(boss) -> Endpoint:
    boss.post(NEW, VALUES)
    return Endpoint.objects.get()


def typed(client: Client, **changes: str) -> dict[str, str]:
    """The form as the page has it, with these changes."""
    kept = {name: value for name, value in VALUES.items() if name != "name"}
    form = client.get(GPU).context["form"]
    return {name: value for name, value in {**kept, "seen": form.initial["seen"], **changes}.items() if value}


def test_one_is_added_and_can_be_used(boss):
    assert "Not the key itself" in boss.get(NEW).content.decode()
    page = boss.post(NEW, VALUES, follow=True).content.decode()
    assert "Model server gpu added." in page
    assert GPU in page
    spec = endpoint_specs()[-1]
    assert (spec.name, spec.url, spec.api_key_variable, spec.concurrency) == (
        "gpu",
        "https://gpu.example.org/v1",
        "WIGGUM_KEY_GPU",
        2,
    )
    assert AuditEntry.objects.get(object_type="endpoint").action == "endpoint.create"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "ollama"}, "A model server from the environment already has this name."),
        ({"url": "ftp://gpu.example.org"}, "must be an address that starts with http"),
        ({"url": "https://me:key@gpu.example.org"}, "user name or password"),
        ({"api_key_variable": "sk-real-key"}, "not the key itself"),
        ({"concurrency": "0"}, "greater than or equal to 1"),
        ({"kind": "command"}, "Select a valid choice"),
    ],
)
def test_what_cannot_be_one_is_said_beside_its_field(boss, change, words):
    answer = boss.post(NEW, VALUES | change)
    assert answer.status_code == 422
    (name,) = change
    assert words in " ".join(answer.context["form"].errors[name])
    assert not Endpoint.objects.exists()


def test_one_is_switched_off_listed_and_switched_on(boss, gpu):
    boss.post(GPU, typed(boss, enabled=""))
    assert [spec.name for spec in endpoint_specs()].count("gpu") == 0
    assert "Disabled" in boss.get("/administration/system/").content.decode()
    boss.post(GPU, typed(boss))
    assert endpoint_specs()[-1].name == "gpu"


def test_a_key_goes_to_a_new_address_only_where_somebody_says_so(boss, gpu):
    elsewhere = "https://elsewhere.example.org/v1"
    refused = boss.post(GPU, typed(boss, url=elsewhere))
    assert refused.status_code == 422
    assert "The URL changed" in refused.content.decode()
    boss.post(GPU, typed(boss, url=elsewhere, api_key_variable=""))
    gpu.refresh_from_db()
    assert (gpu.url, gpu.api_key_variable) == (elsewhere, "")
    boss.post(GPU, typed(boss))
    boss.post(GPU, typed(boss, url=elsewhere, key_goes_along="on"))
    gpu.refresh_from_db()
    assert (gpu.url, gpu.api_key_variable) == (elsewhere, "WIGGUM_KEY_GPU")


def test_the_second_of_two_administrators_is_told(boss, gpu):
    mine = typed(boss, concurrency="5")
    boss.post(GPU, typed(boss, concurrency="3"))
    answer = boss.post(GPU, mine)
    assert answer.status_code == 409
    assert "Concurrent calls: 3" in answer.content.decode()
    gpu.refresh_from_db()
    assert gpu.concurrency == 3
    boss.post(GPU, mine | {"seen": answer.context["form"].initial["seen"]})
    gpu.refresh_from_db()
    assert gpu.concurrency == 5


def test_one_is_removed(boss, gpu):
    page = boss.post(f"{GPU}remove/", follow=True).content.decode()
    assert "Model server gpu deleted." in page
    assert boss.get(GPU).status_code == 404
    assert boss.post(f"{GPU}remove/").status_code == 404


def test_owners_of_projects_set_none(as_owner, gpu):
    for address in (NEW, GPU):
        assert as_owner.get(address).status_code == 403
        assert as_owner.post(address, VALUES).status_code == 403
    assert as_owner.post(f"{GPU}remove/").status_code == 403
    assert Endpoint.objects.count() == 1
