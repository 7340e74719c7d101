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
# Only these variables are passed on: the worker's environment has secrets.
KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "OMP_NUM_THREADS")


class ModelProcess:
    """A process with one loaded model. It ends when its stdin closes, so it never outlives this process."""

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
            start_new_session=True,  # Ctrl-C goes to the worker only
        )
        request = {
            "path": str(path.absolute()),
            "model": model,
            "context": context,
            "slots": slots,
            "key": self.key,
        }
        self._answer = ""
        self._reader = threading.Thread(target=self._read, args=(request,), daemon=True, name="model-loading")
        self._reader.start()

    def _read(self, request: dict[str, object]) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            self._answer = self._process.stdout.readline()
        except OSError:
            self._answer = ""

    def wait_for_address(self, call: Call) -> str:
        """The address of the loaded model's server; waits until it is loaded.

        Raises ProviderError if loading fails. Cancelling the call ends the process.
        """
        try:
            while self._reader.is_alive():
                self._reader.join(CHECK_SECONDS)
                call.check()
            answer = (
                json.loads(self._answer) if self._answer else {"error": "the loader ended without an answer"}
            )
            if "address" not in answer:
                raise self._failed(str(answer["error"]))
        except BaseException:
            self.stop()
            raise
        return str(answer["address"])

    def _failed(self, detail: str) -> ProviderError:
        return ProviderError(
            ErrorKind.MODEL_MISSING,
            f"The demo model could not be loaded from {self._path.name} ({detail}). "
            "Check that the file is a complete GGUF file and that there is enough memory.",
            retryable=False,
        )

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        """Kills the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
