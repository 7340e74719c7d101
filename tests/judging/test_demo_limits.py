"""Limits for the demo model."""

from dataclasses import replace

import pytest

from refinement.engine.profiles import rubric_for
from refinement.engine.types import History, OnPlateau, Round
from refinement.judging.context import Brief, judge_view
from refinement.judging.demo_limits import JUDGE_CHARS, WRITER_TOKENS, limited_for_demo
from refinement.judging.prompts import judge_prompt
from refinement.judging.schema import reply_limit_tokens
from refinement.providers.context import CHARS_PER_TOKEN, TEMPLATE_TOKENS, text_size
from refinement.providers.embedded import LONGEST_CONTEXT

QUOTED_ONCE = 5_500  # an unreadable reply, the complaint and the shape


@pytest.mark.parametrize("profile", ["wiggum", "simmer", "ralph"])
def test_the_judge_of_two_long_texts_has_room_for_its_reply_asked_twice(profile):
    wiggum = rubric_for("wiggum")
    rubric = limited_for_demo(
        replace(rubric_for(profile), criteria=wiggum.criteria), writes=True, judges=True
    )
    brief = Brief("Write a guide. " * 20, rubric, "0123456789ab", "word " * 4_000)
    history = History((Round(1, "word " * 4_000), Round(2, "text " * 4_000)))
    prompt = judge_prompt(judge_view(brief, history, 2))
    chars = sum(text_size(message.content) for message in prompt.messages) + QUOTED_ONCE
    assert chars // CHARS_PER_TOKEN + TEMPLATE_TOKENS + reply_limit_tokens(rubric) <= LONGEST_CONTEXT


def test_only_what_the_demo_model_does_is_limited():
    rubric = rubric_for("simmer")
    assert limited_for_demo(rubric, writes=False, judges=False) is rubric
    writer = limited_for_demo(rubric, writes=True, judges=False).policy
    judge = limited_for_demo(rubric, writes=False, judges=True).policy
    assert (writer.producer_tokens, writer.judge_limit_chars) == (
        WRITER_TOKENS, rubric.policy.judge_limit_chars,
    )  # fmt: skip
    assert (judge.producer_tokens, judge.judge_limit_chars) == (rubric.policy.producer_tokens, JUDGE_CHARS)
    assert judge.on_plateau is OnPlateau.STOP


def test_a_lower_limit_stays():
    policy = rubric_for("wiggum").policy
    rubric = replace(rubric_for("wiggum"), policy=replace(policy, producer_tokens=100, judge_limit_chars=500))
    limited = limited_for_demo(rubric, writes=True, judges=True)
    assert (limited.policy.producer_tokens, limited.policy.judge_limit_chars) == (100, 500)
