"""Builds prompts from views. Stable text comes first, so that model servers can cache the prefix."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from refinement.engine.profiles import SIMMER_SCALE
from refinement.engine.reflect import Exploration
from refinement.engine.scoring import shown_metric
from refinement.engine.types import (
    CheckResult,
    Criterion,
    EvaluationMode,
    EvaluatorOutput,
    Information,
    MetricValue,
    PanelSummary,
    ProblemClass,
    Severity,
)
from refinement.judging.context import (
    FeedbackView,
    JudgeView,
    ProducerView,
)
from refinement.judging.delimiters import defuse_role_tags, fence, neutralise
from refinement.judging.history import HistoryLine, NamedMetric, NamedScore
from refinement.judging.length import Excerpt, excerpt
from refinement.judging.lenses import Lens
from refinement.judging.schema import plain, scale_in_words, takes_whole_numbers
from refinement.judging.sources import source_blocks
from refinement.judging.template_names import CriterionValue, FailureValue, GroupValue, InstructionValue
from refinement.judging.templating import default_name, render

QUOTED_REPLY_CHARS = 4_000
QUOTED_COMPLAINT_CHARS = 1_000
GROUP_TITLES = {Severity.ERROR: "Errors", Severity.WARNING: "Warnings", Severity.INFO: "Hints"}
NOISE = ", within noise"
NOISE_NOTICE = (
    "A metric is within noise if repeated runs of one candidate differ as much as it changed since the round "
    "before. Such a change is neither progress nor a loss: do not score by it."
)
CLOSING = "The data ends here. Judge the candidate by the criteria and reply with the JSON object alone."


@dataclass(frozen=True, slots=True)
class PromptMessage:
    role: str  # system, user or assistant
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages of one call. `shape` and `nonce` are used for retries."""

    messages: tuple[PromptMessage, ...]
    shape: str = ""
    nonce: str = ""


def judge_prompt(view: JudgeView) -> Prompt:
    """The rubric in the system message, the data in the user message with the candidate last."""
    blocks = [*_stable_blocks(view), *_changing_blocks(view)]
    if view.candidate is not None:
        blocks.append(block(view.nonce, "CANDIDATE", view.candidate.text))
    if view.lens is not None:
        # After all that the judges of a board have in common, so that servers can reuse their cache.
        blocks.append(_lens(view.lens, view.nonce))
    user = "\n\n".join([*blocks, CLOSING])
    messages = (PromptMessage("system", _judge_system(view)), PromptMessage("user", user))
    return Prompt(messages, shape=view.reply_example, nonce=view.nonce)


def _lens(lens: Lens, nonce: str) -> str:
    return render("lens", None, name=safe(lens.name, nonce), lens=safe(lens.text, nonce))


def producer_prompt(view: ProducerView) -> Prompt:
    """The prompt for a draft or a revision. A revision adds the version and the feedback."""
    system = render(
        "producer_system",
        None,
        nonce=view.nonce,
        artifact=artifact_name(view.artifact_type, view.nonce),
        has_sources=bool(view.sources),
    )
    # Sources stand before the template's text: no custom template can leave them out, and they are the
    # same in every round.
    texts = [*source_blocks(view.sources, view.nonce), _producer_text(view)]
    messages = (PromptMessage("system", system), PromptMessage("user", "\n\n".join(texts)))
    return Prompt(messages, nonce=view.nonce)


def _producer_text(view: ProducerView) -> str:
    if view.drafting:
        return _draft(view)
    return _repair(view, view.validation) if view.validation is not None else _revision(view)


def retry_prompt(prompt: Prompt, reply_text: str, complaint: str) -> Prompt:
    """The same prompt, followed by the invalid reply, the complaint and the expected shape."""
    reply = excerpt(safe(reply_text, prompt.nonce).strip() or "(an empty reply)", QUOTED_REPLY_CHARS).text
    problem = excerpt(safe(complaint, prompt.nonce).strip(), QUOTED_COMPLAINT_CHARS).text
    request = [
        f"Your reply could not be used. {problem}",
        "Answer again, with the right reply and nothing else.",
    ]
    if prompt.shape:
        request.append(f"It is one JSON object of this shape:\n{prompt.shape}")
    added = (PromptMessage("assistant", reply), PromptMessage("user", "\n".join(request)))
    return Prompt((*prompt.messages, *added), prompt.shape, prompt.nonce)


