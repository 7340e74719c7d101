"""The visibility table: roles against kinds of information, with deviations from the preset."""

from collections.abc import Mapping
from dataclasses import dataclass

from refinement.engine.kinds import Information, ProblemClass, Role
from refinement.engine.profiles import preset_rules
from refinement.engine.types import ContextRules, Rubric
from refinement.judging.context import OFFERED

ROLE_LABELS: Mapping[Role, str] = {
    Role.JUDGE: "Judge",
    Role.PRODUCER: "Writer",
}
CLASS_LABELS: Mapping[ProblemClass, str] = {
    ProblemClass.TEXT: "Text and creative work",
    ProblemClass.CODE: "Code that can be tested",
    ProblemClass.PIPELINE: "Pipelines and engineering",
}
PRESET_LABELS: Mapping[bool, str] = {False: "Without an evaluator", True: "With an evaluator"}
PRESET_REASONS: Mapping[bool, str] = {
    False: "Without an evaluator, the judge gets no history and no earlier advice: each round stands alone.",
    True: "With an evaluator, the judge also gets its output and what was tried before, as evidence.",
}
# Label and description of each kind.
KIND_LABELS: Mapping[Information, tuple[str, str]] = {
    Information.TASK: ("Task", "What the run should produce."),
    Information.CRITERIA: ("Criteria", "What is scored, and what a top score looks like."),
    Information.ROUND_NUMBER: ("Round number", "The current round and the last one."),
    Information.CANDIDATE: ("Text", "The text to judge or revise."),
    Information.BACKGROUND: ("Background", "Facts about readers, product or sources from the rubric."),
    Information.OUTPUT_CONTRACT: ("Required form", "Of the result."),
    Information.SEED: ("First version", "The run's own round 1, from round 2 on."),
    Information.SEED_SCORES: ("First version's scores", "The scores that counted in round 1."),
    Information.CALIBRATION: ("Calibration example", "The rubric's text with known scores, in every round."),
    Information.CALIBRATION_SCORES: ("Calibration scores", "The known scores of the calibration example."),
    Information.SOURCES: ("Sources", "The run's source texts: what the work must be grounded in."),
    Information.EVALUATOR_OUTPUT: ("Evaluator output", "Output of the command that ran the text."),
    Information.FEEDBACK: ("Feedback", "Changes requested in the last verdict, without its scores."),
    Information.PREVIOUS_ASI: ("Previous suggestion", "The change suggested after the previous round."),
    Information.HISTORY: ("History", "One line per earlier round: scores and changes."),
    Information.SEARCH_SPACE: ("Options to try", "What may be tried, and what was tried already."),
    Information.PANEL_SUMMARY: ("Board summary", "What works, what did not, and the board's direction."),
}
# The kinds that at least one role can see.
OFFERED_KINDS = tuple(kind for kind in Information if any(kind in offered for offered in OFFERED.values()))
# Effects of showing a role something that its preset hides, or the other way round.
ADDED: Mapping[Information, str] = {
    Information.BACKGROUND: "It can check facts against it, but may score the background as well.",
    Information.EVALUATOR_OUTPUT: "Its scores will follow the command's output.",
    Information.PREVIOUS_ASI: "It can tell whether its advice was followed, and may reward just that.",
    Information.HISTORY: "It can see a trend, and its scores tend to stay near the earlier ones.",
    Information.SEARCH_SPACE: "Its advice can name what is untried.",
    Information.PANEL_SUMMARY: "It knows what the board said before, and tends to repeat it.",
    Information.SEED: "It can compare with it, and its scores tend to stay near those of round 1.",
    Information.SEED_SCORES: "Its own scores tend to stay near them.",
}
REMOVED: Mapping[Information, str] = {
    Information.TASK: "It does not know the task.",
    Information.CRITERIA: "It does not know what is scored.",
    Information.ROUND_NUMBER: "It does not know how many rounds are left.",
    Information.CANDIDATE: "It does not see the text itself.",
    Information.BACKGROUND: "It has only the task to work from.",
    Information.OUTPUT_CONTRACT: "It does not know the required form of the result.",
    Information.SEED: "It has no text to compare later rounds with.",
    Information.SEED_SCORES: "It does not know how round 1 was scored.",
    Information.CALIBRATION: "It has no example of how the scale is used.",
    Information.CALIBRATION_SCORES: "It has no known scores to compare its own with.",
    Information.SOURCES: "It cannot check or take facts from the run's source texts.",
    Information.EVALUATOR_OUTPUT: "It judges without the measurements.",
    Information.FEEDBACK: "It revises without knowing what to change.",
    Information.PREVIOUS_ASI: "It may give the same advice again.",
    Information.HISTORY: "It cannot see a trend.",
    Information.SEARCH_SPACE: "It does not know what may be tried.",
    Information.PANEL_SUMMARY: "It may retry what did not work.",
}


