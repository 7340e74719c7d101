"""Checks on markup: is-xml, contains-xml, is-html, contains-html."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

from refinement.judging.checks.kinds import (
    NEGATE,
    PASSED,
    CheckKind,
    Finding,
    Parameter,
    Parameters,
    ParameterType,
    negatable,
)

MOST_STARTS = 50  # of an XML fragment in a text
_START = re.compile(r"<([A-Za-z_][\w.-]*)(?=[\s/>])")
_FENCED = re.compile(r"\s*(`{3,})[^\n`]*\n(?P<inside>.*?)\n?[ \t]*\1\s*\Z", re.DOTALL)
VOID = frozenset(
    "area base br col embed hr img input link meta param source track wbr".split()  # noqa: SIM905
)
INDICATORS = (
    r"</[a-zA-Z][\w-]*\s*>",
    r"<[a-zA-Z][\w-]*(?:\s[^<>]*)?>",
    r"<[a-zA-Z][\w-]*[^<>]*/>",
    r"&(?:[a-zA-Z]{2,8}|#\d{1,6}|#x[0-9a-fA-F]{1,6});",
    r"<[a-zA-Z][^<>]*\s(?:class|id|href|src|style|name|type)\s*=\s*[\"'][^\"']*[\"']",
    r"<!--.*?-->",
    r"(?i)<!doctype\s+html",
)


class NotMarkup(Exception):
    """The text is not the wanted markup. The message is a sentence."""


def xml_of(text: str) -> ET.Element:
    """The root element. Documents with a DTD are refused, because it can define entities."""
    if "<!DOCTYPE" in text.upper():
        raise NotMarkup("The XML has a DOCTYPE, which is not supported.")
    try:
        return ET.fromstring(text)  # noqa: S314  in a child process with limits, and without a DTD
    except ET.ParseError as error:
        line, column = error.position
        problem = str(error).split(":", maxsplit=1)[0]
        raise NotMarkup(
            f"The text is not valid XML: {problem} at line {line}, column {column + 1}."
        ) from None


def elements_of(parameters: Parameters) -> list[str]:
    value = parameters.get("elements") or ()
    return [str(path) for path in value] if isinstance(value, (list, tuple)) else []


def missing_element(root: ET.Element, paths: list[str]) -> str | None:
    """The first dotted path that is not in the document."""
    for path in paths:
        first, *rest = path.split(".")
        if root.tag != first or (rest and root.find("/".join(rest)) is None):
            return path
    return None


def run_is_xml(parameters: Parameters, candidate: str) -> Finding:
    fenced = _FENCED.match(candidate)
    try:
        root = xml_of((fenced["inside"] if fenced else candidate).strip())
    except NotMarkup as problem:
        return Finding(False, str(problem))
    missing = missing_element(root, elements_of(parameters))
    return Finding(False, f"The XML has no element {missing}.") if missing else PASSED


def run_contains_xml(parameters: Parameters, candidate: str) -> Finding:
    paths, missing = elements_of(parameters), None
    for fragment in fragments(candidate):
        try:
            missing = missing_element(xml_of(fragment), paths)
        except NotMarkup:
            continue
        if missing is None:
            return PASSED
    if missing:
        return Finding(False, f"The XML in the text has no element {missing}.")
    return Finding(False, "The text contains no valid XML.")


def fragments(text: str) -> Iterator[str]:
    """From each opening tag to the last closing tag of the same name."""
    for count, start in enumerate(_START.finditer(text)):
        if count >= MOST_STARTS:
            return
        end = f"</{start[1]}>"
        last = text.rfind(end, start.end())
        if last >= 0:
            yield text[start.start() : last + len(end)]


class _Html(HTMLParser):
    """Finds text outside of elements, and elements that are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.problem = ""
        self.elements = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if tag not in self.open:
            self.problem = self.problem or f"</{tag}> closes nothing"
            return
        while self.open.pop() != tag:
            pass  # elements such as p and li may be left open

    def handle_data(self, data: str) -> None:
        if not self.open and data.strip():
            self.problem = self.problem or "there is text outside of its elements"


def run_is_html(parameters: Parameters, candidate: str) -> Finding:
    text = candidate.strip()
    if not text.startswith("<") or not text.endswith(">") or text.startswith("<?xml"):
        return Finding(False, "The text must be HTML from start to end.")
    parser = _Html()
    parser.feed(text)
    parser.close()
    problem = parser.problem or (f"<{parser.open[-1]}> is not closed" if parser.open else "")
    if not parser.elements:
        return Finding(False, "The text has no HTML elements.")
    return Finding(False, f"The text is not valid HTML: {problem}.") if problem else PASSED


def run_contains_html(parameters: Parameters, candidate: str) -> Finding:
    found = sum(re.search(pattern, candidate, re.DOTALL) is not None for pattern in INDICATORS)
    return PASSED if found >= 2 else Finding(False, "The text contains no HTML.")


_ELEMENTS = Parameter(
    "elements",
    "Elements",
    ParameterType.LINES,
    description="Elements that must occur, one path per line, such as root.child.",
)

KINDS = (
    CheckKind(
        "is-xml",
        "Is XML",
        "The text is one XML document.",
        (_ELEMENTS, NEGATE),
        negatable(run_is_xml, lambda parameters: "The text is XML"),
    ),
    CheckKind(
        "contains-xml",
        "Contains XML",
        "XML must occur in the text.",
        (_ELEMENTS, NEGATE),
        negatable(run_contains_xml, lambda parameters: "The text contains XML"),
    ),
    CheckKind(
        "is-html",
        "Is HTML",
        "The whole text is HTML.",
        (NEGATE,),
        negatable(run_is_html, lambda parameters: "The text is HTML"),
    ),
    CheckKind(
        "contains-html",
        "Contains HTML",
        "HTML must occur in the text.",
        (NEGATE,),
        negatable(run_contains_html, lambda parameters: "The text contains HTML"),
    ),
)
