"""What a new rubric can start from: a way of running the loop, and a kind of work."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from refinement.engine.artifacts import ARTIFACT_TYPES, ArtifactType
from refinement.engine.profiles import PROFILES, context_rules_for, rubric_for, simmer_rubric
from refinement.engine.types import Rubric
from refinement.selectors.rubrics.context_tables import CLASS_LABELS
from refinement.selectors.rubrics.words import (
    FEEDBACK_STYLES,
    NEXT_BASES,
    StopRuleWords,
    check_label,
    pass_words,
    rounds_words,
    scale_words,
    stop_rules_words,
    weighed_criteria,
)

PROFILE_WORDS: Mapping[str, tuple[str, str]] = {
    "wiggum": (
        "Wiggum: a pass mark to reach",
        "For texts that must be good enough before anyone else sees them: guides, reports, answers. "
        "A judge scores six weighted dimensions and lists what is wrong; the producer works through the "
        "list. The run passes when the weighted score reaches a high mark, and gives up when the rounds "
        "are used or the scores no longer move.",
    ),
    "ralph": (
        "Ralph: checks that must hold",
        "For results whose quality can be tested without an opinion: a length, headings, valid JSON, "
        "words that must not occur. Checks decide, with criteria beside them if you add some. Each iteration "
        "starts again from your prompt with the failures put after it, and stops as soon as enough holds or "
        "an iteration brings no gain.",
    ),
    "simmer": (
        "Simmer: better with every iteration",
        "For work that has no finish line, where you want the best that a few iterations can give. A judge "
        "scores two or three criteria that suit the kind of work and names the one change that would help "
        "most. There is no pass mark: the best iteration is the result, and the primary criterion decides "
        "between equals.",
    ),
}
ARTIFACT_WORDS: Mapping[str, str] = {
    "document": "Someone reads it to understand a thing or to do it. Choose this for guides, reports, "
    "explanations and anything that no other kind describes better.",
    "prompt": "A model will follow it, not a person. Choose this for system prompts and instructions whose "
    "gaps a model would fill with guesses.",
    "message": "A person should do or know something after a minute's reading. Choose this for mail, "
    "announcements and replies.",
    "specification": "Others build from it and test against it. Choose this where a second meaning of a "
    "sentence costs somebody a week.",
    "api-design": "Programmers will call it for years. Choose this for endpoints, function signatures and "
    "data formats that are hard to change once they are used.",
    "creative-writing": "It should move someone. Choose this for stories, scenes, verse and games, where "
    "being correct is not the point.",
    "code": "It has to run. Choose this for programs and functions; the judge also gets what was measured "
    "and what earlier rounds tried.",
    "data-extraction": "Facts are taken out of text into a fixed form. Choose this where a missing or "
    "invented record matters more than style.",
    "pipeline": "Several steps or models produce a result together. Choose this when you improve the "
    "arrangement and can measure its outcome.",
}


@dataclass(frozen=True, slots=True)
class ProfileCard:
    """A way of running the loop, with its defaults in words."""

    key: str
    title: str
    paragraph: str
    defaults: tuple[tuple[str, str], ...]
    judged: tuple[str, ...]  # its criteria with their shares, or its checks
    judged_label: str
    stop_rules: tuple[StopRuleWords, ...]


@dataclass(frozen=True, slots=True)
class ArtifactCard:
    """A kind of work, and what Simmer scores in it."""

    key: str
    title: str
    purpose: str
    paragraph: str
    criteria: tuple[str, ...]
    class_label: str


def profile_cards() -> list[ProfileCard]:
    return [_profile_card(profile) for profile in PROFILES]


def artifact_cards() -> list[ArtifactCard]:
    return [_artifact_card(artifact) for artifact in ARTIFACT_TYPES.values()]


def preset_rubric(profile: str, artifact: str, name: str) -> Rubric:
    """The rubric that this choice starts with, under the name it is given."""
    kind = ARTIFACT_TYPES[artifact]
    if profile == "simmer":
        return replace(simmer_rubric(kind), name=name)
    return replace(
        rubric_for(profile),
        name=name,
        purpose=kind.purpose,
        artifact_type=kind.key,
        problem_class=kind.problem_class,
        context=context_rules_for(kind.problem_class),
    )


def _profile_card(profile: str) -> ProfileCard:
    rubric = rubric_for(profile)
    title, paragraph = PROFILE_WORDS[profile]
    return ProfileCard(
        key=profile,
        title=title,
        paragraph=paragraph,
        defaults=(
            ("Scale", scale_words(rubric.scale)),
            ("Pass mark", pass_words(rubric)),
            ("Rounds", rounds_words(rubric.policy)),
            ("Starts again from", NEXT_BASES[rubric.policy.next_base]),
            ("Feedback", FEEDBACK_STYLES[rubric.policy.feedback]),
        ),
        judged=_judged(rubric),
        judged_label="Checks" if not rubric.criteria else "Criteria",
        stop_rules=tuple(stop_rules_words(rubric)),
    )


def _judged(rubric: Rubric) -> tuple[str, ...]:
    if rubric.profile == "simmer":
        return ("Two or three, chosen by the kind of work below.",)
    if rubric.criteria:
        return tuple(f"{entry.criterion.name} {entry.percent}" for entry in weighed_criteria(rubric))
    return tuple(check_label(check) for check in rubric.checks)


def _artifact_card(artifact: ArtifactType) -> ArtifactCard:
    return ArtifactCard(
        key=artifact.key,
        title=artifact.name[:1].upper() + artifact.name[1:],
        purpose=artifact.purpose,
        paragraph=ARTIFACT_WORDS.get(artifact.key, ""),
        criteria=tuple(
            f"{entry.name} (primary)" if entry.primary else entry.name for entry in artifact.criteria
        ),
        class_label=CLASS_LABELS[artifact.problem_class],
    )
