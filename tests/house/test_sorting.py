"""Code sorts by `…_id`: sorting by a foreign key's name uses the other table's own order."""

import ast
from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.db.models import ForeignKey

CODE = Path(__file__).parents[2] / "refinement"


def ordered_keys() -> set[str]:
    """The names of foreign keys to tables with an order of their own, and of no other kind of field."""
    models = apps.get_app_config("refinement").get_models()
    fields = [field for model in models for field in model._meta.fields]
    keys = {
        field.name
        for field in fields
        if isinstance(field, ForeignKey) and field.related_model._meta.ordering  # type: ignore[union-attr]
    }
    return keys - {field.name for field in fields if not isinstance(field, ForeignKey)}


def sorted_by(path: Path) -> Iterator[tuple[int, str]]:
    """Lines and names of what `order_by` is given."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "order_by":
            for argument in node.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield node.lineno, argument.value.lstrip("-").rpartition("__")[2]


def test_rows_are_sorted_by_ids_of_other_rows():
    keys = ordered_keys()
    assert {"run", "rubric_version", "trial"} <= keys
    found = [
        f"{path.relative_to(CODE)}:{line} {name}: write {name}_id"
        for path in sorted(CODE.rglob("*.py"))
        for line, name in sorted_by(path)
        if name in keys
    ]
    assert found == []
