"""Carries out `wiggum suite run`: starts or continues an experiment, waits for it, and writes results."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from refinement.cli.exits import BadInput, Exit, Refused, Unavailable
from refinement.cli.instances.experiments import Experiments, NewExperiment, Progress
from refinement.cli.output import print_json, print_message, print_table, shown
from refinement.cli.terminal import StatusLine
from refinement.interchange.experiments.against import against_other, compared_with
from refinement.interchange.experiments.configurations import ConfigurationText
from refinement.interchange.experiments.gate import Conditions, gate_of, is_unproven
from refinement.interchange.experiments.junit import results_junit
from refinement.interchange.experiments.summary import figure, percent, results_markdown, verdict

LATEST = "latest"
LOOK_SECONDS = 2.0
FIGURES = (
    "name", "runs", "scored", "composite", "mean_r1", "criteria_rate", "pass_rate", "against_baseline",
    "judge_proven", "unproven_reason",
)  # fmt: skip
COLUMNS = {
    "letter": "",
    "name": "configuration",
    "composite": "composite",
    "mean_r1": "mean r1",
    "criteria_rate": "criteria",
    "pass_rate": "pass rate",
    "scored": "scored",
    "against": "against baseline",
}


class SuiteRun:
    """One command."""

    def __init__(
        self,
        experiments: Experiments,
        suite: str,
        configurations: Sequence[ConfigurationText],
        conditions: Conditions,
        *,
        local: bool,
        repeats: int,
        baseline: str | None,
        title: str | None,
        note: str,
        threads: int,
        timeout: int | None,
        resume: int | None,
        junit: Path | None,
        summary: Path | None,
        as_json: bool,
    ) -> None:
        self.experiments, self.suite, self.configurations = experiments, suite, configurations
        self.conditions, self.local, self.repeats, self.threads = conditions, local, repeats, threads
        self.title, self.note, self.resume = title, note, resume
        self.baseline, self.junit, self.summary, self.as_json = baseline, junit, summary, as_json
        self.until = time.monotonic() + timeout if timeout else None
        self.line = StatusLine(sys.stderr)

    def carry_out(self) -> int:
        """Returns the exit code. Raises CommandFailed."""
        self.files_check()
        self.baseline_check()
        number = self.started()
        with self.line:
            try:
                ended = self.completed(number)
            except KeyboardInterrupt:
                self.line.clear()
                print_message(self.interrupted(number))
                return Exit.INTERRUPTED
        if isinstance(ended, int):
            return ended
        return self.reported(number, self.other(number))

    def files_check(self) -> None:
        """Raises BadInput for files that cannot be written, before anything runs."""
        for path in (self.junit, self.summary):
            if path is not None and not path.parent.is_dir():
                raise BadInput(f"cannot write {path}: its folder does not exist.")

    def baseline_check(self) -> None:
        """Raises Refused if there is no such experiment, before anything runs."""
        if self.baseline and self.baseline != LATEST:
            self.experiments.progress(int(self.baseline))

    def other(self, number: int) -> int | None:
        """The experiment to compare with."""
        if self.baseline == LATEST:
            return self.experiments.latest(self.experiments.progress(number).suite, before=number)
        return int(self.baseline) if self.baseline else None

    def started(self) -> int:
        if self.resume is not None:
            self.suite_check(self.resume)
            self.experiments.resume(self.resume)
            return self.resume
        name = self.title or f"{self.suite}, {time.strftime('%Y-%m-%d %H:%M')}"
        new = NewExperiment(self.suite, name, self.configurations, self.repeats, self.note)
        number = self.experiments.create(new)
        address = self.experiments.address(number)
        print_message(f"Started experiment {number}{f': {address}' if address else ''}.")
        return number

    def suite_check(self, number: int) -> None:
        """Raises Refused if the experiment is of another suite, or of another version than the named one."""
        own, wanted = self.experiments.progress(number).suite, self.suite.replace("@v", "@")
        if wanted not in (own, own.partition("@")[0]):
            raise Refused(f"experiment {number} is of the suite {own}, not {self.suite}.")

    # --- waiting ------------------------------------------------------------------------------
    def completed(self, number: int) -> Progress | Exit:
        """Waits for the experiment's end, and carries it out if the instance is local."""
        if self.local:
            self.run_here(number)
        while True:
            progress = self.experiments.progress(number)
            if progress.status == "finished":
                return progress
            if progress.status == "cancelled":
                self.line.clear()
                print_message(f"Experiment {number} was stopped.")
                return Exit.INTERRUPTED
            if progress.status == "paused":
                raise Refused(
                    f"experiment {number} is paused. {progress.reason} Continue it with: {self.again(number)}"
                )
            if self.is_late():
                raise Unavailable(f"timeout. {self.interrupted(number)}")
            self.show(progress)
            time.sleep(LOOK_SECONDS)

    def run_here(self, number: int) -> None:
        from refinement.services.experiments.foreground import ExperimentAsks, ForegroundExperiment

        foreground = ForegroundExperiment(number, self.threads, lambda: self.show_now(number))
        try:
            foreground.carry_out(until=self.is_late)
        except ExperimentAsks as asks:
            print_message(f"{asks} Answer them, then continue with: {self.again(number)}")
            sys.exit(Exit.ASKING)
        if self.is_late():
            foreground.pause()
            raise Unavailable(f"timeout. {self.interrupted(number)}")

    def is_late(self) -> bool:
        return self.until is not None and time.monotonic() > self.until

    def show_now(self, number: int) -> None:
        if self.line.terminal:
            self.show(self.experiments.progress(number))

    def show(self, progress: Progress) -> None:
        errors = f", {progress.errors} with errors" if progress.errors else ""
        self.line.show(f"{progress.ended} of {progress.runs} runs{errors}")

    def interrupted(self, number: int) -> str:
        state = "is paused" if self.local else "continues on the server"
        return f"Experiment {number} {state}. To continue: {self.again(number)}"

    def again(self, number: int) -> str:
        return f"wiggum suite run {self.suite} --resume {number}"

    # --- results ------------------------------------------------------------------------------
    def reported(self, number: int, other: int | None) -> int:
        report, note = self.experiments.results(number), ""
        if other is not None:
            report = against_other(report, self.experiments.comparison(number, other))
            note = compared_with(report, other)
        elif self.baseline:
            note = "There is no earlier experiment of this suite to compare with."
        gate = gate_of(report["configurations"], self.conditions, note)
        address = self.experiments.address(number)
        if self.junit:
            written(self.junit, results_junit(report, self.conditions))
        if self.summary:
            written(self.summary, results_markdown(report, gate=gate, address=address))
        if self.as_json:
            print_json(json_of(report, gate))
        else:
            print_results(report)
        print_message(f"{'Passed' if gate['passed'] else 'Failed'}. {' '.join(gate['reasons'])}")
        if any(entry["composite"] is None for entry in report["configurations"]):
            return Exit.UNAVAILABLE
        return Exit.OK if gate["passed"] else Exit.FAILED


def json_of(report: dict[str, Any], gate: dict[str, Any]) -> dict[str, Any]:
    """What --json prints; see docs/cli.md."""
    return {
        "experiment": report["experiment"],
        "suite": report["suite"],
        "configurations": [{name: entry[name] for name in FIGURES} for entry in report["configurations"]],
        "gate": gate,
    }


def print_results(report: dict[str, Any]) -> None:
    rows = [
        {
            "letter": entry["letter"],
            "name": f"{entry['name']} (unproven judge)" if is_unproven(entry) else entry["name"],
            "composite": figure(entry["composite"]),
            "mean_r1": figure(entry["mean_r1"]),
            "criteria_rate": percent(entry["criteria_rate"]),
            "pass_rate": percent(entry["pass_rate"]),
            "scored": f"{entry['scored']} of {entry['runs']}",
            "against": verdict(entry["against_baseline"]).lstrip("✅❌ "),
        }
        for entry in report["configurations"]
    ]
    print_table(COLUMNS, rows, wide="name")
    click.echo(f"\n{shown(report['headline'])}")


def written(path: Path, text: str) -> None:
    """Raises BadInput."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror or 'unknown error'}.") from None
