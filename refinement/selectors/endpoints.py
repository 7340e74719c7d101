"""The endpoints of this instance: from the environment, and from administrators' rows."""

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
    """A name that leads nowhere: wrong usage when a run is made, the end of a run that was made before."""

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
    """The environment's endpoints, read again only where it has changed."""
    return specs_of(tuple(os.environ.get(name, "") for name in VARIABLES))


@lru_cache(maxsize=4)
def specs_of(values: tuple[str, ...]) -> tuple[EndpointSpec, ...]:
    return tuple(default_specs(dict(zip(VARIABLES, values, strict=True))))


def endpoint_specs() -> list[EndpointSpec]:
    """Ollama and the embedded model first, then WIGGUM_ENDPOINTS, then rows; a taken name stays taken."""
    specs = list(fixed_specs())
    names = {spec.name for spec in specs}
    rows = Endpoint.objects.filter(enabled=True).exclude(name__in=names)
    return specs + [row_spec(row) for row in rows]


def row_spec(row: Endpoint) -> EndpointSpec:
    """The endpoint of a row; one whose key comes from a variable that is not allowed is never called."""
    refusal = key_variable_problem(row.api_key_variable, settings.KEY_VARIABLES)
    return EndpointSpec(
        row.name, row.kind, row.url, row.api_key_variable, {}, row.concurrency, refusal=refusal
    )


def endpoint_spec(name: str) -> EndpointSpec:
    """The endpoint of this name; NoSuchEndpoint lists those there are."""
    try:
        # The environment's endpoints need no query: they are the ones a step asks for most.
        fixed = fixed_specs()
        if any(spec.name == name for spec in fixed):
            return find_spec(name, fixed)
        return find_spec(name, endpoint_specs())
    except ValueError as error:
        raise NoSuchEndpoint(str(error)) from None


def provider_for(name: str) -> Provider:
    """The provider behind an endpoint's name, one a process."""
    return build(endpoint_spec(name))
