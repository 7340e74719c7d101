"""What there is to do: every case with its target, its judge and its loop, known by its content."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from refinement.engine.codec import rubric_to_json
from refinement.engine.profiles import RALPH_POLICY, RALPH_SCALE, context_rules_for
from refinement.engine.types import Information, ProblemClass, Rubric
from refinement.evals.targets import instance_target, read_targets_file, targets_file
from refinement.evals.types import DEFAULT_LOOP, BadEval, Case, EvalFile, Loop, Target
from refinement.providers.command import TIMEOUT_SECONDS
from refinement.providers.registry import EndpointSpec

IDENTITY_VERSION = 1
# The target is shown the prompt, as an evaluation must, and later what failed: not what it is judged on.
CONTEXT = replace(
    context_rules_for(ProblemClass.TEXT), producer=frozenset({Information.TASK, Information.FEEDBACK})
)


@dataclass(frozen=True, slots=True)
class Job:
    """One case to be asked of one target; `key` is the same for the same content."""

    key: str
    file: EvalFile
    case: Case
    target: Target
    judge: Target
    rubric: Rubric  # what the case asserts, whatever the settings
    definition: Rubric  # the same with this evaluation's settings

    @property
    def endpoints(self) -> dict[str, EndpointSpec]:
        """Those of the eval's own files."""
        return {who.endpoint: who.spec for who in (self.target, self.judge) if who.spec is not None}

    @property
    def longest_seconds(self) -> float:
        """How long a command of this case may take."""
        limits = [spec.options.get("timeout", TIMEOUT_SECONDS) for spec in self.endpoints.values()]
        return float(max(limits, default=TIMEOUT_SECONDS))


@dataclass(slots=True)
class Planner:
    """Puts cases and targets together; files of targets are read once each."""

    names: Sequence[str] = ()  # the targets asked for; those that the files ask for where there are none
    loop: Loop = field(default_factory=Loop)  # what was asked for on the command line
    ralph: bool = False
    _shared: dict[Path, dict[str, Target]] = field(default_factory=dict)

    def jobs(self, files: Sequence[EvalFile]) -> list[Job]:
        """Every case under every target; BadEval lists what is missing."""
        problems: list[str] = []
        found: list[Job] = []
        seen: Counter[str] = Counter()
        for file in files:
            try:
                for job in self._of_file(file):
                    seen[job.key] += 1
                    again = f"-{seen[job.key]}" if seen[job.key] > 1 else ""
                    found.append(replace(job, key=f"{job.key}{again}"))
            except BadEval as bad:
                problems += bad.problems
        if problems:
            raise BadEval(list(dict.fromkeys(problems)))
        return found

    def _of_file(self, file: EvalFile) -> Iterator[Job]:
        known = {**self._beside(file), **file.targets}
        for name in self._wanted(file, known):
            target = resolved(name, known, file)
            for case in file.cases:
                judge = self._judge(file, case, target, known)
                rubric = rubric_of(file.name, case)
                definition = self._with_settings(rubric, file, case, target)
                key = identity(case, definition, target, judge)
                yield Job(key, file, case, target, judge, rubric, definition)

    def _beside(self, file: EvalFile) -> Mapping[str, Target]:
        path = targets_file(file.path.parent)
        if path is None:
            return {}
        if path not in self._shared:
            self._shared[path] = read_targets_file(path)
        return self._shared[path]

    def _wanted(self, file: EvalFile, known: Mapping[str, Target]) -> Sequence[str]:
        """Those asked for, those the file names, or the only one there is."""
        wanted = self.names or file.wanted or (tuple(known) if len(known) == 1 else ())
        if not wanted:
            there = (
                f"known are {', '.join(known)}" if known else "targets.yaml, targets: or --target name one"
            )
            raise BadEval([f"{file.path}: it is not said which target to ask; {there}."])
        return wanted

    def _judge(self, file: EvalFile, case: Case, target: Target, known: Mapping[str, Target]) -> Target:
        if not case.criteria:
            return target
        name = target.judge or file.judge
        if name:
            return resolved(name, known, file)
        if target.is_command:
            raise BadEval(
                [
                    f"{file.path}:{case.line}: llm-rubric needs a model that judges what the command "
                    f"{target.name} writes; name it with execution.judge or the target's judge."
                ]
            )
        return target

    def _with_settings(self, rubric: Rubric, file: EvalFile, case: Case, target: Target) -> Rubric:
        loop = self.loop.over(Loop(threshold=case.threshold)).over(file.loop).over(DEFAULT_LOOP)
        assert loop.max_iterations is not None
        policy = replace(
            rubric.policy,
            max_rounds=loop.max_iterations if self.ralph else 1,
            pass_threshold=loop.threshold,
            minimum_gain=loop.improvement_threshold,
            producer_temperature=target.temperature,
            producer_tokens=target.max_tokens or rubric.policy.producer_tokens,
        )
        templates = {"feedback": loop.feedback_template} if loop.feedback_template else {}
        return replace(rubric, policy=policy, templates=templates)


def resolved(name: str, known: Mapping[str, Target], file: EvalFile) -> Target:
    """The target of this name: one that is described, or a model of the instance."""
    if name in known:
        return known[name]
    try:
        return instance_target(name)
    except ValueError:
        there = f"; described are {', '.join(known)}" if known else ""
        raise BadEval(
            [f"{file.path}: there is no target {name!r}{there}. ENDPOINT/MODEL names one of the instance."]
        ) from None


def rubric_of(name: str, case: Case) -> Rubric:
    """What the case asserts, as a rubric that judges by checks and criteria alike."""
    return Rubric(
        name=f"Eval: {name}",
        profile="ralph",
        purpose=f"Made by wiggum eval from the assertions of {name}.",
        scale=RALPH_SCALE,
        policy=RALPH_POLICY,
        context=CONTEXT,
        criteria=case.criteria,
        checks=case.checks,
    )


def identity(case: Case, definition: Rubric, target: Target, judge: Target) -> str:
    """The same for the same prompt, assertions, settings and models, wherever the file is."""
    said = {
        "version": IDENTITY_VERSION,
        "prompt": case.prompt,
        "rubric": rubric_to_json(definition),
        "models": [_plain(target), _plain(judge)] if case.criteria else [_plain(target)],
    }
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:24]


def _plain(target: Target) -> dict[str, object]:
    spec = asdict(target.spec) if target.spec else None
    return {"endpoint": target.endpoint, "model": target.model, "spec": spec}
