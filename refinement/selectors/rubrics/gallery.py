"""Starting points for a new rubric: profiles and kinds of work."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from refinement.engine.artifacts import ARTIFACT_TYPES, ArtifactType
from refinement.engine.profiles import PROFILES, rubric_for, simmer_rubric
from refinement.engine.types import Rubric
from refinement.selectors.rubrics.words import (
    FEEDBACK_STYLES,
    NEXT_BASES,
    StopRuleLabel,
    check_label,
    pass_mark_label,
    rounds_words,
    scale_words,
    stop_rule_labels,
    weighed_criteria,
)

# What each profile is for, and how it works.
PROFILE_TEXTS: Mapping[str, tuple[str, str]] = {
    "wiggum": (
        "Reach a pass mark",
        "For texts that must be good enough before anyone else sees them: guides, reports, "
        "answers. A judge scores six weighted criteria and lists issues; the writer fixes "
        "them. The run passes when the weighted score reaches a high mark, and stops when the "
        "rounds are used up or the scores no longer change.",
    ),
    "ralph": (
        "Pass checks",
        "For results that can be tested automatically: length, headings, valid JSON, forbidden "
        "words. Checks decide; you can add criteria. Each round starts from your prompt with "
        "the failures appended, and the run stops when enough checks pass or a round brings "
        "no gain.",
    ),
    "simmer": (
        "Keep improving",
        "For open-ended work where you want the best result of a few rounds. A judge scores "
        "two or three criteria for the kind of work and names the one change that would help most. "
        "There is no pass mark: the best round is the result, by its primary criterion first, then "
        "by its score.",
    ),
}
ARTIFACT_TEXTS: Mapping[str, str] = {
    "document": "A text that explains something or how to do it. For guides, reports, explanations and "
    "anything not listed here.",
    "prompt": "Instructions for a model. For system prompts whose gaps a model would fill with guesses.",
    "message": "A short text that someone reads in a minute and acts on. For emails, announcements and "
    "replies.",
    "specification": "Others build from it and test against it. For texts in which every sentence must have "
    "one meaning.",
    "api-design": "Programmers will call it for years. For endpoints, function signatures and data formats "
    "that are hard to change later.",
    "creative-writing": "A text that should move its readers. For stories, scenes, verse and games.",
    "code": "Code that has to run. For programs and functions. Add a command that tests them, so that "
    "the judge can score by its output.",
    "data-extraction": "Facts extracted from text into a fixed form. For data in which a missing or invented "
    "record matters more than style.",
    "pipeline": "Several steps or models that produce a result together. For workflows whose output you "
    "can measure.",
}


@dataclass(frozen=True, slots=True)
class ProfileCard:
    """A profile with its defaults."""

    key: str
    name: str
    title: str  # what it is for
    paragraph: str
    defaults: tuple[tuple[str, str], ...]
    judged: tuple[str, ...]  # criteria with their shares, or checks
    judged_label: str
    stop_rules: tuple[StopRuleLabel, ...]


@dataclass(frozen=True, slots=True)
class ArtifactCard:
    """A kind of work, and the criteria it sets if the profile has none of its own."""

    key: str
    title: str
    paragraph: str
    criteria: tuple[str, ...]


def profile_cards() -> list[ProfileCard]:
    return [_profile_card(profile) for profile in PROFILES]


def artifact_cards() -> list[ArtifactCard]:
    return [_artifact_card(artifact) for artifact in ARTIFACT_TYPES.values()]


def preset_rubric(profile: str, artifact: str, name: str) -> Rubric:
    """The rubric this choice starts with, with the given name."""
    kind = ARTIFACT_TYPES[artifact]
    if profile == "simmer":
        return replace(simmer_rubric(kind), name=name)
    return replace(
        rubric_for(profile),
        name=name,
        purpose=kind.purpose,
        artifact_type=kind.key,
        problem_class=kind.problem_class,
    )


def _profile_card(profile: str) -> ProfileCard:
    rubric = rubric_for(profile)
    title, paragraph = PROFILE_TEXTS[profile]
    return ProfileCard(
        key=profile,
        name=profile.capitalize(),
        title=title,
        paragraph=paragraph,
        defaults=(
            ("Scale", scale_words(rubric.scale)),
            ("Pass mark", pass_mark_label(rubric)),
            ("Rounds", rounds_words(rubric.policy)),
            ("Revision starts from", NEXT_BASES[rubric.policy.next_base]),
            ("Feedback", FEEDBACK_STYLES[rubric.policy.feedback]),
        ),
        judged=_judged(rubric),
        judged_label="Checks" if not rubric.criteria else "Criteria",
        stop_rules=tuple(stop_rule_labels(rubric)),
    )


def _judged(rubric: Rubric) -> tuple[str, ...]:
    if rubric.profile == "simmer":
        return ("Two or three, set by the kind of work below",)
    if rubric.criteria:
        return tuple(f"{entry.criterion.name} {entry.percent}" for entry in weighed_criteria(rubric))
    return tuple(check_label(check) for check in rubric.checks)


def _artifact_card(artifact: ArtifactType) -> ArtifactCard:
    return ArtifactCard(
        key=artifact.key,
        title=artifact.name[:1].upper() + artifact.name[1:],
        paragraph=ARTIFACT_TEXTS.get(artifact.key, ""),
        criteria=tuple(
            f"{entry.name} (primary)" if entry.primary else entry.name for entry in artifact.criteria
        ),
    )
