"""Rows of the editor as HTML, fast: a row's template is rendered once, then filled in for every row like it.

Eighty rows of a dozen fields cost a template engine more than the whole page may take. A stencil is the
rendered template cut at the places of its texts; filling it in escapes each text, as the template would.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from html import escape  # what Django's does, without asking each text whether it is lazy
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from refinement.forms.rubrics import words
from refinement.forms.rubrics.page import Box, parameter_boxes, prototypes
from refinement.judging.checks import KINDS

OPEN, CLOSE = "\ue000", "\ue001"  # of Unicode's private use: no text of a template has them
_PLACE = re.compile(f"{OPEN}(.*?){CLOSE}")
LONGEST_KEPT = 200  # characters of a field whose HTML is remembered
ROW_TEXTS = ("number", "id", "place", "key", "name", "description", "ideal", "weight", "suggestion", "was")
SEVERITIES = [(severity.value, label) for severity, label in words.SEVERITIES.items()]
TEMPLATES = {noun: f"refinement/rubrics/editor/_{noun}.html" for noun in ("criterion", "check")}


def rows_html(noun: str, rows: Iterable[Mapping[str, Any]], **around: str) -> SafeString:
    """All rows of a noun; `around` are texts of the page that every row shows."""
    return SafeString("".join(_row_html(noun, row, around) for row in rows))


def _row_html(noun: str, row: Mapping[str, Any], around: dict[str, str]) -> str:
    boxes: list[Box] = row.get("boxes", [])
    unusual = row["errors"] or any(box.errors for box in boxes) or not row["key"] or not row.get("name", "x")
    if unusual or (noun == "check" and row["about"] is None):
        return render_to_string(TEMPLATES[noun], {"row": row, "severities": SEVERITIES, **around})
    fixed = tuple(box.value for box in boxes if box.kind in ("flag", "choice"))
    parts = stencil(noun, row.get("kind", ""), row.get("severity", ""), row.get("primary", False), fixed)
    texts = {name: row.get(name, "") for name in ROW_TEXTS} | around
    texts |= {f"box{place}": box.value for place, box in enumerate(boxes)}
    return "".join(escape(str(texts[part])) if place % 2 else part for place, part in enumerate(parts))


@lru_cache(maxsize=512)
def stencil(noun: str, kind: str, severity: str, primary: bool, fixed: tuple[str, ...]) -> list[str]:
    """A row's template, rendered and cut: text, name of a value, text, and so on."""
    row: dict[str, Any] = {name: _mark(name) for name in ROW_TEXTS}
    row |= {"errors": {}, "kind": kind, "severity": severity, "primary": primary, "about": KINDS.get(kind)}
    left = list(fixed)
    row["boxes"] = [
        _box_with(box, left.pop(0) if box.kind in ("flag", "choice") else _mark(f"box{place}"))
        for place, box in enumerate(parameter_boxes(row, {}, {}))
    ]
    around = {"top": _mark("top"), "try_address": _mark("try_address"), "severities": SEVERITIES}
    return _PLACE.split(render_to_string(TEMPLATES[noun], {"row": row, **around}))


def boxes_html(boxes: Iterable[Box]) -> list[SafeString]:
    """Each field as HTML; short ones are remembered, as most of them are the same everywhere."""
    return [_box_html(box) if len(box.value) > LONGEST_KEPT else _kept_box_html(box) for box in boxes]


def _box_html(box: Box) -> SafeString:
    return SafeString(render_to_string("refinement/rubrics/editor/_box.html", {"box": box}))


_kept_box_html = lru_cache(maxsize=1024)(_box_html)


def _mark(name: str) -> str:
    return f"{OPEN}{name}{CLOSE}"


def _box_with(box: Box, value: str) -> Box:
    return Box(box.name, box.label, box.kind, value, box.help, box.required, box.choices, box.rows)


@lru_cache(maxsize=1)
def prototypes_html() -> dict[str, Any]:
    """Empty rows for script to copy: one criterion, and a check of each kind."""
    given = {"severities": SEVERITIES, "top": "", "try_address": ""}
    rows = prototypes()
    return {
        "criterion": render_to_string(TEMPLATES["criterion"], {"row": rows["criterion"], **given}),
        "checks": [
            (row["kind"], render_to_string(TEMPLATES["check"], {"row": row, **given}))
            for row in rows["checks"]
        ],
    }
