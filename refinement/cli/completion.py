"""Shell completion: the script that a shell loads, and names from the local database."""

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
    """Print the script with which a shell completes commands, options, rubrics and runs."""
    kind = get_completion_class(shell)
    assert kind is not None  # the choice above names those that there are
    made = kind(ctx.find_root().command, {}, "wiggum", VARIABLE)
    # Its own `source()` starts the shell to ask for its version; printing needs none.
    click.echo(made.source_template % made.source_vars())


def complete_rubrics(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The project's rubrics by name."""
    return names(ctx, incomplete, lambda local: [(line["slug"], line["name"]) for line in local.rubrics()])


def complete_runs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The project's latest runs by number."""

    def latest(local: Instance) -> list[tuple[str, str]]:
        return [(str(line["run"]), line["title"]) for line in local.runs(RunQuery(), MOST_RUNS)]

    return names(ctx, incomplete, latest)


def names(
    ctx: click.Context, incomplete: str, found: Callable[[Instance], list[tuple[str, str]]]
) -> list[CompletionItem]:
    """What the local database has; nothing with --server: a key press is no reason to send a token."""
    if ctx.params.get("server"):
        return []
    from refinement.cli.instances.opening import local_opened

    # Whatever goes wrong, a shell that completes must not be written into.
    with suppress(Exception, SystemExit), local_opened(ctx.params.get("project")) as local:
        return [CompletionItem(name, help=told) for name, told in found(local) if name.startswith(incomplete)]
    return []
