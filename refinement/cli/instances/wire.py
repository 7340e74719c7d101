"""The API client: requests with a token, timeouts, retries and readable errors."""

import time
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import httpx

from refinement.cli.exits import BadInput, CommandFailed, NotThere, Refused, Unavailable
from refinement.cli.output import print_message
from wiggum_site import VERSION

PROBLEM = "application/problem+json"
TIMEOUT = httpx.Timeout(30.0, connect=5.0)
MOST_TRIES = 4
LONGEST_WAIT = 90.0  # rate limits reset after a minute
LOOPBACK = ("localhost", "127.0.0.1", "::1")
NEW_TOKEN = "Create a token on the project's API tokens page and set WIGGUM_TOKEN."
KINDS: dict[int, type[CommandFailed]] = {400: BadInput, 404: NotThere, 413: BadInput, 422: BadInput}


def server_address(server: str) -> str:
    """The URL without a trailing slash. Raises BadInput, and warns about unencrypted connections."""
    try:
        url = httpx.URL(server)
    except httpx.InvalidURL as error:
        raise BadInput(f"--server {server!r} is not a valid URL: {error}.") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise BadInput(f"--server {server!r} is not a URL; write it like https://wiggum.example.org.")
    if url.userinfo or url.query or url.fragment:
        raise BadInput("--server must not contain a user name, password or query. Pass the token separately.")
    if url.scheme == "http" and url.host not in LOOPBACK:
        print_message(
            f"Warning: the token is sent to {url.host} unencrypted. Use https:// on shared networks."
        )
    return str(url).rstrip("/")


def token_checked(token: str) -> str:
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise BadInput(f"the token is empty or invalid. {NEW_TOKEN}")
    return token


class Wire:
    """Sends requests to one server, within its rate limit."""

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
        """The response's JSON."""
        answer = self.ask(method, path, **options)
        try:
            return answer.json()
        except ValueError:
            raise self._no_wiggum() from None

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        """The complete response."""
        answer = self._sent(self.client.build_request(method, path, **options))
        try:
            answer.read()
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None
        finally:
            answer.close()
        return answer

    def pieces(self, path: str, **options: Any) -> Iterator[str]:
        """The response's text as a stream."""
        answer = self._sent(self.client.build_request("GET", path, **options))
        try:
            yield from answer.iter_text()
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None
        finally:
            answer.close()

    def pages(self, path: str, params: dict[str, Any], most: int | None = None) -> Iterator[dict[str, Any]]:
        """The entries of a paginated list, at most `most`."""
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
        """Send a request, and retry it after 429 responses. Raises CommandFailed."""
        for attempt in range(1, MOST_TRIES + 1):
            try:
                answer = self.client.send(request, stream=True)
            except httpx.HTTPError as error:
                raise self._unreachable(error) from None
            if answer.status_code != HTTPStatus.TOO_MANY_REQUESTS or attempt == MOST_TRIES:
                break
            answer.close()
            seconds = retry_after(answer)
            print_message(f"Too many requests. Retrying in {seconds:.0f} s.")
            time.sleep(seconds)
        if answer.is_success:
            return answer
        failure = self._failure(answer)
        answer.close()
        raise failure

    def _unreachable(self, error: httpx.HTTPError) -> Unavailable:
        slow = isinstance(error, httpx.TimeoutException)
        reason = "timeout" if slow else str(error) or type(error).__name__
        return Unavailable(
            f"cannot reach {self.server}: {reason}. Check that it is running and that the URL is correct."
        )

    def _failure(self, answer: httpx.Response) -> CommandFailed:
        """The error for an unsuccessful response, with the server's message if it has one."""
        if answer.is_redirect:
            where = answer.headers.get("Location", "elsewhere")
            return Unavailable(f"{self.server} redirects to {where}; pass the correct URL with --server.")
        if answer.headers.get("Content-Type") != PROBLEM:
            return self._no_wiggum(answer.status_code)
        status = answer.status_code
        if status == HTTPStatus.UNAUTHORIZED:
            return Refused(
                f"{self.server} rejected the token: it is invalid, expired or revoked. {NEW_TOKEN}"
            )
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            return Unavailable(f"too many requests to {self.server} with this token; try again later.")
        detail = problem_message(answer)
        if answer.is_server_error:
            return Unavailable(f"{self.server} failed ({status}): {detail}")
        return KINDS.get(status, Refused)(detail)

    def _no_wiggum(self, status: int | None = None) -> Unavailable:
        """The error for a response that is not from this version's API."""
        try:
            version = httpx.get(f"{self.server}/healthz", timeout=TIMEOUT).json()["version"]
        except (httpx.HTTPError, ValueError, KeyError, TypeError):
            code = f" ({status})" if status else ""
            return Unavailable(f"the server at {self.server} is not Wiggum{code}; check the URL.")
        if version != VERSION:
            return Unavailable(
                f"{self.server} runs Wiggum {version}, but this command is {VERSION}, which is not "
                "compatible. Update the older one."
            )
        return Unavailable(f"{self.server} sent an invalid response ({status or 'no JSON'}).")


def retry_after(answer: httpx.Response) -> float:
    """The seconds to wait before a retry, within limits."""
    seconds = answer.headers.get("Retry-After", "")
    return min(max(float(seconds), 1.0), LONGEST_WAIT) if seconds.isascii() and seconds.isdigit() else 5.0


def problem_message(answer: httpx.Response) -> str:
    """The problem's detail, and its list of errors if there are several."""
    try:
        answer.read()
        problem = answer.json()
        errors = [f"{entry['where']}: {entry['message']}" for entry in problem.get("errors", [])]
        return "\n".join([problem["detail"], *errors[1:]])
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return HTTPStatus(answer.status_code).phrase
