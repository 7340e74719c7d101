"""The answer of a comparison in a sentence or two."""

from collections.abc import Sequence
from decimal import Decimal

from refinement.engine.scoring import shown
from refinement.engine.types import Outcome
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
    end = [*_failed(sides, top), _noise(base, top, before, best)]
    if people := _but(top):
        return [f"Run {top.run.pk} scored highest ({words}, {gain} against run {base.run.pk}){people}.", *end]
    return [
        f"Run {top.run.pk} scored highest: {words}, {gain} against the baseline, run {base.run.pk}.",
        *end,
    ]


def _failed(sides: Sequence[Side], top: Side) -> list[str]:
    """That the highest run is no PASS, if it failed."""
    if top.run.outcome != Outcome.FAIL:
        return []
    if all(side.run.outcome == Outcome.FAIL for side in sides):
        return ["Both runs ended in FAIL." if len(sides) == 2 else "All runs ended in FAIL."]
    return [f"Run {top.run.pk} ended in FAIL."]


def _noise(base: Side, top: Side, before: Decimal, best: Decimal) -> str:
    """Whether the judge's noise can explain the difference."""
    if shows_no_difference(base, top, before, best) is not None:
        return "The difference is larger than the judge's noise."
    if base.run.judge_record_id != top.run.judge_record_id:
        return "They were scored with different rubrics or judges, so the scores may not compare."
    return "The judge's noise is not measured, so the difference may be chance."


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
