"""An invalid setting ends with one line that says what is wrong, and no traceback."""

import pytest

from tests.house.processes import environment, free_port, manage


def only_line(result) -> str:
    assert result.returncode != 0
    assert "Traceback" not in result.stderr
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    return lines[0]


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("DATABASE_URL", "mysql://somewhere/db", "unknown scheme 'mysql'"),
        ("DATABASE_URL", "postgres://host:notaport/db", "is not a valid URL"),
        ("DATABASE_URL", "postgres://host/", "the database name is missing"),
        ("DATABASE_URL", "sqlite:////nowhere/at/all.sqlite3", "its directory must exist"),
        ("WIGGUM_BROKER_URL", "kafka://host", "unknown scheme 'kafka'"),
        ("WIGGUM_BROKER_URL", "redis://", "has no host"),
        ("WIGGUM_OLLAMA_URL", "ftp://host", "must start with"),
        ("WIGGUM_WORKER_THREADS", "many", "not a whole number"),
        ("WIGGUM_WORKER_THREADS", "0", "not between"),
        ("WIGGUM_API_RATE", "0", "not between"),
        ("WIGGUM_KEY_VARIABLES", "WIGGUM_KEY_*,*", "'*' is not a variable name"),
        ("WIGGUM_TRUSTED_PROXIES", "-1", "not between"),
        ("WIGGUM_RUNS_LOG", "/nowhere/runs.jsonl", "its directory must exist"),
        ("WIGGUM_RUNS_LOG", "/usr", "not a regular file"),
        ("WIGGUM_RUNS_LOG", "/dev/null", "not a regular file"),
        ("DEBUG", "perhaps", "neither true nor false"),
        ("SECRET_KEY", "short", "shorter than 32 characters"),
        ("WIGGUM_SECRET_KEY_FALLBACKS", f"{'s' * 40},short", "shorter than 32 characters"),
        ("WIGGUM_OIDC_ISSUER", "ftp://host", "must start with"),
        ("WIGGUM_OIDC_ISSUER", "http://id.example.org", "must start with https://"),
        ("WIGGUM_OIDC_ISSUER", "https://id.example.org/?x=1", "must not have a query"),
    ],
)
def test_it_names_the_setting_and_what_is_wrong(data_dir, name, value, word):
    line = only_line(manage("up", env=environment(data_dir, **{name: value})))
    assert line.startswith(f"wiggum: invalid setting {name}: ")
    assert word in line


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"ISSUER": "https://id.example.org"}, "CLIENT_ID"),
        ({"ISSUER": "https://id.example.org", "CLIENT_ID": "wiggum"}, "CLIENT_SECRET"),
        ({"CLIENT_SECRET": "the-secret-word"}, "ISSUER"),
        ({"NAME": "Example"}, "ISSUER"),
    ],
)
def test_half_a_sign_in_provider_is_none(data_dir, given, missing):
    settings = {f"WIGGUM_OIDC_{name}": value for name, value in given.items()}
    line = only_line(manage("up", env=environment(data_dir, **settings)))
    assert line.startswith(f"wiggum: invalid setting WIGGUM_OIDC_{missing}: required")
    assert "the-secret-word" not in line


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("WIGGUM_ENDPOINTS", "{", "WIGGUM_ENDPOINTS is not valid JSON"),
        ("WIGGUM_ENDPOINTS", '[{"name": "x", "kind": "telnet"}]', "WIGGUM_ENDPOINTS[0].kind must be one of"),
        ("WIGGUM_OLLAMA_CONCURRENCY", "many", "WIGGUM_OLLAMA_CONCURRENCY"),
    ],
)
def test_a_bad_endpoint_is_said_at_the_start(data_dir, name, value, word):
    line = only_line(manage("up", env=environment(data_dir, **{name: value})))
    assert line.startswith("wiggum: invalid setting of an endpoint: ")
    assert word in line


def test_a_data_directory_that_cannot_be_written(tmp_path):
    blocked = tmp_path / "a file"
    blocked.write_text("not a directory")
    line = only_line(manage("up", env=environment(blocked / "data")))
    assert line.startswith("wiggum: invalid setting WIGGUM_DATA_DIR: cannot write to")


@pytest.mark.parametrize("port", ["http", "0", "65536"])
def test_a_port_that_is_none(data_dir, port):
    line = only_line(manage("up", env=environment(data_dir, PORT=port)))
    assert line.startswith("wiggum: invalid setting PORT: ")


@pytest.mark.parametrize("command", ["up", "worker"])
def test_a_database_server_that_is_away(data_dir, command):
    settings = environment(data_dir, DATABASE_URL="postgres://somebody:secret-word@127.0.0.1:1/wiggum")
    settings["PORT"] = str(free_port())
    line = only_line(manage(command, env=settings))
    assert line.startswith("wiggum: cannot reach the database wiggum on 127.0.0.1:1: ")
    assert "secret-word" not in line


def test_a_worker_before_the_tables_are_made(data_dir):
    line = only_line(manage("worker", env=environment(data_dir)))
    assert "the database has no tables yet; run: wiggum migrate" in line
