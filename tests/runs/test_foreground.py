"""A run in the foreground keeps its lease from the first step to the last, however short the calls."""

from refinement.engine.profiles import rubric_for
from refinement.models import Run
from tests.runs.stage import drafts, verdict

RUBRIC = rubric_for("wiggum")


def test_the_lease_is_renewed_with_every_step(stage):
    stage.says(judge=[verdict(RUBRIC, score) for score in (5, 6, 7)], producer=drafts(3))
    run = stage.launch(RUBRIC)
    until = []
    stage.carry_on(run, on_step=lambda step: until.append(Run.objects.get(pk=run.pk).lease_until))
    assert len(until) == 7
    assert until == sorted(set(until))


def test_the_lease_is_one_and_the_same_throughout(stage):
    stage.says(judge=[verdict(RUBRIC, score) for score in (5, 6, 7)], producer=drafts(3))
    run = stage.launch(RUBRIC)
    holders = set()
    stage.carry_on(
        run,
        on_step=lambda step: holders.add(Run.objects.values_list("lease_owner", "attempt").get(pk=run.pk)),
    )
    assert len(holders) == 1
    assert (run.lease_owner, run.lease_until) == ("", None)
