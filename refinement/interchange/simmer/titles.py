"""The title of a run: from its trajectory's heading, its folder, or its text."""

import re

from refinement.interchange.imports.written_scores import unmarked
from refinement.interchange.simmer.names import PLAIN_FOLDERS

TITLE_CHARS, HEADING_CHARS = 160, 400
UNTITLED = "Untitled run"
HEADING = re.compile(r"(#{1,6})\s+(.*\S)")
FENCE = re.compile(r"\s*(?:```|~~~)")
_SIGN = r"(?:\s+[—–-]+\s+|\s*[—–|]\s*|\s*:\s+|\s*:\Z)"
_ASIDE = r"(?:\s*\([^)]*\))?"
_WORDS = (
    r"(?:(?:the|final|full|complete|score|running)\s+)*"
    r"(?:simmer(?:ing)?(?:\s+(?:run|loop|final|score|full))*(?:\s+(?:trajectory|log|results?|report))?|(?:final\s+|score\s+)?trajectory)"
    r"(?:\s+(?:table|log|results?|report|record))?"
)
BEFORE = re.compile(rf"{_WORDS}{_ASIDE}(?:{_SIGN}|\s+(?:for|of)\s+)", re.IGNORECASE)
AFTER = re.compile(rf"(?:{_SIGN})(?:{_WORDS}){_ASIDE}\Z", re.IGNORECASE)
AT_THE_END = re.compile(
    rf"\s+\(?(?:final\s+)?simmer(?:\s+(?:run|final|score))?\s+(?:trajectory|run|log|results?)\)?{_ASIDE}\Z",
    re.IGNORECASE,
)
ALONE = re.compile(rf"{_WORDS}{_ASIDE}\Z", re.IGNORECASE)


def title_of(trajectory: str, folder: str, texts: list[str]) -> str:
    """What the run is about. `texts` are the result and the candidates, the best one first.

    The heading is “Simmer Trajectory — Mail”, “Mail: Simmer trajectory” or “Simmer: Mail — Final Trajectory”.
    Without a title in it, the nearest folder with a name of its own counts, such as `mail` of
    `mail/docs/simmer`, then the first heading of a text.
    """
    found = (
        title_in(first_heading(trajectory, level=1))
        or named_folder(folder)
        or next((title for text in texts if (title := first_heading(text))), "")
    )
    return found[:TITLE_CHARS].strip() or UNTITLED


def title_in(heading: str) -> str:
    """The heading without the words that every trajectory has; empty if nothing is left."""
    title = heading.strip()
    before = None
    while title != before:
        before = title
        title = BEFORE.sub("", title, count=1) if BEFORE.match(title) else title
        title = AFTER.sub("", title)
        title = AT_THE_END.sub("", title).strip(" \t—–:|")
    return "" if ALONE.match(title) else title


def first_heading(text: str, level: int = 6) -> str:
    """The first heading outside code, down to this level."""
    fenced = False
    for line in text.split("\n")[:400]:
        if FENCE.match(line):
            fenced = not fenced
            continue
        match = HEADING.match(line.strip()[:HEADING_CHARS])
        if match and not fenced and len(match[1]) <= level:
            return unmarked(match[2][:HEADING_CHARS].rstrip("# ").strip())
    return ""


def named_folder(folder: str) -> str:
    """The innermost folder of the path that is named after its content."""
    names = [name for name in folder.replace("\\", "/").split("/") if name]
    return next((name for name in reversed(names) if name.casefold() not in PLAIN_FOLDERS), "")
