"""Which environment variables an endpoint added in the browser can use as its key."""

import pytest
from django.test import Client

from refinement.cli.doctor.endpoints import endpoint as examined
from refinement.models import Endpoint, User
from refinement.providers.base import CallControl, CompletionRequest, Message, ProviderError
from refinement.selectors import health
from refinement.selectors.endpoints import endpoint_spec, provider_for
from tests.loopback.fixtures import ollama_server

__all__ = ["ollama_server"]
pytestmark = pytest.mark.django_db
NEW = "/administration/endpoints/new/"
PAGE = "/administration/endpoints/gpu/"
SECRET = "the database's password"
KINDS = ["openai_compatible", "ollama"]
REQUEST = CompletionRequest(model="loopback:1b", messages=[Message("user", "Hello")])


@pytest.fixture(autouse=True)
def fresh_health():
    health.health_cache.forget()
    yield
    health.health_cache.forget()


@pytest.fixture
def boss(db) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("berta@example.org", None, name="Berta Boss"))
    return client


@pytest.fixture
def gpu(ollama_server, monkeypatch):
    """Makes an endpoint as an earlier version saved it, with a variable that is set."""

    def made(variable: str, kind: str = "openai_compatible") -> Endpoint:
        monkeypatch.setenv(variable, SECRET)
        address = f"{ollama_server.address}{'/v1' if kind == 'openai_compatible' else ''}"
        return Endpoint.objects.create(name="gpu", kind=kind, url=address, api_key_variable=variable)

    return made


def sent_keys(server) -> list[str]:
    return [entry.headers["authorization"] for entry in server.log if "authorization" in entry.headers]


@pytest.mark.parametrize("variable", ["POSTGRES_PASSWORD", "HOME", "SECRET_KEY", "WIGGUM_OIDC_CLIENT_SECRET"])
def test_other_variables_cannot_be_saved(boss, variable):
    values = {"name": "gpu", "kind": "ollama", "url": "http://127.0.0.1:9", "enabled": "on"}
    answer = boss.post(NEW, values | {"api_key_variable": variable})

    assert answer.status_code == 422
    said = " ".join(answer.context["form"].errors["api_key_variable"])
    assert f"{variable} cannot be used for a key" in said
    assert "WIGGUM_KEY_*" in said
    assert "WIGGUM_KEY_VARIABLES" in said
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_other_variables_are_never_sent(gpu, kind, ollama_server):
    gpu("POSTGRES_PASSWORD", kind)
    provider = provider_for("gpu")

    for call in (lambda: provider.complete(REQUEST, CallControl()), provider.models):
        with pytest.raises(ProviderError, match="POSTGRES_PASSWORD cannot be used") as refused:
            call()
        assert not refused.value.retryable
    with pytest.raises(ProviderError, match="POSTGRES_PASSWORD cannot be used"):
        provider.model_info("loopback:1b")
    assert not provider.health().ok
    assert ollama_server.log == []


def test_an_endpoint_saved_earlier_says_what_to_do(boss, gpu, ollama_server):
    gpu("POSTGRES_PASSWORD")

    for page in (boss.get("/administration/system/"), boss.get(PAGE)):
        assert "POSTGRES_PASSWORD cannot be used for a key" in page.content.decode()
    (finding,) = examined(endpoint_spec("gpu"))
    assert (finding.status, "WIGGUM_KEY_VARIABLES" in finding.remedy) == ("fail", True)
    assert ollama_server.log == []


def test_an_endpoint_saved_earlier_can_be_switched_off(boss, gpu):
    row = gpu("POSTGRES_PASSWORD")
    seen = boss.get(PAGE).context["form"].initial["seen"]
    values = {"kind": row.kind, "url": row.url, "api_key_variable": row.api_key_variable, "seen": seen}

    assert boss.post(PAGE, values).status_code == 302
    row.refresh_from_db()
    assert not row.enabled


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("variable", "allowed"),
    [
        ("WIGGUM_KEY_GPU", ["WIGGUM_KEY_*"]),
        ("GPU_API_KEY", ["WIGGUM_KEY_*", "GPU_API_KEY"]),
        ("TEAM_KEY_ONE", ["TEAM_KEY_*"]),
    ],
)
def test_allowed_variables_are_sent(gpu, kind, variable, allowed, ollama_server, settings):
    settings.KEY_VARIABLES = allowed
    gpu(variable, kind)

    provider_for("gpu").complete(REQUEST, CallControl())

    assert set(sent_keys(ollama_server)) == {f"Bearer {SECRET}"}


def test_endpoints_of_the_environment_name_any_variable(ollama_server, monkeypatch):
    monkeypatch.setenv("RACK_API_KEY", SECRET)
    monkeypatch.setenv(
        "WIGGUM_ENDPOINTS",
        f'[{{"name": "rack", "kind": "ollama", "url": "{ollama_server.address}", '
        '"api_key_variable": "RACK_API_KEY"}]',
    )

    provider_for("rack").complete(REQUEST, CallControl())

    assert set(sent_keys(ollama_server)) == {f"Bearer {SECRET}"}
