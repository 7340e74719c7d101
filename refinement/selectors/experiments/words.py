"""Words for experiments: verdicts, figures, what a configuration changes."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from refinement.charts.intervals import MINUS, number_text
from refinement.models import Configuration, Experiment, ExperimentStatus
from refinement.pricing import money
from refinement.selectors.rubrics.words import TEMPLATE_LABELS

NOT_COMPARABLE = "not_comparable"  # another judge, board or rubric version than the baseline
VERDICTS: Mapping[str, tuple[str, str]] = {
    "better": ("▲", "better"),
    "worse": ("▼", "worse"),
    "no_difference": ("=", "no difference shown"),
    "not_enough": ("·", "not enough tasks"),
    NOT_COMPARABLE: ("≠", "does not compare"),
}
# Settings by dotted path, as a configuration's changes name them.
SETTINGS: Mapping[str, str] = {
    "policy.max_rounds": "rounds",
    "policy.pass_threshold": "pass mark",
    "policy.budget.tokens": "token limit",
    "policy.budget.seconds": "time limit",
    "policy.budget.calls": "call limit",
    "policy.judge_limit_chars": "judge's limit",
    "policy.source_limit_chars": "source limit",
    "policy.producer_tokens": "writer's limit",
    "policy.producer_temperature": "temperature",
    "judges.mode": "judges",
    "output_contract": "output contract",
    "background": "background",
    "search_space": "search space",
    **{f"templates.{name}": label.lower() for name, label in TEMPLATE_LABELS.items()},
}
TEXTS = ("output_contract", "background", "search_space")
LONGEST_VALUE = 24
NEAR = 0.05  # an end of an interval this close to 0 is rounded to it
THOUSAND = 1_000


def signed(value: float, decimals: int = 1) -> str:
    """A difference with its sign, such as `+0.6`."""
    return number_text(value, decimals, signed=True)


def digits_for(*ends: float) -> int:
    """One digit, or two if an end of the interval would be rounded to 0 without being 0."""
    return 1 if all(round(end, 1) for end in ends if end) else 2


def interval_words(low: float, high: float, *, plus: bool = True, digits: int = 0) -> str:
    """An interval. An end next to 0 has more digits, so that it is not rounded to 0."""
    digits = digits or digits_for(low, high)
    ends = [
        number_text(end, max(digits, 3) if end and not round(end, 2) else digits, signed=plus)
        for end in (low, high)
    ]
    return " to ".join(ends)


def leaning(against: Mapping[str, Any]) -> str:
    """`better` or `worse` if a difference was nearly shown: its interval ends next to 0."""
    gap, low, high = against["difference"], against["low"], against["high"]
    if against["verdict"] != "no_difference" or gap is None or abs(gap) <= NEAR:
        return ""
    near = high if gap < 0 else low
    if near is None or abs(near) > NEAR:
        return ""
    return "better" if gap > 0 else "worse"


def percent_change(value: float, base: float) -> str:
    """The change in percent with its sign; empty if it rounds to nothing."""
    change = round((value - base) / base * 100) if base else 0
    return f"{'+' if change > 0 else MINUS}{abs(change):,} %" if change else ""


def share_text(value: float) -> str:
    return f"{value * 100:.0f} %"


def count_text(value: float) -> str:
    """A number of tokens or seconds in at most four digits: `16.1 k`, `940`, `3.24 M`."""
    if value >= THOUSAND * THOUSAND:
        return f"{value / THOUSAND / THOUSAND:.2f} M"
    if value >= 10 * THOUSAND:
        return f"{value / THOUSAND:.1f} k"
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"


def money_text(value: float) -> str:
    return money(Decimal(str(value)))


def change_words(path: str, value: Any) -> str:
    """One changed setting, such as `5 rounds`."""
    name = SETTINGS.get(path, path)
    if path in TEXTS or path.startswith("templates."):
        return f"own {name}"
    text = str(value)
    if path == "policy.max_rounds":
        return f"{text} rounds"
    return f"{name} {text[:LONGEST_VALUE]}"


def models_words(configuration: Configuration) -> str:
    """Writer and judge, and which rubric."""
    version = configuration.rubric_version
    return (
        f"{configuration.producer_model} · {version.rubric.name} @ v{version.number} · "
        f"judge {configuration.judge_model}"
    )


def rounds_only(configuration: Configuration, base: Configuration) -> bool:
    """Whether the two differ in their number of rounds and in nothing else."""
    changed = {
        path
        for path in (*configuration.changes, *base.changes)
        if configuration.changes.get(path) != base.changes.get(path)
    }
    return changed == {"policy.max_rounds"} and len(differences(configuration, base)) == 1


def configuration_words(configuration: Configuration, base: Configuration | None) -> str:
    """What is different from the baseline, in one line; for the baseline, its models and changes."""
    changes = [change_words(path, value) for path, value in configuration.changes.items()]
    if base is None or base.pk == configuration.pk:
        return " · ".join([models_words(configuration), *changes])
    return ", ".join(differences(configuration, base)) or "same as the baseline"


def differences(configuration: Configuration, base: Configuration) -> list[str]:
    """Each difference from the baseline in a few words."""
    found = []
    if configuration.rubric_version_id != base.rubric_version_id:
        version = configuration.rubric_version
        found.append(f"{version.rubric.name} @ v{version.number}")
    pairs = (("producer", "writer"), ("judge", "judge"), ("clerk", "clerk"))
    for role, name in pairs:
        own, other = (
            (getattr(entry, f"{role}_endpoint"), getattr(entry, f"{role}_model"))
            for entry in (configuration, base)
        )
        if own != other and own[1]:
            place = f" on {own[0]}" if own[1] == other[1] else ""
            found.append(f"{name} {own[1]}{place}")
    for path in dict.fromkeys([*configuration.changes, *base.changes]):
        own, other = configuration.changes.get(path), base.changes.get(path)
        if own != other:
            found.append(
                change_words(path, own)
                if path in configuration.changes
                else f"rubric's {SETTINGS.get(path, path)}"
            )
    if configuration.sources != base.sources:
        found.append(
            f"{len(configuration.sources)} own source{'' if len(configuration.sources) == 1 else 's'}"
        )
    return found


def status_sign(experiment: Experiment) -> str:
    """The chip's class for a status."""
    return {
        ExperimentStatus.RUNNING: "chip-info",
        ExperimentStatus.PAUSED: "chip-warn",
        ExperimentStatus.FINISHED: "chip-ok",
    }.get(ExperimentStatus(experiment.status), "")
