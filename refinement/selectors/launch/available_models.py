"""The models available now. All endpoints are queried in parallel with a short timeout."""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from refinement.providers.base import ErrorKind, ModelInfo, ProviderError
from refinement.providers.registry import EndpointSpec, Target, build
from refinement.providers.sorting import display_address
from refinement.selectors.endpoints import endpoint_specs

LOOK_SECONDS = 1.0
KEPT_SECONDS = 10.0
MOST_AT_ONCE = 8
MOST_MODEL_CHARS = 200
MOST_MODELS = 200  # per endpoint; a longer list is no help when choosing


@dataclass(frozen=True, slots=True)
class Offer:
    """An endpoint with its models, or the reason why it has none."""

    endpoint: str
    models: tuple[ModelInfo, ...] = ()
    problem: str = ""


class Offers:
    """A short-lived cache of the endpoints' models."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        self.forget()

    def forget(self) -> None:
        self._offers: list[Offer] = []
        self._of: list[EndpointSpec] = []
        self._at = float("-inf")

    def of(self, specs: list[EndpointSpec]) -> list[Offer]:
        with self._one_at_a_time:
            if self._of != specs or time.monotonic() - self._at >= KEPT_SECONDS:
                self._offers, self._of, self._at = look(specs), specs, time.monotonic()
            return self._offers


offers = Offers()


def models_offered() -> list[Offer]:
    """Every endpoint with its models. One that is too slow is reported as not responding."""
    return offers.of(endpoint_specs())


def look(specs: list[EndpointSpec]) -> list[Offer]:
    pool = ThreadPoolExecutor(max_workers=min(len(specs), MOST_AT_ONCE), thread_name_prefix="offers")
    asked = [pool.submit(models_of, spec) for spec in specs]
    wait(asked, timeout=LOOK_SECONDS)
    pool.shutdown(wait=False, cancel_futures=True)
    return [offer_of(spec, future) for spec, future in zip(specs, asked, strict=True)]


def models_of(spec: EndpointSpec) -> list[ModelInfo]:
    return build(spec).models()


def offer_of(spec: EndpointSpec, asked: "Future[list[ModelInfo]]") -> Offer:
    if not asked.done() or asked.cancelled():
        return Offer(spec.name, problem="Not responding.")
    error = asked.exception()
    if error is not None:
        return Offer(spec.name, problem=problem_message(spec, error))
    models = tuple(sorted(asked.result(), key=lambda info: info.name)[:MOST_MODELS])
    return Offer(spec.name, models, "" if models else "No models available.")


def problem_message(spec: EndpointSpec, error: BaseException) -> str:
    """One sentence on why there are no models, without details of the client library."""
    if not isinstance(error, ProviderError):
        return "The configuration of this model server is not valid."
    if error.kind == ErrorKind.UNREACHABLE and spec.url:
        place = display_address(spec.url)
        return f"Cannot connect to {place}. Check that the server is running and the address is right."
    return error.message


def target_typed(text: str, endpoints: Sequence[str] = ()) -> Target:
    """Parses a judge such as `ollama/qwen3:14b`. Raises ValueError with the expected format.

    Only endpoints of this instance are accepted; `endpoints` are their names, if they are known already.
    Script files work on the command line only.
    """
    text = text.strip()
    names = endpoints or [spec.name for spec in endpoint_specs()]
    for name in sorted(names, key=len, reverse=True):
        for sign in ("/", ":"):
            if text.startswith(name + sign) and text != name + sign:
                return Target(name, _model_named(text.removeprefix(name + sign).strip()))
    known = ", ".join(names)
    raise ValueError(f"Enter server/model, such as {names[0]}/qwen3:14b. Available model servers: {known}.")


def _model_named(model: str) -> str:
    if len(model) > MOST_MODEL_CHARS:
        raise ValueError(f"A model name has at most {MOST_MODEL_CHARS} characters.")
    return model
