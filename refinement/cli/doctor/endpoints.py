"""Checks of endpoints, and of the models that runs need."""

import os
from collections.abc import Sequence
from functools import partial

from django.db import DatabaseError

from refinement.cli.doctor.findings import Check, Finding, fail, findings_of, ok, warn
from refinement.models import Run, RunStatus
from refinement.providers.base import ProviderError
from refinement.providers.registry import EndpointSpec, Target, build
from refinement.providers.sorting import display_address
from refinement.selectors.endpoints import endpoint_specs, fixed_specs

LATEST_RUNS = 50
ANSWER_SECONDS = 6.0


def endpoints(wanted: Sequence[Target] = ()) -> list[Finding]:
    """Check all endpoints at once. The wanted models must be available."""
    return list(findings_of(endpoint_checks(wanted), seconds=ANSWER_SECONDS))


def endpoint_checks(wanted: Sequence[Target]) -> dict[str, Check]:
    """A check for each endpoint, except the embedded model, which has its own check."""
    try:
        specs = endpoint_specs()
    except DatabaseError:
        specs = list(fixed_specs())
    unknown = sorted({target.endpoint for target in wanted} - {spec.name for spec in specs})
    missing: dict[str, Check] = {
        f"model server {name}": partial(no_endpoint, name, specs) for name in unknown
    }
    return missing | {
        f"model server {spec.name}": partial(
            endpoint, spec, [t.model for t in wanted if t.endpoint == spec.name]
        )
        for spec in specs
        if spec.kind != "embedded"
    }


def no_endpoint(name: str, specs: Sequence[EndpointSpec]) -> Finding:
    known = ", ".join(spec.name for spec in specs)
    return fail(f"model server {name}", "no such model server", f"Choose one of these: {known}.")


def endpoint(spec: EndpointSpec, required: Sequence[str] = ()) -> list[Finding]:
    """Whether the endpoint is reachable and has the required models."""
    name = f"model server {spec.name}"
    if spec.refusal:
        what = f"{spec.api_key_variable} is not allowed as an API key variable"
        return [fail(name, what, "Rename the variable, or add it to the setting WIGGUM_KEY_VARIABLES.")]
    if spec.api_key_variable and not os.environ.get(spec.api_key_variable):
        what = f"its API key variable {spec.api_key_variable} is not set here"
        return [
            fail(name, what, f"Set {spec.api_key_variable} for this shell, the web process and the workers.")
        ]
    health = build(spec).health()
    if not health.ok:
        return [unreachable(spec, health.message, needed=bool(required))]
    return [ok(name, health.message), *missing_models(spec, required)]


def unreachable(spec: EndpointSpec, message: str, *, needed: bool = False) -> Finding:
    """A failure, but only a warning for the default Ollama endpoint that nothing needs."""
    name = f"model server {spec.name}"
    if spec.kind == "ollama":
        what = (
            f"Ollama is not responding at {display_address(spec.url)}"
            if "cannot be reached" in message
            else message
        )
        remedy = "Start it (ollama serve, or systemctl start ollama), or set WIGGUM_OLLAMA_URL."
        assumed = spec.name == "ollama" and not os.environ.get("WIGGUM_OLLAMA_URL") and not needed
        return (warn if assumed else fail)(name, what, remedy)
    return fail(name, message, "Start that server, or fix its URL and API key.")


def missing_models(spec: EndpointSpec, required: Sequence[str]) -> list[Finding]:
    """Missing models: a failure if unfinished runs or --model need them, a warning for earlier runs."""
    name = f"models of {spec.name}"
    try:
        available = {info.name for info in build(spec).models()}
    except ProviderError as error:
        return [fail(name, error.message, "Check that server's log.")]
    needed, used = models_in_use(spec.name)
    findings = [
        fail(name, f"{model} is missing; {who} needs it", pull(spec, model))
        for model, who in {**needed, **dict.fromkeys(required, "--model")}.items()
        if not is_among(model, available)
    ]
    findings += [
        warn(name, f"{model} is missing; run {run} used it", pull(spec, model))
        for model, run in used.items()
        if model not in needed and model not in required and not is_among(model, available)
    ]
    if not available and not findings:
        findings.append(warn(name, "no models", pull(spec, "qwen3:4b")))
    return findings or [ok(name, f"{len(available)} available, including all that runs need")]


def is_among(model: str, available: set[str]) -> bool:
    return model in available or f"{model}:latest" in available


def pull(spec: EndpointSpec, model: str) -> str:
    if spec.kind == "ollama":
        return f"Pull it: ollama pull {model}"
    return "Load it on that server, or choose another model for the run."


def models_in_use(endpoint: str) -> tuple[dict[str, str], dict[str, int]]:
    """Models of unfinished runs with the run that needs them, and models of the latest runs."""
    needed: dict[str, str] = {}
    used: dict[str, int] = {}
    fields = ("pk", "status", "producer_endpoint", "producer_model", "judge_endpoint", "judge_model")
    try:
        unfinished = Run.objects.exclude(status=RunStatus.FINISHED).order_by("-pk").values_list(*fields)
        latest = Run.objects.order_by("-pk").values_list(*fields)
        rows = [*unfinished[:LATEST_RUNS], *latest[:LATEST_RUNS]]
    except DatabaseError:
        return {}, {}
    for pk, status, producer_endpoint, producer, judge_endpoint, judge in rows:
        for target in (Target(producer_endpoint, producer), Target(judge_endpoint, judge)):
            if target.endpoint == endpoint:
                used.setdefault(target.model, pk)
                if status != RunStatus.FINISHED:
                    needed.setdefault(target.model, f"run {pk}")
    return needed, used
