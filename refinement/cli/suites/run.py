"""`wiggum suite run`: runs a suite under several configurations, and says whether a build may pass."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from refinement.cli.exits import BadInput, NotThere
from refinement.cli.options import json_option, project_option, server_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refinement.cli.instances.experiments import Experiments
    from refinement.interchange.experiments.gate import Conditions

EXAMPLES = """
\b
Examples:
  wiggum suite run how-to --config configurations.yaml
  wiggum suite run how-to --config configurations.yaml --repeats 3 -j 8 --fail-on below=7.5
  wiggum suite run how-to@4 --config configurations.yaml --baseline latest --fail-on worse \\
      --junit junit.xml --summary summary.md --server https://wiggum.example.org
  wiggum suite run how-to --resume 12

\b
The file lists what to compare; see docs/experiments.md:
  configurations:
    - {name: now, rubric: wiggum@3, producer: ollama/qwen3:14b, judge: ollama/gemma3:27b, baseline: true}
    - {name: next, rubric: wiggum, producer: ollama/qwen3:14b, judge: ollama/gemma3:27b,
       set: {policy.max_rounds: 2}}

\b
Without --baseline, configurations are compared with the baseline of the file (by default the first). With it,
each is compared with its counterpart in that experiment. With --server, workers of the server run the
experiment, and Ctrl-C only stops watching. Otherwise it runs in this process, and Ctrl-C pauses it.

\b
Exit status: 0 passed, 1 the gate failed, 2 wrong usage or an invalid file, 3 something cannot be reached, a
configuration has no score, or --timeout is over, 4 not found or refused, 5 runs wait for a decision,
130 interrupted or stopped.
"""


@click.command("run", epilog=EXAMPLES)
@click.argument("name", metavar="NAME[@VERSION]")
@click.option(
    "--config",
    "config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="the configurations to run, as YAML",
)
@click.option("--repeats", type=click.IntRange(1, 20), default=1, metavar="N", help="runs of each task (1)")
@click.option(
    "--baseline", metavar="EXPERIMENT|latest", help="compare with this experiment, or the suite's last one"
)
@click.option(
    "--fail-on",
    "fail_on",
    multiple=True,
    metavar="worse|below=X",
    help="exit with 1 if a configuration is worse, or its composite is below X; can be repeated",
)
@click.option("--title", metavar="TEXT", help="the experiment's name")
@click.option("--note", default="", metavar="TEXT", help="a note, such as a commit")
@click.option(
    "-j", "threads", type=click.IntRange(1, 64), default=4, metavar="N", help="local runs in parallel (4)"
)
@click.option(
    "--timeout", type=click.IntRange(min=1), metavar="SECONDS", help="give up waiting after this time"
)
@click.option("--resume", type=click.IntRange(min=1), metavar="EXPERIMENT", help="continue this experiment")
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="write JUnit XML")
@click.option("--summary", type=click.Path(path_type=Path), metavar="FILE", help="write a Markdown summary")
@server_options
@project_option
@json_option
def suite_run(name: str, server: str | None, token: str | None, project: str | None, **options: Any) -> int:
    """Run a suite under one or more configurations and compare them."""
    from refinement.cli.suites.running import SuiteRun
    from refinement.interchange.experiments.gate import conditions_from

    try:
        conditions: Conditions = conditions_from(options.pop("fail_on"))
    except ValueError as error:
        raise BadInput(str(error)) from None
    baseline_check(options["baseline"])
    configurations = configurations_of(options.pop("config"), options["resume"])
    with experiments_opened(server, token, project) as (experiments, local):
        running = SuiteRun(experiments, name, configurations, conditions, local=local, **options)
        return running.carry_out()


def baseline_check(baseline: str | None) -> None:
    if baseline and baseline != "latest" and not (baseline.isascii() and baseline.isdigit()):
        raise BadInput(f"--baseline {baseline} must be an experiment's number, or latest.")


def configurations_of(path: Path | None, resume: int | None) -> Any:
    """The configurations in the file. Raises BadInput with all problems."""
    from refinement.interchange.experiments.configurations import configurations_from_yaml
    from refinement.interchange.rubrics.yaml_reading import BadFile

    if (path is None) == (resume is None):
        raise BadInput("pass --config FILE, or --resume EXPERIMENT to continue one.")
    if path is None:
        return ()
    try:
        return configurations_from_yaml(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise NotThere(f"cannot read {path}: {error.strerror}.") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise BadInput(f"cannot read {path}: {reason}.") from None
    except BadFile as bad:
        raise BadInput("\n".join(f"{path}: {problem}" for problem in bad.problems)) from None


@contextmanager
def experiments_opened(
    server: str | None, token: str | None, project: str | None
) -> "Iterator[tuple[Experiments, bool]]":
    """The experiments of the instance that the options select, and whether it is local."""
    from refinement.cli.instances.opening import local_opened, token_given

    if server:
        from refinement.cli.instances.remote import remote_opened
        from refinement.cli.instances.remote_experiments import RemoteExperiments

        with remote_opened(server, token_given(token), project) as remote:
            yield RemoteExperiments(remote), False
        return
    with local_opened(project) as instance:
        from refinement.cli.instances.local_experiments import LocalExperiments

        yield LocalExperiments(instance), True
