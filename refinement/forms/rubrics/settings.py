"""Settings with one field each, in the groups of the editor's page."""

from decimal import Decimal
from typing import Any

from refinement.engine.panels import MODEL_CHARS
from refinement.engine.rubrics import LONGEST_EVALUATION, MOST_REPEATS
from refinement.forms.rubrics import words
from refinement.forms.rubrics.kinds import ANY_COUNT, COLUMN_LIMIT, COLUMN_PLACES, Kind, Setting
from refinement.selectors.rubrics.judge_words import JUDGE_MODES, ON_PLATEAU


def _policy(name: str, label: str, kind: Kind, **more: Any) -> Setting:
    return Setting(("policy", *name.split(".")), label, kind, **more)


def _scale(name: str, label: str, **more: Any) -> Setting:
    limits = {"low": -COLUMN_LIMIT, "high": COLUMN_LIMIT, "places": COLUMN_PLACES}
    return Setting(("scale", name), label, Kind.NUMBER, **{**limits, **more})


def _whole(name: str, label: str, low: int, high: int | Decimal, **more: Any) -> Setting:
    return _policy(name, label, Kind.WHOLE, low=Decimal(low), high=Decimal(high), **more)


ABOUT = (
    Setting(("name",), "Name", Kind.LINE, required=True, limit=160),
    Setting(("purpose",), "What it is for", Kind.TEXT, limit=4_000, rows=1),
    Setting(
        ("artifact_type",),
        "Kind of work",
        Kind.LINE,
        "What is judged, such as document or email. Used in prompts.",
        limit=40,
        suggestions="artifact-types",
    ),
    Setting(
        ("problem_class",),
        "Problem class",
        Kind.CHOICE,
        "For code and pipelines, the judge may suggest changes to several files at once.",
        required=True,
        choices=words.PROBLEM_CLASSES,
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
        "Score",
        Kind.CHOICE,
        required=True,
        choices=words.COMPOSITES,
        help="How the criteria's scores are combined.",
    ),
    _policy(
        "pass_threshold",
        "Pass mark",
        Kind.NUMBER,
        help="Empty: no pass or fail.",
    ),
    _policy(
        "perfect_score",
        "Perfect score",
        Kind.NUMBER,
        help="A score that cannot be improved. Often empty.",
    ),
    _policy(
        "minimum_gain",
        "Minimum gain",
        Kind.GAIN,
        low=Decimal(0),
        high=COLUMN_LIMIT,
        help="For the rule “Too little gain”. Enter noise to go by the judge's noise, for a plateau as well.",
        suggestions="gain-words",
    ),
    _whole("composite_decimals", "Decimals shown", 0, 4, required=True, help="On pages only."),
    _policy(
        "checks_in_composite",
        "Checks count in the score",
        Kind.FLAG,
        help="On: a passed check counts as the highest score, a failed one as the lowest, by weight.",
    ),
    _policy(
        "primary_first",
        "The primary criterion decides which round is best",
        Kind.FLAG,
        help="On: rounds are compared by it first, then by the score.",
    ),
)
ROUNDS = (
    _whole("max_rounds", "Max. rounds", 1, 100, required=True, help="Includes the first version."),
    _policy(
        "next_base",
        "Revision starts from",
        Kind.CHOICE,
        required=True,
        choices=words.NEXT_BASES,
    ),
    _policy(
        "feedback",
        "Feedback",
        Kind.CHOICE,
        required=True,
        choices=words.FEEDBACK_STYLES,
    ),
    _whole(
        "plateau_rounds",
        "Plateau: rounds needed",
        2,
        100,
        required=True,
        help="The rule “The scores level off” applies after this many rounds.",
    ),
    _whole(
        "plateau_window",
        "Plateau: rounds compared",
        1,
        99,
        required=True,
        help="The best of the last rounds must beat the best before them.",
    ),
)
LIMITS = (
    _whole(
        "judge_limit_chars",
        "Judge's limit (characters)",
        1,
        2_000_000,
        required=True,
        help="Of a longer text the judge sees the start and the end, and the round says so.",
    ),
    _whole(
        "source_limit_chars",
        "Sources in a prompt (characters)",
        1,
        500_000,
        required=True,
        help="In total. Of longer sources, prompts contain the start and the end, and say so.",
    ),
    _whole(
        "producer_tokens",
        "Writer's limit (tokens)",
        1,
        1_000_000,
        required=True,
        help="A token is about three quarters of a word.",
    ),
    _policy(
        "producer_temperature",
        "Writer temperature",
        Kind.NUMBER,
        required=True,
        low=Decimal(0),
        high=Decimal(2),
        help="0 always takes the most likely word; higher values vary more.",
    ),
)
BUDGETS = (
    _whole("budget.tokens", "Tokens", 1, ANY_COUNT, help="All calls together. Empty: no limit."),
    _policy(
        "budget.seconds",
        "Model time (seconds)",
        Kind.NUMBER,
        low=Decimal("0.001"),
        high=ANY_COUNT,
        help="Time spent waiting for models. Empty: no limit.",
    ),
    _whole("budget.calls", "Calls", 1, 1_000_000, help="Number of model calls. Empty: no limit."),
)
SAFEGUARDS = (
    _policy(
        "penalties.points",
        "Points per invented name",
        Kind.NUMBER,
        required=True,
        low=Decimal(0),
        high=COLUMN_LIMIT,
    ),
    _policy(
        "penalties.cap",
        "Maximum per round",
        Kind.NUMBER,
        required=True,
        low=Decimal(0),
        high=COLUMN_LIMIT,
    ),
    _policy(
        "penalties.allowed_objects",
        "Known objects",
        Kind.WORDS,
        limit=20_000,
        rows=4,
        help="Calls on these objects never count as invented, such as np in np.linspace(). Separate "
        "them by commas, spaces or lines.",
    ),
)
EVALUATION = (
    Setting(
        ("evaluation_mode",),
        "Evaluation",
        Kind.CHOICE,
        "What the judge's scores are based on.",
        required=True,
        choices=words.EVALUATION_MODES,
    ),
    Setting(
        ("evaluator", "command"),
        "Command",
        Kind.COMMAND,
        "The program and its arguments, such as python3 /opt/checks/score.py {file}. It runs "
        "without a shell: pipes, redirections and variables are not supported.",
        limit=4_000,
    ),
    Setting(
        ("evaluator", "handover"),
        "Input",
        Kind.CHOICE,
        required=True,
        choices=words.HANDOVERS,
    ),
    Setting(
        ("evaluator", "file_name"),
        "File name",
        Kind.LINE,
        "The extension tells programs the type, such as candidate.py. The file is in an empty folder.",
        required=True,
        limit=60,
    ),
    Setting(
        ("evaluator", "timeout"),
        "Timeout (seconds)",
        Kind.WHOLE,
        "Then the command is stopped; its output so far is kept.",
        required=True,
        low=Decimal(1),
        high=Decimal(LONGEST_EVALUATION),
    ),
    Setting(
        ("evaluator", "repeat"),
        "Runs per round",
        Kind.WHOLE,
        "Run a command whose result varies several times; the median counts.",
        required=True,
        low=Decimal(1),
        high=Decimal(MOST_REPEATS),
    ),
    Setting(
        ("evaluator", "validation"),
        "Validation command",
        Kind.COMMAND,
        "A cheap command that runs first. If it fails, the writer gets one chance to repair the text.",
        limit=4_000,
    ),
    Setting(
        ("evaluator", "failure_patterns"),
        "Failure patterns",
        Kind.LINES,
        "Regular expressions, one per line, such as \\b0 passed\\b. Output that matches one of them gives "
        "every criterion the lowest score.",
        limit=50_000,
        rows=3,
    ),
)
JUDGES = (
    Setting(
        ("judges", "mode"),
        "Judges",
        Kind.CHOICE,
        required=True,
        choices={mode: label for mode, (label, _) in JUDGE_MODES.items()},
    ),
    Setting(
        ("judges", "deliberation"),
        "Deliberation",
        Kind.FLAG,
        "On: each judge reads the others' scores and reasons, and answers once before they are merged.",
    ),
    Setting(
        ("judges", "clerk"),
        "Clerk's model",
        Kind.MODEL,
        "Merges the board's suggestions and names what each revision changed. Empty: the run's judge model.",
        limit=MODEL_CHARS,
        suggestions="known-models",
    ),
    _policy(
        "on_plateau",
        "On a plateau",
        Kind.CHOICE,
        required=True,
        choices=ON_PLATEAU,
        help="When “The scores level off” applies. Only a single judge can be followed by a board.",
    ),
)
TEXTS = (
    Setting(
        ("background",),
        "Background",
        Kind.TEXT,
        "What the writer should know: audience, style rules, facts.",
        limit=50_000,
        rows=5,
    ),
    Setting(
        ("output_contract",),
        "Required form",
        Kind.TEXT,
        "Of the result, such as one JSON object, or a letter under 200 words.",
        limit=20_000,
        rows=4,
    ),
    Setting(
        ("output_schema",),
        "JSON schema",
        Kind.SCHEMA,
        "A result that is not JSON or does not follow it gets the lowest score.",
        limit=50_000,
        rows=4,
    ),
    Setting(
        ("output_pattern",),
        "Required pattern",
        Kind.PATTERN,
        "A regular expression that must match in the result, else it gets the lowest score.",
        limit=2_000,
    ),
    Setting(
        ("search_space",),
        "Options to try",
        Kind.TEXT,
        "Models, settings or approaches the writer may try. For code and pipelines.",
        limit=20_000,
        rows=4,
    ),
)
SETTINGS = (
    *(ABOUT + JUDGES + SCALE + SCORING + ROUNDS + LIMITS + BUDGETS),
    *(SAFEGUARDS + EVALUATION + TEXTS),
)
CLERK = next(setting for setting in JUDGES if setting.path[-1] == "clerk")
