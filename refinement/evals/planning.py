"""Plans an evaluation: every case with its target, judge and settings."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from refinement.engine.codec import rubric_to_json
from refinement.engine.profiles import RALPH_POLICY, RALPH_SCALE, context_rules_for
from refinement.engine.types import ONE, Check, Gate, Information, Rubric, Severity
from refinement.evals.dialects.asserts.tools import needs_tools
from refinement.evals.finding import MissingEval
from refinement.evals.targets import instance_target, read_targets_file, targets_file
from refinement.evals.types import DEFAULT_LOOP, BadEval, Case, EvalFile, Loop, Rule, Target
from refinement.providers.command import TIMEOUT_SECONDS
from refinement.providers.registry import EndpointSpec

IDENTITY_VERSION = 2
NO_ASSERTIONS = "no-assertions"  # the key of the check of a test that has none: it is run and recorded
# The target sees the prompt and later the failures, but not the assertions.
CONTEXT = replace(context_rules_for("ralph"), producer=frozenset({Information.TASK, Information.FEEDBACK}))


@dataclass(frozen=True, slots=True)
class Job:
    """One case for one target. `key` is a hash of the content."""

    key: str
    file: EvalFile
    case: Case
    target: Target
    judge: Target
    rubric: Rubric  # the assertions, with default settings
    definition: Rubric  # with the settings of this evaluation
    trial: int = 1  # of the case's repeats
    trials: int = 1

    @property
    def endpoints(self) -> dict[str, EndpointSpec]:
        """The endpoints defined in the eval's files."""
        return {entry.endpoint: entry.spec for entry in (self.target, self.judge) if entry.spec is not None}

    def endpoints_in(self, folder: Path) -> dict[str, EndpointSpec]:
        """The same, with the command under test in this folder. Its program is found where it was."""
        spec = self.target.spec
        if spec is None or not self.target.is_command:
            return self.endpoints
        parts = list(spec.options["command"])
        if not spec.options.get("shell") and "/" in parts[0]:
            parts[0] = str(Path(spec.options.get("folder") or ".", parts[0]).absolute())
        options = {**spec.options, "command": parts, "folder": str(folder)}
        return {**self.endpoints, self.target.endpoint: replace(spec, options=options)}

    @property
    def longest_seconds(self) -> float:
        """The longest timeout of a command in this case."""
        limits = [spec.options.get("timeout", TIMEOUT_SECONDS) for spec in self.endpoints.values()]
        return float(max(limits, default=TIMEOUT_SECONDS))


@dataclass(slots=True)
class Planner:
    """Combines cases with targets. Each targets file is read once."""

    names: Sequence[str] = ()  # from the command line; if empty, the files decide
    loop: Loop = field(default_factory=Loop)  # from the command line
    ralph: bool | None = None  # whether failing cases are retried; None: if their file has `execution.ralph`
    _shared: dict[Path, dict[str, Target]] = field(default_factory=dict)

    def jobs(self, files: Sequence[EvalFile]) -> list[Job]:
        """Every case with every target. Raises BadEval with all problems.

        It is a MissingEval if all of them are targets of the command line that do not exist.
        """
        bad_files: list[BadEval] = []
        jobs: list[Job] = []
        seen: Counter[str] = Counter()
        for file in files:
            try:
                for job in self._of_file(file):
                    seen[job.key] += 1
                    suffix = f"-{seen[job.key]}" if seen[job.key] > 1 else ""
                    jobs.append(replace(job, key=f"{job.key}{suffix}"))
            except BadEval as bad:
                bad_files.append(bad)
        if bad_files:
            kind = MissingEval if all(isinstance(bad, MissingEval) for bad in bad_files) else BadEval
            raise kind(list(dict.fromkeys(problem for bad in bad_files for problem in bad.problems)))
        return jobs

    def _of_file(self, file: EvalFile) -> Iterator[Job]:
        known = {**self._shared_targets(file), **file.targets}
        names = self._target_names(file, known)
        own_names = {id(case): self._names_for(case, names) for case in file.cases}
        for name in dict.fromkeys((*names, *(name for own in own_names.values() for name in own))):
            cases = [case for case in file.cases if name in own_names[id(case)]]
            if not cases:
                continue
            target = self._target(name, known, file)
            refuse_for_commands(file, cases, target)
            for case in cases:
                judge = self._judge(file, case, target, known)
                rubric = rubric_of(file.name, case)
                definition = self._with_settings(rubric, file, case, target)
                key = identity(case, definition, target, judge)
                for trial in range(1, case.repeat + 1):
                    own = f"{key}-t{trial}" if case.repeat > 1 else key
                    yield Job(own, file, case, target, judge, rubric, definition, trial, case.repeat)

    def _target(self, name: str, known: Mapping[str, Target], file: EvalFile) -> Target:
        """The target. One that only the command line names is missing, and no error in the file."""
        try:
            return resolved(name, known, file)
        except BadEval as bad:
            if name not in self.names:
                raise
            prefix = f"{file.path}:1: unknown target {name!r}."
            raise MissingEval(
                [f"--target {name}: not found.{problem.removeprefix(prefix)}" for problem in bad.problems]
            ) from None

    def _shared_targets(self, file: EvalFile) -> Mapping[str, Target]:
        path = targets_file(file.path.parent)
        if path is None:
            return {}
        if path not in self._shared:
            self._shared[path] = read_targets_file(path)
        return self._shared[path]

    def _target_names(self, file: EvalFile, known: Mapping[str, Target]) -> Sequence[str]:
        """The targets from the command line, from the file, or the only known one."""
        names = self.names or file.wanted or (tuple(known) if len(known) == 1 else ())
        if not names:
            hint = f"Available: {', '.join(known)}" if known else "Use targets.yaml, targets: or --target"
            raise BadEval([f"{file.path}:1: no target selected. {hint}."])
        return names

    def _names_for(self, case: Case, names: Sequence[str]) -> Sequence[str]:
        """The targets that a case names, if the command line names none."""
        if self.names or not case.only:
            return names
        return [name for name in names if name in case.only] or case.only

    def _judge(self, file: EvalFile, case: Case, target: Target, known: Mapping[str, Target]) -> Target:
        if not case.criteria:
            return target
        name = target.judge or file.judge
        if name:
            return resolved(name, known, file)
        if target.is_command:
            raise BadEval(
                [
                    f"{file.path}:{case.line}: llm-rubric needs a judge model for the command "
                    f"{target.name}. Set execution.judge or the target's judge."
                ]
            )
        return target

    def _with_settings(self, rubric: Rubric, file: EvalFile, case: Case, target: Target) -> Rubric:
        own = Loop() if file.loop is None else file.loop
        loop = self.loop.over(Loop(threshold=case.threshold)).over(own).over(DEFAULT_LOOP)
        assert loop.max_iterations is not None
        rubric = with_rules(rubric, case, strict=loop.threshold is None)
        retries = file.loop is not None if self.ralph is None else self.ralph
        policy = replace(
            rubric.policy,
            max_rounds=loop.max_iterations if retries else 1,
            pass_threshold=loop.threshold,
            minimum_gain=loop.improvement_threshold,
            producer_temperature=target.temperature,
            producer_tokens=target.max_tokens or rubric.policy.producer_tokens,
        )
        templates = {"feedback": loop.feedback_template} if loop.feedback_template else {}
        return replace(rubric, policy=policy, templates=templates)


