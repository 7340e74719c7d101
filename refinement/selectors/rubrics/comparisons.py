"""Two definitions of a rubric side by side, field by field."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from refinement.diffing.passages import WordDiff, word_diff
from refinement.engine.evaluating import command_line
from refinement.engine.kinds import Information
from refinement.engine.panels import PanelJudge
from refinement.engine.types import Check, Criterion, Evaluator, Rubric
from refinement.judging.templating import TEMPLATE_NAMES
from refinement.selectors.rubrics.context_tables import CLASS_LABELS, KIND_LABELS, ROLE_LABELS
from refinement.selectors.rubrics.definitions import plain
from refinement.selectors.rubrics.judge_words import COMPOSED, JUDGE_MODES, ON_PLATEAU, RUNS_MODEL
from refinement.selectors.rubrics.words import (
    COMPOSITES,
    EVALUATION_MODES,
    FEEDBACK_STYLES,
    HANDOVERS,
    NEXT_BASES,
    SEVERITIES,
    TEMPLATE_LABELS,
    check_label,
    metric_words,
    parameter_labels,
    rule_name,
    scale_words,
    schema_words,
)

NOT_SET = "not set"
GAIN_BY_NOISE = "more than the judge's noise"
WHO_JUDGES = "Who judges"


@dataclass(frozen=True, slots=True)
class Field:
    """A setting, formatted. `place` identifies it in other definitions."""

    place: tuple[str, ...]
    group: str
    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A field on both sides; None if a side lacks it."""

    group: str
    label: str
    before: str | None
    after: str | None
    diff: WordDiff | None  # if both sides have text

    @property
    def same(self) -> bool:
        return self.before == self.after


@dataclass(frozen=True, slots=True)
class Comparison:
    changed: tuple[Difference, ...]
    unchanged: tuple[Difference, ...]


def definitions_compared(before: Rubric, after: Rubric) -> Comparison:
    """Every field of both. Criteria and checks are matched by key, judges by name."""
    left = {entry.place: entry for entry in fields_of(before, members_of(after))}
    right = {entry.place: entry for entry in fields_of(after, members_of(before))}
    differences = [_difference(left.get(place), right.get(place)) for place in _places(left, right)]
    return Comparison(
        changed=tuple(entry for entry in differences if not entry.same),
        unchanged=tuple(entry for entry in differences if entry.same),
    )


def _places(
    left: Mapping[tuple[str, ...], Field], right: Mapping[tuple[str, ...], Field]
) -> list[tuple[str, ...]]:
    """All places in the newer side's order; those only in the older one come at the end of their group."""
    order: dict[str, int] = {}
    for entry in (*right.values(), *left.values()):
        order.setdefault(entry.group, len(order))
    places = [*right, *(place for place in left if place not in right)]
    return sorted(places, key=lambda place: order[(right.get(place) or left[place]).group])


def _difference(before: Field | None, after: Field | None) -> Difference:
    known = after or before
    assert known is not None
    was, now = before.value if before else None, after.value if after else None
    comparable = was and now and was != now and NOT_SET not in (was, now)
    diff = word_diff(was or "", now or "") if comparable else None
    return Difference(known.group, known.label, was, now, diff)


def members_of(rubric: Rubric) -> frozenset[tuple[str, str]]:
    """The criteria and checks by group and key, and the judges by name."""
    return frozenset(
        {("Criteria", entry.key) for entry in rubric.criteria}
        | {("Checks", entry.key) for entry in rubric.checks}
        | {(WHO_JUDGES, judge.name) for judge in rubric.judges.panel}
    )


def fields_of(rubric: Rubric, known: frozenset[tuple[str, str]]) -> Iterator[Field]:
    """All settings in page order. Criteria, checks and judges missing in `known` become one field each."""
    for group, entries in (
        ("About", _about(rubric)),
        ("Scoring", _scoring(rubric)),
        ("Loop", _loop(rubric)),
        ("Limits", _limits(rubric)),
        ("Criteria", {"Order": ", ".join(entry.key for entry in rubric.criteria)}),
        ("Checks", {"Order": ", ".join(entry.key for entry in rubric.checks)}),
        (WHO_JUDGES, _judges(rubric)),
        ("Visibility", _context(rubric)),
        ("Prompts", _texts(rubric)),
        ("Calibration example", _calibration(rubric)),
    ):
        yield from (Field((group, label), group, label, value) for label, value in entries.items())
        for key, values in _members(group, rubric):
            if (group, key) not in known:
                yield Field((group, "", key), group, key, _summary(values))
                continue
            yield from (
                Field((group, "", key, name), group, f"{key} · {name}", values[name]) for name in values
            )


def _members(group: str, rubric: Rubric) -> Iterator[tuple[str, dict[str, str]]]:
    """The criteria, checks or judges of a group: keys and settings."""
    if group == "Criteria":
        yield from ((entry.key, _criterion(entry)) for entry in rubric.criteria)
    elif group == "Checks":
        yield from ((entry.key, _check(entry)) for entry in rubric.checks)
    elif group == WHO_JUDGES:
        yield from ((judge.name, _judge(judge)) for judge in rubric.judges.panel)


def _summary(values: Mapping[str, str]) -> str:
    """A criterion or check as lines of text."""
    return "\n".join(f"{name[:1].upper()}{name[1:]}: {value}" for name, value in values.items() if value)


def _about(rubric: Rubric) -> dict[str, str]:
    return {
        "Name": rubric.name,
        "Purpose": rubric.purpose,
        "Profile": rubric.profile,
        "Kind of work": rubric.artifact_type,
        "Problem class": CLASS_LABELS[rubric.problem_class],
        "Evaluation": EVALUATION_MODES[rubric.evaluation_mode][0],
        **_evaluator(rubric.evaluator),
    }


