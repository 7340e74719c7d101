"""Settings that can never take effect, or only at the end of a run, so that the editor can say so."""

from refinement.engine.kinds import Composite, JudgeMode, OnPlateau, StopReason
from refinement.engine.types import Rubric

SUCCESS = {StopReason.PASSED, StopReason.QUALITY_THRESHOLD_MET}


def idle_stopping(rubric: Rubric) -> list[str]:
    """Notes on stop rules that cannot end a run."""
    policy = rubric.policy
    rules = set(policy.stop_rules)
    notes = []
    if rules & SUCCESS and not rubric.decides:
        notes.append("“The text passes” never applies: there is no pass mark.")
    if StopReason.PERFECT_SCORE in rules and policy.perfect_score is None:
        notes.append("“The score is perfect” never applies: no perfect score is set.")
    if StopReason.NO_IMPROVEMENT in rules and policy.minimum_gain is None:
        notes.append("“Too little gain” never applies: no minimum gain is set.")
    return [*notes, *_idle_plateau(rubric)]


def _idle_plateau(rubric: Rubric) -> list[str]:
    policy = rubric.policy
    if StopReason.PLATEAU not in policy.stop_rules:
        if policy.on_plateau is OnPlateau.STOP:
            return []
        return ["“On a plateau” has no effect: the rule “The scores level off” is off."]
    needed, limit = policy.plateau_rounds, policy.max_rounds
    if needed > limit:
        return [f"“The scores level off” never applies: it needs {needed} rounds, and the limit is {limit}."]
    if needed == limit:
        return [
            f"“The scores level off” can apply only after the last round: it needs {needed} rounds, and the "
            f"limit is {limit}. Raise the limit to find a plateau earlier."
        ]
    return []


def idle_scoring(rubric: Rubric) -> list[str]:
    """Notes on scores and weights that are not counted."""
    notes = []
    weights = {criterion.weight for criterion in rubric.criteria}
    if rubric.policy.composite is Composite.PLAIN_MEAN and len(weights) > 1:
        notes.append("Weights have no effect: the plain mean counts all criteria the same.")
    if rubric.policy.primary_first and rubric.criteria and rubric.primary is None:
        notes.append("No criterion is primary, so rounds are compared by the score alone.")
    return notes


def idle_judges(rubric: Rubric) -> list[str]:
    """Notes on a panel that never judges."""
    single = rubric.judges.mode is JudgeMode.SINGLE
    escalates = rubric.policy.on_plateau is not OnPlateau.STOP and (
        StopReason.PLATEAU in rubric.policy.stop_rules
    )
    if rubric.judges.panel and single and not escalates:
        return ["The board has no effect: a single judge scores every round."]
    return []
