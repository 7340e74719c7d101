"""Zip files, opened with care: how many files, how large, how tightly packed, and where they would go."""

import io
import stat
import zipfile
import zlib
from collections.abc import Iterator

from refinement.interchange.imports.found import SourceFile

MOST_FILE_BYTES = 32_000_000
MOST_BYTES = 64_000_000  # of all files of an import together, unpacked
MOST_FILES = 2_000
MOST_RATIO = 200  # text packs five to ten times; what packs this tightly is made to
RATIO_FROM = 1_000_000  # smaller files cannot hurt
NAME_CHARS = 400
PIECE = 256_000


class BadUpload(ValueError):
    """Files that are not read at all; the message says which, why, and what to do."""


def megabytes(count: int) -> str:
    return f"{count / 1_000_000:,.0f} MB"


def is_zip(file: SourceFile) -> bool:
    return file.name.lower().endswith(".zip") or file.data[:4] == b"PK\x03\x04"


def unpacked(file: SourceFile) -> list[SourceFile]:
    """The files in a zip; BadUpload for one that is larger, deeper or stranger than any folder of runs."""
    try:
        with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
            return list(_members(archive, file.name))
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError) as error:
        raise BadUpload(f"{file.name} cannot be opened as a zip file: {error}. Pack it again.") from None


def _members(archive: zipfile.ZipFile, name: str) -> Iterator[SourceFile]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > MOST_FILES:
        raise BadUpload(f"{name} holds {len(entries):,} files; {MOST_FILES:,} are taken at a time.")
    total = 0
    for entry in entries:
        if is_rubbish(entry.filename):
            continue
        refuse_odd(entry, name)
        data = _read(archive, entry, name, MOST_BYTES - total)
        total += len(data)
        if data[:4] == b"PK\x03\x04" or entry.filename.lower().endswith(".zip"):
            raise BadUpload(f"{name} holds another zip file, {entry.filename}. Unpack that one first.")
        yield SourceFile(entry.filename, data)


def refuse_odd(entry: zipfile.ZipInfo, name: str) -> None:
    """A path that leaves its folder, a link, a device, a password, or sizes that cannot be."""
    path = entry.filename
    refuse_path(path, name)
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise BadUpload(f"{path} in {name} is a link or a device, not a file. Pack the files themselves.")
    if entry.flag_bits & 0x1:
        raise BadUpload(f"{path} in {name} is locked with a password. Pack it without one.")
    if entry.file_size > MOST_FILE_BYTES:
        size = megabytes(entry.file_size)
        raise BadUpload(f"{path} in {name} has {size}; a file may have {megabytes(MOST_FILE_BYTES)}.")


def refuse_path(path: str, where: str) -> None:
    """Names of files are only names here; one that means to leave its folder is refused all the same."""
    parts = path.replace("\\", "/").split("/")
    drive = len(parts[0]) == 2 and parts[0].endswith(":")
    if path.startswith(("/", "\\")) or drive or ".." in parts or "\x00" in path or len(path) > NAME_CHARS:
        raise BadUpload(
            f"A file in {where} is called {path[:80]!r}, which leads out of its folder or is too long."
        )


def is_rubbish(path: str) -> bool:
    """What computers put beside people's files."""
    base = path.rsplit("/", 1)[-1]
    return (
        path.startswith("__MACOSX/")
        or base in (".DS_Store", "Thumbs.db", "desktop.ini")
        or base.startswith("._")
    )


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, room: int) -> bytes:
    """The member, in pieces: what a zip says of its sizes is not believed."""
    most = min(MOST_FILE_BYTES, room)
    pieces, size = [], 0
    try:
        with archive.open(entry) as stream:
            while piece := stream.read(PIECE):
                size += len(piece)
                tight = size > RATIO_FROM and size > MOST_RATIO * max(entry.compress_size, 1)
                if size > most or tight:
                    raise BadUpload(_too_much(entry, name, room=room, tight=tight))
                pieces.append(piece)
    except RuntimeError as error:
        raise BadUpload(f"{entry.filename} in {name} cannot be opened: {error}.") from None
    return b"".join(pieces)


def _too_much(entry: zipfile.ZipInfo, name: str, *, room: int, tight: bool) -> str:
    if tight:
        return f"{entry.filename} in {name} unpacks to more than {MOST_RATIO} times its size; it is not read."
    if room < MOST_FILE_BYTES:
        return f"The files in {name} have more than {megabytes(MOST_BYTES)} together. Import them in parts."
    most = megabytes(MOST_FILE_BYTES)
    return f"{entry.filename} in {name} has more than {most}, the most that a file may have."
