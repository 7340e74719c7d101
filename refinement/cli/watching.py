"""Following a run: its line is looked at again and again, and what changed is told."""

import sys
import time

import click

from refinement.cli.instances.base import Instance, RunLine
from refinement.cli.output import print_line, score, shown, tell
from refinement.cli.run_words import headline
from refinement.cli.terminal import StatusLine


def watched(instance: Instance, number: int, *, as_json: bool) -> RunLine:
    """The run's last line, once it is finished; every change before that is told."""
    told: RunLine | None = None
    with StatusLine(sys.stderr) as status:
        while True:
            line = instance.run_line(number)
            if line != told:
                status.clear()
                tell_change(told, line, as_json=as_json)
                told = line
            if line["status"] == "finished":
                return line
            status.show(f"Run {number} is {line['status']}; {line['rounds_judged']} rounds judged")
            time.sleep(instance.pause_between_looks())


def tell_change(before: RunLine | None, now: RunLine, *, as_json: bool) -> None:
    if as_json:
        print_line(now)
        return
    known = len(before["composites"]) if before else 0
    for position, composite in enumerate(now["composites"][known:], known + 1):
        tell(f"round {position}: {score(composite)}")
    if now["status"] == "finished":
        click.echo(f"{headline(now)}\n{shown(now['why'])}", err=True)
    elif before is None or before["status"] != now["status"]:
        waiting = f": {now['waiting_for']}" if now["waiting_for"] else ""
        tell(f"run {now['run']} is {now['status']}{waiting}")
