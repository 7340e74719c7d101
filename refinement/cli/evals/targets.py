"""Checks that every target of an evaluation can be reached and has its model, before any case runs."""

from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches

from refinement.cli.exits import CommandFailed, NotThere, Unavailable
from refinement.evals.planning import Job
from refinement.evals.types import Target
from refinement.providers.base import ErrorKind, Provider, ProviderError
from refinement.providers.registry import build
from refinement.selectors.endpoints import NoSuchEndpoint, provider_for

NOT_THERE = (ErrorKind.UNREACHABLE, ErrorKind.TIMEOUT, ErrorKind.MODEL_MISSING, ErrorKind.REFUSED)
MOST_NAMES = 5
LIKE = 0.4


def absence(jobs: Sequence[Job]) -> CommandFailed | None:
    """Why the cases cannot run: an unknown, unreachable or missing target; None if all are there."""
    asked = {(who.endpoint, who.model): who for job in jobs for who in (job.target, job.judge)}
    for target in asked.values():
        try:
            provider = build(target.spec, foreground=True) if target.spec else provider_for(target.endpoint)
        except NoSuchEndpoint as error:
            return NotThere(f"target {target.name}: {error.message}")
        try:
            provider.model_info(target.model)
        except ProviderError as error:
            if error.kind is ErrorKind.MODEL_MISSING:
                return NotThere(missing_model(target, provider, error))
            if error.kind in NOT_THERE:
                words = f"the target {target.name} cannot be reached; nothing was run. {error.message}"
                return Unavailable(words)
    return None


def missing_model(target: Target, provider: Provider, error: ProviderError) -> str:
    """The server is there, but not the model. Names those that are alike."""
    names: list[str] = []
    with suppress(ProviderError):
        names = [info.name for info in provider.models()]
    if not names:
        return f"the target {target.name} was reached, but has no model {target.model!r}. {error.message}"
    same = [name for name in names if name.split(":")[0] == target.model.split(":")[0]]
    near = list(dict.fromkeys([*same, *get_close_matches(target.model, names, MOST_NAMES, LIKE)]))
    listed = ", ".join((near or names)[:MOST_NAMES])
    hint = (
        f"Similar: {listed}."
        if near
        else f"It has: {listed}{' and others' if len(names) > MOST_NAMES else ''}."
    )
    return (
        f"the target {target.name} was reached, but has no model {target.model!r}; nothing was run. {hint} "
        f"{error.message}"
    )
