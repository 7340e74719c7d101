"""Reads local files and folders for an import."""

import os
from collections.abc import Iterator
from pathlib import Path

from refinement.interchange.imports.archives import (
    MOST_BYTES,
    MOST_FILE_BYTES,
    MOST_FILES,
    BadUpload,
    megabytes,
)
from refinement.interchange.imports.found import SourceFile
from refinement.interchange.imports.reading import too_large
from refinement.interchange.simmer.names import PLAIN_FOLDERS


def files_at(path: Path) -> Iterator[SourceFile]:
    """The file, or all files in the folder. Links are not followed. Raises BadUpload."""
    if not path.exists():
        raise BadUpload(f"{path} does not exist.")
    if path.is_file():
        yield read(path, path.name)
        return
    remaining, folder = MOST_BYTES, path.resolve()
    for count, inner in enumerate(sorted(members_of(folder)), 1):
        if count > MOST_FILES:
            raise BadUpload(f"{path} contains more than {MOST_FILES:,} files; import its folders one by one.")
        file = read(inner, f"{name_of(folder)}/{inner.relative_to(folder).as_posix()}")
        remaining -= len(file.data)
        if remaining < 0:
            raise BadUpload(f"{path} is larger than {megabytes(MOST_BYTES)}; import its folders one by one.")
        yield file


def name_of(folder: Path) -> str:
    """The folder's name, with those above it while it says nothing: `mail/docs/simmer`, not `simmer`."""
    names = [folder.name]
    for outer in folder.parents:
        if names[0].casefold() not in PLAIN_FOLDERS or not outer.name:
            break
        names.insert(0, outer.name)
    return "/".join(names)


def members_of(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            inner = Path(root, name)
            if not name.startswith(".") and not inner.is_symlink() and inner.is_file():
                yield inner


def read(path: Path, name: str) -> SourceFile:
    size = path.stat().st_size
    if size > MOST_FILE_BYTES:
        raise BadUpload(too_large(name, size))
    try:
        with path.open("rb") as stream:
            return SourceFile(name, stream.read(MOST_FILE_BYTES + 1))
    except OSError as error:
        raise BadUpload(f"{path} cannot be read: {error.strerror}.") from None
