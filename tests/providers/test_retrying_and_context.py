"""When to retry, and which context window to request."""

from datetime import UTC, datetime

import pytest

from refinement.providers import sorting
from refinement.providers.base import ErrorKind, ProviderError
from refinement.providers.context import check_prompt_fits, context_tokens_for, text_size
from refinement.providers.retrying import delay_before
from tests.providers.asking import wanted


def error(kind: ErrorKind, *, retryable: bool = True, after: float | None = None) -> ProviderError:
    return ProviderError(kind, "It went wrong.", retryable=retryable, retry_after=after)


@pytest.mark.parametrize(
    ("attempt", "jitter", "delay"), [(1, 1, 1), (1, 0, 0.5), (3, 1, 4), (7, 1, 60), (500, 0, 30)]
)
def test_delays_double_up_to_a_minute(attempt: int, jitter: float, delay: float) -> None:
    assert delay_before(attempt, error(ErrorKind.UNREACHABLE), jitter) == delay


@pytest.mark.parametrize("kind", [ErrorKind.TIMEOUT, ErrorKind.BAD_REPLY])
def test_the_third_failure_of_a_server_that_is_there_is_the_last(kind: ErrorKind) -> None:
    assert delay_before(2, error(kind), 0) is not None
    assert delay_before(3, error(kind), 0) is None


def test_what_cannot_help_is_not_repeated() -> None:
    assert delay_before(1, error(ErrorKind.REFUSED, retryable=False), 0) is None


def test_the_server_knows_best_when_to_come_back() -> None:
    assert delay_before(1, error(ErrorKind.UNREACHABLE, after=7), 0.3) == 7
    assert delay_before(1, error(ErrorKind.UNREACHABLE, after=7000), 0.3) == 60


NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("3", 3),
        ("-3", 0),
        ("Thu, 01 Jan 2026 00:01:00 GMT", 60),
        ("Thu, 01 Jan 2026 00:01:00 -0000", 60),
        ("Wed, 31 Dec 2025 00:00:00 GMT", 0),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert sorting.retry_after(value, NOW) == seconds


def test_retry_after_a_date_counts_from_now() -> None:
    assert sorting.retry_after("Thu, 01 Jan 2015 00:01:00 GMT") == 0


@pytest.mark.parametrize(
    ("chars", "reply", "model", "window"),
    [
        (0, 100, None, 2048),
        (5_000, 1024, 40_960, 4096),
        (20_000, 1024, 40_960, 8192),
        (100_000, 1024, 40_960, 40_960),
        (100_000, 1024, None, 65_536),
        (300, 100, 1024, 1024),
    ],
)
def test_a_window_is_a_doubling_step_within_the_model(
    chars: int, reply: int, model: int | None, window: int
) -> None:
    assert context_tokens_for(chars, reply, model) == window


def test_more_than_the_model_has_is_refused() -> None:
    with pytest.raises(ProviderError, match="need about 34,422 tokens") as caught:
        context_tokens_for(100_000, 1024, 32_768)
    assert (caught.value.kind, caught.value.retryable) == (ErrorKind.CONTEXT_EXCEEDED, False)


def test_letters_beyond_ascii_count_more() -> None:
    assert (text_size("hat"), text_size("帽子"), text_size("\ud800")) == (3, 6, 3)


def test_a_prompt_without_a_window_is_never_refused() -> None:
    check_prompt_fits(wanted("x" * 1_000_000), "somewhere")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"error": "gone"}', "gone"),
        ('{"error": {"message": "gone", "code": "lost"}}', "gone (lost)"),
        ('{"error": {"detail": 1}}', "{'detail': 1}"),
        ('["gone"]', "['gone']"),
        ("plain", "plain"),
    ],
)
def test_the_servers_words_are_found(body: str, words: str) -> None:
    assert sorting.error_text(body) == words


def test_long_words_are_shortened() -> None:
    assert len(sorting.shortened("x" * 1000)) == 301
