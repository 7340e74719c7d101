"""Checks of the machine and the installation, without Django."""

import importlib.metadata
import importlib.util
import os
import platform
import re
import sys
import tempfile
from pathlib import Path

from refinement.cli.doctor.findings import Finding, fail, ok, warn
from wiggum_site import VERSION

ROOT = Path(__file__).resolve().parent.parent.parent.parent
NEEDED_PYTHON = (3, 11)
MEGABYTE = 1_000_000
FULL_BYTES = 200 * MEGABYTE  # for a run's texts and SQLite's journal
NEARLY_FULL_BYTES = 1_000 * MEGABYTE
FEW_FILES = 1_000
PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)\s*(;[^\\]*)?")
MOST_NAMED = 5


def python(version: tuple[int, ...] = sys.version_info[:3]) -> Finding:
    installed = ".".join(map(str, version))
    if version[:2] < NEEDED_PYTHON:
        needed = ".".join(map(str, NEEDED_PYTHON))
        remedy = f"Install Python {needed} or newer, then: make install PYTHON=/path/to/python{needed}"
        return fail("python", f"Python {installed}; Wiggum requires {needed} or newer", remedy)
    return ok("python", f"Wiggum {VERSION} on Python {installed}, {platform.system()} {platform.machine()}")


def packages(pins: Path = ROOT / "requirements" / "app.txt") -> Finding:
    """Whether all packages are installed in the tested versions."""
    if not pins.is_file():
        return warn("packages", f"{pins} is missing", "Restore the file from git: git checkout requirements")
    missing, other = [], []
    for name, versions, everywhere in all_pinned(pins.read_text("utf-8")):
        try:
            there = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            missing += [name] if everywhere else []
            continue
        other += [] if there in versions else [f"{name} {there} instead of {' or '.join(versions)}"]
    if missing:
        return fail("packages", f"not installed: {few(missing)}", "Install them: make install")
    if other:
        return warn("packages", f"not the tested versions: {few(other)}", "Install them: make install")
    return ok("packages", "all required packages are installed")


def all_pinned(text: str) -> list[tuple[str, list[str], bool]]:
    """Each package with its versions, and whether it is required everywhere.

    A package with a marker may be for another system, or have another version for another Python.
    """
    versions: dict[str, list[str]] = {}
    everywhere: dict[str, bool] = {}
    for name, version, marker in filter(None, map(pinned, text.splitlines())):
        versions.setdefault(name, []).append(version)
        everywhere[name] = not marker
    return [(name, found, everywhere[name]) for name, found in versions.items()]


def pinned(line: str) -> tuple[str, str, str] | None:
    found = PIN.match(line)
    return (found[1], found[2], found[3] or "") if found else None


def few(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def data_directory() -> Path:
    """The data directory, without loading the settings: they may be invalid."""
    path = os.environ.get("WIGGUM_DATA_DIR", "").strip()
    return Path(path).expanduser() if path else ROOT / "data"


def disk(directory: Path | None = None) -> list[Finding]:
    """Free space for the data and for temporary files."""
    places = {"disk": directory or data_directory(), "temporary files": Path(tempfile.gettempdir())}
    return [free_space(name, path) for name, path in places.items()]


def free_space(name: str, path: Path) -> Finding:
    there = next(folder for folder in (path, *path.absolute().parents) if folder.is_dir())
    state = os.statvfs(there)
    free, whole = state.f_bavail * state.f_frsize, state.f_blocks * state.f_frsize
    what = f"{gigabytes(free)} of {gigabytes(whole)} free at {path}"
    remedy = "Free some space"
    remedy += (
        ", or move the data and set WIGGUM_DATA_DIR."
        if name == "disk"
        else ", or set TMPDIR to another folder."
    )
    if state.f_files and state.f_favail < FEW_FILES:
        return fail(name, f"only {state.f_favail} more files can be created at {path}", remedy)
    if free < FULL_BYTES:
        return fail(name, f"full: {what}", remedy)
    if free < NEARLY_FULL_BYTES:
        return warn(name, f"nearly full: {what}", remedy)
    return ok(name, what)


def gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def embedded_model() -> Finding:
    """The bundled model: its file and the library that runs it."""
    from refinement.providers.base import ProviderError
    from refinement.providers.embedded import model_file

    chosen = os.environ.get("WIGGUM_GGUF", "").strip()
    finding = fail if chosen else warn
    try:
        path = model_file(chosen)
    except ProviderError as error:
        what, _, remedy = error.message.partition(". ")
        return finding("demo model", what, remedy or "Reinstall it: make install")
    if importlib.util.find_spec("xllamacpp") is None:
        return finding("demo model", "its library xllamacpp is not installed", "Install it: make install")
    if not os.access(path, os.R_OK):
        return finding("demo model", f"{path} cannot be read", f"Make it readable: chmod a+r {path}")
    return ok("demo model", f"{path.name}, {gigabytes(path.stat().st_size)}; too small to judge well")
