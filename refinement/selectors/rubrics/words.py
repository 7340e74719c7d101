"""Descriptions of a rubric's settings for readers who do not know the code."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from refinement.engine.evaluating import command_line
from refinement.engine.kinds import (
    Composite,
    EvaluationMode,
    FeedbackStyle,
    Handover,
    NextBase,
    Severity,
    StopReason,
)
from refinement.engine.noise import usual_gain
from refinement.engine.types import Budget, Check, Criterion, Evaluator, Metric, Policy, Rubric, Scale
from refinement.judging.checks import KINDS, ParameterType
from refinement.selectors.rubrics.definitions import plain

COMPOSITES: Mapping[Composite, str] = {
    Composite.WEIGHTED_MEAN: "Weighted mean: criteria count by their weight.",
    Composite.PLAIN_MEAN: "Plain mean: all criteria count the same.",
}
NEXT_BASES: Mapping[NextBase, str] = {
    NextBase.PREVIOUS: "The previous round.",
    NextBase.ORIGINAL: "The original prompt every time, with the feedback appended.",
    NextBase.LATEST_OR_BEST: "The latest round; after a drop in score, the best one, with a note.",
}
FEEDBACK_STYLES: Mapping[FeedbackStyle, str] = {
    FeedbackStyle.ISSUES: "The judge's list of issues.",
    FeedbackStyle.FAILURES: "Failures by severity, with suggestions.",
    FeedbackStyle.ASI: "One suggested change: the one that would help most.",
}
EVALUATION_MODES: Mapping[EvaluationMode, tuple[str, str]] = {
    EvaluationMode.JUDGE_ONLY: ("Judge only", "A model reads the text; nothing is run."),
    EvaluationMode.RUNNABLE: (
        "Runnable",
        "A command runs the text; the judge sees its output as evidence.",
    ),
    EvaluationMode.HYBRID: ("Hybrid", "The judge reads the text and a command's output."),
}
HANDOVERS: Mapping[Handover, str] = {
    Handover.FILE: "As a file; {file} in the command is replaced by its path",
    Handover.STDIN: "On standard input",
}
SEVERITIES: Mapping[Severity, str] = {
    Severity.ERROR: "Must hold to pass",
    Severity.WARNING: "Only warns",
    Severity.INFO: "Only informs",
}
RULE_NAMES: Mapping[StopReason, str] = {
    StopReason.PASSED: "The text passes",
    StopReason.PERFECT_SCORE: "The score is perfect",
    StopReason.QUALITY_THRESHOLD_MET: "The text passes",
    StopReason.SCORE_REGRESSION: "The score dropped",
    StopReason.NO_IMPROVEMENT: "Too little gain",
    StopReason.CYCLING: "The scores repeat",
    StopReason.UNCHANGED: "The text repeats",
    StopReason.PLATEAU: "The scores level off",
    StopReason.MAX_ROUNDS: "Round limit reached",
    StopReason.MAX_ITERATIONS_REACHED: "Round limit reached",
}
TEMPLATE_LABELS: Mapping[str, str] = {
    "judge": "Judge instructions",
    "draft": "First draft prompt",
    "revision": "Revision prompt",
    "feedback": "Feedback format",
}


@dataclass(frozen=True, slots=True)
class StopRuleLabel:
    """A stop rule's name, and when it stops a run under this rubric."""

    rule: StopReason
    name: str
    sentence: str


@dataclass(frozen=True, slots=True)
class WeighedCriterion:
    """A criterion and its share of the composite."""

    criterion: Criterion
    share: Decimal  # percent

    @property
    def percent(self) -> str:
        return f"{self.share:.0f} %" if self.share == round(self.share) else f"{self.share:.1f} %"


def scale_words(scale: Scale) -> str:
    span = f"{plain(scale.minimum)} to {plain(scale.maximum)}"
    if scale.step is None:
        return f"{span}, decimals allowed"
    return f"{span}, whole numbers" if scale.step == 1 else f"{span} in steps of {plain(scale.step)}"