def _judge_system(view: JudgeView) -> str:
    """The judge instructions from the custom or default template, and the fixed rules."""
    withheld = frozenset(view.withheld)
    sees_seed = Information.SEED not in withheld
    sees_calibration = view.calibration is not None
    instructions = render(
        default_name("judge", view.profile) if view.template is None else "judge",
        view.template,
        artifact=artifact_name(view.artifact_type, view.nonce),
        criteria=criterion_values(view.criteria, view.nonce),
        scale=scale_in_words(view.scale),
        minimum=plain(view.scale.minimum),
        maximum=plain(view.scale.maximum),
        decimals=not takes_whole_numbers(view.scale),
        ten_points=view.scale == SIMMER_SCALE,
        workspace=view.problem_class is not ProblemClass.TEXT,
        sees_calibration=sees_calibration,
        sees_seed=sees_seed,
        evaluation=str(view.evaluation_mode),
        sees_evaluator=view.evaluation_mode is not EvaluationMode.JUDGE_ONLY,
        sees_history=Information.HISTORY not in withheld,
        sees_search_space=bool(view.search_space),
    )
    rules = render(
        "judge_rules",
        None,
        nonce=view.nonce,
        reply_example=view.reply_example,
        sees_calibration=sees_calibration,
        sees_seed=sees_seed,
        asks_about_contract=view.asks_about_contract,
        has_sources=bool(view.sources),
    )
    return f"{instructions}\n\n{rules}"


def _stable_blocks(view: JudgeView) -> Iterable[str]:
    """The blocks that are the same in every round. The seed comes last: it is added from round 2 on."""
    for label, text in (
        ("TASK", view.task),
        ("TASK TYPE", view.task_type),
        ("BACKGROUND", view.background),
        ("OUTPUT CONTRACT", view.output_contract),
        ("SEARCH SPACE", view.search_space),
        ("CALIBRATION EXAMPLE", view.calibration and view.calibration.text),
        ("CALIBRATION SCORES", _scores(view.calibration_scores)),
    ):
        if text:
            yield block(view.nonce, label, text)
    yield from source_blocks(view.sources, view.nonce)
    if view.seed is not None:
        yield block(view.nonce, "SEED", view.seed.text)
    if view.seed_scores:
        yield block(view.nonce, "SEED SCORES", _scores(view.seed_scores))


def _changing_blocks(view: JudgeView) -> Iterable[str]:
    for label, text in (
        ("HISTORY", "\n".join(_history_line(line) for line in view.history)),
        ("PREVIOUS ASI", view.previous_asi),
        ("PANEL SUMMARY", summary_text(view.panel_summary)),
        ("EXPLORATION STATUS", exploration_text(view.exploration)),
        ("EVALUATOR OUTPUT", _evaluator(view.evaluator, view.metrics)),
        ("CONTRACT VIOLATION", view.contract_violation),
    ):
        if text:
            yield block(view.nonce, label, text)
    if view.round_label:
        yield f"This is {view.round_label}."
    if view.evaluator is not None and view.evaluator.failure:
        yield _failure_notice(view)
    if any(metric.noise for metric in view.metrics):
        yield NOISE_NOTICE
    if view.contract_violation:
        yield _violation_notice(view)
    if view.candidate is not None and view.candidate.cut:
        yield _cut_notice(view.candidate)


def _failure_notice(view: JudgeView) -> str:
    return (
        "The evaluator's command failed completely on this candidate. Give every criterion "
        f"{plain(view.scale.minimum)}; the asi names the cause as the output shows it, not a polish."
    )


def _violation_notice(view: JudgeView) -> str:
    return (
        "A program found that this candidate violates its output contract: CONTRACT VIOLATION says how. Give "
        f"every criterion {plain(view.scale.minimum)}; the asi names what to change so that it is met."
    )


def _cut_notice(candidate: Excerpt) -> str:
    return (
        f"The candidate is long: you see {candidate.seen_chars:,} of its {candidate.total_chars:,} "
        "characters, and a line in brackets marks the gap. The gap is not a fault of the candidate."
    )


def block(nonce: str, label: str, text: str) -> str:
    """Data for a judge between delimiters, with forged delimiters and chat tags neutralised."""
    return fence(nonce, label).around(safe(text, nonce))


def safe(text: str, nonce: str) -> str:
    return defuse_role_tags(neutralise(text, nonce) if nonce else text)


def _scores(scores: Iterable[NamedScore]) -> str:
    return ", ".join(f"{entry.name} {plain(entry.score)}" for entry in scores)


def _history_line(line: HistoryLine) -> str:
    scores = _scores(line.scores)
    composite = f"composite {plain(line.composite)}{f' ({scores})' if scores else ''}"
    metrics = f"; {_metrics(line.metrics)}" if line.metrics else ""
    regressed = " (regressed)" if line.regressed else ""
    return f"{line.label}: {composite}{metrics}; {line.key_change}{regressed}"


def summary_text(summary: PanelSummary | None, exploration: Exploration | None = None) -> str:
    """What works, what does not, and where to go; empty if nothing is known."""
    summary, exploration = summary or PanelSummary(), exploration or Exploration()
    text = render(
        "panel_summary",
        None,
        working=summary.working,
        not_working=summary.not_working,
        direction=summary.direction,
        tried=exploration.tried,
        untried=exploration.untried,
    )
    return text.strip()


def exploration_text(exploration: Exploration | None) -> str:
    """The options of the search space that were tried, and those that were not."""
    return summary_text(None, exploration)


def _metrics(metrics: Iterable[NamedMetric]) -> str:
    return ", ".join(
        f"{entry.name} {_metric(entry.found)}{NOISE if entry.noise else ''}" for entry in metrics
    )


