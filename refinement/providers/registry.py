"""Endpoints: their settings, how runs name them, and the provider of each."""

import json
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from typing import Any

import httpx

from refinement.providers.base import Provider

# Not in FACTORIES: they read files and start programs, so no setting, page or import may create one.
SCRIPTED, COMMAND = "scripted", "command"
SCRIPTED_PREFIX = f"{SCRIPTED}:"
DEFAULT_OLLAMA_URL = "http://127.0.0.1:11434"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class EndpointSpec:
    """An endpoint's settings. They contain no secret, only the name of the key's environment variable."""

    name: str
    kind: str
    url: str = ""
    api_key_variable: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    concurrency: int | None = None  # the most calls at the same time; enforced by the caller
    refusal: str = ""  # why the endpoint must not be called; not a setting


@dataclass(frozen=True, slots=True)
class Target:
    endpoint: str
    model: str


def parse_target(text: str) -> Target:
    """Parses ENDPOINT/MODEL, `embedded` alone, or scripted:FILE; raises ValueError with a hint."""
    text = text.strip()
    if text.startswith(SCRIPTED_PREFIX):
        if text == SCRIPTED_PREFIX:
            raise ValueError("scripted: needs a file path, such as scripted:replies.jsonl.")
        return Target(text, "scripted")
    endpoint, _, model = text.partition("/")
    if endpoint == "embedded" and not model:
        from refinement.providers.embedded import model_name

        return Target(endpoint, model_name(os.environ.get("WIGGUM_GGUF", "").strip()))
    if not endpoint or not model:
        raise ValueError(f"{text!r} has no model; use ENDPOINT/MODEL, such as ollama/qwen3:14b.")
    return Target(endpoint, model)


def find_spec(endpoint: str, specs: Sequence[EndpointSpec]) -> EndpointSpec:
    """The spec with this name; raises ValueError that lists the known names.

    Names may come from imports and old rows, so a scripted:FILE name is never opened here.
    """
    for spec in specs:
        if spec.name == endpoint:
            return spec
    known = ", ".join(spec.name for spec in specs)
    if endpoint.startswith(SCRIPTED_PREFIX):
        raise ValueError(
            "Scripted replies only work in the foreground, with “wiggum refine” and without --detach. "
            f"Choose one of {known}."
        )
    raise ValueError(f"there is no model server named {endpoint!r}; known are {known}.")


def scripted_specs(*endpoints: str) -> dict[str, EndpointSpec]:
    """Specs for the endpoints that are scripted:FILE, by name.

    Only for commands that users start on their own machine: the files are read with their permissions.
    """
    return {
        endpoint: EndpointSpec(endpoint, SCRIPTED, url=endpoint.removeprefix(SCRIPTED_PREFIX))
        for endpoint in endpoints
        if endpoint.startswith(SCRIPTED_PREFIX)
    }


def key_variable_problem(variable: str, allowed: Sequence[str]) -> str:
    """Why this variable must not be used as a key; empty if it is allowed.

    `allowed` has variable names, and prefixes that end with `*`.
    """
    if not variable or any(fnmatchcase(variable, pattern) for pattern in allowed):
        return ""
    return (
        f"{variable} cannot be used for a key: allowed are {', '.join(allowed)}. Rename the variable, or "
        "add it to WIGGUM_KEY_VARIABLES for web and workers."
    )


# --- providers ------------------------------------------------------------------------------------
# Imported when needed: a process loads only the kinds it uses.
def _ollama(spec: EndpointSpec) -> Provider:
    from refinement.providers.ollama import OllamaProvider

    return OllamaProvider(spec.url or DEFAULT_OLLAMA_URL, spec.options, spec.api_key_variable)


def _openai_compatible(spec: EndpointSpec) -> Provider:
    from refinement.providers.openai_compatible import OpenAICompatibleProvider

    name = f"The model server {spec.name}"
    return OpenAICompatibleProvider(spec.url, spec.api_key_variable, spec.options, name)


def _embedded(spec: EndpointSpec) -> Provider:
    from refinement.providers.embedded import EmbeddedProvider

    return EmbeddedProvider(spec.options)


def _command(spec: EndpointSpec) -> Provider:
    from refinement.providers.command import CommandProvider

    return CommandProvider(spec.options, spec.name)


FACTORIES: dict[str, Callable[[EndpointSpec], Provider]] = {
    "ollama": _ollama,
    "openai_compatible": _openai_compatible,
    "embedded": _embedded,
}
NEEDS_URL = frozenset({"openai_compatible"})
_built: dict[tuple[str, ...], Provider] = {}
_building = threading.Lock()


