"""What a preview had to assume, in sentences."""

from collections.abc import Iterator

from refinement.engine.sentences import round_name
from refinement.engine.types import Rubric
from refinement.judging.context import Brief
from refinement.judging.rehearsal import AssumedScores
from refinement.judging.schema import plain
from refinement.selectors.rubrics.rehearsals import Borrowed


def typed_words(rubric: Rubric, number: int, assumed: AssumedScores, *, has_earlier: bool) -> Iterator[str]:
    """Of texts that were typed: everything before the candidate is made up."""
    verdict = verdict_words(rubric, assumed)
    if number > 1:
        span = "Round 1 is" if number == 2 else f"Rounds 1 to {number - 1} are"
        text = "the text of the rounds before" if has_earlier else "the candidate's own text"
        yield f"{span} assumed, with {text} and this verdict: {verdict}."
        yield "The revision assumes the same verdict on the candidate."
    else:
        yield f"The revision assumes this verdict on the candidate: {verdict}."


def verdict_words(rubric: Rubric, assumed: AssumedScores) -> str:
    """The assumed verdict in brief."""
    if not rubric.criteria:
        return "what the checks find"
    score = f"{plain(assumed.score)} on every criterion"
    count = len(assumed.issues)
    issues = f"{count} issue{'' if count == 1 else 's'}" if count else "no issues"
    return f"{score}, {issues}, {'a direction' if assumed.asi else 'no direction'}"


def borrowed_words(rubric: Rubric, borrowed: Borrowed, assumed: AssumedScores) -> Iterator[str]:
    """Of a run: what is its own, and what is not."""
    last = borrowed.history.rounds[-1].number
    span = "round 1" if last == 1 else f"rounds 1 to {last}"
    yield f"Task and texts are those of run {borrowed.run}, {span}; so is the code in the marks."
    if not borrowed.same_version:
        yield (
            "The run used another rubric or another version; its texts and verdicts are put under this "
            "one, with checks carried out anew."
        )
    if borrowed.assumed:
        numbers = ", ".join(str(number) for number in borrowed.assumed)
        yield (
            f"Round {numbers} has no verdict yet, or none that fits these criteria; this one is assumed: "
            f"{verdict_words(rubric, assumed)}."
        )
    if borrowed.began_with_seed:
        yield "The run began from a text that was given, so it asked for no first draft."


def closing_words(rubric: Rubric, brief: Brief, number: int) -> Iterator[str]:
    """What holds whatever the texts are."""
    if number > 1 and rubric.criteria:
        whose = "this rubric's seed" if brief.calibration else f"the text of {round_name(rubric, 1)}"
        yield f"Where the judge may see a seed, it is {whose}."
    if number >= rubric.policy.max_rounds:
        last = round_name(rubric, rubric.policy.max_rounds)
        yield f"A run with this rubric ends after {last}; a revision comes only if more rounds are asked for."
    yield "No evaluator output and no notes on what was tried are assumed."
