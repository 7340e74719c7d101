"""httpx clients for model servers, on a transport whose requests can be cancelled at any time."""

import ssl
from functools import cache, partial
from typing import Any

import httpx

from refinement.providers.cancelling import current_call

CONNECT_SECONDS = 10.0
# No read timeout: a model that is loading sends nothing for minutes. The call's deadline applies.
TIMEOUT = httpx.Timeout(None, connect=CONNECT_SECONDS)


@cache
def ssl_context() -> ssl.SSLContext:
    """The TLS settings, loaded once per process: that is slow."""
    return httpx.create_ssl_context(trust_env=True)


class CallTransport(httpx.BaseTransport):
    """httpx's transport with one connection per request, so that cancelling a request affects no other.

    Requests must be made inside `calling`; otherwise they raise LookupError.
    """

    def __init__(self) -> None:
        self._inner = httpx.HTTPTransport(
            verify=ssl_context(),
            trust_env=False,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        call = current_call()
        request.extensions = {**request.extensions, "trace": call.trace}
        # httpcore can hand a connection that has just become idle to another thread before it closes it; then
        # the end of this call would end that one, too. A connection with this header never becomes idle.
        request.headers["Connection"] = "close"
        return call.run(partial(self._inner.handle_request, request))


@cache
def transport() -> CallTransport:
    """The transport that all clients of this process share."""
    return CallTransport()


def client_options() -> dict[str, Any]:
    """Options for httpx.Client and ollama.Client. No proxies, and no redirects, which could leak a key."""
    return {
        "transport": transport(),
        "timeout": TIMEOUT,
        "trust_env": False,
        "follow_redirects": False,
    }


def client_for(address: str) -> httpx.Client:
    """A client for the server at this address."""
    return httpx.Client(base_url=address, **client_options())
