"""The search index follows the rows in every order of writes and deletes."""

import pytest
from django.db import connection, connections

from refinement.migrations.triggers import search
from refinement.models import Project, Round, RubricVersion, Run
from refinement.selectors.runs.listing.search import hits
from tests.models.given import a_run, a_run_in, a_version_in


def found(project: Project, words: str) -> list[int]:
    return hits(project, words, limit=10, using=project._state.db)


def a_round(run: Run, number: int, candidate: str) -> Round:
    return Round.objects.using(run._state.db).create(
        run=run, number=number, origin="draft", candidate=candidate, candidate_chars=len(candidate)
    )


def test_triggers_are_all_there(db):
    """A migration that rebuilt a table would have dropped them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        names = {name for (name,) in cursor.fetchall()}
    assert set(search.SQLITE_TRIGGERS) <= names


def test_tasks_and_candidates_are_found(project):
    run = a_run(project, task="Explain the zebra crossing.")
    a_round(run, 1, "A text about quaggas.")
    assert found(project, "ZEBRA") == [run.pk]
    assert found(project, "quaggas") == [run.pk]
    assert found(project, "zebra quaggas") == []  # each text by itself
    assert found(project, "okapi") == []


def test_what_changes_is_found_as_it_is_now(project):
    run = a_run(project, task="Explain the zebra crossing.")
    entry = a_round(run, 1, "A text about quaggas.")
    Run.objects.filter(pk=run.pk).update(title="Crossings", task="Explain the okapi.")
    Round.objects.filter(pk=entry.pk).update(candidate="A text about tapirs.")
    assert [found(project, word) for word in ("zebra", "quaggas")] == [[], []]
    assert [found(project, word) for word in ("crossings okapi", "tapirs")] == [[run.pk], [run.pk]]


def test_a_round_that_goes_leaves_the_index(project):
    run = a_run(project)
    a_round(run, 1, "A text about quaggas.").delete()
    assert found(project, "quaggas") == []
    a_round(run, 1, "A text about tapirs.")
    assert found(project, "tapirs") == [run.pk]


@pytest.mark.parametrize("first", ["refinement_run", "refinement_round"])
def test_rows_may_go_in_any_order(project, first, transactional_db):
    kept, gone = a_run(project), a_run(project, kept_version(project), task="A zebra.")
    a_round(gone, 1, "A text about quaggas.")
    a_round(kept, 1, "A text about quaggas too.")
    tables = ("refinement_run", "refinement_round")
    with connection.constraint_checks_disabled(), connection.cursor() as cursor:
        for table in tables if first == tables[0] else tables[::-1]:
            key = "id" if table == "refinement_run" else "run_id"
            cursor.execute(f"DELETE FROM refinement_event WHERE run_id = {gone.pk}")
            cursor.execute(f"DELETE FROM {table} WHERE {key} = {gone.pk}")
        cursor.execute("INSERT INTO refinement_search(refinement_search) VALUES ('integrity-check')")
    assert found(project, "quaggas") == [kept.pk]
    assert found(project, "zebra") == []


def kept_version(project: Project) -> RubricVersion:
    return RubricVersion.objects.get(rubric__project=project)


def test_only_the_beginning_of_a_very_long_text_is_searched(project):
    run = a_run(project)
    long = "word " * (search.SEARCHED_CHARS // 5)
    a_round(run, 1, f"{long} quaggas")
    assert found(project, "word") == [run.pk]
    assert found(project, "quaggas") == []


def test_postgresql_keeps_its_index_as_well(postgres_database, django_db_blocker):
    with django_db_blocker.unblock():
        try:
            kept_on_postgresql(postgres_database)
        finally:
            connections[postgres_database].close()


def kept_on_postgresql(alias: str) -> None:
    version = a_version_in(alias, "search")
    project, run = version.rubric.project, a_run_in(alias, version, "A zebra.")
    entry = a_round(run, 1, "A text about quaggas.")
    assert (found(project, "zebra"), found(project, '"about quaggas"')) == ([run.pk], [run.pk])
    assert found(project, '"quaggas about"') == []
    Round.objects.using(alias).filter(pk=entry.pk).update(candidate="A text about tapirs.")
    assert (found(project, "quaggas"), found(project, "tapirs -okapi")) == ([], [run.pk])
    # More different words than a vector can hold: the writer of a candidate must not fail.
    a_round(run, 2, " ".join(f"w{number:07x}" for number in range(300_000)))
    a_round(run, 3, "\U0001f600" * 300_000)
    assert found(project, "w0000001") == [run.pk]
    entry.delete()
    assert found(project, "tapirs") == []
    run.delete(using=alias)
    assert found(project, "zebra") == []
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM refinement_search")
        assert cursor.fetchone() == (0,)
    project.delete(using=alias)
