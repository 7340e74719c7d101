"""The endpoints of this instance: from the environment and from the admin pages."""

import os
from functools import lru_cache

from django.conf import settings

from refinement.models import Endpoint
from refinement.providers.base import ErrorKind, Provider, ProviderError
from refinement.providers.registry import (
    EndpointSpec,
    build,
    default_specs,
    find_spec,
    key_variable_problem,
)


class NoSuchEndpoint(ProviderError, ValueError):
    """No endpoint has this name. A usage error when creating a run; ends a run that already exists."""

    def __init__(self, words: str) -> None:
        super().__init__(ErrorKind.MODEL_MISSING, words, retryable=False)


VARIABLES = (
    "WIGGUM_OLLAMA_URL",
    "WIGGUM_OLLAMA_KEEP_ALIVE",
    "WIGGUM_OLLAMA_CONCURRENCY",
    "WIGGUM_GGUF",
    "WIGGUM_ENDPOINTS",
)


def fixed_specs() -> tuple[EndpointSpec, ...]:
    """The environment's endpoints, re-read only when the environment changes."""
    return specs_of(tuple(os.environ.get(name, "") for name in VARIABLES))


@lru_cache(maxsize=4)
def specs_of(values: tuple[str, ...]) -> tuple[EndpointSpec, ...]:
    return tuple(default_specs(dict(zip(VARIABLES, values, strict=True))))


def endpoint_specs() -> list[EndpointSpec]:
    """Ollama and the embedded model, then WIGGUM_ENDPOINTS, then database rows.

    The first use of a name wins.
    """
    specs = list(fixed_specs())
    names = {spec.name for spec in specs}
    rows = Endpoint.objects.filter(enabled=True).exclude(name__in=names)
    return specs + [row_spec(row) for row in rows]


def row_spec(row: Endpoint) -> EndpointSpec:
    """The endpoint of a row. Never called if its key is in an environment variable that is not allowed."""
    refusal = key_variable_problem(row.api_key_variable, settings.KEY_VARIABLES)
    return EndpointSpec(
        row.name, row.kind, row.url, row.api_key_variable, {}, row.concurrency, refusal=refusal
    )


def endpoint_spec(name: str) -> EndpointSpec:
    """The endpoint with this name. Raises NoSuchEndpoint with the known names."""
    try:
        # Environment endpoints need no query, and steps use them most.
        fixed = fixed_specs()
        if any(spec.name == name for spec in fixed):
            return find_spec(name, fixed)
        return find_spec(name, endpoint_specs())
    except ValueError as error:
        raise NoSuchEndpoint(str(error)) from None


def provider_for(name: str) -> Provider:
    """The provider of an endpoint, one per process."""
    return build(endpoint_spec(name))
