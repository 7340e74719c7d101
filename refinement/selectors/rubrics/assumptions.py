"""Descriptions of what a preview assumes."""

from collections.abc import Iterator

from refinement.engine.sentences import round_name
from refinement.engine.types import Rubric
from refinement.judging.boards.rehearsal import BoardRehearsal
from refinement.judging.rehearsal import AssumedScores
from refinement.judging.schema import plain
from refinement.selectors.rubrics.rehearsals import PreviewHistory


def typed_assumptions(
    rubric: Rubric, number: int, assumed: AssumedScores, *, has_earlier: bool
) -> Iterator[str]:
    """For typed texts: everything before the candidate is assumed."""
    verdict = verdict_summary(rubric, assumed)
    if number > 1:
        span = "Round 1 is" if number == 2 else f"Rounds 1 to {number - 1} are"
        text = "the text of the earlier rounds" if has_earlier else "the text itself"
        yield f"{span} assumed, with {text} and this verdict: {verdict}."
        yield "The revision assumes the same verdict on the text."
    else:
        yield f"The revision assumes this verdict on the text: {verdict}."


def verdict_summary(rubric: Rubric, assumed: AssumedScores) -> str:
    """The assumed verdict in brief."""
    if not rubric.criteria:
        return "the results of the checks"
    score = f"{plain(assumed.score)} on every criterion"
    count = len(assumed.issues)
    issues = f"{count} issue{'' if count == 1 else 's'}" if count else "no issues"
    return f"{score}, {issues}, {'a direction' if assumed.asi else 'no direction'}"


def borrowed_assumptions(rubric: Rubric, borrowed: PreviewHistory, assumed: AssumedScores) -> Iterator[str]:
    """For a run: what comes from the run, and what is assumed."""
    last = borrowed.history.rounds[-1].number
    span = "round 1" if last == 1 else f"rounds 1 to {last}"
    yield f"The task and the texts come from run {borrowed.run}, {span}; so does the code in the markers."
    if not borrowed.same_version:
        yield (
            "The run used another rubric or version. Its texts and verdicts are shown under this "
            "one, and checks are run again."
        )
    if borrowed.assumed:
        numbers = ", ".join(str(number) for number in borrowed.assumed)
        yield (
            f"Round {numbers} has no verdict yet, or none that fits these criteria. Assumed "
            f"instead: {verdict_summary(rubric, assumed)}."
        )
    if borrowed.began_with_seed:
        yield "The run started from an existing text, so there was no first draft."


def board_assumptions(board: BoardRehearsal | None) -> Iterator[str]:
    """For a board: where its judges and their verdicts come from."""
    if board is None:
        return
    if board.assumes_panel:
        yield "In a run, the clerk composes the board. Here it is the gallery's board for this kind of work."
    if board.assumes_answers:
        yield "Every judge of the board is assumed to have given the same verdict."


def general_assumptions(rubric: Rubric, number: int) -> Iterator[str]:
    """Notes that apply to any text."""
    if number > 1 and rubric.criteria:
        yield f"Where the judge may see the first version, the text of {round_name(1)} is used."
    if number >= rubric.policy.max_rounds:
        last = round_name(rubric.policy.max_rounds)
        yield (
            f"A run with this rubric ends after {last}. There is a revision only if more rounds are "
            "requested."
        )
    yield "Evaluator output is left empty."
