"""Full-text search over titles, tasks and candidates, kept up to date by the database.

On SQLite, an FTS5 index without a copy of the texts: it has to be given the old text to forget it, so triggers do
that. A later migration that alters `Run` or `Round` on SQLite rebuilds the table and drops its triggers: it drops
them first with `drop_sqlite_triggers` and adds them again with `add_sqlite_triggers`. A test watches.

A text's number in the index is `project << 48 | run << 16 | round` (the task is round 0): what belongs to one project
is one range, and the newest run is at its end.

Milestones: FTS5 looks for words that never stand together until its index ends, whatever range of numbers it was asked
for. Every 128th run or so has one more entry, a word that no text holds, as round 65,535: a search for this word or the
others can check the clock there.
"""

# ruff: noqa: S608  the statements are made from the names in this file alone
# Only the beginning of a very long text is searched: PostgreSQL refuses a vector of more than a megabyte,
# and a worker that writes a candidate must not fail or wait because of the index.
SEARCHED_CHARS = 200_000

SQLITE_TABLE = """
CREATE VIRTUAL TABLE refinement_search USING fts5(words, content='', tokenize='unicode61 remove_diacritics 2')
"""
TASK_NUMBER = "({row}.project_id << 48) | ({row}.id << 16)"
ROUND_NUMBER = "(run.project_id << 48) | ({row}.run_id << 16) | min({row}.number, 65535)"
ADD = "INSERT INTO refinement_search(rowid, words)"
FORGET = "INSERT INTO refinement_search(refinement_search, rowid, words)"
OF_RUN = "FROM refinement_run run WHERE run.id = {row}.run_id"


def start(column):
    return f"substr({column}, 1, {SEARCHED_CHARS})"


def titled(row):
    """The title and the task are one text, so that words of both can be looked for together."""
    return start(f"{row}.title || ' ' || {row}.task")


def task(row, forget=False):
    values = f"{TASK_NUMBER.format(row=row)}, {titled(row)}"
    return f"{FORGET} VALUES ('delete', {values});" if forget else f"{ADD} VALUES ({values});"


def candidate(row, forget=False):
    values = f"{ROUND_NUMBER.format(row=row)}, {start(f'{row}.candidate')}"
    of_run = OF_RUN.format(row=row)
    return f"{FORGET} SELECT 'delete', {values} {of_run};" if forget else f"{ADD} SELECT {values} {of_run};"


# Rows may go in any order: a run takes what is left of its rounds out of the index, and a round whose run
# is gone finds nothing to do.
ROUNDS_OF_RUN = (
    f"{FORGET} SELECT 'delete', (OLD.project_id << 48) | (each.run_id << 16) | min(each.number, 65535), "
    f"{start('each.candidate')} FROM refinement_round each WHERE each.run_id = OLD.id;"
)
SQLITE_TRIGGERS = {
    "refinement_search_task_added": f"AFTER INSERT ON refinement_run BEGIN {task('NEW')} END",
    "refinement_search_task_changed": (
        "AFTER UPDATE OF task, title ON refinement_run "
        "WHEN OLD.task IS NOT NEW.task OR OLD.title IS NOT NEW.title "
        f"BEGIN {task('OLD', True)} {task('NEW')} END"
    ),
    "refinement_search_task_gone": (
        f"BEFORE DELETE ON refinement_run BEGIN {task('OLD', True)} {ROUNDS_OF_RUN} END"
    ),
    "refinement_search_round_added": f"AFTER INSERT ON refinement_round BEGIN {candidate('NEW')} END",
    "refinement_search_round_changed": (
        "AFTER UPDATE OF candidate ON refinement_round WHEN OLD.candidate IS NOT NEW.candidate "
        f"BEGIN {candidate('OLD', True)} {candidate('NEW')} END"
    ),
    "refinement_search_round_gone": f"BEFORE DELETE ON refinement_round BEGIN {candidate('OLD', True)} END",
}
# Characters that Unicode gives no meaning to, and FTS5 takes for letters.
MILESTONE = "\ue7a1\uf0d3\ue91c\uf4b6\ue05e"
# One of 128 numbers, spread so that no rhythm in which projects take turns to launch runs has none of them.
HAS_MILESTONE = "{row}.id * 40503 % 65536 < 512"
MILESTONE_NUMBER = "({row}.project_id << 48) | ({row}.id << 16) | 65535"
MILESTONE_TRIGGERS = {
    "refinement_search_milestone_added": (
        f"AFTER INSERT ON refinement_run WHEN {HAS_MILESTONE.format(row='NEW')} "
        f"BEGIN {ADD} VALUES ({MILESTONE_NUMBER.format(row='NEW')}, '{MILESTONE}'); END"
    ),
    "refinement_search_milestone_gone": (
        f"BEFORE DELETE ON refinement_run WHEN {HAS_MILESTONE.format(row='OLD')} "
        f"BEGIN {FORGET} VALUES ('delete', {MILESTONE_NUMBER.format(row='OLD')}, '{MILESTONE}'); END"
    ),
}
SQLITE_TRIGGERS |= MILESTONE_TRIGGERS
SQLITE_FILL = (
    f"{ADD} SELECT {TASK_NUMBER.format(row='run')}, {titled('run')} FROM refinement_run run",
    f"{ADD} SELECT {ROUND_NUMBER.format(row='each')}, {start('each.candidate')} "
    "FROM refinement_round each JOIN refinement_run run ON run.id = each.run_id",
    f"{ADD} SELECT {MILESTONE_NUMBER.format(row='run')}, '{MILESTONE}' FROM refinement_run run "
    f"WHERE {HAS_MILESTONE.format(row='run')}",
)

