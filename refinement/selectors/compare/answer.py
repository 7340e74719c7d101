"""The answer of a comparison in a sentence or two."""

from collections.abc import Sequence

from refinement.engine.scoring import shown
from refinement.models import DecisionKind
from refinement.selectors.compare.figures import shows_no_difference
from refinement.selectors.compare.runs import Side, same_texts
from refinement.selectors.score_words import composite_change


def answer_of(sides: Sequence[Side], *, one_scale: bool) -> str:
    """Which run is better than the baseline, and which texts are the same. The baseline is the first side."""
    groups = same_texts(sides)
    if groups and len(groups[0]) == len(sides):
        both = "Both results are" if len(sides) == 2 else "All results are"
        return f"{both} the identical text. Differences in scores are the judge’s."
    same = [f"{_runs(group)} have identical text." for group in groups]
    return " ".join([*_better(sides, one_scale=one_scale), *same, *_unlike(sides)])


def _unlike(sides: Sequence[Side]) -> list[str]:
    """What keeps the scores from being compared."""
    tasks = len({side.run.task for side in sides}) > 1
    rubrics = len({side.run.rubric_version_id for side in sides}) > 1
    if not tasks and not rubrics:
        return []
    what = "tasks and rubrics" if tasks and rubrics else "tasks" if tasks else "rubrics"
    return [f"Compare with care: the {what} differ."]


def _better(sides: Sequence[Side], *, one_scale: bool) -> list[str]:
    if not one_scale:
        against = [side.run.pk for side in sides if side.run.decision == DecisionKind.REJECTED]
        rejected = [f"People rejected run {number}." for number in against]
        return ["The runs have different scales, so no result is called better.", *rejected]
    base, before = sides[0], sides[0].score
    rivals = [(side.score, side) for side in sides[1:] if side.digest != base.digest]
    scored = [(best, side) for best, side in rivals if best is not None]
    if before is None or not scored:
        return []
    best, top = max(scored, key=lambda entry: entry[0])
    gain = composite_change(best, before, top.rubric.policy.composite_decimals)
    if not gain.startswith("+"):
        return [f"No run scored higher than the baseline, run {base.run.pk}{_but(base)}."]
    if shows_no_difference(base, top, before, best):
        return [f"No difference shown: {gain} against run {base.run.pk} is within the judge's noise."]
    words = shown(best, top.rubric.policy)
    if people := _but(top):
        return [f"Run {top.run.pk} scored highest ({words}, {gain} against run {base.run.pk}){people}."]
    return [f"Run {top.run.pk} scored highest: {words}, {gain} against the baseline, run {base.run.pk}."]


def _but(side: Side) -> str:
    """What people decided about the run, if it is against it."""
    match side.run.decision:
        case DecisionKind.REJECTED:
            return ", but people rejected it"
        case DecisionKind.CHANGES:
            return ", but people requested changes"
    return ""


def _runs(sides: Sequence[Side]) -> str:
    numbers = [str(side.run.pk) for side in sides]
    return f"Runs {', '.join(numbers[:-1])} and {numbers[-1]}"
