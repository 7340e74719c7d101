"""The application imports only public names of frameworks. Ruff (SLF001) checks attributes."""

import ast
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.house.processes import ROOT

FRAMEWORKS = {"django", "dramatiq", "httpx", "httpcore", "redis", "pika", "ollama"}
FILES = sorted(file for folder in ("refinement", "wiggum_site") for file in (ROOT / folder).rglob("*.py"))
ALLOWED = {"_meta"}  # documented by Django
BY_NAME = {"getattr", "setattr", "hasattr", "delattr"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name not in ALLOWED


def imported(node: ast.AST) -> list[str]:
    """The full names that a statement imports."""
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [f"{node.module}.{name.name}" for name in node.names]
    return []


def named(node: ast.AST) -> list[str]:
    """The attributes that a node touches where ruff does not look: named by a text, or of a base class."""
    match node:
        case ast.Call(func=ast.Name(id=function), args=[_, ast.Constant(value=str(name)), *_]):
            return [name] if function in BY_NAME else []
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name):
            return [name]
    return []


def private_names(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        for name in imported(node):
            first, *rest = name.split(".")
            if first in FRAMEWORKS and any(map(is_private, rest)):
                yield name
        yield from filter(is_private, named(node))


def test_no_private_name_is_used():
    assert len(FILES) > 500
    found = {str(file.relative_to(ROOT)): list(private_names(file.read_text())) for file in FILES}
    assert {file: names for file, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import httpx._client", ["httpx._client"]),
        ("import httpcore._sync.http11 as http11", ["httpcore._sync.http11"]),
        ("from httpx._client import Client", ["httpx._client.Client"]),
        ("def inner():\n    from django.db.models import _private, F", ["django.db.models._private"]),
        ("setattr(answer, '_has_been_logged', True)", ["_has_been_logged"]),
        ("super()._commit()", ["_commit"]),
        ("import httpx, django.db", []),
        ("from django.utils.translation import gettext as _", []),
        ("from httpx import __version__", []),
        ("from refinement.services import _own", []),
        ("getattr(model, '_meta')", []),
        ("super().__init__()", []),
    ],
)
def test_what_is_found(source, found):
    assert list(private_names(source)) == found


@pytest.mark.parametrize("folder", ["refinement/execution", "refinement/providers", "wiggum_site"])
def test_the_linter_refuses_private_attributes(folder):
    result = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--stdin-filename", f"{folder}/intruder.py", "-"],
        cwd=ROOT,
        input="import httpx\n\nprint(httpx.Client()._transport)\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "SLF001" in result.stdout
