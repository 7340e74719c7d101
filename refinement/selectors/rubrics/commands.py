"""Which commands this instance lets a rubric's evaluator start; in words where it does not."""

from django.conf import settings

from refinement.engine.types import Rubric

ANY = "*"


def command_refusal(rubric: Rubric) -> str:
    """Why this rubric's command may not be run here, and what to do; empty where it may, or has none."""
    if not rubric.runs_a_command:
        return ""
    program = rubric.evaluator.command[0]
    if program in settings.COMMANDS or ANY in settings.COMMANDS:
        return ""
    why = "which is not allowed here" if settings.COMMANDS else "and commands are off on this instance"
    return (
        f"The rubric's evaluator runs {program[:200]}, {why}. Have an administrator add it to the setting "
        "WIGGUM_COMMANDS, or choose “The judge alone” as the rubric's evaluation."
    )


def allowed_words() -> str:
    """The programs that may be run here, for people; * for any, nothing where commands are off."""
    return ANY if ANY in settings.COMMANDS else ", ".join(settings.COMMANDS)
