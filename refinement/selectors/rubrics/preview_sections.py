"""The sections of a prompt preview: who is asked in a round, and the messages of those that are shown."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from refinement.engine.sentences import round_name
from refinement.engine.types import Rubric
from refinement.judging.boards.rehearsal import BoardRehearsal
from refinement.judging.rehearsal import Rehearsal
from refinement.selectors.rubrics.prompt_parts import ShownPrompt, shown_prompt

OWN_WORDS = "the default template"
SCORING_MESSAGES = 2  # system and user; a deliberation continues after them


@dataclass(frozen=True, slots=True)
class Choice:
    """A judge of a board, its deliberation, or the clerk."""

    key: str
    label: str
    title: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class PreviewSections:
    """Who can be chosen, the messages of the chosen one, and those of the producer."""

    choices: list[Choice]
    acts: list[ShownPrompt]


@dataclass(frozen=True, slots=True)
class Page:
    """What the sections are made from."""

    rubric: Rubric
    rehearsal: Rehearsal
    number: int

    @property
    def this(self) -> str:
        return round_name(self.number)


def preview_sections(rubric: Rubric, rehearsal: Rehearsal, number: int, wanted: str) -> PreviewSections:
    """The prompts in reading order. `wanted` is the key of a choice; another text means the first one."""
    page = Page(rubric, rehearsal, number)
    groups = choices_of(page)
    chosen = wanted if wanted in groups else next(iter(groups), "")
    judging = groups[chosen][2]() if chosen else []
    choices = [Choice(key, label, title, key == chosen) for key, (label, title, _) in groups.items()]
    return PreviewSections(choices if len(choices) > 1 else [], [*judging, *producer_sections(page)])


# Label, full name and messages. The messages are built only if they are shown.
Group = tuple[str, str, Callable[[], list[ShownPrompt]]]


def choices_of(page: Page) -> dict[str, Group]:
    """Who judges the round, by key, in the order in which they are asked."""
    groups: dict[str, Group] = {}
    board = page.rehearsal.board
    if page.rehearsal.judge is not None:
        groups["judge"] = ("Judge", "Judge", partial(single_sections, page))
    if board is not None:
        for seat, judge in zip(board.seats, board.panel, strict=True):
            groups[f"judge-{seat}"] = (
                f"Judge {seat}",
                f"Judge {seat}: {judge.name}",
                partial(score_sections, page, board, seat),
            )
        if board.deliberates:
            groups["deliberation"] = ("Deliberation", "Deliberation", partial(deliberation_sections, board))
    if board is not None or page.rehearsal.describe is not None:
        groups["clerk"] = ("Clerk", "Clerk", partial(clerk_sections, page, board))
    return groups


def single_sections(page: Page) -> list[ShownPrompt]:
    assert page.rehearsal.judge is not None
    lead, words = f"Scores the text in {page.this}.", template_words(page.rubric, "judge")
    return [shown_prompt(page.rehearsal.judge, "judge", "Judge", lead, words)]


def score_sections(page: Page, board: BoardRehearsal, seat: int) -> list[ShownPrompt]:
    return [
        shown_prompt(
            board.score(seat),
            f"judge-{seat}",
            f"Judge {seat}: {board.panel[seat - 1].name}",
            f"Scores the text in {page.this}, alone.",
            template_words(page.rubric, "judge"),
        )
    ]


def deliberation_sections(board: BoardRehearsal) -> list[ShownPrompt]:
    """What each judge gets after its scoring messages, which are repeated unchanged."""
    return [
        shown_prompt(
            board.deliberation(seat),
            f"deliberation-{seat}",
            f"Deliberation, judge {seat}: {board.panel[seat - 1].name}",
            f"Follows the messages of judge {seat}, which are sent again unchanged.",
            OWN_WORDS,
            first=SCORING_MESSAGES,
        )
        for seat in board.deliberates
    ]


def clerk_sections(page: Page, board: BoardRehearsal | None) -> list[ShownPrompt]:
    sections = []
    if board is not None and board.composes:
        sections.append(
            shown_prompt(
                board.compose(),
                "compose",
                "Clerk, composing",
                "Chooses the judges once, before the board's first round.",
                OWN_WORDS,
            )
        )
    if board is not None:
        lead = f"Distils one suggested change from {page.this}."
        sections.append(shown_prompt(board.merge(), "merge", "Clerk, merging", lead, OWN_WORDS))
    if page.rehearsal.describe is not None:
        lead = f"Names what changed in {page.this}."
        sections.append(
            shown_prompt(page.rehearsal.describe, "describe", "Clerk, key change", lead, OWN_WORDS)
        )
    return sections


def producer_sections(page: Page) -> list[ShownPrompt]:
    following, base = round_name(page.number + 1), page.rehearsal.step.base_round
    start = "the original prompt" if base is None else f"the text of {round_name(base)}"
    return [
        shown_prompt(
            page.rehearsal.draft,
            "draft",
            "Writer, first draft",
            "Writes the first version if there is none.",
            template_words(page.rubric, "draft"),
        ),
        shown_prompt(
            page.rehearsal.revision,
            "revision",
            "Writer, revision",
            f"Writes {following} after {page.this} is judged, starting from {start}.",
            template_words(page.rubric, "revision", "feedback"),
        ),
    ]


def template_words(rubric: Rubric, *names: str) -> str:
    own = [name for name in names if name in rubric.templates]
    if not own:
        return OWN_WORDS
    return f"this rubric's template{'s' if len(own) > 1 else ''}: {', '.join(own)}"