def pass_mark_label(rubric: Rubric) -> str:
    """The pass mark, or what happens without one."""
    if rubric.policy.pass_threshold is None and rubric.gates is not None:
        return "None. A run passes if every required check and criterion holds."
    if rubric.policy.pass_threshold is None:
        return "None. A run ends as done and returns its best round."
    return f"{plain(rubric.policy.pass_threshold)} or more of {plain(rubric.scale.maximum)}"


def rounds_words(policy: Policy) -> str:
    noun = "round" if policy.max_rounds == 1 else "rounds"
    return f"At most {policy.max_rounds} {noun}"


def budget_words(budget: Budget) -> list[str]:
    """The limits that are set."""
    limits = (
        (budget.tokens, "tokens"),
        (budget.seconds, "seconds of model time"),
        (budget.calls, "calls"),
    )
    return [f"{limit:,} {unit}" for limit, unit in limits if limit is not None]


def stop_rule_labels(rubric: Rubric) -> list[StopRuleLabel]:
    """The rubric's stop rules in order, each with its condition."""
    return [
        StopRuleLabel(rule, rule_name(rule), RULE_SENTENCES[rule](rubric))
        for rule in rubric.policy.stop_rules
    ]


def rule_name(rule: StopReason) -> str:
    return RULE_NAMES[rule]


def _threshold_rule(rubric: Rubric) -> str:
    mark = rubric.policy.pass_threshold
    if mark is None and rubric.gates is not None:
        return "Every required check and criterion holds."
    if mark is None:
        return "Never applies: there is no pass mark."
    return f"The score reaches the pass mark of {plain(mark)}{_without_errors(rubric)}."


def _perfect_rule(rubric: Rubric) -> str:
    perfect = rubric.policy.perfect_score
    if perfect is None:
        return "Never applies: no perfect score is set."
    return f"The score reaches {plain(perfect)}, so nothing is left to improve{_without_errors(rubric)}."


def _without_errors(rubric: Rubric) -> str:
    enforced = any(check.severity is Severity.ERROR for check in rubric.checks)
    return ", and every check that must hold does" if enforced else ""


def _limit_rule(rubric: Rubric) -> str:
    policy = rubric.policy
    if policy.max_rounds == 1:
        return "The only round is judged."
    return f"All {policy.max_rounds} rounds are judged."


def _cycling_rule(rubric: Rubric) -> str:
    return "Every criterion has the same score as in the previous round."


def _regression_rule(rubric: Rubric) -> str:
    return f"{_ranked_by(rubric)} is lower than in the previous round."


def _gain_rule(rubric: Rubric) -> str:
    minimum = rubric.policy.least_gain
    if rubric.policy.goes_by_noise:
        return (
            "The gain over the previous round is within the judge's noise. "
            f"While it is not known: less than {plain(usual_gain(rubric))}."
        )
    if minimum is None:
        return "Never applies: no minimum gain is set."
    return f"The gain over the previous round is less than {plain(minimum)}."


def _plateau_rule(rubric: Rubric) -> str:
    policy = rubric.policy
    more = " by more than the judge's noise, once it is known" if policy.goes_by_noise else ""
    return (
        f"After {policy.plateau_rounds} rounds or more, none of the last "
        f"{policy.plateau_window} is better than the best before them{more}."
    )


def _unchanged_rule(rubric: Rubric) -> str:
    return "The writer returned the text of the previous round, or one with at most 1 % of its words changed."


def _ranked_by(rubric: Rubric) -> str:
    """What ranks rounds first."""
    return "The score" if rubric.primary is None else f"{rubric.primary.name}, or at a tie the score,"


RULE_SENTENCES: Mapping[StopReason, Callable[[Rubric], str]] = {
    StopReason.PASSED: _threshold_rule,
    StopReason.QUALITY_THRESHOLD_MET: _threshold_rule,
    StopReason.PERFECT_SCORE: _perfect_rule,
    StopReason.MAX_ROUNDS: _limit_rule,
    StopReason.MAX_ITERATIONS_REACHED: _limit_rule,
    StopReason.CYCLING: _cycling_rule,
    StopReason.SCORE_REGRESSION: _regression_rule,
    StopReason.NO_IMPROVEMENT: _gain_rule,
    StopReason.PLATEAU: _plateau_rule,
    StopReason.UNCHANGED: _unchanged_rule,
}