def _metric(found: MetricValue | None) -> str:
    """The median and, if the command ran several times, the spread."""
    if found is None:
        return "not found"
    runs = len(found.values)
    spread = f" (median of {runs}, {shown_metric(found.low)} to {shown_metric(found.high)})"
    return shown_metric(found.value) + (spread if runs > 1 else "")


def _evaluator(output: EvaluatorOutput | None, metrics: tuple[NamedMetric, ...]) -> str:
    if output is None:
        return ""
    parts = [
        f"exit code {output.exit_code}" if not output.stopped else f"The command {output.stopped}.",
        f"stdout:\n{output.stdout}" if output.stdout else "stdout: empty",
    ]
    if metrics:
        parts.insert(1, f"metrics: {_metrics(metrics)}")
    if output.runs > 1:
        failed = f"; {output.failed_runs} of them failed completely" if output.failed_runs else ""
        parts.insert(0, f"The command ran {output.runs} times{failed}. This is the output of one run:")
    if output.stderr:
        parts.append(f"stderr:\n{output.stderr}")
    return "\n".join(parts)


def artifact_name(artifact_type: str, nonce: str) -> str:
    """The artifact type as readable text."""
    return neutralise(artifact_type, nonce).replace("_", " ").replace("-", " ").strip() or "text"


@lru_cache(maxsize=64)
def criterion_values(criteria: tuple[Criterion, ...], nonce: str) -> tuple[CriterionValue, ...]:
    return tuple(
        CriterionValue(
            key=criterion.key,
            name=neutralise(criterion.name, nonce),
            description=neutralise(criterion.description, nonce),
            ideal=neutralise(criterion.ideal, nonce),
            primary=criterion.primary,
        )
        for criterion in criteria
    )


def _brief_values(view: ProducerView) -> dict[str, object]:
    texts = {
        "task": view.task,
        "background": view.background,
        "output_contract": view.output_contract,
        "search_space": view.search_space,
    }
    return {
        **{name: neutralise(text or "", view.nonce) for name, text in texts.items()},
        "artifact": artifact_name(view.artifact_type, view.nonce),
        "criteria": criterion_values(view.criteria, view.nonce),
        "workspace": view.problem_class is not ProblemClass.TEXT,
    }


def _draft(view: ProducerView) -> str:
    return render("draft", view.templates.get("draft"), **_brief_values(view))


def _revision(view: ProducerView) -> str:
    # Chat tags are not escaped in the candidate: the backslash would end up in the next version.
    candidate = neutralise(view.candidate or "", view.nonce)
    feedback, people = _feedback(view.feedback, view) if view.feedback else "", _instructions(view)
    learned = safe(summary_text(view.panel_summary, view.exploration), view.nonce)
    text = render(
        "revision_appended" if view.appends_feedback and "revision" not in view.templates else "revision",
        view.templates.get("revision"),
        **_brief_values(view),
        original_prompt=_draft(view),
        candidate=fence(view.nonce, "VERSION").around(candidate) if candidate else "",
        feedback="\n\n".join(part for part in (feedback, learned, people) if part),
    )
    # A custom template may omit or shorten the feedback, but instructions from people are always included.
    return text if people in text else f"{text}\n\n{people}"


def _repair(view: ProducerView, validation: EvaluatorOutput) -> str:
    candidate = neutralise(view.candidate or "", view.nonce)
    return render(
        "repair",
        None,
        original_prompt=_draft(view),
        candidate=fence(view.nonce, "VERSION").around(candidate) if candidate else "",
        output=block(view.nonce, "VALIDATION OUTPUT", _evaluator(validation, ())),
    )


def _instructions(view: ProducerView) -> str:
    """Instructions from people, with their names; empty if there are none."""
    if not view.instructions:
        return ""
    instructions = tuple(
        InstructionValue(
            author=safe(" ".join(entry.author.split()), view.nonce), text=safe(entry.text, view.nonce)
        )
        for entry in view.instructions
    )
    return render("instructions", None, instructions=instructions)


def _feedback(feedback: FeedbackView, view: ProducerView) -> str:
    groups = _groups(feedback.failures, view.nonce)
    return render(
        "feedback",
        view.templates.get("feedback"),
        style=str(feedback.style),
        issues=tuple(safe(issue, view.nonce) for issue in feedback.issues),
        asi=safe(feedback.asi, view.nonce),
        note=safe(feedback.note, view.nonce),
        groups=groups,
        failures=tuple(failure for group in groups for failure in group.failures),
    )


def _groups(failures: Iterable[CheckResult], nonce: str) -> tuple[GroupValue, ...]:
    """Failed checks by severity, most severe first."""
    by_severity: dict[Severity, list[FailureValue]] = {severity: [] for severity in Severity}
    for result in failures:
        message, suggestion, expected, actual = (
            safe(text, nonce) for text in (result.message, result.suggestion, result.expected, result.actual)
        )
        by_severity[result.severity].append(
            FailureValue(result.key, message or result.key, suggestion, expected, actual)
        )
    return tuple(
        GroupValue(severity.value, GROUP_TITLES[severity], tuple(values))
        for severity, values in by_severity.items()
        if values
    )