def build(
    spec: EndpointSpec, *, consumed: Mapping[str, int] | None = None, foreground: bool = False
) -> Provider:
    """The provider for the spec; a process has one instance per spec.

    `foreground` is for commands that users run on their own machine: only these may use scripts and
    commands. A script is read on every call of this function, and starts after `consumed` lines by role.
    Raises ValueError for an unknown kind, and ProviderError for a script that cannot be read.
    """
    if spec.refusal:
        from refinement.providers.refused import RefusedProvider

        return RefusedProvider(spec.refusal)
    if foreground and spec.kind == SCRIPTED:
        from refinement.providers.scripted import ScriptedProvider

        return ScriptedProvider(spec.url, consumed)
    if foreground and spec.kind == COMMAND:
        return _command(spec)  # has no state to share
    if spec.kind not in FACTORIES:
        raise ValueError(f"unknown kind {spec.kind!r}; known are {', '.join(FACTORIES)}.")
    options = json.dumps(spec.options, sort_keys=True)
    identity = (spec.name, spec.kind, spec.url, spec.api_key_variable, options)
    with _building:
        if identity not in _built:
            _built[identity] = FACTORIES[spec.kind](spec)
        return _built[identity]


def _reset_after_fork() -> None:
    """A lock that another thread held during a fork would stay locked in the child."""
    global _building
    _building = threading.Lock()


os.register_at_fork(after_in_child=_reset_after_fork)


# --- from the environment -------------------------------------------------------------------------
def default_specs(environ: Mapping[str, str]) -> list[EndpointSpec]:
    """The endpoints Ollama, embedded and those in WIGGUM_ENDPOINTS; raises ValueError."""
    ollama_options = {}
    if keep_alive := environ.get("WIGGUM_OLLAMA_KEEP_ALIVE", "").strip():
        ollama_options["keep_alive"] = keep_alive
    url = environ.get("WIGGUM_OLLAMA_URL", "").strip() or DEFAULT_OLLAMA_URL
    _check_url(url, "WIGGUM_OLLAMA_URL")
    gguf = environ.get("WIGGUM_GGUF", "").strip()
    specs = [
        EndpointSpec(
            name="ollama",
            kind="ollama",
            url=url,
            options=ollama_options,
            concurrency=_count(environ, "WIGGUM_OLLAMA_CONCURRENCY"),
        ),
        # One reply at a time is fastest on a CPU; other calls wait.
        EndpointSpec(name="embedded", kind="embedded", options={"gguf": gguf} if gguf else {}, concurrency=1),
    ]
    for spec in _configured(environ.get("WIGGUM_ENDPOINTS", "").strip()):
        if spec.name in {known.name for known in specs}:
            raise ValueError(f"WIGGUM_ENDPOINTS: the name {spec.name!r} is used twice; names must be unique.")
        specs.append(spec)
    return specs


def _configured(text: str) -> list[EndpointSpec]:
    if not text:
        return []
    try:
        entries = json.loads(text)
    except ValueError as error:
        raise ValueError(f"WIGGUM_ENDPOINTS is not valid JSON ({error}).") from None
    if not isinstance(entries, list):
        raise ValueError("WIGGUM_ENDPOINTS must be a JSON list of objects.")
    return [spec_from(entry, f"WIGGUM_ENDPOINTS[{index}]") for index, entry in enumerate(entries)]


def spec_from(entry: object, where: str) -> EndpointSpec:
    """The spec for an object from JSON; raises ValueError with the path of the invalid field."""
    if not isinstance(entry, dict):
        raise ValueError(f"{where} must be an object.")
    known = {part.name for part in fields(EndpointSpec)} - {"refusal"}
    for unknown in sorted(set(entry) - known):
        raise ValueError(f"{where}.{unknown} is unknown; known are {', '.join(sorted(known))}.")
    for name in ("name", "kind", "url", "api_key_variable"):
        if not isinstance(entry.get(name, ""), str):
            raise ValueError(f"{where}.{name} must be a string.")
    _check(NAME.fullmatch(entry.get("name", "")), f"{where}.name must be letters, digits, '.', '_' or '-'.")
    kinds = ", ".join(FACTORIES)
    _check(entry.get("kind") in FACTORIES, f"{where}.kind must be one of {kinds}.")
    if entry.get("url") or entry["kind"] in NEEDS_URL:
        _check_url(entry.get("url", ""), f"{where}.url")
    variable = entry.get("api_key_variable", "")
    _check(
        not variable or VARIABLE.fullmatch(variable),
        f"{where}.api_key_variable must be the name of an environment variable, not the key itself.",
    )
    _check(isinstance(entry.get("options", {}), dict), f"{where}.options must be an object.")
    limit = entry.get("concurrency")
    is_count = isinstance(limit, int) and not isinstance(limit, bool) and limit > 0
    _check(limit is None or is_count, f"{where}.concurrency must be a whole number above 0.")
    return EndpointSpec(**entry)


def _count(environ: Mapping[str, str], name: str) -> int | None:
    """A whole number above 0; None if the variable is not set."""
    value = environ.get(name, "").strip()
    if not value:
        return None
    _check(
        value.isascii() and value.isdigit() and int(value) > 0,
        f"{name}: {value!r} is not a whole number above 0; leave it unset for no limit.",
    )
    return int(value)


def _check(holds: object, problem: str) -> None:
    if not holds:
        raise ValueError(problem)


def _check_url(value: str, where: str) -> None:
    try:
        url = httpx.URL(value)
    except httpx.InvalidURL as error:
        raise ValueError(f"{where}: {value!r} is not a valid address ({error}).") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError(f"{where}: {value!r} must be an address that starts with http:// or https://.")
    if url.userinfo:
        raise ValueError(f"{where} must not contain a user name or password; use a key's variable instead.")
