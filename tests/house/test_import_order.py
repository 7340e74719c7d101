"""Imports go in one direction: views, api and commands use services, services use execution."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHOWS = ("views", "forms", "api", "management", "cli")
# Package -> packages it must not import.
FORBIDDEN = {
    "models": ("execution", "services", "selectors", "access", *SHOWS),
    "selectors": ("execution", "services", *SHOWS),
    "access": ("execution", "services", *SHOWS),
    "execution": ("services", "access", *SHOWS),
    "services": SHOWS,
    "api": ("views", "management", "cli"),
}


def imported_packages(source: str) -> set[str]:
    """First-level packages of refinement that the source imports, function-level imports included."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names |= {f"{module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("refinement.")}


@pytest.mark.parametrize("package", FORBIDDEN)
def test_imports_point_one_way(package):
    wrong = {
        str(path.relative_to(ROOT)): sorted(found)
        for path in (ROOT / "refinement" / package).rglob("*.py")
        if (found := imported_packages(path.read_text()) & set(FORBIDDEN[package]))
    }
    assert wrong == {}


def test_both_forms_of_import_are_recognised():
    source = "def f():\n    from refinement.services import upkeep\nimport refinement.views.runs.page\n"
    assert imported_packages(source) == {"services", "views"}
