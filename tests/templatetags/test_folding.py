"""Long texts of models on pages."""

import pytest
from django.template import Context, Template

from refinement.templatetags.folding import MOST_CHARS, beginning
from tests.views.rubrics.given import HOSTILE


def folded(text, limit):
    page = Template("{% load folding %}{% folded text limit %}")
    return page.render(Context({"text": text, "limit": limit}))


@pytest.mark.parametrize("length", [0, 10, 100, 125])
def test_what_is_short_or_hardly_longer_stands_as_it_is(length):
    assert folded("x" * length, 100) == f'<div class="text-block" dir="auto">{"x" * length}</div>'


def test_what_is_long_begins_between_two_words_and_opens():
    shown = folded("many words " * 100, 100)
    assert f"{'many words ' * 8}many words…</span>" in shown
    assert "Show all 1,100 characters" in shown
    assert "many words " * 100 in shown
    assert "not shown here" not in shown


def test_what_a_page_has_no_room_for_is_said():
    shown = folded("x" * (MOST_CHARS + 1_234), 100)
    assert "Show all 21,234 characters" in shown
    assert "1,234 more characters are not shown here" in shown
    assert "x" * (MOST_CHARS + 1) not in shown


@pytest.mark.parametrize("limit", [10_000, 5])
def test_it_is_text(limit):
    assert "<script" not in folded(HOSTILE, limit)


@pytest.mark.parametrize(
    ("text", "start"), [("one two three", "one"), ("x" * 90, "x" * 60), (f"a {'x' * 90}", f"a {'x' * 58}")]
)
def test_a_word_without_end_is_cut(text, start):
    assert beginning(text, 6 if " two" in text else 60) == start
