"""Simmer's default criteria for each artifact type."""

from dataclasses import dataclass

from refinement.engine.types import Criterion, ProblemClass

# Output of test programs in which nothing passed, for rubrics of code and pipelines. Nothing that was merely
# skipped or that begins with a zero, such as an accuracy of 0.93, matches.
FAILURE_PATTERNS = (
    r"(?i)\b0 passed\b.*\b[1-9]\d* (?:failed|errors?)\b",
    r"(?i)\b[1-9]\d* (?:failed|errors?)\b.*\b0 passed\b",
    r"(?i)^=*\s*[1-9]\d* (?:failed|errors?)(?:, [1-9]\d* (?:errors?|warnings?|skipped))* in [\d.]+ ?s\b",
    r"(?i)\baccuracy\"?\s*[:=]\s*0(?:\.0+)?(?![\d.])",
)


@dataclass(frozen=True, slots=True)
class ArtifactType:
    key: str
    name: str
    purpose: str
    criteria: tuple[Criterion, ...]
    problem_class: ProblemClass = ProblemClass.TEXT


_TYPES = (
    ArtifactType(
        "document",
        "document",
        "Guides, reports and explanations that someone reads to understand or to act.",
        (
            Criterion(
                "clarity",
                "Clarity",
                "How easily the intended reader follows it.",
                "Understood at the first reading; every term is explained before it is used.",
            ),
            Criterion(
                "completeness",
                "Completeness",
                "Whether the reader's questions are answered.",
                "The reader has no question left that this text should have answered.",
            ),
            Criterion(
                "usefulness",
                "Usefulness",
                "Whether the reader can do something with it.",
                "The reader can act on it at once, with steps, examples and limits named.",
                primary=True,
            ),
        ),
    ),
    ArtifactType(
        "prompt",
        "prompt",
        "Instructions for a language model.",
        (
            Criterion(
                "instruction",
                "Instruction precision",
                "Whether the model learns exactly what to do, with which input and output.",
                "Two careful readers would produce outputs of the same shape from it.",
                primary=True,
            ),
            Criterion(
                "coverage",
                "Edge coverage",
                "Whether odd, empty and hostile inputs are decided.",
                "Every likely edge case has a stated behaviour.",
            ),
            Criterion(
                "economy",
                "Economy",
                "Whether each sentence changes the output.",
                "No sentence could be removed without a loss.",
            ),
        ),
    ),
    ArtifactType(
        "message",
        "email or message",
        "Short texts to a person who should do or know something.",
        (
            Criterion(
                "purpose",
                "Purpose",
                "Whether the reader knows within a sentence what is wanted.",
                "What is asked, by when and why stands at the start and cannot be misread.",
                primary=True,
            ),
            Criterion(
                "tone",
                "Tone",
                "Whether it suits the relation between writer and reader.",
                "The reader feels respected and wants to answer.",
            ),
        ),
    ),
    ArtifactType(
        "specification",
        "specification",
        "Texts that others build from and test against.",
        (
            Criterion(
                "precision",
                "Precision",
                "Whether each requirement can be met in one way only.",
                "Every requirement is testable; no word in it needs a second guess.",
                primary=True,
            ),
            Criterion(
                "coverage",
                "Coverage",
                "Whether errors, limits and boundaries are specified.",
                "Failure, limits, concurrency and change over time are all decided.",
            ),
            Criterion(
                "consistency",
                "Consistency",
                "Whether the parts agree with each other.",
                "One name for one thing throughout, and no two statements in conflict.",
            ),
        ),
    ),
    ArtifactType(
        "api-design",
        "API design",
        "Interfaces that programmers will live with.",
        (
            Criterion(
                "ergonomics",
                "Ergonomics",
                "How well the common tasks read in a caller's code.",
                "The common task takes one obvious call, and the wrong one is hard to write.",
                primary=True,
            ),
            Criterion(
                "consistency",
                "Consistency",
                "Whether names, shapes and errors follow one pattern.",
                "Knowing one endpoint lets you guess all the others.",
            ),
            Criterion(
                "evolution",
                "Evolution",
                "Whether it can grow without breaking callers.",
                "Versioning, optional fields and deprecation are settled.",
            ),
        ),
    ),
    ArtifactType(
        "creative-writing",
        "creative writing",
        "Stories, scenes, verse and adventures.",
        (
            Criterion(
                "voice",
                "Voice",
                "Whether the language is alive and its own.",
                "A page of it would be recognised without a name on it.",
                primary=True,
            ),
            Criterion(
                "craft",
                "Craft",
                "Structure, pace and image.",
                "Nothing could be moved or cut without a loss; each scene turns.",
            ),
            Criterion(
                "effect",
                "Effect",
                "What it does to a reader.",
                "The reader is changed a little and remembers a line the next day.",
            ),
        ),
    ),
    ArtifactType(
        "code",
        "code",
        "Programs and functions that must work.",
        (
            Criterion(
                "correctness",
                "Correctness",
                "Whether it does what the task says, errors and limits included.",
                "Every stated case and every edge works, and tests show it.",
                primary=True,
            ),
            Criterion(
                "clarity",
                "Clarity",
                "Whether the next engineer understands it.",
                "Names and structure explain it; nothing surprises.",
            ),
            Criterion(
                "economy",
                "Economy",
                "Whether it is as small and as fast as the task allows.",
                "Nothing is superfluous and no cost is needless.",
            ),
        ),
        ProblemClass.CODE,
    ),
    ArtifactType(
        "data-extraction",
        "data extraction",
        "Structured data taken from unstructured text.",
        (
            Criterion(
                "recall",
                "Recall",
                "Whether everything that should be found is found.",
                "No item in the source is missing.",
                primary=True,
            ),
            Criterion(
                "precision",
                "Precision",
                "Whether what is found is really there.",
                "No item is invented, doubled or taken from the wrong place.",
            ),
            Criterion(
                "shape",
                "Shape",
                "Whether the output keeps to its contract.",
                "Every record validates; types and units are uniform.",
            ),
        ),
        ProblemClass.CODE,
    ),
    ArtifactType(
        "pipeline",
        "pipeline",
        "Several steps or models that together produce a result.",
        (
            Criterion(
                "quality",
                "Result quality",
                "How good the end result is by the pipeline's own measure.",
                "The measure is at its practical maximum on held-out cases.",
                primary=True,
            ),
            Criterion(
                "robustness",
                "Robustness",
                "What happens when a step fails or an input is odd.",
                "Every step's failure is caught, named and recovered from.",
            ),
            Criterion(
                "cost",
                "Cost",
                "Time and money a result.",
                "No cheaper arrangement of steps would give the same quality.",
            ),
        ),
        ProblemClass.PIPELINE,
    ),
)

ARTIFACT_TYPES = {artifact.key: artifact for artifact in _TYPES}
