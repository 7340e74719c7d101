"""What became of each kind of information in a prompt."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from refinement.engine.kinds import Information, Role
from refinement.judging.context import OFFERED, JudgeView, ProducerView
from refinement.judging.provenance import SOURCE_OF, TracedPrompt


class Visibility(StrEnum):
    """Whether a kind of information reaches a role's prompt."""

    SEEN = "seen"
    UNPRINTED = "unprinted"
    NOTHING = "nothing"
    WITHHELD = "withheld"


@dataclass(frozen=True, slots=True)
class RolePrompt:
    """One role's prompt in a round, and the visibility of each kind of information."""

    role: Role
    prompt: TracedPrompt
    visibility: Mapping[Information, Visibility]


def role_prompt(role: Role, view: JudgeView | ProducerView, prompt: TracedPrompt) -> RolePrompt:
    """A judge's or producer's prompt with each kind that the role can ever see, in display order."""
    kinds = (kind for kind in Information if kind in OFFERED[role])
    return RolePrompt(role, prompt, {kind: _visibility_of(kind, view, prompt) for kind in kinds})


def clerk_prompt(prompt: TracedPrompt, allowed: frozenset[Information]) -> RolePrompt:
    """A clerk's prompt. What it may see is fixed; a rubric's rules are for judge and producer."""
    return RolePrompt(
        Role.CLERK, prompt, {kind: _clerk_visibility(kind, prompt, allowed) for kind in Information}
    )


def _clerk_visibility(kind: Information, prompt: TracedPrompt, allowed: frozenset[Information]) -> Visibility:
    if kind not in allowed:
        return Visibility.WITHHELD
    return Visibility.SEEN if SOURCE_OF[kind] in prompt.sources else Visibility.NOTHING


def _visibility_of(kind: Information, view: JudgeView | ProducerView, prompt: TracedPrompt) -> Visibility:
    if kind in view.withheld:
        return Visibility.WITHHELD
    if kind not in view.seen:
        return Visibility.NOTHING
    source = SOURCE_OF[kind]
    # A value changed by the template cannot be found in the prompt, so it is assumed to be printed.
    printed = source in prompt.sources or source in prompt.unmarked
    return Visibility.SEEN if printed else Visibility.UNPRINTED