@dataclass(frozen=True, slots=True)
class ContextCell:
    """Whether a role sees a kind of information, and whether that is the preset."""

    role: Role
    kind: Information
    offered: bool  # whether the role can see this kind at all
    allowed: bool
    preset: bool
    explanation: str = ""  # the effect of deviating from the preset

    @property
    def departs(self) -> bool:
        return self.offered and self.allowed is not self.preset

    @property
    def name(self) -> str:
        """The cell's form field name, such as `judge-history`."""
        return f"{self.role}-{self.kind}"

    @property
    def state(self) -> str:
        if not self.offered:
            return "never"
        return "seen" if self.allowed else "withheld"

    @property
    def label(self) -> str:
        return "Seen" if self.allowed else "Hidden"


@dataclass(frozen=True, slots=True)
class ContextRow:
    kind: Information
    label: str
    description: str
    cells: tuple[ContextCell, ...]  # in the order of the table's roles


@dataclass(frozen=True, slots=True)
class ContextTable:
    """Rows are kinds, columns are roles. Deviations from the preset are explained."""

    preset_label: str
    preset_reason: str
    roles: tuple[str, ...]
    rows: tuple[ContextRow, ...]

    @property
    def departures(self) -> list[str]:
        """One sentence per deviation from the preset."""
        return [cell.explanation for row in self.rows for cell in row.cells if cell.departs]


def context_table(definition: Rubric) -> ContextTable:
    """The table of a rubric, compared with the preset that applies to it."""
    preset = preset_rules(definition)
    return ContextTable(
        preset_label=PRESET_LABELS[definition.runs_a_command],
        preset_reason=PRESET_REASONS[definition.runs_a_command],
        roles=tuple(ROLE_LABELS.values()),
        rows=tuple(_row(kind, definition.context, preset) for kind in OFFERED_KINDS),
    )


def _row(kind: Information, rules: ContextRules, preset: ContextRules) -> ContextRow:
    label, description = KIND_LABELS[kind]
    cells = tuple(_cell(role, kind, rules, preset) for role in ROLE_LABELS)
    return ContextRow(kind, label, description, cells)


def _cell(role: Role, kind: Information, rules: ContextRules, preset: ContextRules) -> ContextCell:
    offered = kind in OFFERED[role]
    allowed, usual = offered and kind in rules.allowed(role), offered and kind in preset.allowed(role)
    return ContextCell(role, kind, offered, allowed, usual, _explanation(role, kind, allowed, usual))


def _explanation(role: Role, kind: Information, allowed: bool, usual: bool) -> str:
    return "" if allowed is usual else departure_sentence(role, kind, allowed)


def departure_sentence(role: Role, kind: Information, allowed: bool) -> str:
    """A deviation from the preset and its effect."""
    what = KIND_LABELS[kind][0].lower()
    does, usually = ("sees", "hides") if allowed else ("does not see", "shows")
    follows = (ADDED if allowed else REMOVED).get(kind, "")
    if allowed and role is not Role.JUDGE:
        follows = ""  # the effects are written for the judge
    return (
        f"The {ROLE_LABELS[role].lower()} {does} the {what}, which the default {usually}. {follows}".strip()
    )
