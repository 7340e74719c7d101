"""Shell completion: the script for the shell, and names from the local database."""

from collections.abc import Callable
from contextlib import suppress

import click
from click.shell_completion import CompletionItem, get_completion_class

from refinement.cli.instances.base import Instance, RunQuery

VARIABLE = "_WIGGUM_COMPLETE"
MOST_RUNS = 50
EXAMPLES = """
\b
Examples:
  wiggum completion bash > ~/.local/share/bash-completion/completions/wiggum
  wiggum completion zsh > ~/.zfunc/_wiggum        with ~/.zfunc in $fpath
  wiggum completion fish > ~/.config/fish/completions/wiggum.fish
"""


@click.command(epilog=EXAMPLES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the shell completion script for commands, options, rubrics and runs."""
    kind = get_completion_class(shell)
    assert kind is not None  # the choice above has only supported shells
    complete = kind(ctx.find_root().command, {}, "wiggum", VARIABLE)
    # Not `source()`, which starts the shell to check its version.
    click.echo(complete.source_template % complete.source_vars())


def complete_rubrics(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The slugs of the project's rubrics."""
    return names(ctx, incomplete, lambda local: [(line["slug"], line["name"]) for line in local.rubrics()])


def complete_runs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The numbers of the project's latest runs."""

    def latest(local: Instance) -> list[tuple[str, str]]:
        return [(str(line["run"]), line["title"]) for line in local.runs(RunQuery(), MOST_RUNS)]

    return names(ctx, incomplete, latest)


def names(
    ctx: click.Context, incomplete: str, read: Callable[[Instance], list[tuple[str, str]]]
) -> list[CompletionItem]:
    """Names from the local database. None with --server: completion sends no requests."""
    if ctx.params.get("server"):
        return []
    from refinement.cli.instances.opening import local_opened

    # An error must not print into the shell's command line.
    with suppress(Exception, SystemExit), local_opened(ctx.params.get("project")) as local:
        return [CompletionItem(name, help=text) for name, text in read(local) if name.startswith(incomplete)]
    return []
