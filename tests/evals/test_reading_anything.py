"""Any file gives cases or refusals, never a traceback."""

import json
import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refinement.evals.dialects import keys
from refinement.evals.dialects.asserts import kinds, tools
from refinement.evals.reading import check_eval
from tests.evals.corpus_reading import files, name_of

NAMES = ("promptfooconfig.yaml", "a.eval.yaml", "cases.jsonl", "promptfooconfig.json")
KNOWN_KEYS = sorted(
    keys.PROMPTFOO_FILE.known | keys.PROMPTFOO_TEST.known | keys.AGENTV_FILE.known | keys.AGENTV_TEST.known
    | keys.ASSERTION.known | keys.AGENTV_EXECUTION.known | keys.PROMPTFOO_OPTIONS.known
    | {"role", "content", "config", "vars", "id", "label", "raw"}
)  # fmt: skip
TEXTS = st.sampled_from(
    [
        "", "Hi", "{{ a }}", "{% for", "{{ a.b | upper }}", "file://no.txt", "file://..", "x.csv", "0.5",
        "a\x00b", "\ud800", "{{ env.HOME", "*.yaml", "user", "system", "[1]", "é" * 300, "---", "/", "~",
        '[{"role": "user", "content": "x"}]',
    ]
)  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**20), st.floats(allow_nan=True), TEXTS, st.text(max_size=12)
)
KINDS = st.sampled_from(
    [*kinds.UNDERSTOOD, *kinds.REFUSED, *kinds.ALIASES, *kinds.TOOL_CALLS, *tools.KINDS, "nonsense"]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(KNOWN_KEYS), st.text(max_size=6)), inner, max_size=5),
    ),
    max_leaves=20,
)
ASSERTIONS = st.fixed_dictionaries(
    {"type": KINDS}, optional=dict.fromkeys(sorted(keys.ASSERTION.understood - {"type"}), VALUES)
)
LISTS = st.lists(st.one_of(ASSERTIONS, VALUES), max_size=4)
TESTS = st.dictionaries(
    st.sampled_from(sorted(keys.PROMPTFOO_TEST.known | keys.AGENTV_TEST.known)),
    st.one_of(VALUES, LISTS),
    max_size=6,
)
FILES = st.one_of(
    st.dictionaries(
        st.sampled_from(sorted(keys.PROMPTFOO_FILE.known | keys.AGENTV_FILE.known)),
        st.one_of(VALUES, st.lists(TESTS, max_size=3), LISTS),
        max_size=7,
    ),
    VALUES,
)
QUIET = settings(
    max_examples=100, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def checked(folder: str, name: str, text: str):
    path = Path(folder, name)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    found = check_eval(path, own_targets=True)
    assert (found.file is None) == bool(found.refused)
    for refusal in found.refused:
        assert refusal.line >= 1
        assert refusal.reason
    if found.file is not None:
        assert found.file.cases
        assert all(case.prompt.strip() for case in found.file.cases)
    return found


@QUIET
@given(st.sampled_from(NAMES), FILES)
def test_any_structure_is_read_or_refused(name, value):
    text = (
        json.dumps(value) if name.endswith(("json", "jsonl")) else yaml.safe_dump(value, allow_unicode=True)
    )
    with tempfile.TemporaryDirectory() as folder:
        checked(folder, name, text)


@QUIET
@given(st.sampled_from(files()), st.data())
def test_a_damaged_file_is_read_or_refused(path, data):
    """A line is lost, doubled, or cut in the middle."""
    lines = path.read_text("utf-8").split("\n")
    place = data.draw(st.integers(0, len(lines) - 1))
    how = data.draw(st.sampled_from(["lose", "double", "cut", "indent"]))
    line = lines[place]
    changed = {"lose": [], "double": [line, line], "cut": [line[: len(line) // 2]], "indent": [f"  {line}"]}[
        how
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(path)
        checked(folder, path.name, "\n".join([*lines[:place], *changed, *lines[place + 1 :]]))


@pytest.mark.parametrize("path", files(), ids=name_of)
def test_nothing_is_misread_when_keys_change_places(path, tmp_path):
    """The order of the keys in a mapping means nothing."""
    try:
        value = yaml.safe_load(path.read_text("utf-8"))
    except yaml.YAMLError:
        return
    if not isinstance(value, dict) or path.suffix != ".yaml":
        return
    found = []
    for order in (list(value), list(reversed(value))):
        text = yaml.safe_dump({key: value[key] for key in order}, sort_keys=False, allow_unicode=True)
        (tmp_path / path.name).write_text(text)
        read = check_eval(tmp_path / path.name, own_targets=True)
        cases = read.file.cases if read.file else ()
        found.append(([(case.name, case.prompt, len(case.assertions)) for case in cases], len(read.refused)))
    assert found[0] == found[1]