def refuse_for_commands(file: EvalFile, cases: Sequence[Case], target: Target) -> None:
    """Raises BadEval if a command's tool calls would have to be known, or it would lack files."""
    if not target.is_command:
        return
    unseen = f"an assertion is about tools or traces, which Wiggum does not see of the command {target.name}."
    problems = [f"{case.line}: {unseen}" for case in cases if needs_tools(case.assertions)]
    lacking = {case.workspace.lacks: case.workspace for case in cases if case.workspace is not None}
    problems += [f"{workspace.line}: {lacks}" for lacks, workspace in lacking.items() if lacks]
    if problems:
        raise BadEval([f"{file.path}:{problem}" for problem in problems])


def resolved(name: str, known: Mapping[str, Target], file: EvalFile) -> Target:
    """The target with this name, from the files or a model of the instance. Raises BadEval."""
    if name in known:
        return known[name]
    try:
        return instance_target(name)
    except ValueError:
        available = f" Available: {', '.join(known)}." if known else ""
        raise BadEval(
            [f"{file.path}:1: unknown target {name!r}.{available} Use ENDPOINT/MODEL for instance models."]
        ) from None


def rubric_of(name: str, case: Case) -> Rubric:
    """The case's assertions as a rubric with checks and criteria."""
    checks = case.checks
    if not checks and not case.criteria:
        checks = (Check(NO_ASSERTIONS, "length", {"minimum": 1}, Severity.INFO),)
    return Rubric(
        name=f"Eval: {name}",
        profile="ralph",
        purpose=f"Made by wiggum eval from the assertions of {name}.",
        scale=RALPH_SCALE,
        policy=RALPH_POLICY,
        context=CONTEXT,
        criteria=case.criteria,
        checks=checks,
    )


def with_rules(rubric: Rubric, case: Case, *, strict: bool) -> Rubric:
    """The rubric with what must hold. If `strict`, no threshold is set, and every assertion must hold."""
    active = [rule for rule in case.rules if rule.always or strict]
    checks = checks_held(rubric.checks, active)
    gates = tuple(Gate(rule.keys, rule.threshold) for rule in active)
    return replace(rubric, checks=checks, gates=gates if strict or gates else None)


def held_checks(case: Case) -> tuple[Check, ...]:
    """The case's checks: those that must hold without a threshold have the severity error."""
    strict = case.threshold is None
    return checks_held(case.checks, [rule for rule in case.rules if rule.always or strict])


def checks_held(checks: Sequence[Check], rules: Sequence[Rule]) -> tuple[Check, ...]:
    needed = {rule.keys[0] for rule in rules if len(rule.keys) == 1 and rule.threshold == ONE}
    return tuple(
        replace(check, severity=Severity.ERROR) if check.key in needed else check for check in checks
    )


def identity(case: Case, definition: Rubric, target: Target, judge: Target) -> str:
    """A hash of prompt, assertions, settings and models, independent of the file's path."""
    content = {
        "version": IDENTITY_VERSION,
        "prompt": case.prompt,
        "rubric": rubric_to_json(definition),
        **({"workspace": case.workspace.template.name} if case.workspace and case.workspace.template else {}),
        "models": [_plain(target), _plain(judge)] if case.criteria else [_plain(target)],
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]


def _plain(target: Target) -> dict[str, object]:
    spec = asdict(target.spec) if target.spec else None
    return {"endpoint": target.endpoint, "model": target.model, "spec": spec}
