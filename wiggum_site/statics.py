"""Static files with their digest in the name, compressed where a page needs it soon."""

from collections.abc import Iterable, Iterator

from whitenoise.storage import CompressedManifestStaticFilesStorage

# The documentation of the API is megabytes of script that few open, and compressing it took most of
# a first start.
SENT_AS_THEY_ARE = ("ninja/",)


class StaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # it has no types
    """WhiteNoise's storage, which leaves the largest and rarest files as they are."""

    def compress_files(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        yield from super().compress_files([path for path in paths if not path.startswith(SENT_AS_THEY_ARE)])
