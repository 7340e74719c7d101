"""Limits for the small demo model, so that a run with it ends with a result.

Its context holds a judge's instructions, two short texts and a reply asked for twice; a longer text or the
verdicts of a board would end the run with an error.
"""

from dataclasses import replace

from refinement.engine.types import OnPlateau, Rubric

WRITER_TOKENS = 400
JUDGE_CHARS = 2_400  # of each text
SOURCE_CHARS = 2_400  # of all sources


def limited_for_demo(rubric: Rubric, *, writes: bool, judges: bool) -> Rubric:
    """The rubric with lower limits where the demo model writes or judges. No limit is raised."""
    policy = rubric.policy
    if writes:
        policy = replace(policy, producer_tokens=min(policy.producer_tokens, WRITER_TOKENS))
    if judges:
        policy = replace(policy, judge_limit_chars=min(policy.judge_limit_chars, JUDGE_CHARS))
        if policy.on_plateau is OnPlateau.BOARD:
            policy = replace(policy, on_plateau=OnPlateau.STOP)
    if writes or judges:
        policy = replace(policy, source_limit_chars=min(policy.source_limit_chars, SOURCE_CHARS))
    return rubric if policy == rubric.policy else replace(rubric, policy=policy)
