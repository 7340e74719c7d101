"""A project full of runs for a benchmark: `python -m benchmarks.filling 1000`, in an instance's environment.

Lists of unlike lengths cannot be compared. So every thousand of runs is the same thousand, with every end in
fixed shares: what is common fills a page at each size, with the same lines. What is rare does not grow with
history: there are as many runs of it at each size, the same ones, farther and farther apart.

PostgreSQL's search index costs more than all other rows together when it is kept row by row. While runs come
in by the thousand it is taken away, and then made in one go by the statements of its own migration. What
that brought is held against what the triggers make of the same rows.
"""

import argparse
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

ROUNDS = 4
CHARS = 6_000
DAYS = 90
THOUSAND = 1_000
SEED = 1
OWNER = "bench@example.org"
RARE_WORD = "thylacine"
RARE_RUNS = 3
RARE_PAGE = 30  # so many runs of other rare things: a whole page, and a few more
FEW_JUDGE, FEW_PRODUCER = "llama3.3:70b", "qwen3:4b"  # many runs have one of them, RARE_PAGE have both
RARE: tuple[dict[str, Any], ...] = (
    {"outcome": "DONE", "stop_reason": "plateau"},
    {"status": "paused", "outcome": "", "stop_reason": "", "finished_at": None, "woken_at": None},
    {"decision": "approved"},
    {"source": "jsonl"},
    {"cut_rounds": 1},
    {"best": 9.5},
    {"producer_model": FEW_PRODUCER, "judge_model": FEW_JUDGE, "kinship": ""},
)
OFTEN_PRODUCER, OFTEN_TAG = "qwen3:4b", "docs"  # a page of each thousand are runs that failed with both
OFTEN_JUDGE = "gemma3:27b"  # of half of the runs, and never of one that judges its own family
COMPARED_RUNS = 50
BUILD_MEMORY = "512MB"  # for the making of an index; what is made is the same
ENDS = (
    ("PASS", "passed", 50), ("FAIL", "max_rounds", 35), ("FAIL", "cycling", 9), ("ERROR", "judge_failed", 4),
    ("CANCELLED", "cancelled", 2),
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int)
    parser.add_argument("--chars", type=int, default=CHARS)
    options = parser.parse_args()
    os.environ["DJANGO_SETTINGS_MODULE"] = "wiggum_site.settings"
    import django

    django.setup()
    start = time.monotonic()
    fill(options.runs, options.chars)
    print(f"{options.runs:,} runs made in {time.monotonic() - start:.0f} s", file=sys.stderr)


def fill(size: int, chars: int) -> None:
    """Makes a project with so many runs."""
    from django.db import connection

    from benchmarks.crowd import talked_about
    from refinement.models import Run, User
    from refinement.services.people.accounts import project_create

    user = User.objects.create_superuser(OWNER, "a long enough password", name="Bench")
    project = project_create(owner=user, name="Bench")
    with search_made_in_one_go(random.Random(SEED)):
        for done in thousands_written(project, user, size, chars):
            if done % 10_000 == 0:
                print(f"{done:,}", end=" ", file=sys.stderr, flush=True)
    numbers = run_numbers(project)
    add_rare_runs(project, numbers)
    add_often(project, numbers)
    talked_about(project, Run.objects.get(pk=numbers[talked_place(size)]))
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")  # as the server does by itself after a while


def thousands_written(project: Any, user: Any, size: int, chars: int) -> Iterator[int]:
    """The same thousand runs again and again, the oldest first; yields how many there are."""
    from django.utils import timezone

    from refinement.demo.project import demo_people
    from refinement.demo.rows import Cast, runs_write

    pairs = stories(project, user, chars, random.Random(SEED))
    cast = Cast(project, demo_people(project), pairs, unfinished=pairs)
    now, apart = timezone.now(), timedelta(days=DAYS) / size
    for start in range(0, size, THOUSAND):
        count, rng = min(THOUSAND, size - start), random.Random(SEED)
        until: datetime = now - apart * (size - start - count)
        for done in runs_write(cast, count, rng, until=until, days=DAYS * count / size, calls=False):
            yield start + done