def _evaluator(evaluator: Evaluator) -> dict[str, str]:
    return {
        "Evaluator command": command_line(evaluator.command),
        "Evaluator input": HANDOVERS[evaluator.handover],
        "Evaluator file": evaluator.file_name,
        "Evaluator timeout, in seconds": str(evaluator.timeout),
        "Evaluator runs per round": str(evaluator.repeat),
        "Validation command": command_line(evaluator.validation),
        "Metrics": "\n".join(metric_words(metric) for metric in evaluator.metrics),
        "Failure patterns": "\n".join(evaluator.failure_patterns),
    }


def _scoring(rubric: Rubric) -> dict[str, str]:
    policy = rubric.policy
    return {
        "Scale": scale_words(rubric.scale),
        "Score": COMPOSITES[policy.composite],
        "Checks count in the composite": _yes(policy.checks_in_composite),
        "Pass mark": _number(policy.pass_threshold),
        "Perfect score": _number(policy.perfect_score),
        "Primary criterion decides first": _yes(policy.primary_first),
        "Decimals shown": str(policy.composite_decimals),
    }


def _loop(rubric: Rubric) -> dict[str, str]:
    policy = rubric.policy
    return {
        "Rounds": str(policy.max_rounds),
        "Stop rules, in order": "\n".join(rule_name(rule) for rule in policy.stop_rules),
        "Smallest gain": GAIN_BY_NOISE if policy.goes_by_noise else _number(policy.least_gain),
        "Plateau": f"after {policy.plateau_rounds}, looking at the last {policy.plateau_window}",
        "On a plateau": ON_PLATEAU[policy.on_plateau],
        "Next revision starts from": NEXT_BASES[policy.next_base],
        "Feedback": FEEDBACK_STYLES[policy.feedback],
    }


def _limits(rubric: Rubric) -> dict[str, str]:
    policy, penalties, budget = rubric.policy, rubric.policy.penalties, rubric.policy.budget
    return {
        "Judge's limit, in characters": f"{policy.judge_limit_chars:,}",
        "Sources in a prompt, in characters": f"{policy.source_limit_chars:,}",
        "Writer's limit, in tokens": f"{policy.producer_tokens:,}",
        "Writer temperature": plain(policy.producer_temperature),
        "Token budget": _number(budget.tokens),
        "Time budget, in seconds": _number(budget.seconds),
        "Call budget": _number(budget.calls),
        "Penalty for invented names on": penalties.criterion or NOT_SET,
        "Points each": plain(penalties.points),
        "Maximum points": plain(penalties.cap),
        "Known objects": ", ".join(penalties.allowed_objects),
    }


def _criterion(entry: Criterion) -> dict[str, str]:
    return {
        "name": entry.name,
        "weight": plain(entry.weight),
        "primary": _yes(entry.primary),
        "description": entry.description,
        "top of the scale": entry.ideal,
    }


def _check(entry: Check) -> dict[str, str]:
    parameters = {label.lower(): value for label, value in parameter_labels(entry)}
    return {
        "kind": check_label(entry),
        "severity": SEVERITIES[entry.severity],
        "weight": plain(entry.weight),
        "suggestion": entry.suggestion,
        **parameters,
    }


def _judges(rubric: Rubric) -> dict[str, str]:
    judges = rubric.judges
    return {
        "Judges": JUDGE_MODES[judges.mode][0],
        "Judges on the board": ", ".join(judge.name for judge in judges.panel) or COMPOSED,
        "Deliberation": "On" if judges.deliberation else "Off",
        "Clerk's model": judges.clerk or RUNS_MODEL,
    }


def _judge(judge: PanelJudge) -> dict[str, str]:
    return {"lens": judge.lens, "model": judge.model or RUNS_MODEL}


def _context(rubric: Rubric) -> dict[str, str]:
    return {label: _kinds(rubric.context.allowed(role)) for role, label in ROLE_LABELS.items()}


def _kinds(allowed: frozenset[Information]) -> str:
    return "\n".join(KIND_LABELS[kind][0] for kind in Information if kind in allowed)


def _texts(rubric: Rubric) -> dict[str, str]:
    own = {TEMPLATE_LABELS.get(name, name): rubric.templates.get(name, "Default") for name in TEMPLATE_NAMES}
    return {
        "Background": rubric.background,
        "Output contract": rubric.output_contract,
        "Output schema": schema_words(rubric.output_schema),
        "Output pattern": rubric.output_pattern,
        "Required to pass": "\n".join(
            f"{', '.join(gate.keys)}: {plain(gate.threshold)}" for gate in rubric.gates or ()
        ),
        "Search space": rubric.search_space,
        **own,
    }


def _calibration(rubric: Rubric) -> dict[str, str]:
    scores = {f"Score of {key}": plain(score) for key, score in rubric.calibration_scores.items()}
    return {"Text": rubric.calibration_text, **scores}


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"


def _number(value: int | Decimal | None) -> str:
    # 9 and 9.0 are the same pass mark.
    return NOT_SET if value is None else f"{Decimal(value).normalize():,f}"


def comparable(before: Rubric, after: Rubric) -> bool:
    """Whether scores under both definitions mean the same: same criteria, weights, scale and rules."""
    return _what_scores_mean(before) == _what_scores_mean(after)


def _what_scores_mean(rubric: Rubric) -> tuple[object, ...]:
    policy = rubric.policy
    criteria = {(entry.key, entry.description, entry.ideal, entry.weight) for entry in rubric.criteria}
    checks = rubric.checks if policy.checks_in_composite else None
    return criteria, rubric.scale, policy.composite, policy.penalties, checks
