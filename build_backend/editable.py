"""Builds what `pip install --editable .` asks for: this checkout on the path, and the command `wiggum`.

A backend of our own, because it needs nothing that would have to be downloaded, and takes no time. Wiggum is
run from its checkout, so there is no other form of the package.
"""

import base64
import hashlib
import tomllib
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def build_editable(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """Writes the wheel that points at this checkout, and returns its name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    name, version = project["name"], project["version"]
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.pth": f"{ROOT}\n",
        f"{info}/METADATA": metadata(project),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: wiggum\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": entry_points(project["scripts"]),
    }
    files[f"{info}/RECORD"] = record(files, f"{info}/RECORD")
    wheel = f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory, wheel), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return wheel


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    raise SystemExit("Wiggum runs from its checkout: install it with `make install`, or pip's --editable.")


def metadata(project: dict[str, Any]) -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {needed}" for needed in project["dependencies"]),
    ]
    return "\n".join(lines) + "\n"


def entry_points(scripts: dict[str, str]) -> str:
    return (
        "\n".join(["[console_scripts]", *(f"{name} = {target}" for name, target in scripts.items())]) + "\n"
    )


def record(files: dict[str, str], own: str) -> str:
    """Every file with its digest, as the format of wheels wants it."""
    lines = []
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(text.encode())}")
    return "\n".join([*lines, f"{own},,"]) + "\n"
