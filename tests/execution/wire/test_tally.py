"""The figures that lists show of a run are updated with every judged round."""

from dataclasses import replace

from refinement.engine.profiles import rubric_for
from tests.execution.wire.stage import verdict

PLAIN = rubric_for("wiggum")
RUBRIC = replace(PLAIN, policy=replace(PLAIN.policy, judge_limit_chars=1_000))
INVENTED = "Call it:\n\n```python\nclient.generate_contextual_embedding_chain()\n```\n"


def test_the_trajectory_and_what_was_odd_in_the_rounds(stage):
    long = "A long page about the backups. " * 60
    stage.says(judge=[verdict(RUBRIC, 5), verdict(RUBRIC, 6), verdict(RUBRIC, 7)],
               producer=["A page about the backups.", INVENTED, long])  # fmt: skip
    run = stage.play(RUBRIC)
    assert run.trajectory == [str(each.composite) for each in run.rounds.all()]
    assert len(run.trajectory) == 3
    assert (run.penalty_rounds, run.cut_rounds) == (1, 1)
    assert run.signal_rounds == sum(bool(each.signals) for each in run.rounds.all())
    assert run.title
