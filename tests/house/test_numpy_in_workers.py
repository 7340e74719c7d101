"""The web process does not import numpy or scipy."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "refinement"
HEAVY = ("numpy", "scipy")
WEB = ("views", "forms", "api", "access", "templatetags", "charts", "streaming")
# They open the door in a worker or a command only.
DOORS = {"refinement.execution.reports"}


def module_of(path: Path) -> str:
    parts = ("refinement", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def heavy_modules(imports: dict[str, set[str]]) -> set[str]:
    """The modules that import numpy or scipy, themselves or through others."""
    found = {name for name, used in imports.items() if any(part.split(".")[0] in HEAVY for part in used)}
    while more := {name for name, used in imports.items() if used & found} - found - DOORS:
        found |= more
    return found


def test_no_page_or_endpoint_leads_to_numpy():
    imports = {module_of(path): imported(path) for path in ROOT.rglob("*.py")}
    heavy = heavy_modules(imports)
    assert "refinement.execution.trust.computing" in heavy
    assert [name for name in sorted(heavy) if name.split(".")[1] in WEB] == []
