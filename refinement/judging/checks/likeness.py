"""Checks on similarity to a reference text: levenshtein, rouge-n, bleu, gleu."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

from refinement.judging.checks.kinds import (
    NEGATE,
    Broken,
    CheckKind,
    Finding,
    Parameter,
    Parameters,
    ParameterType,
    decimal_of,
    negatable,
    quoted,
    share_of,
    share_problems,
)

LONGEST_NGRAM = 4
MOST_DISTANCE = 5  # for levenshtein, if there is no threshold
DEFAULTS = {"rouge-n": 0.75, "bleu": 0.5, "gleu": 0.5}
_WORD = re.compile(r"[^\s.,;:!?\"“”()\[\]{}]+")

Measure = Callable[[Sequence[str], Sequence[str]], float]


def words(text: str) -> list[str]:
    """The words in lower case, without punctuation around them."""
    return _WORD.findall(text.lower())


def ngrams(tokens: Sequence[str], size: int) -> "Counter[tuple[str, ...]]":
    return Counter(tuple(tokens[start : start + size]) for start in range(len(tokens) - size + 1))


def rouge_1(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """The share of the reference's words that occur in the candidate (ROUGE-1 recall)."""
    wanted = ngrams(reference, 1)
    return (wanted & ngrams(candidate, 1)).total() / wanted.total() if wanted else 0.0


def bleu(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """The geometric mean of n-gram precisions up to 4 words, with a penalty for short candidates.

    Texts of fewer words are compared up to their own length, so that equal texts always score 1.
    """
    longest = min(LONGEST_NGRAM, len(candidate), len(reference))
    if not longest:
        return 0.0
    logs = 0.0
    for size in range(1, longest + 1):
        found = ngrams(candidate, size)
        matching = (found & ngrams(reference, size)).total()
        if not matching:
            return 0.0
        logs += math.log(matching / found.total())
    shortness = min(1.0, math.exp(1 - len(reference) / len(candidate)))
    return shortness * math.exp(logs / longest)


def gleu(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """The smaller one of precision and recall, over all n-grams of 1 to 4 words."""
    sizes = range(1, LONGEST_NGRAM + 1)
    found = sum((ngrams(candidate, size) for size in sizes), Counter())
    wanted = sum((ngrams(reference, size) for size in sizes), Counter())
    most = max(found.total(), wanted.total())
    return (found & wanted).total() / most if found and wanted else 0.0


MEASURES: dict[str, tuple[str, str, Measure]] = {
    "rouge-n": ("ROUGE-N", "Most of the reference's words must occur.", rouge_1),
    "bleu": ("BLEU", "The text's word sequences must occur in the reference.", bleu),
    "gleu": ("GLEU", "Text and reference must share most of their word sequences.", gleu),
}


def references_of(parameters: Parameters) -> list[str]:
    value = parameters["references"]
    return [str(text) for text in value] if isinstance(value, (list, tuple)) else []


def run_measure(name: str, measure: Measure) -> Callable[[Parameters, str], Finding]:
    def run(parameters: Parameters, candidate: str) -> Finding:
        tokens = words(candidate)
        value = max((measure(tokens, words(text)) for text in references_of(parameters)), default=0.0)
        threshold = decimal_of(parameters, "threshold")
        least = DEFAULTS[name] if threshold is None else float(threshold)
        if value >= least - 1e-9:
            return Finding(True, score=share_of(value))
        label = MEASURES[name][0]
        message = f"{label} is {value:.2f}; at least {least:g} is needed to match the reference."
        return Finding(False, message, score=share_of(value))

    return run


def run_levenshtein(parameters: Parameters, candidate: str) -> Finding:
    from rapidfuzz.distance import Levenshtein

    threshold = decimal_of(parameters, "threshold")
    most = MOST_DISTANCE if threshold is None else int(threshold)
    distance = Levenshtein.distance(candidate, str(parameters["text"]), score_cutoff=max(most, 100_000))
    if distance <= most:
        return Finding(True)
    return Finding(
        False,
        f"The text is {distance:,} edits away from {quoted(str(parameters['text']))}; "
        f"at most {most:,} are allowed.",
    )


def distance_problems(parameters: Parameters) -> list[str]:
    try:
        threshold = decimal_of(parameters, "threshold")
    except Broken as problem:
        return [str(problem)]
    return ["The threshold must not be negative."] if threshold is not None and threshold < 0 else []


def reference_problems(parameters: Parameters) -> list[str]:
    return share_problems(parameters) if references_of(parameters) else ["Give at least one reference."]


_REFERENCES = Parameter(
    "references",
    "References",
    ParameterType.LINES,
    required=True,
    description="One per line. The best match counts.",
)


def _measure_kind(name: str) -> CheckKind:
    label, description, measure = MEASURES[name]
    return CheckKind(
        name,
        label,
        description,
        (
            _REFERENCES,
            Parameter(
                "threshold",
                "Threshold",
                ParameterType.TEXT,
                description=f"0 to 1. Default: {DEFAULTS[name]}.",
            ),
            NEGATE,
        ),
        negatable(run_measure(name, measure), lambda parameters: f"{label} reaches the threshold"),
        reference_problems,
    )


KINDS = (
    CheckKind(
        "levenshtein",
        "Edit distance",
        "The text must be within a few edits of another text.",
        (
            Parameter("text", "Text", ParameterType.TEXT, required=True),
            Parameter(
                "threshold",
                "Most edits",
                ParameterType.TEXT,
                description=f"Characters to insert, delete or replace. Default: {MOST_DISTANCE}.",
            ),
            NEGATE,
        ),
        negatable(
            run_levenshtein,
            lambda parameters: f"The text is too close to {quoted(str(parameters['text']))}",
        ),
        distance_problems,
    ),
    *(_measure_kind(name) for name in MEASURES),
)
