"""What people gave a round: parts of its table that are there a hundred times when twenty people scored.

They are written straight out, as a template takes ten times as long for each.
"""

from collections.abc import Iterable
from html import escape

from django import template
from django.utils.safestring import SafeString

from refinement.selectors.human_scores import ScoreCell

register = template.Library()


@register.simple_tag
def score_cells(cells: Iterable[ScoreCell]) -> SafeString:
    """A cell for each person: the score, and how far it is from the judge's."""
    return SafeString(
        "".join([f'<td class="number">{escape(cell.score)}{_gap(cell)}</td>' for cell in cells])
    )


def _gap(cell: ScoreCell) -> str:
    return f' <span class="soft small">{escape(cell.gap)}</span>' if cell.gap else ""


@register.simple_tag
def score_reasons(reasons: Iterable[tuple[str, str, str]]) -> SafeString:
    """A paragraph for each criterion that a person gave a reason for."""
    return SafeString(
        "".join(
            [
                f'<p><b><bdi>{escape(name)}</bdi></b> <span class="num">{escape(score)}</span>: '
                f'<bdi class="text-block">{escape(reason)}</bdi></p>'
                for name, score, reason in reasons
            ]
        )
    )
