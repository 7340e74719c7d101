"""Tags for the pages of experiments."""

from collections.abc import Iterable
from typing import Any

from django import template
from django.http import QueryDict
from django.utils.html import escape, format_html_join
from django.utils.safestring import SafeString, mark_safe

from refinement.models import CellState
from refinement.selectors.experiments.reports.heatmap import HeatCell, Heatmap, HeatRow, Tile
from refinement.selectors.experiments.words import count_text, money_text, status_sign

register = template.Library()
SQUARES = {state.value: f'<i class="square is-{state.value}"></i>' for state in CellState}


@register.simple_tag
def amount(value: float) -> str:
    """Tokens or seconds in few digits."""
    return count_text(value)


@register.simple_tag
def amount_money(value: float) -> str:
    return money_text(value)


@register.simple_tag
def squares(states: Iterable[str]) -> SafeString:
    """A square for each run. There are up to thousands, too many for a loop in a template."""
    return mark_safe("".join(SQUARES[state] for state in states))  # noqa: S308  constants alone


@register.simple_tag
def heat_cells(row: HeatRow, address: str) -> SafeString:
    """The cells of a task. A page has hundreds, and a loop in a template takes 0.2 ms for each."""
    place, title = escape(address), escape(row.task.title)
    return mark_safe("".join(heat_cell(cell, place, title) for cell in row.cells))  # noqa: S308  escaped


def heat_cell(cell: HeatCell, place: str, title: str) -> str:
    """`place` and `title` are escaped."""
    link, words = f"{place}?configuration={cell.configuration.pk}", escape(cell.words)
    return (
        f'<td><a class="heat-cell" href="{link}" hx-get="{link}" hx-target="#cell" '
        f'hx-swap="innerHTML show:none" aria-label="{title}. {words}" title="{words}">'
        f"{''.join(tile_html(tile) for tile in cell.tiles)}</a></td>"
    )


def tile_html(tile: Tile) -> str:
    """Its text is a number or a sign, never somebody's words."""
    sign = f"<u>{tile.sign}</u>" if tile.sign else ""
    return f'<i class="tile tile-{tile.css}">{tile.text}{sign}</i>'


@register.filter
def status_chip(experiment: Any) -> str:
    return status_sign(experiment)


@register.simple_tag(takes_context=True)
def heat_page_links(context: dict[str, Any], heat: Heatmap) -> SafeString:
    """Links to the previous and the next page of tasks."""
    current = heat.options.page
    wanted = [("Previous", current - 1), ("Next", current + 1)]
    links = [(page_query(context, page), words) for words, page in wanted if 1 <= page <= heat.pages]
    return format_html_join("", '<a class="button button-small" href="?{}#heatmap">{}</a>', links)


def page_query(context: dict[str, Any], page: int) -> str:
    query = QueryDict(context.get("query", ""), mutable=True)
    query["page"] = str(page)
    return query.urlencode()
