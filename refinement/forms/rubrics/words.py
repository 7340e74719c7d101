"""The words in which the editor offers every choice of the engine."""

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
    Composite.WEIGHTED_MEAN: "Weighted mean: weights count",
    Composite.PLAIN_MEAN: "Plain mean: weights are ignored",
}
NEXT_BASES = {
    NextBase.PREVIOUS: "The version before it",
    NextBase.ORIGINAL: "The original prompt, with the feedback added",
    NextBase.LATEST_OR_BEST: "The latest version; the best one if the score fell",
}
FEEDBACK_STYLES = {
    FeedbackStyle.ISSUES: "The list of issues that the judge found",
    FeedbackStyle.FAILURES: "The failed checks, the worst first, with their suggestions",
    FeedbackStyle.ASI: "One direction: what would help the most",
}
PROBLEM_CLASSES = {
    ProblemClass.TEXT: "Text: prose that is read and judged",
    ProblemClass.CODE: "Code: something that can be tested",
    ProblemClass.PIPELINE: "Pipeline: several steps that together give a result",
}
EVALUATION_MODES = {
    EvaluationMode.JUDGE_ONLY: "The judge alone",
    EvaluationMode.RUNNABLE: "The judge, with the output of a command as evidence",
    EvaluationMode.HYBRID: "Both: a command's output where there is one, the judge always",
}
HANDOVERS = {
    Handover.FILE: "As a file: its path stands where the command says {file}",
    Handover.STDIN: "On its standard input",
}
SEVERITIES = {
    Severity.ERROR: "Error: must be put right",
    Severity.WARNING: "Warning: should be put right",
    Severity.INFO: "Info: worth knowing",
}
# When each rule ends a run; their names are those of every other page.
STOP_RULES = {
    StopReason.PASSED: "The composite has reached the pass mark.",
    StopReason.PERFECT_SCORE: "The composite has reached the perfect score.",
    StopReason.QUALITY_THRESHOLD_MET: (
        "The same test as “the text passes”. Runs of the Ralph profile give this reason."
    ),
    StopReason.SCORE_REGRESSION: "The composite is lower than in the round before.",
    StopReason.NO_IMPROVEMENT: "The composite rose by less than the smallest gain set above.",
    StopReason.CYCLING: "Every criterion got the same score as in the round before.",
    StopReason.PLATEAU: "The last few rounds brought nothing better than the rounds before them.",
    StopReason.MAX_ROUNDS: "The limit of rounds set above is reached.",
    StopReason.MAX_ITERATIONS_REACHED: (
        "The same limit as “all rounds are used”. Runs of the Ralph profile give this reason."
    ),
}
ROLES = {
    Role.JUDGE: (ROLE_LABELS[Role.JUDGE], "scores a candidate"),
    Role.PRODUCER: (ROLE_LABELS[Role.PRODUCER], "writes and revises"),
    Role.REFLECT: (ROLE_LABELS[Role.REFLECT], "looks back over the rounds"),
}
TEMPLATE_HELP = {
    "judge": "What the judge is told before it sees the text.",
    "draft": "What the producer is told when it writes the first version.",
    "revision": "What the producer is told when it revises.",
    "feedback": "How issues, failed checks or the one direction are put to the producer.",
}