def weighed_criteria(rubric: Rubric) -> list[WeighedCriterion]:
    """The criteria with their shares of the composite; all equal under a plain mean."""
    equal = rubric.policy.composite is Composite.PLAIN_MEAN
    weights = [Decimal(1) if equal else criterion.weight for criterion in rubric.criteria]
    total = sum(weights, Decimal(0))
    return [
        WeighedCriterion(criterion, 100 * weight / total)
        for criterion, weight in zip(rubric.criteria, weights, strict=True)
    ]


def check_name(key: str) -> str:
    """A check's name: its key in words."""
    words = key.replace("-", " ").replace("_", " ").strip()
    return f"{words[:1].upper()}{words[1:]}"


def check_label(check: Check) -> str:
    kind = KINDS.get(check.kind)
    return kind.label if kind else check.kind


def parameter_labels(check: Check) -> list[tuple[str, str]]:
    """Label and value of each parameter that is set."""
    known = {entry.name: entry for entry in KINDS[check.kind].parameters} if check.kind in KINDS else {}
    return [
        (
            known[name].label if name in known else name,
            _value_words(value, known[name].type if name in known else None),
        )
        for name, value in check.parameters.items()
        if value is not None and value != ""
    ]


def _value_words(value: object, kind: ParameterType | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and kind is ParameterType.COUNT:
        return f"{value:,}"
    if isinstance(value, (list, tuple)):
        return "\n".join(str(entry) for entry in value)
    if isinstance(value, Mapping):
        return json.dumps(value, indent=2, ensure_ascii=False, default=dict)
    return str(value)


def evaluator_labels(rubric: Rubric) -> list[tuple[str, str]]:
    """The evaluator's command and how it runs; empty without one."""
    evaluator = rubric.evaluator
    if not evaluator.command:
        return []
    by_file = evaluator.handover is Handover.FILE
    given = f"As a file named {evaluator.file_name}." if by_file else "On standard input."
    idle = "" if rubric.runs_a_command else " It does not run: evaluation is by the judge only."
    return [
        ("Evaluator command", f"{command_line(evaluator.command)}{idle}"),
        ("Input", given),
        ("Timeout", f"{evaluator.timeout:,} seconds"),
        *reading_labels(evaluator),
    ]


def reading_labels(evaluator: Evaluator) -> list[tuple[str, str]]:
    """What is read from the command's output, and how often it runs; without what is not set."""
    runs = f"{evaluator.repeat} times per round; the median counts" if evaluator.repeat > 1 else ""
    labels = [
        ("Validation command", command_line(evaluator.validation)),
        ("Repeat", runs),
        ("Metrics", "\n".join(metric_words(metric) for metric in evaluator.metrics)),
        ("Failure patterns", "\n".join(evaluator.failure_patterns)),
    ]
    return [(label, value) for label, value in labels if value]


def metric_words(metric: Metric) -> str:
    """A metric in one line: its name, how it is found, and which direction is better."""
    source = f"pattern {metric.pattern}" if metric.pattern else f"pointer {metric.pointer}"
    return f"{metric.name}: {source}{', lower is better' if metric.lower_is_better else ''}"


def schema_words(schema: Mapping[str, object]) -> str:
    """A JSON schema as indented text with sorted keys, because databases may not keep their order."""
    return json.dumps(schema, indent=2, ensure_ascii=False, sort_keys=True, default=dict) if schema else ""


def penalty_description(rubric: Rubric) -> str:
    """The penalty for invented API names."""
    penalties = rubric.policy.penalties
    if penalties.criterion is None:
        return "No penalty for invented API names."
    name = next(entry.name for entry in rubric.criteria if entry.key == penalties.criterion)
    points = plain(penalties.points)
    return (
        f"Each call in code that looks invented costs {points} "
        f"point{'' if points == '1' else 's'} on {name}, at most {plain(penalties.cap)}."
    )
