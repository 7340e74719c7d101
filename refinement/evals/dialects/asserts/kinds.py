"""The types of assertions: their names in each dialect, and those that are refused, with reasons."""

from collections.abc import Mapping

RUBRIC, SCRIPT, SET = "llm-rubric", "script", "assert-set"

# One name for each kind. Underscores are read as hyphens, and `not-` as negation.
ALIASES: Mapping[str, str] = {
    "llm-judge": RUBRIC,
    "llm-grader": RUBRIC,
    "llm-evaluator": RUBRIC,
    "rubric": RUBRIC,
    "rubrics": RUBRIC,
    "code-judge": SCRIPT,
    "code-grader": SCRIPT,
    "script-grader": SCRIPT,
    "code": SCRIPT,
    "command": SCRIPT,
    "composite": SET,
    "model-graded-factuality": "factuality",
    "geval": "g-eval",
    "ends": "ends-with",
    "similar:cosine": "similar",
    "exact": "equals",
    "exact-match": "equals",
    "trigger-judge": "skill-trigger",
    "non-empty": "not-empty",
}

TEXT_LISTS = ("contains-any", "contains-all", "icontains-any", "icontains-all")
CODE_KINDS = ("javascript", "python")

UNDERSTOOD = (
    "equals", "contains", "icontains", *TEXT_LISTS, "starts-with", "ends-with", "regex", "is-json",
    "contains-json", "json-schema", "length", "word-count", "levenshtein", "rouge-n", "bleu", "similar",
    *CODE_KINDS, SCRIPT, "latency", "cost", RUBRIC, "factuality", "model-graded-closedqa", "answer-relevance",
    "g-eval", "context-faithfulness", "context-recall", "context-relevance", "is-refusal", "is-xml",
    "contains-xml", "is-html", "contains-html", "field-accuracy", "execution-metrics", "token-usage", "gleu",
    "finish-reason", SET,
)  # fmt: skip

UNKNOWN = "it is not known."
TOOLS = "it looks at tool calls. Wiggum sees only the answer."
TRACES = "it looks at traces. Wiggum sees only the answer."
SERVICE = "it needs an online service."
OUTPUTS = "it compares the answers of several targets. Compare them in the app."
REFUSED: Mapping[str, str] = {
    "perplexity": "it needs token probabilities, which model servers do not report.",
    "perplexity-score": "it needs token probabilities, which model servers do not report.",
    "moderation": SERVICE,
    "classifier": SERVICE,
    "webhook": SERVICE,
    "pi": SERVICE,
    "ruby": "only javascript and python are supported.",
    "select-best": OUTPUTS,
    "max-score": OUTPUTS,
    "human": "people review runs in the app.",
    "tool-call-f1": TOOLS,
    "is-sql": "there is no SQL parser. Use javascript or a script.",
    "contains-sql": "there is no SQL parser. Use javascript or a script.",
    "meteor": "it needs a dictionary of synonyms. Use similar or rouge-n.",
    "conversation-relevance": "it needs a recorded conversation. Use llm-rubric.",
    "agent-rubric": "its judge is an agent with tools. Use llm-rubric.",
    "agent-judge": "its judge is an agent with tools. Use llm-rubric.",
    "search-rubric": "its judge searches the web. Use llm-rubric.",
    "research-rubric": "its judge searches the web. Use llm-rubric.",
    "video-rubric": "only text can be judged.",
}
FAMILIES: Mapping[str, str] = {
    "trajectory:": TOOLS,
    "trace-": TRACES,
    "promptfoo:redteam:": "it is a red team check.",
}

# As in promptfoo, an answer that no guardrail has looked at passes.
ALWAYS_HOLD: Mapping[str, str] = {
    "guardrails": "Wiggum's targets have no guardrails, so it always passes.",
    "guardrail": "Wiggum's targets have no guardrails, so it always passes.",
}

# Assertions on the form of an answer that is a call of a function, as JSON schemas.
CALL: Mapping[str, object] = {
    "type": "object",
    "required": ["name", "arguments"],
    "properties": {"name": {"type": "string"}, "arguments": {"type": ["string", "object"]}},
}
CALLS: Mapping[str, object] = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "required": ["type", "function"],
        "properties": {"type": {"const": "function"}, "function": CALL},
    },
}
TOOL_CALLS: Mapping[str, object] = {
    "is-valid-openai-tools-call": CALLS,
    "is-valid-openai-function-call": CALL,
    "is-valid-function-call": CALL,
}
FORM_ONLY = "Only the form of the call is checked."

EMPTY, NOTHING = "empty", r"^\s*\Z"

NO_TOOLS = "Wiggum's targets answer with text, so no tool is called."


def kind_of(written: str) -> tuple[str, bool]:
    """The kind's one name, and whether `not-` negates it."""
    name = written.strip().lower().replace("_", "-")
    name = ALIASES.get(name, name)
    negated = name.startswith("not-")
    name = name.removeprefix("not-")
    return ALIASES.get(name, name), negated


def refusal_of(kind: str) -> str:
    """Why assertions of this kind cannot be checked; empty if they can."""
    if kind in UNDERSTOOD:
        return ""
    if kind in REFUSED:
        return REFUSED[kind]
    return next((reason for start, reason in FAMILIES.items() if kind.startswith(start)), UNKNOWN)
