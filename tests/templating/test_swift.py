"""Swift nodes write what Django's own nodes write, and refuse what they refuse."""

from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.template import Context, Engine
from django.urls import reverse
from django.utils.safestring import mark_safe

from wiggum_site.templating.addresses import Addresses
from wiggum_site.templating.nodes import SwiftNodeList

FILES = "django.template.loaders.locmem.Loader"
OPTIONS = {"libraries": {"wording": "refinement.templatetags.wording"}}


class Thing:
    name = "a <b>"
    items = ("shadows", "nothing")

    def __init__(self):
        self.calls = 0

    def method(self):
        self.calls += 1
        return f"called {self.calls}"

    def wants(self, argument):
        return argument

    def removes(self):
        raise AssertionError("a template must not call this")

    removes.alters_data = True

    @property
    def gone(self):
        raise ObjectDoesNotExist

    @property
    def broken(self):
        return self.there_is_no_such_thing


def values():
    return {
        "text": "<i>&'\"", "safe": mark_safe("<i>"), "number": 1234567, "yes": True, "none": None, "zero": 0,
        "score": Decimal("7.50"), "share": 0.25, "at": datetime(2026, 3, 1, 12, 30, tzinfo=UTC),
        "words": ["one", "<two>"], "pairs": [("a", 1), ("b", 2)], "lazy": (each for each in "ab"),
        "table": {"key": "<v>", "items": "mine", "n": {"m": 3}}, "thing": Thing(), "kind": Thing,
        "rows": [SimpleNamespace(name="x", parts=[1, 2]), SimpleNamespace(name="y", parts=[])],
        "csrf_token": "t<", "page": "part.html",
    }  # fmt: skip


TEMPLATES = (
    "{{ text }}{{ safe }}{{ number }}{{ yes }}{{ none }}{{ zero }}{{ score }}{{ share }}{{ at }}",
    "{% autoescape off %}{{ text }}{{ thing.name }}{% endautoescape %}",
    "[{{ missing }}][{{ missing.name }}][{{ none.name }}][{{ text.where }}][{{ thing.nothing }}]["
    "{{ table.no }}]",
    "{{ thing.name }}{{ thing.method }}{{ thing.method }}[{{ thing.wants }}][{{ thing.removes }}]["
    "{{ thing.gone }}]",
    "{{ table.key }}{{ table.items }}{{ table.n.m }}{{ words.1 }}{{ words.7 }}{{ text.0 }}"
    "{{ thing.items.1 }}{{ kind.name }}",
    "{% for key, value in table.items %}{{ key }}{% endfor %}{% for a, b in pairs %}"
    "{{ forloop.counter }}{{ a }}{{ b }}{% endfor %}",
    "{% for row in rows %}{% for part in row.parts %}{{ forloop.parentloop.counter0 }}"
    "{{ forloop.revcounter }}{{ part }}"
    "{% empty %}none of {{ row.name }}{% endfor %}{% if forloop.last %}.{% endif %}{% endfor %}",
    "{% for word in words reversed %}{{ forloop.first }}{{ word }}{% endfor %}{% for each in lazy %}"
    "{{ each }}{% endfor %}",
    "{% for each in missing %}x{% empty %}nothing{% endfor %}{% for a in none %}x{% endfor %}["
    "{{ forloop }}]",
    "{% if missing %}a{% elif zero or none %}b{% elif number > 5 and not missing.name %}c{% else %}d"
    "{% endif %}",
    "{% if text == '<i>&\\'\"' or 'one' in words %}in{% endif %}{% if missing.name == none %}same"
    "{% endif %}",
    "{{ text|default:'<x>' }}{{ missing|default:'<x>' }}{{ none|default_if_none:number }}"
    "{{ text|upper }}{{ safe|upper }}",
    "{{ words|join:'<' }}{{ text|truncatechars:3 }}{{ at|date:'H:i' }}{{ number|add:'1' }}"
    "{{ number|add:zero }}",
    "{{ 'lit<eral' }}{{ 3.5 }}{{ 'x'|add:text }}{% filter upper %}{{ text }}{% endfilter %}",
    "{% with a=text b=words.0 %}{{ a }}{{ b }}{% include 'part.html' with c=a %}{% endwith %}[{{ a }}]",
    "{% include page with c=number only %}{% include 'part.html' %}{% csrf_token %}",
    "{% load wording %}{{ number|grouped }}{{ score|score }}{% exact_day at %}{% cycle 'a' text %}"
    "{% firstof none text %}",
    "{% url 'run_page' 'a-slug' number %}{% url 'no_such_view' 1 as address %}[{{ address }}]"
    "{% url 'run_list' slug='a' %}",
    "{% url 'run_round' 'a-slug' number 2 as address %}{{ address }}?a={{ text|urlencode }}",
    "{% if thing.gone or thing.method %}{{ thing.method }}{% endif %}"
    "{% if not thing.items.5 and kind.name %}k{% endif %}",
    "{% if text|default:missing %}a{% else %}b{% endif %}{% if missing|default:text == text %}c{% endif %}"
    "{% if none|length %}d{% elif words|length > 1 %}e{% endif %}",
    "{% with a=missing b=thing.method c=table.n %}[{{ a }}{{ b }}{{ b }}{{ c.m }}{{ c.no }}]{% endwith %}"
    "{% if table.key %}only text{% endif %}{% if thing.calls %}{{ thing.calls }}{% endif %}",
    "{% load wording %}{% ago none %}{% outcome_chip text %}{% exact_day at as day %}{{ day }}"
    "{% autoescape off %}{% outcome_chip text %}{{ safe|add:text }}{% endautoescape %}",
    "{{ missing|upper|default:text }}{{ thing.method|add:'!' }}{{ rows.0.name|default:words.1|upper }}",
    "{% if thing.broken %}a{% endif %}",
    "{% if text|add:missing.name %}a{% else %}b{% endif %}",
    "{% extends 'base.html' %}{% block one %}{{ block.super }}{{ text }}{% endblock %}",
    "{% for a, b in words %}{{ a }}{% endfor %}",
    "{{ thing.broken }}",
    "{% url 'run_page' text number %}",
    "{% url 'run_page' 'a slug' number %}",
)  # fmt: skip
FOUND = {
    "part.html": "<p>{{ c }}{{ text }}{% url 'run_list' 'x' as inner %}{{ inner }}</p>",
    "base.html": "{% block one %}base {{ number }}{% endblock %}{% block two %}{{ words.0 }}{% endblock %}"
    "{{ inner }}",
}


