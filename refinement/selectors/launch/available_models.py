"""The models that can be chosen now: every endpoint is asked at once, and none is waited for long."""

import threading
import time
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
MOST_MODELS = 200  # of one endpoint: a list that nobody could choose from


@dataclass(frozen=True, slots=True)
class Offer:
    """One endpoint: the models it serves, or why there are none to choose from."""

    endpoint: str
    models: tuple[ModelInfo, ...] = ()
    problem: str = ""


class Offers:
    """What the endpoints last said, kept for some seconds."""

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
    """Every endpoint with its models; one that does not answer quickly is said not to."""
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
        return Offer(spec.name, problem="It does not answer at the moment.")
    error = asked.exception()
    if error is not None:
        return Offer(spec.name, problem=problem_words(spec, error))
    models = tuple(sorted(asked.result(), key=lambda info: info.name)[:MOST_MODELS])
    return Offer(spec.name, models, "" if models else "It serves no model at the moment.")


def problem_words(spec: EndpointSpec, error: BaseException) -> str:
    """Why there are no models, in one sentence: what a client's library adds helps nobody choose."""
    if not isinstance(error, ProviderError):
        return "It cannot be used as it is set up."
    if error.kind == ErrorKind.UNREACHABLE and spec.url:
        place = display_address(spec.url)
        return f"It cannot be reached at {place}. Check that it runs and that the address is right."
    return error.message


def target_typed(text: str) -> Target:
    """The judge that `ollama/qwen3:14b` names; raises ValueError with what is right.

    Only endpoints of this instance count: a script's file is for the command line, not for a browser.
    """
    text = text.strip()
    names = [spec.name for spec in endpoint_specs()]
    for name in sorted(names, key=len, reverse=True):
        for sign in ("/", ":"):
            if text.startswith(name + sign) and text != name + sign:
                return Target(name, _model_named(text.removeprefix(name + sign).strip()))
    known = ", ".join(names)
    raise ValueError(
        f"Write the endpoint, a slash and the model, such as {names[0]}/qwen3:14b. "
        f"The endpoints here are {known}."
    )


def _model_named(model: str) -> str:
    if len(model) > MOST_MODEL_CHARS:
        raise ValueError(f"A model's name has at most {MOST_MODEL_CHARS} characters.")
    return model
