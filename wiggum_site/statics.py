"""Storage for hashed and compressed static files."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.conf import settings
from whitenoise.storage import CompressedManifestStaticFilesStorage

# The API documentation has megabytes of rarely used scripts. Compressing them took most of a first start.
SENT_AS_THEY_ARE = ("ninja/",)


class StaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # it has no types
    """WhiteNoise's storage, without compression of some files and with a cache of URLs."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._addresses: dict[str, str] = {}
        super().__init__(*args, **options)

    def url(self, name: str, force: bool = False) -> str:
        if settings.DEBUG or force:
            found: str = super().url(name, force)
            return found
        if name not in self._addresses:
            self._addresses[name] = super().url(name)
        return self._addresses[name]

    def post_process(self, *args: Any, **options: Any) -> Iterator[Any]:
        yield from super().post_process(*args, **options)
        self._addresses.clear()

    def compress_files(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        yield from super().compress_files([path for path in paths if not path.startswith(SENT_AS_THEY_ARE)])
