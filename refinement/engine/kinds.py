"""Enums of the engine: the values that policies, rules and prompts can use."""

from enum import StrEnum


class Composite(StrEnum):
    """How criterion scores become one number."""

    WEIGHTED_MEAN = "weighted_mean"
    PLAIN_MEAN = "plain_mean"


class NextBase(StrEnum):
    """Where the next revision starts."""

    PREVIOUS = "previous"
    ORIGINAL = "original"
    LATEST_OR_BEST = "latest_or_best"


class FeedbackStyle(StrEnum):
    """What kind of feedback the producer gets."""

    ISSUES = "issues"
    FAILURES = "failures"
    ASI = "asi"


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Outcome(StrEnum):
    PASS = "PASS"
    FAIL = "FAIL"
    DONE = "DONE"
    ERROR = "ERROR"
    CANCELLED = "CANCELLED"


class StopReason(StrEnum):
    """Why a run ended; the rule names double as the names in a policy's `stop_rules`."""

    PASSED = "passed"
    MAX_ROUNDS = "max_rounds"
    CYCLING = "cycling"
    PERFECT_SCORE = "perfect_score"
    QUALITY_THRESHOLD_MET = "quality_threshold_met"
    SCORE_REGRESSION = "score_regression"
    NO_IMPROVEMENT = "no_improvement"
    MAX_ITERATIONS_REACHED = "max_iterations_reached"
    PLATEAU = "plateau"
    UNCHANGED = "unchanged"
    BUDGET_TOKENS = "budget_tokens"
    BUDGET_SECONDS = "budget_seconds"
    BUDGET_CALLS = "budget_calls"
    JUDGE_FAILED = "judge_failed"
    PRODUCER_FAILED = "producer_failed"
    INTERNAL_ERROR = "internal_error"  # set outside the engine, when a step crashed
    CANCELLED = "cancelled"
    IMPORTED = "imported"  # the run was imported and its file gives no reason


STOP_RULES = frozenset(
    {
        StopReason.PASSED,
        StopReason.MAX_ROUNDS,
        StopReason.CYCLING,
        StopReason.PERFECT_SCORE,
        StopReason.QUALITY_THRESHOLD_MET,
        StopReason.SCORE_REGRESSION,
        StopReason.NO_IMPROVEMENT,
        StopReason.MAX_ITERATIONS_REACHED,
        StopReason.PLATEAU,
        StopReason.UNCHANGED,
    }
)  # the reasons a policy can list; the rest come from budgets, failures and people


class Role(StrEnum):
    JUDGE = "judge"
    PRODUCER = "producer"
    CLERK = "clerk"  # composes a board, merges its suggestions and names changes


class JudgeMode(StrEnum):
    """Who judges a run. `auto` becomes one of the others when the run is created."""

    SINGLE = "single"
    BOARD = "board"
    AUTO = "auto"


class OnPlateau(StrEnum):
    """What a run does when its plateau rule applies."""

    STOP = "stop"
    ASK = "ask"  # pause and ask a person
    BOARD = "board"  # go on with a board for two more rounds


class MinimumGain(StrEnum):
    """What a round has to gain, if it is not a number."""

    NOISE = "noise"  # more than the smallest real difference between two of the judge's scores


class Stance(StrEnum):
    """What a judge says about its own score after reading the other judges."""

    AGREE = "agree"
    CHALLENGE = "challenge"
    CONCEDE = "concede"


class ProblemClass(StrEnum):
    TEXT = "text"
    CODE = "code"
    PIPELINE = "pipeline"


class EvaluationMode(StrEnum):
    JUDGE_ONLY = "judge_only"
    RUNNABLE = "runnable"
    HYBRID = "hybrid"


class Handover(StrEnum):
    """How an evaluator command receives the candidate."""

    FILE = "file"
    STDIN = "stdin"


class Information(StrEnum):
    """The kinds of information a prompt can contain. Context rules are sets of these."""

    TASK = "task"
    CRITERIA = "criteria"
    ROUND_NUMBER = "round_number"
    CANDIDATE = "candidate"
    BACKGROUND = "background"
    OUTPUT_CONTRACT = "output_contract"
    SEED = "seed"
    SEED_SCORES = "seed_scores"
    CALIBRATION = "calibration"
    CALIBRATION_SCORES = "calibration_scores"
    SOURCES = "sources"
    EVALUATOR_OUTPUT = "evaluator_output"
    FEEDBACK = "feedback"
    PREVIOUS_ASI = "previous_asi"
    HISTORY = "history"
    SEARCH_SPACE = "search_space"  # with the options that were tried and those that were not
    PANEL_SUMMARY = "panel_summary"
