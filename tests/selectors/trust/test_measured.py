"""Planted defects and usable replies in words and tracks, and the partials that show them."""

from typing import Any

import pytest
from django.template.loader import render_to_string

from refinement.selectors.trust.measured import measured_page, planted_shown, usable_shown


def share(hits: int, n: int, low: float, high: float) -> dict[str, Any]:
    return {"n": n, "hits": hits, "share": {"value": hits / n, "low": low, "high": high}}


def kind(edit: str, name: str, hits: int, n: int, low: float, high: float) -> dict[str, Any]:
    example = {"item": 7, "measurement": 3, "change": "Removed <b>.", "criterion": "", "drop": 0.0}
    shown = [{**example, "noticed": False}, {**example, "noticed": True, "drop": 2.5}]
    return {"edit": edit, "name": name, **share(hits, n, low, high), "mean_drop": 1.0, "examples": shown}


PLANTED: dict[str, Any] = {
    "copies": 90,
    "measurements": [3],
    "noise": {"known": True, "composite": 0.9, "fallback": 0.5},
    "kinds": [
        kind("dropped", "Sentence dropped", 2, 30, 0.018, 0.213),
        kind("numbers", "Number changed", 21, 30, 0.521, 0.833),
        kind("shuffled", "Paragraphs shuffled", 29, 30, 0.833, 0.994),
        kind("own", "Own spoiled copy", 1, 2, 0.095, 0.905),
    ],
    "harmless": [
        kind("synonyms", "Synonyms", 3, 30, 0.035, 0.256),
        kind("reflowed", "Line breaks", 0, 30, 0, 0.114),
        kind("typography", "Quotes, dashes, spaces", 6, 30, 0.095, 0.373),
    ],
    "found": share(53, 92, 0.474, 0.672),
    "false_alarms": share(9, 90, 0.054, 0.179),
    "right": share(40, 53, 0.624, 0.852),
    "padding": {"n": 30, "words": 51, "raised": 2, "change": {"value": 0.4, "low": 0.2, "high": 0.6}},
}
USABLE: dict[str, Any] = {
    "n": 1204,
    "usable": {"value": 0.9867, "low": 0.978, "high": 0.992},
    "rungs": {
        "strict": 1131,
        "embedded": 42,
        "dirtyjson": 0,
        "json_repair": 0,
        "lines": 0,
        "asked_again": 15,
        "unscored": 16,
    },
    "repaired": 42,
    "models": [],
    "form": {"thinking": share(4, 8, 0.2, 0.8), "plain": None},
    "newest": {"runs": 500, "texts": 4000},
}


def test_kinds_are_told_apart_and_few_copies_are_not_judged():
    shown = planted_shown(PLANTED)
    assert [(row.percent, row.count, row.kind) for row in shown["found"]] == [
        ("7\xa0%", "2/30", "bad"),
        ("70\xa0%", "21/30", "warn"),
        ("97\xa0%", "29/30", "ok"),
        ("50\xa0%", "1/2", "none"),
    ]
    assert [row.kind for row in shown["alarms"]] == ["warn", "ok", "bad"]
    assert shown["blind"] == ["Sentence dropped"]
    assert shown["summary"] == "Noticed 53 of 92 defects: 58\xa0% (47 to 67\xa0%)."
    assert shown["right"] == "40 of 53 that it noticed lowered the right criterion most."
    assert shown["noise"] == "Noise: 0.9 points"


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"value": 0.4, "low": 0.2, "high": 0.6}, "warn", "It rewards longer texts."),
        ({"value": -0.4, "low": -0.6, "high": -0.2}, "warn", "It prefers shorter texts."),
        ({"value": 0.1, "low": -0.2, "high": 0.4}, "none", "No preference for length shown."),
        ({"value": 0.4, "low": None, "high": None}, "none", "No preference for length shown."),
    ],
)
def test_padding(change, kind, words):
    padding = planted_shown({**PLANTED, "padding": {**PLANTED["padding"], "change": change}})["padding"]
    assert padding["kind"] == kind
    assert padding["note"].endswith(words)


def test_without_a_retest_the_page_says_so():
    unknown = {"known": False, "composite": 0.5, "fallback": 0.5}
    assert planted_shown({**PLANTED, "noise": unknown})["noise"] == "Noise not measured: drops from 0.5 count"


def test_replies_are_summed_up():
    shown = usable_shown(USABLE)
    assert (shown["percent"], shown["kind"]) == ("98.7\xa0%", "ok")
    assert (
        shown["rungs"]
        == "1,131 as strict JSON, 42 with text around the JSON, 15 on a second ask, 16 unscored."
    )
    assert shown["form"] == "First replies in the requested form: 50\xa0% of 8 with thinking."


def test_nothing_measured_shows_nothing():
    assert measured_page(None) == measured_page({"planted": None, "usable": None})
    assert set(measured_page(None).values()) == {None}


def test_the_partials_escape_and_name_what_was_missed():
    page = {
        **measured_page({"planted": PLANTED, "usable": USABLE}),
        "can_edit": True,
        "retest_address": "/r/",
    }
    planted = render_to_string("refinement/trust/_planted.html", page)
    assert "Mostly misses: sentence dropped." in planted
    assert "Removed &lt;b&gt;." in planted
    assert "<b>Missed.</b>" in planted
    assert "<b>False alarm.</b>" in planted
    usable = render_to_string("refinement/trust/_usable.html", page)
    assert "16 unscored" in usable
    assert "1,204" in usable
