"""A project full of runs for a benchmark: every end in fixed shares, and a word that three of them hold.

PostgreSQL's search index costs more than all other rows together when it is kept row by row. While runs come
in by the thousand it is taken away, and then made in one go by the statements of its own migration. What
that brought is held against what the triggers make of the same rows.
"""

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any

ROUNDS = 4
RARE_WORD = "thylacine"
RARE_RUNS = 3
COMPARED_RUNS = 50
BUILD_MEMORY = "512MB"  # for the making of an index; what is made is the same
ENDS = (
    ("PASS", "passed", 50), ("FAIL", "max_rounds", 35), ("FAIL", "cycling", 9), ("ERROR", "judge_failed", 3),
    ("CANCELLED", "cancelled", 2), ("DONE", "plateau", 1),
)  # fmt: skip
SHAPE = """
SELECT indexdef FROM pg_indexes WHERE tablename = 'refinement_search'
UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname LIKE 'refinement_search%%'
UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname LIKE 'refinement_search%%' ORDER BY 1
"""
INDEXED = "SELECT *, words::text FROM refinement_search WHERE run_id = ANY(%s) ORDER BY run_id, number"
TOUCHED = (
    "UPDATE refinement_run SET task = task WHERE id = ANY(%s)",
    "UPDATE refinement_round SET candidate = candidate WHERE run_id = ANY(%s)",
)


def filled(size: int, chars: int) -> tuple[Any, Any]:
    """A signed-in client, and a project with so many runs."""
    from django.db import connection
    from django.test import Client
    from django.utils import timezone

    from refinement.demo.project import demo_people
    from refinement.demo.rows import Cast, runs_write
    from refinement.models import User
    from refinement.services.people import project_create

    rng = random.Random(size)
    user = User.objects.create_superuser("bench@example.org", "a long enough password", name="Bench")
    project = project_create(owner=user, name="Bench")
    told, untold = stories(project, user, chars, rng)
    cast = Cast(project, demo_people(project), told, untold)
    with search_made_in_one_go(rng):
        for done in runs_write(cast, size, rng, until=timezone.now(), days=90, calls=False):
            if done % 10_000 == 0:
                print(f"{done:,}", end=" ", file=sys.stderr, flush=True)
    add_rare_runs(project, rng)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")  # as the server does by itself after a while
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    return client, project


def add_rare_runs(project: Any, rng: random.Random) -> None:
    from refinement.models import Round, Run, RunTag

    numbers = list(Run.objects.filter(project=project).values_list("pk", flat=True))
    for number in rng.sample(numbers, RARE_RUNS):
        row = Round.objects.filter(run=number).order_by("number")[0]
        Round.objects.filter(pk=row.pk).update(candidate=f"{row.candidate} {RARE_WORD}")
        RunTag.objects.create(run_id=number, project=project, name="rare")


@contextmanager
def search_made_in_one_go(rng: random.Random) -> Iterator[None]:
    """On PostgreSQL, rows that are written meanwhile are searched from the end on; elsewhere, at once."""
    from django.db import connection

    if connection.vendor != "postgresql":
        yield
        return
    migration = import_module("refinement.migrations.0013_search")
    with connection.cursor() as cursor:
        before = rows_of(cursor, SHAPE)
        with connection.schema_editor() as editor:
            migration.drop_search(None, editor)
        yield
        cursor.execute("SELECT set_config('maintenance_work_mem', %s, false)", [BUILD_MEMORY])
        with connection.schema_editor() as editor:
            migration.add_search(None, editor)
        cursor.execute("RESET maintenance_work_mem")
        assert rows_of(cursor, SHAPE) == before, "the index is not the one that was taken away"
        check_against_triggers(cursor, rng)


def check_against_triggers(cursor: Any, rng: random.Random) -> None:
    """The triggers, made to write some runs' rows of the index again, make the same ones."""
    from django.db import transaction

    from refinement.models import Round, Run

    assert rows_of(cursor, "SELECT count(*) FROM refinement_search") == [
        (Run.objects.count() + Round.objects.count(),)
    ]
    numbers = list(Run.objects.values_list("pk", flat=True))
    sample = rng.sample(numbers, min(COMPARED_RUNS, len(numbers)))
    made = rows_of(cursor, INDEXED, sample)
    with transaction.atomic():
        for statement in TOUCHED:
            cursor.execute(statement, [sample])
        assert rows_of(cursor, INDEXED, sample) == made, "the triggers would have indexed something else"
        transaction.set_rollback(True)


def rows_of(cursor: Any, sql: str, *values: object) -> list[Any]:
    cursor.execute(sql, values)
    return list(cursor.fetchall())


def stories(project: Any, user: Any, chars: int, rng: random.Random) -> tuple[list[Any], list[Any]]:
    """What the runs are drawn from: every end, in fixed shares."""
    from refinement.demo.project import demo_rubrics, named
    from refinement.demo.stories import ended, story_told
    from refinement.engine.profiles import rubric_for
    from refinement.engine.types import Outcome, StopReason
    from refinement.models import RunStatus

    four = named(rubric_for("wiggum"), "Four rounds", max_rounds=str(ROUNDS), pass_threshold="none")
    versions = [version for version, _ in demo_rubrics(project, user)]
    told, untold = [], []
    for outcome, reason, share in ENDS:
        for _ in range(share):
            story = story_told(four, rng, chars=chars, rounds=ROUNDS)
            assert len(story.rounds) == ROUNDS, len(story.rounds)
            story.ending = ended(Outcome(outcome), StopReason(reason), "It stopped.")
            told.append((rng.choice(versions), story))
    untold = [(version, replace(story, ending={"status": RunStatus.PAUSED})) for version, story in told[:10]]
    return told, untold
