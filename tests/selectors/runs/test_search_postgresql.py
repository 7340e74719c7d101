"""PostgreSQL searches some runs after the others, and finds what a single query finds."""

import random
from math import inf
from typing import Any

import pytest
from django.db import connections

from refinement.models import Project, Round, RubricVersion, Run
from refinement.selectors.runs.listing import search as run_search
from refinement.selectors.runs.listing.search import LAST_RUN, hits, search
from refinement.selectors.runs.listing.search_terms import terms, web_query
from tests.models.given import a_run_in, a_version_in

WORDS = ("stop", "the", "old", "instance", "Olé", "x1", "a_b", "don't")
RARE = ("quagga", "okapi")
RUNS = 120
ALONE = """
SELECT DISTINCT run_id FROM refinement_search
WHERE words @@ websearch_to_tsquery('simple', %s) AND project_id = %s ORDER BY run_id
"""


@pytest.fixture
def project(postgres_database, django_db_blocker):
    """Among the runs of another one; the newest runs hold other words than the oldest."""
    rng = random.Random(22)
    with django_db_blocker.unblock():
        made = [
            a_version_in(postgres_database, f"{slug}-{random.getrandbits(32)}")
            for slug in ("search", "beside")
        ]
        for number in range(RUNS):
            words = WORDS[:5] if number < RUNS / 2 else WORDS[3:]
            for version in made:
                a_run(version, postgres_database, [a_text(rng, words) for _ in range(3)])
        try:
            yield made[0].rubric.project
        finally:
            for version in made:
                Run.objects.using(postgres_database).filter(rubric_version=version).delete()
                version.rubric.project.delete(using=postgres_database)
            connections[postgres_database].close()


def a_run(version: RubricVersion, alias: str, texts: list[str]) -> None:
    run = a_run_in(alias, version, texts[0])
    Round.objects.using(alias).bulk_create(
        Round(run=run, number=place, origin="draft", candidate=text, candidate_chars=len(text))
        for place, text in enumerate(texts[1:], 1)
    )


def a_text(rng: random.Random, words: tuple[str, ...]) -> str:
    rare = [rng.choice(RARE)] if rng.random() < 0.03 else []
    return " ".join([*rng.choices(words, k=rng.randint(1, 8)), *rare])


def a_query(rng: random.Random) -> str:
    asked = []
    for _ in range(rng.randint(1, 3)):
        words = " ".join(rng.choices(WORDS + RARE, k=rng.randint(1, 3)))
        asked.append(rng.choice(("", "", "-")) + rng.choice((words, f'"{words}"')))
    return " ".join(asked)


def step_by_step(project: Project, words: str, **how: Any) -> tuple[list[int], int]:
    numbers: list[int] = []
    end, steps = ("above" if how["oldest_first"] else "below"), 0
    while True:
        found = search(project, words, using="postgres", **how)
        numbers, steps = numbers + found.numbers, steps + 1
        if found.resume is None:
            return numbers, steps
        assert steps < 2 * RUNS, "it does not get any further"
        how[end] = found.resume


def all_at_once(project: Project, words: str) -> list[int]:
    wanted = terms(words)
    if not any(sign == "" for sign, _ in wanted):
        return []
    with connections["postgres"].cursor() as cursor:
        cursor.execute(ALONE, [web_query(wanted), project.pk])
        return [number for (number,) in cursor.fetchall()]


@pytest.mark.parametrize("seconds", [-1, inf], ids=["stopping everywhere", "at once"])
def test_steps_find_what_one_question_finds(project, monkeypatch, seconds):
    monkeypatch.setattr(run_search, "NEAR_RUNS", 8)
    rng, found, most_steps = random.Random(23), 0, 0
    for _ in range(50):
        words, oldest_first, limit = a_query(rng), rng.random() < 0.5, rng.choice((5, 40, 500))
        whole = all_at_once(project, words)
        low, high = sorted(rng.sample(whole, 2)) if len(whole) > 1 else (0, LAST_RUN)
        for above, below in ((0, LAST_RUN), (low, high)):
            how = {"above": above, "below": below, "oldest_first": oldest_first, "limit": limit}
            numbers, steps = step_by_step(project, words, seconds=seconds, **how)
            wanted = [number for number in whole if above < number < below]
            assert numbers == (wanted if oldest_first else wanted[::-1]), words
            found, most_steps = found + len(numbers), max(steps, most_steps) if limit == 500 else most_steps
    assert found > 400  # that the questions are worth asking
    assert most_steps > 1 if seconds == -1 else most_steps == 1
    assert hits(project, "instance", limit=3, using="postgres") == all_at_once(project, "instance")[:-4:-1]
