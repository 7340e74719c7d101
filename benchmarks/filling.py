"""Creates a project with many runs: `python -m benchmarks.filling 1000`, in an instance's environment.

Lists of different lengths cannot be compared. So every thousand runs are the same thousand, with fixed shares
of each outcome: what is common fills a page at every size, with the same rows. What is rare has the same
number of runs at every size, spread over a longer history.

On PostgreSQL, updating the search index row by row takes longer than all other writes together. So the index
is dropped first, and built at the end with the statements of its migration. A sample of it is compared with
the rows that the triggers write.
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
RARE_PAGE = 30  # runs with each of the other rare values: a full page and a few more
PAIRED_JUDGE, PAIRED_PRODUCER = "llama3.3:70b", "qwen3:4b"  # many runs have one of them, RARE_PAGE have both
RARE: tuple[dict[str, Any], ...] = (
    {"outcome": "DONE", "stop_reason": "plateau"},
    {"status": "paused", "outcome": "", "stop_reason": "", "finished_at": None, "woken_at": None},
    {"decision": "approved"},
    {"source": "jsonl"},
    {"cut_rounds": 1},
    {"best": 9.5},
    {"producer_model": PAIRED_PRODUCER, "judge_model": PAIRED_JUDGE, "kinship": ""},
)
COMMON_PRODUCER, COMMON_TAG = "qwen3:4b", "docs"  # a page of each thousand are runs that failed with both
COMMON_JUDGE = "gemma3:27b"  # of half of the runs, and never of one that judges its own family
COMPARED_RUNS = 50
BUILD_MEMORY = "512MB"  # makes building the index faster
ENDS = (
    ("PASS", "passed", 50), ("FAIL", "max_rounds", 35), ("FAIL", "cycling", 9), ("ERROR", "judge_failed", 4),
    ("CANCELLED", "cancelled", 2),
)  # fmt: skip
INDEX_DEFINITIONS = """
SELECT indexdef FROM pg_indexes WHERE tablename = 'refinement_search'
UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname LIKE 'refinement_search%%'
UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname LIKE 'refinement_search%%' ORDER BY 1
"""
INDEXED = "SELECT *, words::text FROM refinement_search WHERE run_id = ANY(%s) ORDER BY run_id, number"
REWRITES = (
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
    print(f"{options.runs:,} runs created in {time.monotonic() - start:.0f} s", file=sys.stderr)


def fill(size: int, chars: int) -> None:
    """Creates a project with `size` runs."""
    from django.db import connection

    from benchmarks.crowd import add_discussion
    from refinement.models import Run, User
    from refinement.services.people.accounts import project_create

    user = User.objects.create_superuser(OWNER, "a long enough password", name="Bench")
    project = project_create(owner=user, name="Bench")
    with build_search_index_once(random.Random(SEED)):
        for done in write_runs(project, user, size, chars):
            if done % 10_000 == 0:
                print(f"{done:,}", end=" ", file=sys.stderr, flush=True)
    numbers = run_numbers(project)
    add_rare_runs(project, numbers)
    add_common_tags(project, numbers)
    add_discussion(project, Run.objects.get(pk=numbers[discussed_place(size)]))
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")  # as autovacuum does after a while


def write_runs(project: Any, user: Any, size: int, chars: int) -> Iterator[int]:
    """Writes the oldest thousand runs, and then copies of them; yields the number of runs so far."""
    from django.utils import timezone

    from benchmarks.copying import blocks_copy, blocks_created
    from refinement.demo.project import demo_people
    from refinement.demo.rows import Cast, runs_write

    pairs = stories(project, user, chars, random.Random(SEED))
    cast = Cast(project, demo_people(project), pairs, unfinished=pairs)
    count = min(THOUSAND, size)
    days = DAYS * count / size
    until: datetime = timezone.now() - timedelta(days=DAYS - days)
    with blocks_created() as blocks:
        for _ in runs_write(cast, count, random.Random(SEED), until=until, days=days, calls=False):
            pass
    yield count
    for number in range(1, size // count):
        blocks_copy(blocks, number, number * timedelta(days=days))
        yield count * (number + 1)
    sequences_reset(blocks)


def sequences_reset(blocks: Any) -> None:
    """On PostgreSQL, has new rows numbered after the copies."""
    from django.core.management.color import no_style
    from django.db import connection

    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), [block.model for block in blocks]):
            cursor.execute(statement)


def run_numbers(project: Any) -> list[int]:
    """The ids of the runs, the oldest first."""
    from refinement.models import Run

    return list(Run.objects.filter(project=project).order_by("pk").values_list("pk", flat=True))


def middle_place(size: int) -> int:
    """An index in the middle of the history: at every size the same run of a thousand."""
    return size // THOUSAND // 2 * THOUSAND + min(size, THOUSAND) // 2


def discussed_place(size: int) -> int:
    return size // THOUSAND // 3 * THOUSAND + min(size, THOUSAND) // 3


def spread(size: int, count: int, shift: int) -> list[int]:
    """Indexes spread over the history, ascending: at every size the same runs of a thousand."""
    length, thousands = min(size, THOUSAND), max(1, size // THOUSAND)
    shift = min(shift, max(0, length // count - 1))
    return [each * thousands // count * THOUSAND + each * length // count + shift for each in range(count)]


def add_rare_runs(project: Any, numbers: list[int]) -> None:
    """Gives a fixed number of runs rare values. Only passed runs: the other outcomes have fixed shares."""
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


def add_common_tags(project: Any, numbers: list[int]) -> None:
    """Adds the common tag to more failed runs, so that a thousand runs with all three filters fill a page."""
    from refinement.models import Run, RunTag

    runs = Run.objects.filter(project=project, outcome="FAIL", producer_model=COMMON_PRODUCER)
    some = {number for place, number in enumerate(numbers) if place % 5 < 2}
    RunTag.objects.bulk_create(
        RunTag(run_id=number, project=project, name=COMMON_TAG)
        for number in runs.exclude(tags__name=COMMON_TAG).values_list("pk", flat=True)
        if number in some
    )


@contextmanager
def build_search_index_once(rng: random.Random) -> Iterator[None]:
    """On PostgreSQL, drops the search index during the block and builds it at the end."""
    from django.db import connection

    if connection.vendor != "postgresql":
        yield
        return
    from refinement.migrations.triggers import search

    with connection.cursor() as cursor:
        before = rows_of(cursor, INDEX_DEFINITIONS)
        with connection.schema_editor() as editor:
            search.drop_search(None, editor)
        yield
        cursor.execute("SELECT set_config('maintenance_work_mem', %s, false)", [BUILD_MEMORY])
        with connection.schema_editor() as editor:
            search.add_search(None, editor)
        cursor.execute("RESET maintenance_work_mem")
        assert rows_of(cursor, INDEX_DEFINITIONS) == before, "the new index differs from the dropped one"
        check_against_triggers(cursor, rng)


def check_against_triggers(cursor: Any, rng: random.Random) -> None:
    """Has the triggers write a sample of the index again, and checks that its rows stay the same."""
    from django.db import transaction

    from refinement.models import Round, Run

    assert rows_of(cursor, "SELECT count(*) FROM refinement_search") == [
        (Run.objects.count() + Round.objects.count(),)
    ]
    numbers = list(Run.objects.values_list("pk", flat=True))
    sample = rng.sample(numbers, min(COMPARED_RUNS, len(numbers)))
    index_rows = rows_of(cursor, INDEXED, sample)
    with transaction.atomic():
        for statement in REWRITES:
            cursor.execute(statement, [sample])
        assert rows_of(cursor, INDEXED, sample) == index_rows, "the triggers wrote other rows"
        transaction.set_rollback(True)


def rows_of(cursor: Any, sql: str, *values: object) -> list[Any]:
    cursor.execute(sql, values)
    return list(cursor.fetchall())


def stories(project: Any, user: Any, chars: int, rng: random.Random) -> list[Any]:
    """The stories to draw runs from: every outcome, in fixed shares."""
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
