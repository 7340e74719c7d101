"""Other tools' eval files, in the shapes of their documentation: every case, assertion and message."""

from pathlib import Path

import pytest
import yaml

from refinement.evals.dialects import keys
from refinement.evals.finding import eval_files
from refinement.evals.planning import Planner
from refinement.evals.reading import check_eval, read_eval
from refinement.evals.types import BadEval
from tests.evals.corpus_reading import EXPECTED, ROOT, files, name_of, summary

WANTED = yaml.safe_load(EXPECTED.read_text("utf-8"))


def test_the_corpus_is_large_and_every_file_has_an_expectation():
    assert len(files()) >= 120
    assert set(WANTED) == {name_of(path) for path in files()}


@pytest.mark.parametrize("path", files(), ids=name_of)
def test_a_file_is_read_to_what_is_expected(path):
    assert summary(path) == WANTED[name_of(path)]


@pytest.mark.parametrize("path", files(), ids=name_of)
def test_every_refusal_names_a_line_and_a_reason(path):
    for refusal in check_eval(path, own_targets=True).refused:
        lines = refusal.file.read_text("utf-8").count("\n") + 1
        assert 1 <= refusal.line <= lines
        assert refusal.reason.strip()[-1] in ".?)"


TABLES = (
    keys.PROMPTFOO_FILE, keys.PROMPTFOO_TEST, keys.PROMPTFOO_OPTIONS, keys.AGENTV_FILE, keys.AGENTV_TEST,
    keys.AGENTV_EXECUTION, keys.ASSERTION,
)  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
def test_every_key_that_is_called_understood_is_read(table):
    sources = Path(keys.__file__).parent.rglob("*.py")
    code = "".join(
        path.read_text("utf-8") for path in sources if path.name not in ("keys.py", "detecting.py")
    )
    assert {key for key in table.understood if f'"{key}"' not in code} == set()


def test_strict_refuses_what_is_ignored():
    path = ROOT / "promptfoo" / "promptfooconfig.informational.yaml"
    assert read_eval(path, own_targets=True).ignored
    with pytest.raises(BadEval) as refused:
        read_eval(path, own_targets=True, strict=True)
    reason = "outputPath in the file is ignored: Results go to the --out folder."
    assert f"{path}:5: {reason}" in refused.value.problems


def test_files_of_every_dialect_are_found_in_folders():
    found = {name_of(path) for path in eval_files([ROOT])}
    assert {
        "promptfoo/promptfooconfig.json", "promptfoo/promptfooconfig.scenarios.yaml", "agentv/old-names.yaml",
        "agentv/alone.jsonl", "agentv/dataset.jsonl", "wiggum/own.eval.yaml",
    } <= found  # fmt: skip
    assert not {"agentv/dataset.yaml", "expected.yaml", "promptfoo/parts/tests.jsonl"} & found


def test_a_pattern_is_matched_and_a_missing_file_is_said(tmp_path):
    found = eval_files([ROOT / "agentv" / "old-*.yaml"])
    assert [path.name for path in found][:2] == ["old-file-evaluators.yaml", "old-names.yaml"]
    with pytest.raises(BadEval) as refused:
        eval_files([tmp_path / "a.yaml", tmp_path / "b*.yaml"])
    assert len(refused.value.problems) == 2


def test_providers_of_other_services_are_mapped_in_targets_yaml(tmp_path):
    path = tmp_path / "promptfooconfig.yaml"
    path.write_text("prompts: [Hi]\nproviders: ['openai:chat:gpt-4o', 'openai:o3', 'azure:x', 'mistral:a']\n")
    (tmp_path / "targets.yaml").write_text(
        "targets: [{name: near, kind: embedded}]\n"
        "providers: {openai: served, 'openai:o3': ollama/qwen3, 'azure:*': embedded}\n"
    )
    checked = check_eval(path)
    assert [str(refusal) for refusal in checked.refused] == [
        f"{path}:2: providers, entry 4: 'mistral:a' is not a model of Wiggum. Use --target, or map it under "
        "providers in targets.yaml."
    ]
    path.write_text(path.read_text().replace(", 'mistral:a'", ""))
    targets = check_eval(path).file.targets
    assert {name: (target.endpoint, target.model) for name, target in targets.items()} == {
        "openai:chat:gpt-4o": ("served", "gpt-4o"),
        "openai:o3": ("ollama", "qwen3"),
        "azure:x": ("embedded", targets["azure:x"].model),
    }


def test_a_case_runs_with_the_targets_that_it_names(tmp_path):
    path = tmp_path / "promptfooconfig.yaml"
    path.write_text(
        "prompts: [Hi]\n"
        "providers: [{id: 'ollama:a', label: one}, {id: 'ollama:b', label: two}]\n"
        "tests: [{description: all}, {description: some, providers: [two]},\n"
        "        {description: other, provider: ollama/c}]\n"
    )
    file = check_eval(path).file
    assert [(job.case.name, job.target.name) for job in Planner().jobs([file])] == [
        ("all", "one"), ("all", "two"), ("some", "two"), ("other", "ollama/c"),
    ]  # fmt: skip
    with_target = check_eval(path, own_targets=True).file
    jobs = Planner(["ollama/x"]).jobs([with_target])
    assert {job.target.name for job in jobs} == {"ollama/x"}


def test_a_file_may_not_make_templates_that_never_end(tmp_path):
    path = Path(tmp_path, "promptfooconfig.yaml")
    path.write_text(
        "prompts: [\"{{ 'a' * 999999999 }}\", '{{ x.__class__.__mro__ }}']\ntests: [{vars: {x: y}}]\n"
    )
    (problem,) = check_eval(path, own_targets=True).refused
    assert "works only with numbers" in problem.reason


def test_a_file_without_settings_is_found_by_the_keys_of_its_tests(tmp_path):
    for name, test in (("checks", "criteria: It adds"), ("steps", "run: make")):
        (tmp_path / f"{name}.yaml").write_text(f"tests:\n  - id: a\n    {test}\n")
    assert [path.name for path in eval_files([tmp_path])] == ["checks.yaml"]
