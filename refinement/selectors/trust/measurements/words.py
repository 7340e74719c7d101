"""A measurement and its results in sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

from refinement.models import Measurement, MeasurementKind
from refinement.selectors.trust.measured import summary
from refinement.selectors.trust.words import all_noise_words, few_repeats_words

JUST_NOISE = "within noise"


def judge_words(measurement: Measurement) -> str:
    return f"Board of {len(measurement.panel)}" if measurement.panel else measurement.model


def after_words(measurement: Measurement) -> str:
    """What the verdicts after are called: a draft, a version, or a version with another judge."""
    if measurement.is_draft:
        return f"v{measurement.rubric_version.number + 1} draft"
    return f"v{measurement.rubric_version.number}"


def before_words(measurement: Measurement, result: Mapping[str, Any]) -> str:
    """What the verdicts before are called: a version, several, or the judge if that is what differs."""
    versions: Sequence[str] = result.get("versions") or ()
    judges: Sequence[str] = result.get("judges") or ()
    if len(versions) != 1:
        return "stored"
    if versions[0] == after_words(measurement) and len(judges) == 1:
        return f"{versions[0]}, {judges[0]}"
    return versions[0]


def title_of(measurement: Measurement, texts: int) -> str:
    version = measurement.rubric_version
    subject = f"{version.rubric.name} {after_words(measurement)}"
    if measurement.kind == MeasurementKind.REPLAY:
        return f"{subject} on {texts:,} stored text{plural(texts)}"
    return f"{measurement.get_kind_display()}: {subject}, {texts:,} text{plural(texts)}"


def plural(count: int) -> str:
    return "" if count == 1 else "s"


def figures_words(measurement: Measurement, report: Mapping[str, Any]) -> str:
    """What is known about the judge after a retest or planted defects; empty if that is nothing."""
    if not report:
        return ""
    if measurement.kind == MeasurementKind.PLANTED:
        return summary(report["planted"]) if report["planted"] else ""
    return all_noise_words(report) or few_repeats_words(report)


def headline(measurement: Measurement, result: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The replay's answer: what matters most, and the sentences after it."""
    if not result.get("compared"):
        return "No text has a verdict before and after.", []
    after = after_words(measurement)
    return flips_sentence(after, result), [
        sentence
        for sentence in (noise_sentence(result), moved_sentence(result), people_sentence(after, result))
        if sentence
    ]


def flips_sentence(after: str, result: Mapping[str, Any]) -> str:
    verdicts = result["verdicts"]
    if verdicts is None:
        return f"{after} judged {result['compared']:,} texts again. The rubric has no pass mark."
    down, up = verdicts["pass_fail"], verdicts["fail_pass"]
    if not down and not up:
        return f"{after} flips none of {verdicts['n']:,} verdicts."
    parts = [
        words
        for count, words in ((down, f"{down} from PASS to FAIL"), (up, f"{up} from FAIL to PASS"))
        if count
    ]
    return f"{after} flips {down + up} of {verdicts['n']:,} verdicts: {', '.join(parts)}."


def noise_sentence(result: Mapping[str, Any]) -> str:
    verdicts = result["verdicts"]
    if not verdicts or not verdicts["pass_fail"] + verdicts["fail_pass"]:
        return ""
    if not verdicts["noise_known"]:
        return "How much of that is noise is not known: a retest of the judge measures it."
    count = verdicts["within_noise"]
    if not count:
        return "None of them is within noise."
    return f"{count} of them {'is' if count == 1 else 'are'} within noise."


def moved_sentence(result: Mapping[str, Any]) -> str:
    """Which criteria moved on average."""
    lines = [line for line in result["criteria"] if line["key"]]
    moved = [line for line in lines if line["verdict"] in ("better", "worse")]
    if not any(line["verdict"] != "not_enough" for line in lines):
        return "There are too few texts to tell which criteria moved."
    if not moved:
        return "No criterion moved on average."
    if len(moved) == len(lines) and len(lines) > 1:
        return "Every criterion moved."
    parts = [
        f"{line['name']} ({abs(line['change']['value']):.1f} "
        f"{'up' if line['change']['value'] > 0 else 'down'})"
        for line in moved[:3]
    ]
    more = f" and {len(moved) - 3} more" if len(moved) > 3 else ""
    return f"Only {listed(parts)}{more} moved." if not more else f"{', '.join(parts)}{more} moved."


def listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def people_sentence(after: str, result: Mapping[str, Any]) -> str:
    verdicts = result["verdicts"]
    if not verdicts or not verdicts["scored_flips"]:
        return ""
    count = verdicts["scored_flips"]
    flips = f"the {count} flip{plural(count)} that people had scored"
    return f"Of {flips}, {after} is closer on {verdicts['closer_after']}."
