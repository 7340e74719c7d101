"""What figures mean: how much evidence there is, and how a judge compares with people."""

from refinement.selectors.trust.words import AS_GOOD, COMPARES, FIRST, GATES, LEAST_ALPHA
from refinement.statistics.agreement.bootstrap import Figure
from refinement.statistics.agreement.judges import JudgeFigures


def evidence(labels: int) -> str:
    """What figures from this many labelled texts are enough for."""
    if not labels:
        return "none"
    if labels < FIRST:
        return "not_enough"
    if labels < GATES:
        return "usable"
    return "may_gate" if labels < COMPARES else "compares"


def standing(found: JudgeFigures) -> str:
    """How the judge stands on one criterion.

    - `not_enough`: fewer than 30 texts have scores by both sides.
    - `not_measurable`: people do not agree with each other.
    - `not_usable`: its kappa may be 0, which is what a constant score reaches.
    - `below_people`: it agrees less with a person than another person does, by more than chance.
    - `as_people`: its kappa is shown to be at most 0.1 below that of people with each other.
    - `unclear`: neither is shown.
    - `unknown`: no text has scores by two people.
    """
    if people_disagree(found):
        return "not_measurable"
    if found.items < FIRST:
        return "not_enough"
    kappa = found["kappa"]
    if kappa is None or kappa.low is None or kappa.low <= 0:
        return "not_usable"
    if found["against_people"] is None:
        return "unknown"
    return {True: "below_people", False: "as_people", None: "unclear"}[worse_than_people(found)]


def people_disagree(found: JudgeFigures) -> bool:
    """Whether alpha is too low, over enough texts to say so."""
    alpha = found["alpha"]
    return alpha is not None and found.alpha_items >= FIRST and alpha.value <= LEAST_ALPHA


def worse_than_people(found: JudgeFigures) -> bool | None:
    """Whether the judge agrees less with a person than people do with each other.

    None if neither is shown, or if people do not agree with each other.
    """
    apart: Figure | None = found["against_people"]
    if found.items < FIRST or people_disagree(found) or apart is None:
        return None
    if apart.low is None or apart.high is None:
        return None
    if apart.high < 0:
        return True
    return False if apart.low > -AS_GOOD else None
