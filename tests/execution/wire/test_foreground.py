"""A foreground run keeps its lease from the first step to the last, even with short calls."""

from refinement.engine.profiles import rubric_for
from refinement.models import Run
from tests.execution.wire.stage import drafts, verdict

RUBRIC = rubric_for("wiggum")


def test_the_lease_is_renewed_with_every_step(stage):
    stage.says(judge=[verdict(RUBRIC, score) for score in (5, 6, 7)], producer=drafts(3))
    run = stage.launch(RUBRIC)
    until = []
    stage.carry_on(run, on_step=lambda step: until.append(Run.objects.get(pk=run.pk).lease_until))
    *held, over = until
    assert (len(held), over) == (6, None)  # the end is written with the last verdict
    assert held == sorted(set(held))


def test_one_owner_holds_the_run_throughout_and_each_step_is_fenced(stage):
    stage.says(judge=[verdict(RUBRIC, score) for score in (5, 6, 7)], producer=drafts(3))
    run = stage.launch(RUBRIC)
    holders = []
    stage.carry_on(
        run,
        on_step=lambda step: holders.append(Run.objects.values_list("lease_owner", "attempt").get(pk=run.pk)),
    )
    owners, attempts = zip(*holders[:6], strict=True)
    assert len(set(owners)) == 1
    assert attempts == (1, 2, 3, 4, 5, 6)
    assert (run.lease_owner, run.lease_until) == ("", None)
