"""The pages and API requests that `benchmarks.browse` measures: names and addresses."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from benchmarks.filling import (
    COMMON_JUDGE,
    COMMON_PRODUCER,
    COMMON_TAG,
    PAIRED_JUDGE,
    PAIRED_PRODUCER,
    RARE_WORD,
    discussed_place,
    middle_place,
    run_numbers,
)

PART = "part"  # of a page, loaded by htmx
API = "API"
ALL_THREADS = "all its 50 threads"
COMMON_WORD = "restart"


def addresses(project: Any) -> dict[str, str]:
    """The addresses of all pages by name; without those that this version does not have."""
    numbers = run_numbers(project)
    middle = numbers[middle_place(len(numbers))]
    return dict(
        [
            *lists(project, middle, numbers[-1]),
            *pages(project, middle, numbers[-1], numbers[discussed_place(len(numbers))]),
            *operations(project, middle),
        ]
    )


def lists(project: Any, middle: int, newest: int) -> Iterator[tuple[str, str]]:
    from django.urls import reverse

    from refinement.models import Run

    today = Run.objects.get(pk=newest).created_at.date()
    for name, query in filters(middle, today).items():
        yield name, f"{reverse('run_list', args=[project.slug])}?{urlencode(query)}"


def pages(project: Any, middle: int, newest: int, discussed: int) -> Iterator[tuple[str, str]]:
    from django.urls import NoReverseMatch, reverse

    from refinement.models import Run

    best = Run.objects.get(pk=discussed).best_round or 1
    wanted = (
        ("home", "project_home", [project.slug], ""),
        ("run page", "run_page", [project.slug, middle], ""),
        ("run with 500 comments", "run_page", [project.slug, discussed], ""),
        (ALL_THREADS, "run_page", [project.slug, discussed], "?all=1"),
        ("a round", "run_round", [project.slug, middle, 2], ""),
        ("a difference", "run", [project.slug, middle], "?round=3&view=start"),
        ("calls", "run_calls", [project.slug, middle], ""),
        ("compare two", "run_compare", [project.slug], f"?run={middle}&run={newest}"),
        ("rubrics", "rubric_list", [project.slug], ""),
        (f"{PART}: six threads", "run_threads", [project.slug, discussed], f"?round={best}"),
        (f"{PART}: 20 people's scores", "run_people", [project.slug, discussed, best], ""),
    )
    for name, view, values, query_text in wanted:
        try:
            yield name, f"{reverse(view, args=values)}{query_text}"
        except NoReverseMatch:
            continue


def operations(project: Any, middle: int) -> Iterator[tuple[str, str]]:
    """API requests for runs, as a script makes them."""
    from django.urls import reverse

    runs = reverse("api:run_list", args=[project.slug])
    for name, query in (
        ("list", {}),
        ("list of 100", {"limit": 100}),
        ("list of 100, some fields", {"limit": 100, "fields": "id,status,best"}),
        ("list, filtered", {"outcome": "FAIL", "tag": "docs"}),
        ("list, sorted", {"sort": "-best"}),
        ("list, search", {"q": COMMON_WORD}),
    ):
        yield f"{API}: {name}", f"{runs}?{urlencode(query)}"
    for name, rest in (("run", ""), ("rounds", "/rounds"), ("a round", "/rounds/2"), ("events", "/events")):
        yield f"{API}: {name}", f"{runs}/{middle}{rest}"


def filters(middle: int, today: Any) -> dict[str, dict[str, object]]:
    """Every filter of the list by name, with many, few and no matches; every sort order."""
    from refinement.models import User
    from refinement.selectors.runs.listing.orders import ORDERS

    person = User.objects.get(email="mina.okafor@demo.example").pk
    week = {"since": today - timedelta(days=60), "until": today - timedelta(days=53)}
    month = {"since": today - timedelta(days=90), "until": today - timedelta(days=60)}
    orders: dict[str, dict[str, object]] = {}
    for order in ORDERS:
        orders |= {f"order: {order}": {"sort": order}, f"order: {order}, up": {"sort": f"-{order}"}}
    return {
        "list": {},
        "a page in the middle": {"after": middle},
        "outcome, common": {"outcome": "PASS"},
        "outcome, rare": {"outcome": "DONE"},
        "reason": {"reason": "judge_failed"},
        "status, rare": {"status": "paused"},
        "status, none": {"status": "running"},
        "rubric": {"rubric": "answers"},
        "producer": {"producer": "qwen3:4b"},
        "judge": {"judge": "llama3.3:70b"},
        "person": {"person": person},
        "tag, common": {"tag": "docs"},
        "tag, rare": {"tag": "rare"},
        "tag, none": {"tag": "nowhere"},
        "kinship": {"kinship": "same_model"},
        "decision, rare": {"decision": "approved"},
        "imported, rare": {"imported": "any"},
        "imported from, rare": {"imported": "jsonl"},
        "mark: signal": {"mark": "signal"},
        "mark: penalty": {"mark": "penalty"},
        "mark: cut, rare": {"mark": "cut"},
        "dates": dict(week),
        "best, common": {"best_min": 7},
        "best, rare": {"best_min": 9},
        "best, none": {"best_min": 9.9},
        "first round, some": {"r1_min": 6},
        "archived": {"archived": "on"},
        "three filters": {"outcome": "FAIL", "producer": COMMON_PRODUCER, "tag": COMMON_TAG},
        "filters that seldom meet": {"producer": PAIRED_PRODUCER, "judge": PAIRED_JUDGE},
        "a rare and a common filter": {"outcome": "DONE", "rubric": "answers"},
        "rare, in another order": {"outcome": "DONE", "sort": "best"},
        "tag, in another order": {"tag": "docs", "sort": "best"},
        "errors, best first": {"outcome": "ERROR", "sort": "best"},
        "first rounds, most improved": {"r1_min": 6, "sort": "improvement"},
        "penalties, best first": {"mark": "penalty", "sort": "best"},
        "two scores, newest": {"r1_min": 6, "best_max": 7.7},
        "a month, most rounds": {**month, "sort": "rounds"},
        "filters that never meet": {"outcome": "ERROR", "r1_min": 6, "judge": PAIRED_JUDGE, "sort": "time"},
        "never met, newest": {"judge": COMMON_JUDGE, "kinship": "same_family"},
        "archived, best first": {"archived": "on", "sort": "best"},
        "search, rare": {"q": RARE_WORD},
        "search, common": {"q": COMMON_WORD},
        "search, none": {"q": "quagga"},
        "search, phrase": {"q": '"stop the old instance"'},
        "search, words apart": {"q": '"instance old the stop"'},
        "search and filter": {"q": COMMON_WORD, "outcome": "ERROR"},
        "search, sorted": {"q": COMMON_WORD, "sort": "best"},
        **orders,
    }
