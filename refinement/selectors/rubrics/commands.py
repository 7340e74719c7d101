"""Which evaluator commands this instance allows."""

from django.conf import settings

from refinement.engine.types import Rubric

ANY = "*"


def command_refusal(rubric: Rubric) -> str:
    """Why this rubric's command may not run here, and what to do; empty if it may, or has none."""
    if not rubric.runs_a_command:
        return ""
    commands = (rubric.evaluator.command, rubric.evaluator.validation)
    refused = [command[0] for command in commands if command and not is_allowed(command[0])]
    if not refused:
        return ""
    program = refused[0]
    why = "which is not allowed here" if settings.COMMANDS else "but commands are disabled on this instance"
    return (
        f"The rubric's evaluator runs {program[:200]}, {why}. Ask an administrator to add it to "
        "WIGGUM_COMMANDS, or set the rubric's evaluation to “Judge only”."
    )


def is_allowed(program: str) -> bool:
    return program in settings.COMMANDS or ANY in settings.COMMANDS


def may_use_network(program: str) -> bool:
    """Whether the sandbox of this program may use the network on this machine."""
    return program in settings.COMMANDS_NETWORK or ANY in settings.COMMANDS_NETWORK


def allowed_programs() -> str:
    """The allowed programs; * for any, empty if commands are disabled."""
    return ANY if ANY in settings.COMMANDS else ", ".join(settings.COMMANDS)
