"""The settings that have one field each: their name in the form, place in a definition and limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from refinement.engine.rubrics import LONGEST_EVALUATION
from refinement.forms.rubrics import words

COLUMN_LIMIT = Decimal(99_999)  # what the columns of scale and weights hold
COLUMN_PLACES = 4
KEPT_PLACES = 6
ANY_COUNT = Decimal(1_000_000_000)


class Kind(StrEnum):
    LINE = "line"
    TEXT = "text"
    NUMBER = "number"
    WHOLE = "whole"
    CHOICE = "choice"
    FLAG = "flag"
    WORDS = "words"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Setting:
    """One field; `path` is its place in a definition as JSON, its name in the form the same with hyphens."""

    path: tuple[str, ...]
    label: str
    kind: Kind
    help: str = ""
    required: bool = False
    limit: int = 200  # characters
    low: Decimal | None = None
    high: Decimal | None = None
    places: int = KEPT_PLACES
    choices: Mapping[Any, str] | None = None
    rows: int = 3
    suggestions: str = ""  # the id of a list of values to pick from

    @property
    def name(self) -> str:
        return "-".join(self.path)


def _policy(name: str, label: str, kind: Kind, **more: Any) -> Setting:
    return Setting(("policy", *name.split(".")), label, kind, **more)


def _scale(name: str, label: str, **more: Any) -> Setting:
    limits = {"low": -COLUMN_LIMIT, "high": COLUMN_LIMIT, "places": COLUMN_PLACES}
    return Setting(("scale", name), label, Kind.NUMBER, **{**limits, **more})


def _whole(name: str, label: str, low: int, high: int | Decimal, **more: Any) -> Setting:
    return _policy(name, label, Kind.WHOLE, low=Decimal(low), high=Decimal(high), **more)


ABOUT = (
    Setting(("name",), "Name", Kind.LINE, "What people call this rubric.", required=True, limit=160),
    Setting(
        ("artifact_type",),
        "Kind of work",
        Kind.LINE,
        "What is judged, in a word or two, such as document or email. Prompts use it.",
        limit=40,
        suggestions="artifact-types",
    ),
    Setting(
        ("purpose",),
        "Purpose",
        Kind.TEXT,
        "What this rubric is for, so that others know when to choose it.",
        limit=4_000,
        rows=2,
    ),
)
SCALE = (
    _scale("minimum", "Lowest score", required=True),
    _scale("maximum", "Highest score", required=True),
    _scale(
        "step",
        "Step",
        help="1 for whole numbers only. Empty allows any decimal.",
        low=Decimal("0.0001"),
    ),
)
SCORING = (
    _policy(
        "composite",
        "Composite score",
        Kind.CHOICE,
        required=True,
        choices=words.COMPOSITES,
        help="How the criteria's scores become one number: the composite.",
    ),
    _policy(
        "pass_threshold",
        "Pass mark",
        Kind.NUMBER,
        help="A composite at or above it passes. Empty: a run ends as done, neither passed nor failed.",
    ),
    _policy(
        "perfect_score",
        "Perfect score",
        Kind.NUMBER,
        help="A composite that nothing could better. Often empty.",
    ),
    _policy(
        "minimum_gain",
        "Smallest gain",
        Kind.NUMBER,
        low=Decimal(0),
        high=COLUMN_LIMIT,
        help="How much a round must add to count as better. Used by the rule “it hardly improves”.",
    ),
    _whole("composite_decimals", "Decimals shown", 0, 4, required=True, help="On pages only."),
    _policy(
        "checks_in_composite",
        "Checks count in the composite",
        Kind.FLAG,
        help="On: passed checks count as the highest score, failed ones as the lowest, by their weights.",
    ),
    _policy(
        "primary_first",
        "The primary criterion decides which round is best",
        Kind.FLAG,
        help="On: rounds are compared by it first, and by the composite where it is equal.",
    ),
)
ROUNDS = (
    _whole("max_rounds", "Rounds at most", 1, 100, required=True, help="The first version counts as one."),
    _policy(
        "next_base",
        "A revision starts from",
        Kind.CHOICE,
        required=True,
        choices=words.NEXT_BASES,
    ),
    _policy(
        "feedback",
        "The producer is told",
        Kind.CHOICE,
        required=True,
        choices=words.FEEDBACK_STYLES,
    ),
    _whole(
        "plateau_rounds",
        "Levelling off: rounds needed",
        2,
        100,
        required=True,
        help="The rule “it levels off” looks only after this many rounds.",
    ),
    _whole(
        "plateau_window",
        "Levelling off: rounds compared",
        1,
        99,
        required=True,
        help="The best of the last rounds, this many, must beat the best before them.",
    ),
    _policy(
        "round_word",
        "A round is called",
        Kind.LINE,
        required=True,
        limit=20,
        help="Such as round or iteration.",
    ),
    _whole("first_number", "The first one has the number", 0, 1, required=True, help="0 or 1."),
)
LIMITS = (
    _whole(
        "judge_limit_chars",
        "The judge reads at most (characters)",
        1,
        2_000_000,
        required=True,
        help="Of a longer text it sees the start and the end, and the round says so.",
    ),
    _whole(
        "producer_tokens",
        "Longest reply of the producer (tokens)",
        1,
        1_000_000,
        required=True,
        help="A token is about three quarters of a word.",
    ),
    _policy(
        "producer_temperature",
        "Temperature of the producer",
        Kind.NUMBER,
        required=True,
        low=Decimal(0),
        high=Decimal(2),
        help="How freely it writes: 0 always takes the likeliest word, 1 varies, 2 is wild.",
    ),
)
BUDGETS = (
    _whole("budget.tokens", "Tokens", 1, ANY_COUNT, help="In all calls together. Empty: no limit."),
    _policy(
        "budget.seconds",
        "Seconds of model time",
        Kind.NUMBER,
        low=Decimal("0.001"),
        high=ANY_COUNT,
        help="Time spent waiting for models. Empty: no limit.",
    ),
    _whole("budget.calls", "Calls", 1, 1_000_000, help="How often a model is asked. Empty: no limit."),
)
SAFEGUARDS = (
    _policy(
        "penalties.points",
        "Points for each invented name",
        Kind.NUMBER,
        required=True,
        low=Decimal(0),
        high=COLUMN_LIMIT,
    ),
    _policy(
        "penalties.cap",
        "At most, in a round",
        Kind.NUMBER,
        required=True,
        low=Decimal(0),
        high=COLUMN_LIMIT,
    ),
    _policy(
        "penalties.allowed_objects",
        "Names to trust",
        Kind.WORDS,
        limit=20_000,
        rows=4,
        help="Calls on these objects are never taken for invented, such as np in np.linspace(). "
        "Separate them by commas, spaces or lines.",
    ),
)
CLASSES = (
    Setting(
        ("problem_class",),
        "Problem class",
        Kind.CHOICE,
        "Sets what the table below suggests: who may see what in this sort of work.",
        required=True,
        choices=words.PROBLEM_CLASSES,
    ),
)
EVALUATION = (
    Setting(
        ("evaluation_mode",),
        "Evaluation",
        Kind.CHOICE,
        "What the judge's scores rest on.",
        required=True,
        choices=words.EVALUATION_MODES,
    ),
    Setting(
        ("evaluator", "command"),
        "Command",
        Kind.COMMAND,
        "The program and its arguments, such as python3 /opt/checks/score.py {file}. No shell stands around "
        "it: pipes, redirections and variables have no meaning.",
        limit=4_000,
    ),
    Setting(
        ("evaluator", "handover"),
        "It gets the candidate",
        Kind.CHOICE,
        required=True,
        choices=words.HANDOVERS,
    ),
    Setting(
        ("evaluator", "file_name"),
        "Name of the file",
        Kind.LINE,
        "Its ending tells a program what it is, such as candidate.py. It stands in an empty folder.",
        required=True,
        limit=60,
    ),
    Setting(
        ("evaluator", "timeout"),
        "Seconds at most",
        Kind.WHOLE,
        "After that it is stopped; what it wrote until then is kept.",
        required=True,
        low=Decimal(1),
        high=Decimal(LONGEST_EVALUATION),
    ),
)
TEXTS = (
    Setting(
        ("background",),
        "Background",
        Kind.TEXT,
        "What the producer should know beforehand: audience, house rules, facts.",
        limit=50_000,
        rows=5,
    ),
    Setting(
        ("output_contract",),
        "Output contract",
        Kind.TEXT,
        "What the result must look like, such as one JSON object, or a letter under 200 words.",
        limit=20_000,
        rows=4,
    ),
    Setting(
        ("search_space",),
        "Search space",
        Kind.TEXT,
        "What may be tried, such as models, settings or approaches. For code and pipelines.",
        limit=20_000,
        rows=4,
    ),
)
GROUPS: Mapping[str, tuple[Setting, ...]] = {
    "about": ABOUT,
    "scale": SCALE,
    "scoring": SCORING,
    "rounds": ROUNDS,
    "limits": LIMITS,
    "budgets": BUDGETS,
    "safeguards": SAFEGUARDS,
    "evaluation": EVALUATION,
    "classes": CLASSES,
    "texts": TEXTS,
}
SETTINGS = tuple(setting for group in GROUPS.values() for setting in group)
