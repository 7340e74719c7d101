"""Every rubric page: all controls are reachable by keyboard, and it fits on a phone."""

import pytest
from playwright.sync_api import Page

from refinement.services.rubrics.bench import Candidate
from tests.execution.trials.conftest import ollama_server, table
from tests.execution.trials.given import EXAMPLE, Table, calibrated

__all__ = ["ollama_server", "table"]

GUIDES = "/p/alpha/rubrics/guides"
PATHS = (
    "/p/alpha/rubrics/",
    "/p/alpha/rubrics/new/",
    "/p/alpha/rubrics/import/",
    *(
        f"{GUIDES}/{page}"
        for page in ("", "edit/", "preview/", "calibration/", "versions/", "compare/?a=1&b=2")
    ),
    *(f"{GUIDES}/bench/{page}" for page in ("", "{bench}/", "{bench}/trials/1/", "compare/")),
)
# Each visible element that acts, once: a group of radio buttons is one stop, moved in by the arrows.
STOPS = """() => {
  const acting = "a[href], button, input:not([type=hidden]), select, textarea, summary";
  const groups = new Set();
  return [...document.querySelectorAll(acting)].filter((part) => {
    if (!part.checkVisibility({ visibilityProperty: true }) || part.disabled || part.ariaHidden) return false;
    if (part.type !== "radio") return true;
    const known = groups.has(part.name);
    groups.add(part.name);
    return !known;
  }).map((part) => part.type === "radio" ? `radio ${part.name}` : (part.dataset.stop = part.dataset.stop
    || `${part.localName} ${part.name || part.textContent.trim().slice(0, 30)} ${Math.random()}`));
}"""
LISTEN = """() => {
  window.stopsReached = [];
  document.addEventListener("focusin", ({ target }) => window.stopsReached.push(
    target.type === "radio" ? `radio ${target.name}` : target.dataset.stop));
}"""


@pytest.fixture
def bench(table: Table):
    """A rubric with a calibration example, two versions and a judged bench."""
    table.rubric(calibrated("5"))
    table.rubric(calibrated("6"))
    return table.judged(6, 7, 8, candidate=Candidate(EXAMPLE, "calibration"))


def not_reached(page: Page) -> set[str]:
    wanted = page.evaluate(STOPS)
    page.evaluate(LISTEN)
    # Scrolling regions and the like are stops too, so the round is longer than the list.
    for _ in range(len(wanted) + 25):
        page.keyboard.press("Tab")
    reached = page.evaluate("window.stopsReached")
    assert len(wanted) > 5
    return set(wanted) - set(reached)


def test_the_tab_key_reaches_everything(signed_in: Page, bench):
    for path in PATHS:
        signed_in.goto(path.format(bench=bench.pk))
        assert not_reached(signed_in) == set(), path


def test_a_phone_is_wide_enough(signed_in: Page, bench):
    signed_in.set_viewport_size({"width": 390, "height": 844})
    for path in PATHS:
        signed_in.goto(path.format(bench=bench.pk))
        assert signed_in.evaluate("document.documentElement.scrollWidth") <= 390, path


def test_the_net_catches_something(signed_in: Page, bench):
    signed_in.goto(f"{GUIDES}/versions/")
    signed_in.evaluate("document.querySelector('.tabs a').tabIndex = -1")

    assert len(not_reached(signed_in)) == 1
