"""Starts and ends the process that holds the embedded model."""

import json
import os
import secrets
import subprocess
import sys
import threading
from pathlib import Path

from refinement.providers.base import ErrorKind, ProviderError
from refinement.providers.cancelling import CHECK_SECONDS, Call

SERVER = Path(__file__).with_name("embedded_server.py")
# Nothing of the worker's surroundings is needed there, least of all its secrets.
KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "OMP_NUM_THREADS")


class ModelProcess:
    """One loaded model. Its input stays open as long as this process lives: closing it is its end."""

    def __init__(self, path: Path, model: str, *, context: int, slots: int) -> None:
        self.key = secrets.token_urlsafe(24)
        self._path = path
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ},
            start_new_session=True,  # Ctrl-C is for the worker, which then decides
        )
        wanted = {
            "path": str(path.absolute()),
            "model": model,
            "context": context,
            "slots": slots,
            "key": self.key,
        }
        self._said = ""
        self._reader = threading.Thread(target=self._read, args=(wanted,), daemon=True, name="model-loading")
        self._reader.start()

    def _read(self, wanted: dict[str, object]) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(wanted) + "\n")
            self._process.stdin.flush()
            self._said = self._process.stdout.readline()
        except OSError:
            self._said = ""

    def wait_for_address(self, call: Call) -> str:
        """Where the model listens, once it is loaded; cancelling the call ends the process."""
        try:
            while self._reader.is_alive():
                self._reader.join(CHECK_SECONDS)
                call.check()
            answer = json.loads(self._said) if self._said else {"error": "the loader ended without a word"}
            if "address" not in answer:
                raise self._failed(str(answer["error"]))
        except BaseException:
            self.stop()
            raise
        return str(answer["address"])

    def _failed(self, detail: str) -> ProviderError:
        return ProviderError(
            ErrorKind.MODEL_MISSING,
            f"The embedded model could not be loaded from {self._path.name} ({detail}). "
            "Check that the file is a whole GGUF file and that memory suffices.",
            retryable=False,
        )

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        """Ends the process at once."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
