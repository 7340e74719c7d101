"""Follows a run by polling, and prints changes."""

import sys
import time

import click

from refinement.cli.instances.base import Instance, RunLine
from refinement.cli.output import print_line, print_message, score, shown
from refinement.cli.run_words import asking_words, headline
from refinement.cli.terminal import StatusLine


def watched(instance: Instance, number: int, *, as_json: bool, until_asking: bool = False) -> RunLine:
    """Print every change of the run until it is finished, and return its final state.

    With `until_asking`, a run that waits for a person's decision ends it, too.
    """
    before: RunLine | None = None
    with StatusLine(sys.stderr) as status:
        while True:
            line = instance.run_line(number)
            if line != before:
                status.clear()
                print_change(before, line, as_json=as_json)
                before = line
            if line["status"] == "finished" or (until_asking and line["asking"]):
                return line
            status.show(f"Run {number} is {line['status']}; {line['rounds_judged']} rounds judged")
            time.sleep(instance.poll_seconds())


def print_change(before: RunLine | None, now: RunLine, *, as_json: bool) -> None:
    if as_json:
        print_line(now)
        return
    known = len(before["composites"]) if before else 0
    for position, composite in enumerate(now["composites"][known:], known + 1):
        print_message(f"round {position}: {score(composite)}")
    if now["status"] == "finished":
        click.echo(f"{headline(now)}\n{shown(now['why'])}", err=True)
    elif now["asking"]:
        if before is None or not before["asking"]:
            print_message(asking_words(now["run"]))
    elif before is None or before["status"] != now["status"]:
        waiting = f": {now['waiting_for']}" if now["waiting_for"] else ""
        print_message(f"run {now['run']} is {now['status']}{waiting}")
