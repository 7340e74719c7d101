"""Who judges a rubric's runs: one judge, or a board of several with different lenses."""

from dataclasses import dataclass

from refinement.engine.kinds import JudgeMode

FEWEST_JUDGES, USUAL_JUDGES, MOST_JUDGES = 2, 3, 5
NAME_CHARS, LENS_CHARS, MODEL_CHARS = 60, 600, 300


@dataclass(frozen=True, slots=True)
class PanelJudge:
    """A seat on a board. The lens says how this judge looks at the work, not which criteria it scores."""

    name: str
    lens: str
    model: str = ""  # ENDPOINT/MODEL; empty for the run's judge model

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.lens.strip():
            raise ValueError("each judge of a board needs a name and a lens")
        for what, text, limit in (
            ("name", self.name, NAME_CHARS),
            ("lens", self.lens, LENS_CHARS),
            ("model", self.model, MODEL_CHARS),
        ):
            if len(text) > limit:
                raise ValueError(f"a judge's {what} has at most {limit} characters")
        _validate_model(self.model)


@dataclass(frozen=True, slots=True)
class Judges:
    """How a rubric's runs are judged. A board without a panel is composed by the clerk once per run."""

    mode: JudgeMode = JudgeMode.SINGLE
    panel: tuple[PanelJudge, ...] = ()
    deliberation: bool = True
    clerk: str = ""  # ENDPOINT/MODEL; empty for the run's judge model

    def __post_init__(self) -> None:
        if self.panel and not FEWEST_JUDGES <= len(self.panel) <= MOST_JUDGES:
            raise ValueError(f"a board has {FEWEST_JUDGES} to {MOST_JUDGES} judges")
        names = [judge.name.strip().casefold() for judge in self.panel]
        if len(names) != len(set(names)):
            raise ValueError("two judges of the board have the same name")
        _validate_model(self.clerk)


def names_model(text: str) -> bool:
    """Whether the text is ENDPOINT/MODEL."""
    endpoint, _, name = text.partition("/")
    return bool(endpoint.strip() and name.strip())


def _validate_model(model: str) -> None:
    if model and not names_model(model):
        raise ValueError(f"the model {model!r} must be written as ENDPOINT/MODEL")


READER = PanelJudge(
    "First-time reader",
    "You read it once, from top to bottom, knowing nothing but what it says. You notice where you get lost, "
    "what you had to guess and what you would ask next.",
)
EXPERT = PanelJudge(
    "Domain expert",
    "You know the subject better than the author. You look for what is wrong, out of date, left out or said "
    "with more certainty than it deserves.",
)
EDITOR = PanelJudge(
    "Editor",
    "You look at the whole before the sentence: order, emphasis, what could be cut without a loss and what "
    "is missing for the whole to hold together.",
)
# Three different ways to look at each artifact type. The gallery offers them, and a board uses them if the
# clerk's own panel cannot be read.
PANELS: dict[str, tuple[PanelJudge, ...]] = {
    "document": (READER, EXPERT, EDITOR),
    "prompt": (
        PanelJudge(
            "Literal model",
            "You follow the instructions word for word, like a model with no goodwill. You look for what "
            "they leave open, contradict or allow by accident.",
        ),
        PanelJudge(
            "Prompt engineer",
            "You look at what the wording does to a model: order, examples, format and length, and what "
            "breaks with another input or a smaller model.",
        ),
        PanelJudge(
            "Owner of the output",
            "You only use what comes out. You ask whether its form, tone and content would be right every "
            "time, on the hardest inputs too.",
        ),
    ),
    "message": (
        PanelJudge(
            "Busy recipient",
            "You have ten seconds and forty other messages. You notice whether you know what is wanted, why "
            "you should care and how little it takes to answer.",
        ),
        PanelJudge(
            "Skeptic",
            "You suspect a template. You look for claims without proof, flattery, pressure and anything that "
            "could have been sent to anybody.",
        ),
        EDITOR,
    ),
    "specification": (
        PanelJudge(
            "Implementer",
            "You have to build it on Monday. You look for the decision that is missing, the case that is not "
            "described and the sentence that two people would read differently.",
        ),
        PanelJudge(
            "Tester",
            "You have to prove that it is met. You look for statements that cannot be checked, limits "
            "without numbers and errors without behavior.",
        ),
        PanelJudge(
            "Product owner",
            "You ask what it is for. You look for requirements that serve nobody, and for users' needs that "
            "no requirement covers.",
        ),
    ),
    "api-design": (
        PanelJudge(
            "Caller",
            "You use it from your own code, reading only names and types. You look for surprises, repetition "
            "and calls that are easy to get wrong.",
        ),
        PanelJudge(
            "Maintainer",
            "You keep it compatible for ten years. You look for what cannot be extended, what leaks the "
            "implementation and what will have to be deprecated.",
        ),
        PanelJudge(
            "Operator",
            "You run it under load and on bad days. You look at errors, limits, retries, idempotency and "
            "what can be observed.",
        ),
    ),
    "creative-writing": (
        PanelJudge(
            "Audience",
            "You want to be carried away. You notice where your attention drops, what you will remember "
            "tomorrow and what you saw coming.",
        ),
        PanelJudge(
            "Craftsperson",
            "You look at how it is made: structure, rhythm, image and voice, and what each scene or line "
            "does for the whole.",
        ),
        PanelJudge(
            "Performer",
            "You have to read, play or run it in front of people. You look for what works in use, what is "
            "missing at the table and what needs more room.",
        ),
    ),
    "code": (
        PanelJudge(
            "Correctness reviewer",
            "You look for inputs that break it: empty, huge, concurrent, malformed, hostile. You trust "
            "evidence and tests over intent.",
        ),
        PanelJudge(
            "Next maintainer",
            "You read it a year from now. You look at names, structure, what is more complicated than it "
            "needs to be and what is not explained.",
        ),
        PanelJudge(
            "Performance engineer",
            "You look at what it costs: calls, allocations, queries, growth with the input, and work that is "
            "done twice.",
        ),
    ),
    "data-extraction": (
        PanelJudge(
            "Auditor",
            "You compare each value with the source. You look for what was invented, moved to the wrong "
            "field or silently normalized.",
        ),
        PanelJudge(
            "Completeness checker",
            "You look for what the source says and the result lacks, especially rare fields and odd formats.",
        ),
        PanelJudge(
            "Downstream consumer",
            "You load the result into a system without a person looking at it. You look at types, formats, "
            "missing values and consistency.",
        ),
    ),
    "pipeline": (
        PanelJudge(
            "Diagnostician",
            "You look under the headline metric: near misses, systematic gaps, and which step loses what.",
        ),
        PanelJudge(
            "Cost and latency engineer",
            "You look at what each step costs and how long it takes, and at what could be cached, merged or "
            "left out.",
        ),
        PanelJudge(
            "Reliability engineer",
            "You look at what happens when a step fails, answers nonsense or is slow, and at variance "
            "between runs.",
        ),
    ),
}


def panel_for(artifact_type: str) -> tuple[PanelJudge, ...]:
    """The gallery's panel for an artifact type; that of a document for types without one."""
    return PANELS.get(artifact_type, PANELS["document"])
