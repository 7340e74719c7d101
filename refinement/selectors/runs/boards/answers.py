"""What each judge of a board said, as plain values for the API, reports and files."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from refinement.engine.types import Stance
from refinement.models import BoardVerdict, PanelJudge, Round, Run


def answers_by_round(rounds: Sequence[Round]) -> dict[int, list[BoardVerdict]]:
    """The judges' answers by the rounds' keys, each with its judge. One query, none without a board."""
    # A board's round that is not judged yet has no spread.
    keys = [row.pk for row in rounds if row.spread is not None or row.judged_at is None]
    if not keys:
        return {}
    found: dict[int, list[BoardVerdict]] = {}
    for answer in BoardVerdict.objects.filter(round__in=keys).select_related("judge").order_by("seat"):
        found.setdefault(answer.round_id, []).append(answer)
    return found


def model_name(judge: PanelJudge) -> str:
    return f"{judge.endpoint}/{judge.model}"


def scores_by_key(entries: Sequence[dict[str, Any]]) -> dict[str, str]:
    return {entry["key"]: entry["score"] for entry in entries}


def revised_scores(answer: BoardVerdict) -> dict[str, str] | None:
    """The judge's scores after the deliberation by criterion; None if it has not deliberated.

    Only a concession changes a score.
    """
    if not answer.stances:
        return None
    conceded = [entry for entry in answer.stances if entry["stance"] == Stance.CONCEDE]
    return scores_by_key(answer.scores) | scores_by_key(conceded)


PANEL_FIELDS = ("seat", "name", "lens", "endpoint", "model", "by_clerk")
ANSWER_FIELDS = (
    "seat", "scores", "issues", "asi", "contract_violation", "problem", "seen_chars", "scored_at", "stances",
    "stances_problem", "deliberated_at",
)  # fmt: skip


def panel_values(run: Run) -> list[dict[str, Any]]:
    """The run's panel for its JSON document."""
    return [{name: getattr(row, name) for name in PANEL_FIELDS} for row in run.panel.all()]


def answer_values(answer: BoardVerdict) -> dict[str, Any]:
    """A judge's answers for the JSON document. Its name and lens are those of its seat in the panel."""
    return {name: getattr(answer, name) for name in ANSWER_FIELDS}


def judge_report(answer: BoardVerdict) -> dict[str, Any]:
    """A judge's answers for scripts; scores are numbers."""
    revised = revised_scores(answer)
    return {
        "name": answer.judge.name,
        "model": model_name(answer.judge),
        "scores": numbers(scores_by_key(answer.scores)),
        "revised": None if revised is None else numbers(revised),
        "asi": answer.asi,
        "problem": answer.problem,
    }


def numbers(scores: dict[str, str]) -> dict[str, float]:
    """For display and scripts; never used for decisions."""
    return {key: float(Decimal(score)) for key, score in scores.items()}
