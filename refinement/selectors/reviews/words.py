"""Descriptions of review rules."""

from refinement.models import ReviewRule, RuleKind


def rule_label(rule: ReviewRule) -> str:
    """What the rule matches. Its rubric must be loaded."""
    of = f" of {rule.rubric.name}" if rule.rubric else ""
    if rule.kind == RuleKind.FAILED:
        return f"every FAIL{of}"
    if rule.kind == RuleKind.SIGNAL:
        return f"every run{of} whose scores do not follow the changes"
    return f"{rule.percent} % of the runs{of}"
