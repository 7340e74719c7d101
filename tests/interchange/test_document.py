"""docs/rubric-yaml.md: its example works, and it names every key."""

import re
from dataclasses import fields
from decimal import Decimal
from pathlib import Path

from refinement.engine.kinds import STOP_RULES
from refinement.engine.rubrics import Policy, Rubric
from refinement.interchange.rubrics.judges import JUDGES_KEYS
from refinement.interchange.rubrics.reading import POLICY, RUBRIC
from refinement.interchange.rubrics.yaml import rubric_from_yaml, rubric_to_yaml

DOCUMENT = (Path(__file__).parents[2] / "docs" / "rubric-yaml.md").read_text()
EXAMPLE = DOCUMENT.split("```yaml\n", 1)[1].split("```", 1)[0]


def keys_under(heading: str) -> set[str]:
    table = DOCUMENT.split(heading, 1)[1].split("\n## ", 1)[0].split("\n### ", 1)[0]
    firsts = (line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    return {key for cell in firsts for key in re.findall(r"`(\w+)`", cell)}


def test_the_example_is_a_rubric():
    rubric = rubric_from_yaml(EXAMPLE)
    assert rubric.name == "Release notes"
    assert rubric.calibration_scores == {"clarity": Decimal(3), "completeness": Decimal(2)}
    assert rubric.templates["feedback"].endswith("{{ asi }}\n")
    assert rubric.policy.budget.calls == 12
    assert [judge.model for judge in rubric.judges.panel] == ["", "rack/mistral-large"]
    assert rubric_from_yaml(rubric_to_yaml(rubric)) == rubric


def test_every_key_is_explained_and_every_explained_key_is_one():
    assert keys_under("## Keys") == set(RUBRIC)
    assert keys_under("### In `judges`") == set(JUDGES_KEYS)
    assert keys_under("### In `policy`") == set(POLICY)


def test_every_needed_key_has_its_star():
    for keys in (RUBRIC, POLICY):
        starred = {key for key in keys if f"`{key}` *" in DOCUMENT}
        assert starred >= {key for key, spec in keys.items() if spec.needed}


def test_every_stop_rule_is_named():
    assert all(f"`{rule.value}`" in DOCUMENT for rule in STOP_RULES)


def test_every_field_of_the_definition_has_a_key():
    # Gates come from eval files only.
    named = {field.name for field in fields(Rubric)} - {"calibration_text", "calibration_scores", "gates"}
    assert named == set(RUBRIC) - {"wiggum_rubric", "calibration"}
    assert {field.name for field in fields(Policy)} == set(POLICY)
