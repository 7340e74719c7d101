"""Reads uploaded zip files with limits on number, size, compression ratio and paths."""

import io
import stat
import zipfile
import zlib
from collections.abc import Iterator

from refinement.interchange.imports.found import SourceFile

MOST_FILE_BYTES = 32_000_000
MOST_BYTES = 64_000_000  # of all files of an import together, unpacked
MOST_FILES = 2_000
MOST_RATIO = 200  # text compresses five to ten times; a higher ratio is a zip bomb
RATIO_FROM = 1_000_000  # smaller files are not checked
NAME_CHARS = 400
PIECE = 256_000


class BadUpload(ValueError):
    """An upload is rejected. The message says which file, why, and what to do."""


def megabytes(count: int) -> str:
    return f"{count / 1_000_000:,.0f} MB"


def is_zip(file: SourceFile) -> bool:
    return file.name.lower().endswith(".zip") or file.data[:4] == b"PK\x03\x04"


def unpacked(file: SourceFile) -> list[SourceFile]:
    """The files in a zip. Raises BadUpload if it exceeds a limit or is not safe."""
    try:
        with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
            return list(_members(archive, file.name))
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError) as error:
        raise BadUpload(f"{file.name} cannot be opened as a zip file: {error}. Pack it again.") from None


def _members(archive: zipfile.ZipFile, name: str) -> Iterator[SourceFile]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > MOST_FILES:
        raise BadUpload(f"{name} contains {len(entries):,} files; the limit is {MOST_FILES:,}.")
    total = 0
    for entry in entries:
        if is_system_file(entry.filename):
            continue
        check_entry(entry, name)
        data = _read(archive, entry, name, MOST_BYTES - total)
        total += len(data)
        if data[:4] == b"PK\x03\x04" or entry.filename.lower().endswith(".zip"):
            raise BadUpload(f"{name} contains another zip file, {entry.filename}. Unpack that one first.")
        yield SourceFile(entry.filename, data)


def check_entry(entry: zipfile.ZipInfo, name: str) -> None:
    """Raises BadUpload for unsafe paths, links, devices, passwords and large files."""
    path = entry.filename
    check_path(path, name)
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise BadUpload(f"{path} in {name} is a link or a device, not a file. Pack the files themselves.")
    if entry.flag_bits & 0x1:
        raise BadUpload(f"{path} in {name} is password-protected. Pack it without a password.")
    if entry.file_size > MOST_FILE_BYTES:
        size = megabytes(entry.file_size)
        raise BadUpload(f"{path} in {name} has {size}; the limit is {megabytes(MOST_FILE_BYTES)}.")


def check_path(path: str, where: str) -> None:
    """Raises BadUpload for a path that leaves its folder, although paths are never written to disk."""
    parts = path.replace("\\", "/").split("/")
    drive = len(parts[0]) == 2 and parts[0].endswith(":")
    if path.startswith(("/", "\\")) or drive or ".." in parts or "\x00" in path or len(path) > NAME_CHARS:
        raise BadUpload(f"A file in {where} is named {path[:80]!r}, which is outside its folder or too long.")


def is_system_file(path: str) -> bool:
    """Whether the operating system added the file."""
    base = path.rsplit("/", 1)[-1]
    return (
        path.startswith("__MACOSX/")
        or base in (".DS_Store", "Thumbs.db", "desktop.ini")
        or base.startswith("._")
    )


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, remaining: int) -> bytes:
    """The member's data. The sizes stated in the zip are not trusted."""
    most = min(MOST_FILE_BYTES, remaining)
    pieces, size = [], 0
    try:
        with archive.open(entry) as stream:
            while piece := stream.read(PIECE):
                size += len(piece)
                tight = size > RATIO_FROM and size > MOST_RATIO * max(entry.compress_size, 1)
                if size > most or tight:
                    raise BadUpload(_too_much(entry, name, remaining=remaining, tight=tight))
                pieces.append(piece)
    except RuntimeError as error:
        raise BadUpload(f"{entry.filename} in {name} cannot be opened: {error}.") from None
    return b"".join(pieces)


def _too_much(entry: zipfile.ZipInfo, name: str, *, remaining: int, tight: bool) -> str:
    if tight:
        return f"{entry.filename} in {name} unpacks to more than {MOST_RATIO} times its size."
    if remaining < MOST_FILE_BYTES:
        return f"The files in {name} are larger than {megabytes(MOST_BYTES)} in total. Import them in parts."
    most = megabytes(MOST_FILE_BYTES)
    return f"{entry.filename} in {name} is larger than the limit of {most}."
