"""A judge's seat on a board, as its prompt shows it."""

from dataclasses import dataclass

from refinement.engine.types import PanelJudge


@dataclass(frozen=True, slots=True)
class Lens:
    """Who a judge is, and how it looks at the work."""

    name: str
    text: str


def lens_of(judge: PanelJudge | None) -> Lens | None:
    return None if judge is None else Lens(judge.name, judge.lens)
