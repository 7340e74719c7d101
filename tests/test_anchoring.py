"""A quoted passage is found again: unchanged, moved, rendered or slightly changed; otherwise not."""

import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refinement.anchoring import (
    AROUND,
    MOST_ALIKE_TEXT,
    Passage,
    Quotation,
    line_of,
    passage_of,
    quotation_at,
)

SOURCE = """# Deploying the ingest service

The service runs as **ingest 2.4** in a container on port `8080` and reads [its settings](https://example.org/a)
from four environment variables.

1. Set `INGEST_DB` first.
2. Start the container.

| variable | default |
|---|---|
| `INGEST_DB` | none |

```python
start(ingest)
```

Restart it. If that does not help, call the team.

Restart it. If that does not help, call the database's owners.
"""


def found(words: str, text: str = SOURCE, **around) -> str | None:
    passage = passage_of(Quotation(words, **around), text)
    return None if passage is None else text[passage.start : passage.end]


def test_it_is_where_it_was():
    start = SOURCE.rindex("Restart it.")
    assert passage_of(Quotation("Restart it.", start=start), SOURCE) == Passage(start, start + 11)


def test_of_equal_passages_the_surroundings_tell():
    first, second = SOURCE.index("Restart it."), SOURCE.rindex("Restart it.")
    kept = quotation_at(Passage(second, second + 11), SOURCE)
    moved = "Something new at the top.\n\n" + SOURCE
    assert passage_of(kept, moved).start == second + 27
    kept = quotation_at(Passage(first, first + 11), SOURCE)
    assert passage_of(kept, moved).start == first + 27


def test_without_surroundings_the_nearest_is_taken():
    assert passage_of(Quotation("x", start=6), "x abc  x").start == 7
    assert passage_of(Quotation("x", start=2), "x abc  x").start == 0
    assert passage_of(Quotation("x"), "x abc  x").start == 0


@pytest.mark.parametrize(
    ("rendered", "source"),
    [
        ("The service runs as ingest 2.4 in", "The service runs as **ingest 2.4** in"),
        ("on port 8080 and", "on port `8080` and"),
        ("reads its settings from four", "reads [its settings](https://example.org/a)\nfrom four"),
        ("Set INGEST_DB first.\nStart the container", "Set `INGEST_DB` first.\n2. Start the container"),
        ("variable\tdefault\nINGEST_DB\tnone", "variable | default |\n|---|---|\n| `INGEST_DB` | none"),
        ("none\nstart(ingest)", "none |\n\n```python\nstart(ingest"),
        ("Deploying  the\ningest service", "Deploying the ingest service"),
    ],
)
def test_what_is_selected_in_the_rendered_text_is_found_in_its_source(rendered, source):
    assert found(rendered) == source


def test_the_surroundings_of_a_rendered_selection_tell_equal_passages_apart():
    text = "Use **one** tool.\n\nThen use *one* tool again."
    passage = passage_of(Quotation("one", before="Then use ", after=" tool again"), text)
    assert passage.start == text.rindex("one")


def test_a_passage_that_changed_a_little_is_found_and_said_to_be_only_alike():
    later = SOURCE.replace("in a container on port", "inside one container on port")
    words = "in a container on port `8080` and reads [its settings]"
    passage = passage_of(Quotation(words, start=3), later)
    assert passage is not None
    assert not passage.same
    assert "container on port `8080`" in later[passage.start : passage.end]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("An entirely different sentence about whales.", SOURCE),
        ("", SOURCE),
        ("**", "no signs here"),
        ("a container with everything in it, and much more besides", "a container"),
        ("words", ""),
        ("***", ""),
        ("shorter", "short"),
    ],
)
def test_what_is_not_there_is_not_found(words, text):
    assert found(words, text) is None


def test_signs_alone_are_found_as_they_are():
    assert found("|---|---|") == "|---|---|"


def test_a_start_beyond_the_text_is_only_a_hint():
    assert found("Restart", start=10**9) == "Restart"


def test_the_line_is_counted_from_one():
    assert line_of(Passage(0, 1), SOURCE) == 1
    assert line_of(passage_of(Quotation("Start the container"), SOURCE), SOURCE) == 7


def test_little_is_kept_around_it():
    kept = quotation_at(Passage(500, 510), "x" * 1000)
    assert (len(kept.before), len(kept.after), kept.start) == (AROUND, AROUND, 500)


@given(st.text(max_size=300), st.integers(0, 300), st.integers(1, 50))
def test_what_was_kept_from_a_text_is_found_in_it_at_its_place(text, start, length):
    words = text[start : start + length]
    passage = Passage(start, start + len(words))
    if words:
        assert passage_of(quotation_at(passage, text), text) == passage


@given(st.text(max_size=120), st.text(max_size=200), st.integers(0, 10**6))
def test_nothing_that_people_or_models_write_breaks_it(words, text, start):
    passage = passage_of(Quotation(words, start=start), text)
    assert passage is None or 0 <= passage.start < passage.end <= len(text)


def test_a_long_text_takes_a_moment():
    text = "word another thing " * (MOST_ALIKE_TEXT // 20)
    began = time.thread_time()
    assert passage_of(Quotation("a quotation that is not there " * 60), text) is None
    assert passage_of(Quotation("(" * 500 + "](" * 500), "[](" * 100_000) is None
    assert time.thread_time() - began < 10


def test_it_needs_no_django():
    code = "import refinement.anchoring, sys; sys.exit('django' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