# No foreign keys: triggers keep the rows. Code that empties the tables of runs must empty this one, too.
POSTGRESQL = (
    """
    CREATE TABLE refinement_search (
        project_id bigint NOT NULL, run_id bigint NOT NULL, number integer NOT NULL,
        words tsvector NOT NULL, PRIMARY KEY (run_id, number)
    )
    """,
    f"""
    CREATE FUNCTION refinement_search_words(text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE AS $$
    BEGIN
        RETURN to_tsvector('simple', left($1, {SEARCHED_CHARS}));
    EXCEPTION WHEN program_limit_exceeded THEN
        RETURN to_tsvector('simple', left($1, {SEARCHED_CHARS // 10}));
    END $$
    """,
    """
    INSERT INTO refinement_search
    SELECT project_id, id, 0, refinement_search_words(title || ' ' || task) FROM refinement_run
    """,
    """
    INSERT INTO refinement_search
    SELECT run.project_id, run.id, each.number, refinement_search_words(each.candidate)
    FROM refinement_round each JOIN refinement_run run ON run.id = each.run_id
    """,
    "CREATE INDEX refinement_search_newest ON refinement_search (project_id, run_id DESC)",
    # Without a pending list, a search never has to read through what was not yet sorted in.
    "CREATE INDEX refinement_search_words ON refinement_search USING gin (words) WITH (fastupdate = off)",
    """
    CREATE FUNCTION refinement_search_task() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP <> 'INSERT' THEN
            DELETE FROM refinement_search WHERE run_id = OLD.id AND (number = 0 OR TG_OP = 'DELETE');
        END IF;
        IF TG_OP <> 'DELETE' THEN
            INSERT INTO refinement_search
            VALUES (NEW.project_id, NEW.id, 0, refinement_search_words(NEW.title || ' ' || NEW.task));
        END IF;
        RETURN NULL;
    END $$
    """,
    """
    CREATE FUNCTION refinement_search_round() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP <> 'INSERT' THEN
            DELETE FROM refinement_search WHERE run_id = OLD.run_id AND number = OLD.number;
        END IF;
        IF TG_OP <> 'DELETE' THEN
            INSERT INTO refinement_search
            SELECT project_id, id, NEW.number, refinement_search_words(NEW.candidate)
            FROM refinement_run WHERE id = NEW.run_id;
        END IF;
        RETURN NULL;
    END $$
    """,
    """
    CREATE FUNCTION refinement_search_empty() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        TRUNCATE refinement_search;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER refinement_search_task AFTER INSERT OR DELETE OR UPDATE OF task, title ON refinement_run
    FOR EACH ROW EXECUTE FUNCTION refinement_search_task()
    """,
    """
    CREATE TRIGGER refinement_search_round
    AFTER INSERT OR DELETE OR UPDATE OF candidate ON refinement_round
    FOR EACH ROW EXECUTE FUNCTION refinement_search_round()
    """,
    """
    CREATE TRIGGER refinement_search_empty AFTER TRUNCATE ON refinement_run
    FOR EACH STATEMENT EXECUTE FUNCTION refinement_search_empty()
    """,
)
POSTGRESQL_BACK = (
    "DROP TRIGGER refinement_search_empty ON refinement_run",
    "DROP TRIGGER refinement_search_round ON refinement_round",
    "DROP TRIGGER refinement_search_task ON refinement_run",
    "DROP FUNCTION refinement_search_empty()",
    "DROP FUNCTION refinement_search_round()",
    "DROP FUNCTION refinement_search_task()",
    "DROP TABLE refinement_search",
    "DROP FUNCTION refinement_search_words(text)",
)


def add_sqlite_triggers(schema_editor):
    """Adds those that are missing."""
    for name, rule in SQLITE_TRIGGERS.items():
        schema_editor.execute(f"CREATE TRIGGER IF NOT EXISTS {name} {rule}")


def drop_sqlite_triggers(schema_editor):
    for name in SQLITE_TRIGGERS:
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {name}")


def add_search(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for statement in POSTGRESQL:
            schema_editor.execute(statement)
        return
    schema_editor.execute(SQLITE_TABLE)
    for statement in SQLITE_FILL:
        schema_editor.execute(statement)
    add_sqlite_triggers(schema_editor)


def drop_search(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for statement in POSTGRESQL_BACK:
            schema_editor.execute(statement)
        return
    drop_sqlite_triggers(schema_editor)
    schema_editor.execute("DROP TABLE refinement_search")
