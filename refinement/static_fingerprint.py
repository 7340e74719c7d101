"""Tells whether static files have changed since they were last collected."""

import hashlib
from pathlib import Path

from django.contrib.staticfiles.finders import get_finders


def static_fingerprint() -> str:
    """A digest that changes with any static file's name, size or time."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list(ignore_patterns=["CVS", ".*", "*~"]):
            status = Path(storage.path(path)).stat()
            digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()
