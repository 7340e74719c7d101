"""The judge of a run, as it is known at the launch."""

from collections.abc import Sequence

from refinement.engine import types as engine
from refinement.engine.codec import rubric_to_json
from refinement.models import JudgeRecord, PanelJudge, Project, RubricVersion
from refinement.providers.registry import Target
from refinement.services.trust.judges import judge_ensure, judge_key

# Settings of a launch that change what a score means.
SCORING = ("composite", "checks_in_composite", "penalties")


def judge_at_launch(
    *,
    project: Project,
    version: RubricVersion,
    definition: engine.Rubric,
    judge: Target,
    panel: Sequence[PanelJudge] = (),
    create: bool = True,
) -> JudgeRecord | None:
    """The record of who will judge a run by this definition. One query, except for a judge's first run.

    None if no model judges, if the clerk composes a board during the run, which is then its own, if the
    launch changed how the version scores, or if there is none and `create` is off.
    """
    board = definition.judges.mode is engine.JudgeMode.BOARD
    if not definition.criteria or (board and not panel) or not scores_as(version, definition):
        return None
    seats = [
        {"name": row.name, "lens": row.lens, "endpoint": row.endpoint, "model": row.model}
        for row in (panel if board else ())
    ]
    if not create:
        key = judge_key(judge.model, seats)
        return JudgeRecord.objects.filter(rubric_version=version, key=key).first()
    return judge_ensure(
        project=project,
        version=version,
        model=judge.model,
        endpoint=judge.endpoint,
        panel=seats,
    )


def scores_as(version: RubricVersion, definition: engine.Rubric) -> bool:
    """Whether a judgement by the definition means the same as one by the version.

    A launch can change settings and texts, but neither criteria nor checks.
    """
    scale, used = definition.scale, rubric_to_json(definition)
    stored = {"checks_in_composite": False, **version.policy}
    return (
        (scale.minimum, scale.maximum, scale.step)
        == (version.scale_minimum, version.scale_maximum, version.scale_step)
        and all(used["policy"][name] == stored.get(name, used["policy"][name]) for name in SCORING)
        and dict(definition.templates) == version.templates
    )
