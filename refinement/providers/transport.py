"""Plain httpx clients for model servers, on a transport whose every wait can be cancelled."""

import ssl
from functools import cache, partial
from typing import Any

import httpx

from refinement.providers.cancelling import current_call

CONNECT_SECONDS = 10.0
# A read may wait as long as the call's deadline allows: a model that loads says nothing for minutes.
TIMEOUT = httpx.Timeout(None, connect=CONNECT_SECONDS)


@cache
def ssl_context() -> ssl.SSLContext:
    """How servers prove who they are, read once for a process: it takes a while."""
    return httpx.create_ssl_context(trust_env=True)


class CallTransport(httpx.BaseTransport):
    """httpx's own transport. Every request has its own connection, so cancelling one cuts off no other."""

    def __init__(self) -> None:
        self._inner = httpx.HTTPTransport(
            verify=ssl_context(),
            trust_env=False,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        call = current_call()
        request.extensions = {**request.extensions, "trace": call.trace}
        return call.run(partial(self._inner.handle_request, request))


@cache
def transport() -> CallTransport:
    """The one transport of this process."""
    return CallTransport()


def client_options() -> dict[str, Any]:
    """For httpx.Client and ollama.Client: no proxies of the environment, no redirects for a key to follow."""
    return {
        "transport": transport(),
        "timeout": TIMEOUT,
        "trust_env": False,
        "follow_redirects": False,
    }


def client_for(address: str) -> httpx.Client:
    """A client for the server at this address."""
    return httpx.Client(base_url=address, **client_options())
