"""The feedback to the producer after a round. It contains no computed scores, and it is never empty."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import Decimal

from refinement.engine.types import (
    Assessment,
    CheckResult,
    CriterionScore,
    Feedback,
    FeedbackStyle,
    Rubric,
    Severity,
)

# Contains no evaluator output, which the producer must not see. The judge names the cause.
FAILED_COMPLETELY = (
    "When this version was tried, it failed completely. Put the cause right before anything else."
)
CONTRACT_VIOLATED = "This version violates the output contract. {} Put this right before anything else."
NOTHING_NAMED = "No single problem was named. Strengthen the weakest part of the text."
INVENTED_NAMES = "invented-names"
MOST_NAMES = 20


def feedback_from(rubric: Rubric, number: int, assessment: Assessment, note: str) -> Feedback:
    """The feedback for the producer in the policy's style.

    Failed checks and invented names are part of it in every style. A judge that named no problem is
    represented by its improvements, or else by its reasoning.
    """
    style = rubric.policy.feedback
    note = " ".join(texts_once((note, *failure_notes(assessment))))
    issues = texts_once(issue for verdict in assessment.verdicts for issue in verdict.issues)
    asi = texts_once(verdict.asi for verdict in assessment.verdicts)[:1]
    failures = (*reported(rubric, assessment.failed_checks), *invented(assessment))
    if style is FeedbackStyle.ISSUES:
        issues, asi = issues or asi or remarks(rubric, assessment), ()
    elif style is FeedbackStyle.ASI:
        issues = () if asi else (issues or remarks(rubric, assessment))[:1]
    else:
        failures = (*failures, *shortfalls(rubric, assessment, alone=not failures and not issues))
        issues, asi = issues if failures else issues or asi, ()
    if not issues and not asi and not failures:
        issues = (NOTHING_NAMED,)
    return Feedback(style, number, issues=issues, asi="".join(asi), failures=failures, note=note)


def reported(rubric: Rubric, failed: Iterable[CheckResult]) -> tuple[CheckResult, ...]:
    """The failed checks. Only an eval's, which have gates, quote what was expected and what came.

    Elsewhere the message and the suggestion say it, and the quote would bring the rejected text back into a
    prompt that starts over without it.
    """
    if rubric.gates is not None:
        return tuple(failed)
    return tuple(replace(result, expected="", actual="") for result in failed)


def failure_notes(assessment: Assessment) -> Iterator[str]:
    """What the producer must fix first: why the round's scores are all at the minimum."""
    if assessment.evaluator is not None and assessment.evaluator.failure:
        yield FAILED_COMPLETELY
    if assessment.contract_violation:
        yield CONTRACT_VIOLATED.format(assessment.contract_violation)


def texts_once(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts that are not blank, each once, unchanged."""
    return tuple(dict.fromkeys(text for text in texts if text.strip()))


def invented(assessment: Assessment) -> tuple[CheckResult, ...]:
    """The invented names that were penalised, as one failure."""
    names = texts_once(name for penalty in assessment.penalties for name in penalty.names)
    if not names:
        return ()
    calls = ", ".join(f"`{name}()`" for name in names[:MOST_NAMES])
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return (
        CheckResult(
            INVENTED_NAMES,
            passed=False,
            message=f"These calls look invented: {calls}{more}.",
            suggestion="Use names that exist in the library, or describe the step in words.",
        ),
    )


def shortfalls(rubric: Rubric, assessment: Assessment, *, alone: bool) -> tuple[CheckResult, ...]:
    """The criteria that fell short, as failures: each with its improvement, or else its reasoning.

    A criterion falls short below the pass threshold (see `Rubric.mark_of`). If nothing else failed
    (`alone`) and all reach it, those below the top of the scale do.
    """
    short = failed_criteria(assessment, rubric.mark_of, Severity.ERROR)
    if short or not alone:
        return short
    return failed_criteria(assessment, lambda key: rubric.scale.maximum, Severity.INFO)


def failed_criteria(
    assessment: Assessment, mark_of: Callable[[str], Decimal], severity: Severity
) -> tuple[CheckResult, ...]:
    return tuple(
        CheckResult(entry.key, passed=False, message=message, severity=severity)
        for entry in below(assessment, mark_of)
        for message in texts_once((entry.improvement, entry.reasoning))[:1]
    )


def remarks(rubric: Rubric, assessment: Assessment) -> tuple[str, ...]:
    """The judge's improvements, or else its reasoning, the lowest criterion first.

    Criteria at the top of the scale are used only if the others have no text.
    """
    entries = below(assessment, lambda key: rubric.scale.maximum)
    for chosen in (entries, stated(assessment)):
        for text_of in TEXTS:
            if texts := texts_once(map(text_of, chosen)):
                return texts
    return ()


def below(assessment: Assessment, mark_of: Callable[[str], Decimal]) -> list[CriterionScore]:
    """What the judges said about the criteria whose final score is below its mark, the lowest first."""
    short = [entry for entry in stated(assessment) if assessment.scores[entry.key] < mark_of(entry.key)]
    return sorted(short, key=lambda entry: assessment.scores[entry.key])


def stated(assessment: Assessment) -> list[CriterionScore]:
    return [entry for verdict in assessment.verdicts for entry in verdict.scores]


def improvement_of(entry: CriterionScore) -> str:
    return entry.improvement


def reasoning_of(entry: CriterionScore) -> str:
    return entry.reasoning


TEXTS: tuple[Callable[[CriterionScore], str], ...] = (improvement_of, reasoning_of)
