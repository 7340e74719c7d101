"""What is in order before a launch."""

import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit

from refinement.providers.registry import EndpointSpec
from refinement.selectors.launch.available_models import Offer
from refinement.selectors.launch.model_lists import info_of
from refinement.selectors.launch.plans import Plan
from refinement.selectors.launch.warnings import kinship_of


def checks_for(plan: Plan, offers: Sequence[Offer]) -> list[str]:
    """Sentences about what is in order: the models answer, and the judges are not related to the writer."""
    return [*models_check(plan, offers), *families_check(plan, offers)]


def models_check(plan: Plan, offers: Sequence[Offer]) -> list[str]:
    targets = {target for _, target in plan.called}
    if plan.producer is None or any(info_of(offers, target) is None for target in targets):
        return []
    if len(targets) == 1:
        return ["The model is available."]
    return [
        "Both models are available." if len(targets) == 2 else f"All {len(targets)} models are available."
    ]


def families_check(plan: Plan, offers: Sequence[Offer]) -> list[str]:
    judges = [target for _, target in plan.judges]
    if plan.producer is None or not judges:
        return []
    if any(info_of(offers, target) is None for target in (plan.producer, *judges)):
        return []  # the models may change before they are available
    if any(kinship_of(plan.producer, target, offers) for target in judges):
        return []
    who = "judges" if len(judges) > 1 or plan.judging.is_board else "judge"
    return [f"Writer and {who} come from different families."]


def privacy_words(plan: Plan, specs: Sequence[EndpointSpec]) -> str:
    """Where the run's texts are sent."""
    called = {target.endpoint for _, target in plan.called}
    away = [spec.name for spec in specs if spec.name in called and not is_local(spec)]
    if not away:
        return "Nothing leaves this server."
    return f"Nothing leaves this server except the calls to {' and '.join(away)}."


def is_local(spec: EndpointSpec) -> bool:
    """Whether the endpoint is on this machine."""
    if not spec.url:
        return True
    host = urlsplit(spec.url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
