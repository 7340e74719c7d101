"""A badge with the number of passed cases: an SVG image, or JSON for a badge service."""

import json
from pathlib import Path
from xml.sax.saxutils import escape

LABEL = "eval"
CHAR_WIDTH, PADDING, HEIGHT = 7, 10, 20
COLOURS = {"brightgreen": "#3c873a", "yellow": "#9a6700", "red": "#cf222e", "lightgrey": "#6e7781"}
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img">
<title>{label}: {message}</title>
<rect width="{left}" height="20" fill="#444c56"/>
<rect x="{left}" width="{right}" height="20" fill="{colour}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{label_x}" y="14">{label}</text><text x="{message_x}" y="14">{message}</text>
</g>
</svg>
"""


def badge_text(passed: int, total: int) -> tuple[str, str]:
    """The message and the colour."""
    if not total:
        return "no cases", "lightgrey"
    colour = "brightgreen" if passed == total else "yellow" if passed * 10 >= total * 8 else "red"
    return f"{passed}/{total} passed", colour


def badge(path: Path, passed: int, total: int) -> str:
    """The content of the badge file: JSON if its name ends so, otherwise SVG."""
    message, colour = badge_text(passed, total)
    if path.suffix.lower() == ".json":
        record = {"schemaVersion": 1, "label": LABEL, "message": message, "color": colour}
        return json.dumps(record) + "\n"
    left, right = (len(text) * CHAR_WIDTH + PADDING for text in (LABEL, message))
    return SVG.format(
        width=left + right,
        left=left,
        right=right,
        label=escape(LABEL),
        message=escape(message),
        colour=COLOURS[colour],
        label_x=left / 2,
        message_x=left + right / 2,
    )
