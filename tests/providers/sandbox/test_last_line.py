"""The last line of a command's output: the newest one, at most once a second."""

import pytest

from refinement.providers.sandbox import last_line
from refinement.providers.sandbox.last_line import LINE_CHARS, LastLine


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""

    class Clock:
        now = 100.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(last_line, "time", clock)
    return clock


def test_the_newest_line_is_passed_on_at_most_once_a_second(clock):
    seen = []
    line = LastLine(seen.append)
    line.pass_on()
    line.add(b"one\n")
    line.add(b"two\n")
    line.pass_on()
    line.add(b"three\n")
    clock.now += 0.9
    line.pass_on()
    assert seen == ["two"]
    clock.now += 0.1
    line.pass_on()
    assert seen == ["two", "three"]
    clock.now += 5
    line.pass_on()
    assert seen == ["two", "three"], "the same line is not passed on again"


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([b"10 %\r20 %"], "20 %"),
        ([b"half of ", b"a line"], "half of a line"),
        ([b"last\n\n  \n"], "last"),
        ([b"\xff\n"], "\N{REPLACEMENT CHARACTER}"),
        ([b"x" * 9_000], "x" * LINE_CHARS),
        ([], ""),
    ],
)
def test_what_counts_as_the_last_line(pieces, text):
    line = LastLine(print)
    for piece in pieces:
        line.add(piece)
    assert line.text == text
