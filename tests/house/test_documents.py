"""Names, paths, commands and settings in the documents exist."""

import json
import re
import subprocess

import pytest
from django.core.management import get_commands

from refinement.cli.refine import refine
from refinement.execution.metrics import COUNTERS
from refinement.management.commands.refine import EXIT_CODES, EXIT_INTERRUPTED, EXIT_USAGE
from refinement.providers.registry import default_specs
from tests.house.processes import ROOT, environment, manage

DOCUMENTS = {
    str(path.relative_to(ROOT)): path.read_text()
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))
}
SETTINGS = DOCUMENTS["docs/settings.md"]
HEADING = "Refine"
SETTING = re.compile(r"\b(?:WIGGUM|EMAIL|DATABASE|SECRET|ALLOWED|CSRF_TRUSTED|DEFAULT_FROM)_[A-Z_]+\b")
# Not settings of an instance: for tests, Compose, the application's own processes, and keys of endpoints.
OTHER = re.compile(r"WIGGUM_(TEST_|REQUIRE_|PUBLISH|SERVING_PLAN|SUPERVISED|KEY_(?!VARIABLES))")
PATH = re.compile(r"`((?:[\w.-]+/)*[\w.-]+(?:\.(?:css|html|js|md|py|toml|txt|yaml)|/))`")


def section(document, heading):
    return document.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]


def code():
    for room in ("refinement", "wiggum_site"):
        for path in (ROOT / room).rglob("*.py"):
            yield path.read_text()


def test_every_setting_in_the_code_is_documented_and_the_other_way_round():
    read = {name for text in code() for name in re.findall(r'"([A-Z_]+)"', text) if SETTING.fullmatch(name)}
    told = {name for name in SETTING.findall(SETTINGS) if not OTHER.match(name)}
    strange = {"EMAIL_BACKEND", "EMAIL_TIMEOUT"}
    assert {name for name in read - strange if not OTHER.match(name)} == told


def test_every_setting_mentioned_anywhere_is_one():
    told = set(SETTING.findall(SETTINGS))
    for name, text in DOCUMENTS.items():
        unknown = {word for word in SETTING.findall(text) if not OTHER.match(word)} - told
        assert not unknown, f"{name} speaks of {unknown}"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)]+)\)", DOCUMENTS[name]):
        file, _, anchor = target.partition("#")
        if "://" in file:
            continue
        here = ROOT / name
        assert not file or (here.parent / file).is_file(), target
        if not anchor:
            continue
        text = (here.parent / file).read_text() if file else DOCUMENTS[name]
        titles = {
            re.sub(r"[^\w -]", "", t).lower().replace(" ", "-") for t in re.findall(r"^#+ (.*)$", text, re.M)
        }
        assert anchor in titles, target


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_paths_that_are_named_exist(name):
    """Paths are relative to the root, to the application, or to a package named in the same row or list."""
    for block in re.split(r"\n(?=#|\n|\| |\d\. )", DOCUMENTS[name]):
        bases = [ROOT, ROOT / "refinement"]
        bases += [base / package for package in re.findall(r"`([\w/]+/)", block) for base in tuple(bases)]
        for path in PATH.findall(block):
            if "<" not in path and not path.startswith(("make", ".venv")):
                assert any((base / path).exists() for base in bases), f"{path} in {block[:80]!r}"


def test_commands_that_are_named_exist():
    for text in DOCUMENTS.values():
        for command in re.findall(r"manage\.py (\w+)", text):
            assert command in get_commands()
        for target in re.findall(r"`make ([a-z-]+)", text):
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M), target
        for module in re.findall(r"python -m ([\w.]+)", text):
            path = ROOT / module.replace(".", "/")
            assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module


def test_options_of_refine_are_its_own():
    known = {option for parameter in refine.params for option in parameter.opts} | {"--help"}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", section(DOCUMENTS["docs/cli.md"], HEADING)))
    assert named
    assert named <= known


def test_the_exit_statuses_are_the_commands_own():
    codes = re.findall(r"^\| (\d+) \|", section(DOCUMENTS["docs/cli.md"], "Exit codes"), re.M)
    assert {*EXIT_CODES.values(), EXIT_USAGE, EXIT_INTERRUPTED} <= {int(code) for code in codes}


def fenced(document, language):
    return re.search(rf"```{language}\n(.*?)```", DOCUMENTS[document], re.S)[1]


def test_the_scripted_example_works_as_it_stands(migrated_dir, tmp_path):
    settings = environment(migrated_dir)
    script = tmp_path / "replies.jsonl"
    script.write_text(fenced("docs/cli.md", "json"))
    names = ["--producer", f"scripted:{script}", "--judge", f"scripted:{script}"]

    result = manage("refine", "--rubric", "wiggum", "--task", "Backups", *names, env=settings)

    assert result.returncode == 0, result.stderr
    assert result.stdout == "# Backups\n\nThey run every night at two.\n"


def test_the_endpoint_example_can_be_read():
    example = fenced("docs/endpoints.md", "json")
    (rack,) = [spec for spec in default_specs({"WIGGUM_ENDPOINTS": example}) if spec.name == "rack"]
    assert (rack.kind, rack.api_key_variable, rack.concurrency) == ("openai_compatible", "RACK_API_KEY", 8)
    assert json.loads(example)[0]["url"] == rack.url


def test_the_command_for_the_two_secrets_makes_them(tmp_path):
    command = re.search(r"```\n(\(umask.*?)```", DOCUMENTS["docs/scaling.md"], re.S)[1]
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
    made = dict(line.split("=", 1) for line in (tmp_path / ".env").read_text().splitlines())
    assert re.fullmatch(r"[0-9a-f]{48}", made["POSTGRES_PASSWORD"])
    assert len(made["SECRET_KEY"]) >= 32
    assert (tmp_path / ".env").stat().st_mode & 0o077 == 0


def test_every_metric_is_told():
    told = set(re.findall(r"`(wiggum_\w+)", DOCUMENTS["docs/monitoring.md"]))
    assert told == {f"{outside}_total" for _, outside, *_ in COUNTERS} | {
        "wiggum_queue_depth",
        "wiggum_runs",
        "wiggum_workers",
    }


def test_what_is_new_stands_on_top():
    headings = re.findall(r"^## (.*)$", DOCUMENTS["CHANGELOG.md"], re.M)
    assert headings[0] == "Unreleased"


@pytest.mark.parametrize("name", ["StopReason", "STOP_RULES", "RULES", "SUCCESSES", "SENTENCES", "FACTORIES"])
def test_the_lists_name_what_is_in_the_files(name):
    """CONTRIBUTING names the file that contains each of these names."""
    line = next(part for part in re.split(r"\n\d\. ", DOCUMENTS["CONTRIBUTING.md"]) if f"`{name}`" in part)
    path = re.search(r"`(refinement/[\w/]+\.py)`", line)[1]
    assert re.search(rf"\b{name}\b", (ROOT / path).read_text())