def run_numbers(project: Any) -> list[int]:
    """The runs' numbers, the oldest first."""
    from refinement.models import Run

    return list(Run.objects.filter(project=project).order_by("pk").values_list("pk", flat=True))


def middle_place(size: int) -> int:
    """In the middle of history, and at each size the same run of a thousand."""
    return size // THOUSAND // 2 * THOUSAND + min(size, THOUSAND) // 2


def talked_place(size: int) -> int:
    return size // THOUSAND // 3 * THOUSAND + min(size, THOUSAND) // 3


def spread(size: int, count: int, shift: int) -> list[int]:
    """Places all over history, rising: at each size the same runs of a thousand."""
    length, thousands = min(size, THOUSAND), max(1, size // THOUSAND)
    shift = min(shift, max(0, length // count - 1))
    return [each * thousands // count * THOUSAND + each * length // count + shift for each in range(count)]


def add_rare_runs(project: Any, numbers: list[int]) -> None:
    """What a few runs have, however many there are; never those of another end, whose shares are fixed."""
    from refinement.models import Round, Run, RunTag

    in_use = Run.objects.filter(project=project, archived_at__isnull=True)
    plain = set(in_use.filter(outcome="PASS").values_list("pk", flat=True))

    def some(count: int, shift: int) -> Iterator[int]:
        for place in spread(len(numbers), count, shift):
            number = next((each for each in numbers[place:] if each in plain), numbers[place])
            plain.discard(number)
            yield number

    for number in some(RARE_RUNS, 0):
        row = Round.objects.filter(run=number).order_by("number")[0]
        Round.objects.filter(pk=row.pk).update(candidate=f"{row.candidate} {RARE_WORD}")
        RunTag.objects.create(run_id=number, project=project, name="rare")
    for shift, values in enumerate(RARE):
        Run.objects.filter(pk__in=list(some(RARE_PAGE, 4 * shift))).update(**values)


def add_often(project: Any, numbers: list[int]) -> None:
    """The tag on more of the runs that have the rest: without it, a thousand would not fill a page."""
    from refinement.models import Run, RunTag

    runs = Run.objects.filter(project=project, outcome="FAIL", producer_model=OFTEN_PRODUCER)
    some = {number for place, number in enumerate(numbers) if place % 5 < 2}
    RunTag.objects.bulk_create(
        RunTag(run_id=number, project=project, name=OFTEN_TAG)
        for number in runs.exclude(tags__name=OFTEN_TAG).values_list("pk", flat=True)
        if number in some
    )


@contextmanager
def search_made_in_one_go(rng: random.Random) -> Iterator[None]:
    """On PostgreSQL, rows that are written meanwhile are searched from the end on; elsewhere, at once."""
    from django.db import connection

    if connection.vendor != "postgresql":
        yield
        return
    from refinement.migrations.triggers import search

    with connection.cursor() as cursor:
        before = rows_of(cursor, SHAPE)
        with connection.schema_editor() as editor:
            search.drop_search(None, editor)
        yield
        cursor.execute("SELECT set_config('maintenance_work_mem', %s, false)", [BUILD_MEMORY])
        with connection.schema_editor() as editor:
            search.add_search(None, editor)
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


def stories(project: Any, user: Any, chars: int, rng: random.Random) -> list[Any]:
    """What the runs are drawn from: every end, in fixed shares."""
    from refinement.demo.project import demo_rubrics, named
    from refinement.demo.stories import ended, story_make
    from refinement.engine.profiles import rubric_for
    from refinement.engine.types import Outcome, StopReason

    four = named(rubric_for("wiggum"), "Four rounds", max_rounds=str(ROUNDS), pass_threshold="none")
    versions = [version for version, _ in demo_rubrics(project, user)]
    pairs = []
    for outcome, reason, share in ENDS:
        for _ in range(share):
            story = story_make(four, rng, chars=chars, rounds=ROUNDS)
            assert len(story.rounds) == ROUNDS, len(story.rounds)
            story.ending = ended(Outcome(outcome), StopReason(reason), "It stopped.")
            pairs.append((rng.choice(versions), story))
    return pairs


if __name__ == "__main__":
    main()
