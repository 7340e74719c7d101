"""Requests to an instance elsewhere: with the token, a limit of time, and errors that people understand."""

import time
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import httpx

from refinement.cli.exits import BadInput, CommandFailed, NotThere, Refused, Unavailable
from refinement.cli.output import tell
from wiggum_site import VERSION

PROBLEM = "application/problem+json"
TIMEOUT = httpx.Timeout(30.0, connect=5.0)
MOST_TRIES = 4
LONGEST_WAIT = 90.0  # a minute's allowance begins anew after a minute
LOOPBACK = ("localhost", "127.0.0.1", "::1")
NEW_TOKEN = "Make a token on the project's page “API tokens” and put it into WIGGUM_TOKEN."
KINDS: dict[int, type[CommandFailed]] = {400: BadInput, 404: NotThere, 413: BadInput, 422: BadInput}


def server_address(server: str) -> str:
    """The address without its last slash; one that cannot be meant is refused, one in the clear warned of."""
    try:
        url = httpx.URL(server)
    except httpx.InvalidURL as error:
        raise BadInput(f"--server {server!r} cannot be read as an address: {error}.") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise BadInput(f"--server {server!r} is no address; write it like https://wiggum.example.org.")
    if url.userinfo or url.query or url.fragment:
        raise BadInput(
            "--server is an address alone: no user name, password or query. The token comes apart."
        )
    if url.scheme == "http" and url.host not in LOOPBACK:
        tell(
            f"Beware: the token goes to {url.host} in the clear; use https:// where others share the network."
        )
    return str(url).rstrip("/")


def token_checked(token: str) -> str:
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise BadInput(f"the token is empty or damaged. {NEW_TOKEN}")
    return token


class Wire:
    """One server, asked as often as its limit of requests allows."""

    def __init__(self, server: str, token: str, transport: httpx.BaseTransport | None = None) -> None:
        self.server = server
        self.client = httpx.Client(
            base_url=f"{server}/api/v1/",
            headers={"Authorization": f"Bearer {token}", "User-Agent": f"wiggum/{VERSION}"},
            timeout=TIMEOUT,
            transport=transport,
        )

    def close(self) -> None:
        self.client.close()

    def json(self, method: str, path: str, **options: Any) -> Any:
        """The answer's JSON."""
        answer = self.ask(method, path, **options)
        try:
            return answer.json()
        except ValueError:
            raise self._no_wiggum() from None

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        """The answer, read whole."""
        answer = self._sent(self.client.build_request(method, path, **options))
        try:
            answer.read()
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None
        finally:
            answer.close()
        return answer

    def pieces(self, path: str, **options: Any) -> Iterator[str]:
        """A long answer's text as it comes."""
        answer = self._sent(self.client.build_request("GET", path, **options))
        try:
            yield from answer.iter_text()
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None
        finally:
            answer.close()

    def pages(self, path: str, params: dict[str, Any], most: int | None = None) -> Iterator[dict[str, Any]]:
        """The entries of a list, page after page, so many at most."""
        left, cursor = most, ""
        while left is None or left > 0:
            asked = {**params, "limit": min(left or 100, 100), **({"cursor": cursor} if cursor else {})}
            page = self.json("GET", path, params=asked)
            yield from page["items"]
            left = None if left is None else left - len(page["items"])
            cursor = page["next"]
            if not cursor:
                return

    def _sent(self, request: httpx.Request) -> httpx.Response:
        """The answer to a request; a server that asks for patience is given it."""
        for attempt in range(1, MOST_TRIES + 1):
            try:
                answer = self.client.send(request, stream=True)
            except httpx.HTTPError as error:
                raise self._unreachable(error) from None
            if answer.status_code != HTTPStatus.TOO_MANY_REQUESTS or attempt == MOST_TRIES:
                break
            answer.close()
            seconds = patience(answer)
            tell(f"The server asks to wait {seconds:.0f} s: too many requests.")
            time.sleep(seconds)
        if answer.is_success:
            return answer
        with_words = self._failure(answer)
        answer.close()
        raise with_words

    def _unreachable(self, error: httpx.HTTPError) -> Unavailable:
        slow = isinstance(error, httpx.TimeoutException)
        reason = "it does not answer in time" if slow else str(error) or type(error).__name__
        return Unavailable(f"cannot reach {self.server}: {reason}. Is it running, and is the address right?")

    def _failure(self, answer: httpx.Response) -> CommandFailed:
        """What the server refused, in its own words where it has some."""
        if answer.is_redirect:
            where = answer.headers.get("Location", "elsewhere")
            return Unavailable(f"{self.server} sends us to {where}; give the right address with --server.")
        if answer.headers.get("Content-Type") != PROBLEM:
            return self._no_wiggum(answer.status_code)
        status = answer.status_code
        if status == HTTPStatus.UNAUTHORIZED:
            return Refused(f"{self.server} does not accept the token: wrong, expired or revoked. {NEW_TOKEN}")
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            return Unavailable(f"{self.server} still has too many requests of this token; try again later.")
        detail = words_of(answer)
        if answer.is_server_error:
            return Unavailable(f"{self.server} failed ({status}): {detail}")
        return KINDS.get(status, Refused)(detail)

    def _no_wiggum(self, status: int | None = None) -> Unavailable:
        """An answer that no API of this version gives: by whom?"""
        try:
            version = httpx.get(f"{self.server}/healthz", timeout=TIMEOUT).json()["version"]
        except (httpx.HTTPError, ValueError, KeyError, TypeError):
            told = f" ({status})" if status else ""
            return Unavailable(f"what answers at {self.server} is no Wiggum{told}; look at the address.")
        if version != VERSION:
            return Unavailable(
                f"{self.server} runs Wiggum {version}, and this command is {VERSION}: they do not understand "
                "each other. Update the older one."
            )
        return Unavailable(f"{self.server} gave an answer that cannot be read ({status or 'no JSON'}).")


def patience(answer: httpx.Response) -> float:
    """How long the server asks to wait, within reason."""
    given = answer.headers.get("Retry-After", "")
    return min(max(float(given), 1.0), LONGEST_WAIT) if given.isascii() and given.isdigit() else 5.0


def words_of(answer: httpx.Response) -> str:
    """The problem's detail, with the places that are wrong where there are several."""
    try:
        answer.read()
        told = answer.json()
        places = [f"{entry['where']}: {entry['message']}" for entry in told.get("errors", [])]
        return "\n".join([told["detail"], *places[1:]])
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return HTTPStatus(answer.status_code).phrase
