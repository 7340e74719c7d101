"""What a configuration runs, in words and as an identity, and what differs between two."""

import hashlib
import json
from collections.abc import Callable, Iterable
from typing import Any, Literal

from refinement.models import Configuration

LineBy = Literal["models", "exact"]
RELATED = ("rubric_version__rubric",)


def rubric_of(configuration: Configuration) -> str:
    version = configuration.rubric_version
    return f"{version.rubric.slug}@{version.number}"


def settings_of(configuration: Configuration) -> dict[str, str]:
    """What it runs, by setting. Needs `RELATED`."""
    entry = configuration
    clerk = f"{entry.clerk_endpoint}/{entry.clerk_model}" if entry.clerk_model else ""
    return {
        "rubric": rubric_of(entry),
        "producer": f"{entry.producer_endpoint}/{entry.producer_model}",
        "judge": f"{entry.judge_endpoint}/{entry.judge_model}",
        "clerk": clerk,
        "sources": ", ".join(source_label(source) for source in entry.sources),
        **{f"set.{path}": str(value) for path, value in sorted(entry.changes.items())},
    }


def source_label(source: dict[str, Any]) -> str:
    """A source's name with a fingerprint of its text, so that an edited source counts as a change."""
    return f"{source['name']} ({hashlib.sha256(source['text'].encode()).hexdigest()[:8]})"


def line_of(configuration: Configuration, by: LineBy) -> str:
    """The identity of a line in a suite's history.

    `models`: the same rubric and models, whatever the rubric's version and the changes. `exact`: nothing
    differs.
    """
    settings = settings_of(configuration)
    if by == "models":
        settings = {name: settings[name] for name in ("producer", "judge", "clerk")}
        settings["rubric"] = configuration.rubric_version.rubric.slug
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def differences(first: Configuration, second: Configuration) -> list[dict[str, str]]:
    """The settings in which the second differs from the first."""
    before, after = settings_of(first), settings_of(second)
    names = list(dict.fromkeys((*before, *after)))
    return [
        {"setting": name, "before": before.get(name, ""), "after": after.get(name, "")}
        for name in names
        if before.get(name, "") != after.get(name, "")
    ]


def described(configuration: Configuration) -> dict[str, Any]:
    return {
        "id": configuration.pk,
        "letter": configuration.letter,
        "name": configuration.name,
        "settings": settings_of(configuration),
    }


def partner_of(
    configuration: Configuration, others: Iterable[Configuration]
) -> tuple[Configuration | None, str]:
    """The configuration of another experiment to compare with, and why: exact, name, models or baseline.

    Only baselines are paired as such: any other configuration that matches nothing has no counterpart.
    """
    found = list(others)
    exact, models = line_of(configuration, "exact"), line_of(configuration, "models")
    name = configuration.name.casefold()
    matches: dict[str, Callable[[Configuration], bool]] = {
        "exact": lambda other: line_of(other, "exact") == exact,
        "name": lambda other: other.name.casefold() == name,
        "models": lambda other: line_of(other, "models") == models,
        "baseline": lambda other: configuration.baseline and other.baseline,
    }
    for reason, matching in matches.items():
        for other in found:
            if matching(other):
                return other, reason
    return None, ""
