"""Labels of the editor's choices."""

from collections.abc import Iterable

from refinement.engine.types import (
    Composite,
    EvaluationMode,
    FeedbackStyle,
    Handover,
    NextBase,
    ProblemClass,
    Role,
    Severity,
    StopReason,
)
from refinement.selectors.rubrics.context_tables import ROLE_LABELS

COMPOSITES = {
    Composite.WEIGHTED_MEAN: "Weighted mean",
    Composite.PLAIN_MEAN: "Plain mean (weights are ignored)",
}
NEXT_BASES = {
    NextBase.PREVIOUS: "The previous round",
    NextBase.ORIGINAL: "The original prompt, with the feedback appended",
    NextBase.LATEST_OR_BEST: "The latest round; the best one after a drop in score",
}
FEEDBACK_STYLES = {
    FeedbackStyle.ISSUES: "The judge's list of issues",
    FeedbackStyle.FAILURES: "Failed checks by severity, with suggestions",
    FeedbackStyle.ASI: "One suggested change: the one that would help most",
}
PROBLEM_CLASSES = {
    ProblemClass.TEXT: "Text: prose",
    ProblemClass.CODE: "Code: something that can be tested",
    ProblemClass.PIPELINE: "Pipeline: several steps that produce a result together",
}
EVALUATION_MODES = {
    EvaluationMode.JUDGE_ONLY: "Judge only",
    EvaluationMode.RUNNABLE: "Judge, scoring by a command's output",
    EvaluationMode.HYBRID: "Both: the judge's own reading and a command's output",
}
HANDOVERS = {
    Handover.FILE: "As a file; {file} in the command is replaced by its path",
    Handover.STDIN: "On standard input",
}
SEVERITIES = {
    Severity.ERROR: "Must hold to pass",
    Severity.WARNING: "Only warns",
    Severity.INFO: "Only informs",
}
# When each rule ends a run. Their names are shared with other pages.
STOP_RULES = {
    StopReason.PASSED: "The score reaches the pass mark, and every check that must hold does.",
    StopReason.PERFECT_SCORE: "The score reaches the perfect score, and every check that must hold does.",
    StopReason.SCORE_REGRESSION: "The round ranks below the previous one.",
    StopReason.NO_IMPROVEMENT: "The round gained less than the minimum gain.",
    StopReason.UNCHANGED: "The writer returned the text of the previous round, or nearly so.",
    StopReason.CYCLING: "Every criterion has the same score as in the previous round.",
    StopReason.PLATEAU: "None of the last rounds ranks above the best one before them.",
    StopReason.MAX_ROUNDS: "The maximum number of rounds is reached.",
}
# Rules with the same condition under another name, which runs of the Ralph profile report.
TWINS = {
    StopReason.PASSED: StopReason.QUALITY_THRESHOLD_MET,
    StopReason.MAX_ROUNDS: StopReason.MAX_ITERATIONS_REACHED,
}
_ORIGINALS = {twin: rule for rule, twin in TWINS.items()}


def stop_rule_help(rule: StopReason) -> str:
    return STOP_RULES[_ORIGINALS.get(rule, rule)]


def distinct_rules(chosen: Iterable[str]) -> list[StopReason]:
    """The rules in order; of two with the same condition only the first."""
    kept: dict[StopReason, StopReason] = {}
    for name in chosen:
        rule = StopReason(name)
        kept.setdefault(_ORIGINALS.get(rule, rule), rule)
    return list(kept.values())


ROLES = {
    Role.JUDGE: (ROLE_LABELS[Role.JUDGE], "scores a text"),
    Role.PRODUCER: (ROLE_LABELS[Role.PRODUCER], "writes and revises"),
}
TEMPLATE_HELP = {
    "judge": "Instructions for the judge, before the text.",
    "draft": "Instructions for the writer's first version.",
    "revision": "Instructions for the writer's revisions.",
    "feedback": "How issues, failed checks or the suggested change are presented to the writer.",
}
