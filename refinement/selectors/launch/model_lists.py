"""The models to choose from at launch, by endpoint, with family, size and context."""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

from refinement.providers.base import ModelInfo, ProviderError
from refinement.providers.embedded import DEFAULT_MODEL, is_demo
from refinement.providers.registry import EndpointSpec, Target, build
from refinement.selectors.endpoints import endpoint_specs
from refinement.selectors.launch.available_models import Offer, models_offered

LOOK_SECONDS = 0.6  # for optional details; the list itself is already loaded
KEPT_SECONDS = 600.0
MOST_ASKED = 12  # per page; the rest is queried when the next page is opened
MOST_KEPT = 2_000
DEMO = f"embedded/{DEFAULT_MODEL}"


class Contexts:
    """Context lengths of models. Servers that do not list them are queried once per model."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.forget()

    def forget(self) -> None:
        self._kept: dict[Target, tuple[float, int | None]] = {}

    def known(self, target: Target) -> int | None:
        return self._kept.get(target, (0.0, None))[1]

    def learn(self, offers: Sequence[Offer], specs: Sequence[EndpointSpec]) -> None:
        """Queries unknown models with a short timeout. Later answers are cached too."""
        now = time.monotonic()
        by_name = {spec.name: spec for spec in specs}
        unknown = [
            Target(offer.endpoint, info.name)
            for offer in offers
            if offer.endpoint in by_name
            for info in offer.models
            if info.context_length is None and self._is_due(Target(offer.endpoint, info.name), now)
        ][:MOST_ASKED]
        if not unknown:
            return
        pool = ThreadPoolExecutor(max_workers=4, thread_name_prefix="contexts")
        asked = [pool.submit(self._ask, by_name[target.endpoint], target) for target in unknown]
        wait(asked, timeout=LOOK_SECONDS)
        pool.shutdown(wait=False, cancel_futures=True)

    def _is_due(self, target: Target, now: float) -> bool:
        return target not in self._kept or now - self._kept[target][0] > KEPT_SECONDS

    def _ask(self, spec: EndpointSpec, target: Target) -> None:
        try:
            length = build(spec).model_info(target.model).context_length
        except ProviderError:
            length = None
        with self._lock:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[target] = (time.monotonic(), length)


contexts = Contexts()


def models_for_launch() -> list[Offer]:
    """Every endpoint with its models and their details, or the reason why it has none."""
    offers = models_offered()
    contexts.learn(offers, endpoint_specs())
    return [
        replace(offer, models=tuple(_completed(offer.endpoint, info) for info in offer.models))
        for offer in offers
    ]


def _completed(endpoint: str, info: ModelInfo) -> ModelInfo:
    if info.context_length is not None:
        return info
    return replace(info, context_length=contexts.known(Target(endpoint, info.name)))


def offer_of(offers: Sequence[Offer], endpoint: str) -> Offer | None:
    return next((offer for offer in offers if offer.endpoint == endpoint), None)


def info_of(offers: Sequence[Offer], target: Target) -> ModelInfo | None:
    """Details of a model; None if its endpoint does not list it now."""
    offer = offer_of(offers, target.endpoint)
    names = (target.model, f"{target.model}:latest")
    return next((info for info in offer.models if info.name in names), None) if offer else None


def has_real_model(offers: Sequence[Offer]) -> bool:
    """Whether any model but the demo model is available."""
    return any(not is_demo(offer.endpoint, info.name) for offer in offers for info in offer.models)


def has_demo_model(offers: Sequence[Offer]) -> bool:
    return any(is_demo(offer.endpoint, info.name) for offer in offers for info in offer.models)


def model_choices(offers: Sequence[Offer], chosen: str) -> list[Any]:
    """The models by endpoint. A model chosen earlier stays listed even if its endpoint is down."""
    groups: list[Any] = [("", "Choose a model")]
    known = set()
    for offer in offers:
        models = [(f"{offer.endpoint}/{info.name}", model_label(info)) for info in offer.models]
        known |= {value for value, _ in models}
        if models:
            groups.append((offer.endpoint, models))
    if chosen and chosen not in known:
        groups.append(("Not available now", [(chosen, chosen)]))
    return groups


def model_label(info: ModelInfo) -> str:
    """A model's name with its number of parameters."""
    return f"{info.name} ({info.parameters})" if info.parameters else info.name


def facts_of(info: ModelInfo) -> list[str]:
    """Family, size and context, where known."""
    facts = [
        f"family {info.family}" if info.family else "",
        info.parameters,
        f"{info.size_bytes / 1e9:.1f} GB" if info.size_bytes else "",
        f"{info.context_length:,} tokens of context" if info.context_length else "",
    ]
    return [fact for fact in facts if fact]
