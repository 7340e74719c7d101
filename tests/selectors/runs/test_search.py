"""A search in steps finds exactly what the database's index finds, and each step is short."""

import random
from typing import Any

import pytest
from django.db import connection

from refinement.models import Project, Round, Run
from refinement.selectors.runs.listing import search as run_search
from refinement.selectors.runs.listing.search import LAST_RUN, hits, search
from refinement.selectors.runs.listing.search_terms import MILESTONE, fts5_query, terms
from tests.models.given import a_version
from tests.views.runs.listed import WITH_MILESTONE, runs_of

WORDS = (
    "stop",
    "the",
    "old",
    "instance",
    "Olé",
    "ole",
    "naïve",
    "STRASSE",
    "Straße",
    "x1",
    "שלום",
    "東京",
    "a_b",
    "don't",
)
SEPARATORS = (" ", " ", " ", ", ", "--", "\n", "_", ".", " \N{COMBINING ACUTE ACCENT} ", "\N{EM DASH}")
# Runs with and without a milestone, beside each other and far apart.
NUMBERS = sorted({number + step for number in WITH_MILESTONE for step in (-1, 0, 1)})


def a_text(rng: random.Random) -> str:
    return "".join(rng.choice(WORDS) + rng.choice(SEPARATORS) for _ in range(rng.randint(1, 12)))


def a_query(rng: random.Random) -> str:
    """One to three terms: words, phrases, words that are not to be there, and signs alone."""
    asked = []
    for _ in range(rng.randint(1, 3)):
        words = rng.choice(SEPARATORS).join(rng.choice(WORDS) for _ in range(rng.randint(1, 3)))
        term = rng.choice((words, f'"{words}"', f'"{words}"', "_", rng.choice(WORDS)))
        asked.append(rng.choice(("", "", "-")) + term)
    return " ".join(asked)


def written(project: Project, numbers: list[int], rng: random.Random) -> None:
    version = a_version(project, slug=f"of-{project.slug}")
    for number in numbers:
        runs_of(project, pk=number, task=a_text(rng), version=version)
    Round.objects.bulk_create(
        Round(run_id=number, number=place, origin="draft", candidate=text, candidate_chars=len(text))
        for number in numbers
        for place in (1, 2)
        for text in [a_text(rng)]
    )


def by_the_index_alone(
    project: Project, words: str, *, above: int = 0, below: int = LAST_RUN, oldest_first: bool = False
) -> list[int]:
    """What FTS5 itself finds, without milestones and without regard to the time it takes."""
    wanted = terms(words)
    if not any(sign == "" for sign, _ in wanted):
        return []
    sql = "SELECT rowid FROM refinement_search WHERE refinement_search MATCH %s ORDER BY rowid"
    with connection.cursor() as cursor:
        cursor.execute(sql, [fts5_query(wanted)])
        places = [place for (place,) in cursor.fetchall() if place >> 48 == project.pk]
    found = dict.fromkeys((place >> 16) & LAST_RUN for place in places)
    numbers = [number for number in found if above < number < below]
    return numbers if oldest_first else numbers[::-1]


def step_by_step(project: Project, words: str, **how: Any) -> tuple[list[int], int]:
    """What a reader finds who looks further until the end, and in how many steps."""
    numbers: list[int] = []
    end, steps = ("above" if how.get("oldest_first") else "below"), 0
    found = search(project, words, limit=1_000, **how)
    while True:
        numbers, steps = numbers + found.numbers, steps + 1
        if found.resume is None:
            return numbers, steps
        assert steps < len(NUMBERS), "it does not get any further"
        found = search(project, words, limit=1_000, **{**how, end: found.resume})


@pytest.mark.parametrize("seconds", [-1, 60], ids=["stopping at each milestone", "at once"])
def test_steps_find_what_the_index_finds(project, other_project, monkeypatch, seconds):
    monkeypatch.setitem(run_search.SECONDS, "sqlite", seconds)
    rng = random.Random(20)
    written(project, NUMBERS[::2], rng)
    written(other_project, NUMBERS[1::2], rng)
    found = 0
    for _ in range(300):
        words, oldest_first = a_query(rng), rng.random() < 0.5
        low, high = sorted(rng.sample(NUMBERS, 2))
        for above, below in ((0, LAST_RUN), (low, high)):
            how = {"above": above, "below": below, "oldest_first": oldest_first}
            numbers, steps = step_by_step(project, words, **how)
            assert numbers == by_the_index_alone(project, words, **how), words
            found += len(numbers)
            assert steps == 1 or seconds == -1
    assert found > 1_000  # that the questions are worth asking


def test_a_limit_stops_at_a_run_and_goes_on_behind_it(project):
    rng = random.Random(21)
    written(project, NUMBERS, rng)
    whole = hits(project, "the", limit=1_000)
    first = search(project, "the", limit=3)
    assert (first.numbers, first.resume) == (whole[:3], whole[2])
    assert search(project, "the", limit=1_000, below=whole[2]).numbers == whole[3:]


@pytest.mark.parametrize("words", ['"apart far"', "near far", "far -far", 'far -"far apart"'])
def test_words_that_never_meet_are_given_up_for_now(project, monkeypatch, words):
    """However many runs there are: nothing is read beyond the next milestone."""
    monkeypatch.setitem(run_search.SECONDS, "sqlite", -1)
    for number in NUMBERS:
        runs_of(
            project, pk=number, task="far apart" if number % 2 else "near" if "near" in words else "far apart"
        )
    newest = WITH_MILESTONE[-1]
    found = search(project, words, limit=300)
    assert (found.numbers, found.resume) == ([], newest + 1)
    found = search(project, words, limit=300, oldest_first=True)
    assert (found.numbers, found.resume) == ([], WITH_MILESTONE[0])


def test_milestones_are_no_finds(project):
    runs_of(project, pk=WITH_MILESTONE[0], task="A task")
    assert hits(project, MILESTONE, limit=10) == []
    assert search(project, f"task {MILESTONE}", limit=10).numbers == [WITH_MILESTONE[0]]
    assert terms(f"a{MILESTONE}b") == [("", "a"), ("", "b")]


def test_a_milestone_goes_with_its_run(project):
    runs_of(project, pk=WITH_MILESTONE[0])
    [kept] = runs_of(project, pk=WITH_MILESTONE[1])
    Run.objects.filter(pk=WITH_MILESTONE[0]).delete()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT rowid FROM refinement_search WHERE refinement_search MATCH %s", [f'"{MILESTONE}"']
        )
        assert cursor.fetchall() == [((project.pk << 48) | (kept.pk << 16) | 65535,)]
