"""Detects changes of static files since they were collected."""

import hashlib
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders


def static_fingerprint() -> str:
    """A digest of the name, size and time of all static files."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list(ignore_patterns=["CVS", ".*", "*~"]):
            status = Path(storage.path(path)).stat()
            digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def kept_fingerprint() -> Path:
    """The file with the fingerprint of the collected files."""
    kept: Path = settings.DATA_DIR / "static.fingerprint"
    return kept


def static_is_current() -> bool:
    """Whether the collected files are up to date."""
    if not (settings.STATIC_ROOT / "staticfiles.json").is_file() or not kept_fingerprint().is_file():
        return False
    return kept_fingerprint().read_text() == static_fingerprint()