def engine_with(loader, **more):
    files = [(FILES, FOUND | {str(place): text for place, text in enumerate(TEMPLATES)})]
    return Engine(loaders=[(loader, files)], **OPTIONS, **more)


def rendered(engine, name):
    try:
        return engine.get_template(name).render(Context(values()))
    except Exception as error:  # noqa: BLE001  whatever it is, both have to raise it
        return type(error), str(error)


@pytest.mark.parametrize("place", range(len(TEMPLATES)), ids=lambda place: TEMPLATES[place][:60])
def test_the_same_page_as_djangos(place):
    name = str(place)
    swift = engine_with("wiggum_site.templating.loader.Loader")
    assert rendered(swift, name) == rendered(engine_with("django.template.loaders.cached.Loader"), name)
    assert type(swift.get_template(name).nodelist) is SwiftNodeList


def test_what_stands_for_invalid_values_is_djangos_too():
    swift, plain = (
        engine_with(loader, string_if_invalid="no %s!")
        for loader in ("wiggum_site.templating.loader.Loader", "django.template.loaders.cached.Loader")
    )
    assert rendered(swift, "2") == rendered(plain, "2")
    assert "no missing!" in rendered(swift, "2")


def test_templates_under_development_keep_djangos_nodes():
    engine = engine_with("wiggum_site.templating.loader.Loader", debug=True)
    assert type(engine.get_template("0").nodelist) is not SwiftNodeList


@pytest.mark.parametrize("values", [["a", 7], ["a-b_C9", 0], ["a", 10**15]])
def test_an_address_is_the_one_that_django_finds(values):
    assert Addresses().address("run_page", values) == reverse("run_page", args=values)


@pytest.mark.parametrize(
    "values",
    [["a/b", 7], ["ä", 7], ["a b", 7], ["", 7], ["a\n", 7], ["a", -1], ["a", "x"], ["a", True], ["a"]],
)
def test_what_is_no_plain_value_is_left_to_django(values):
    assert Addresses().address("run_page", values) is None
