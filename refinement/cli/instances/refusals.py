"""Refusals that both kinds of instance give in the same words."""

from refinement.cli.exits import Refused
from refinement.cli.instances.base import Push


def newer_version(push: Push, newest: int) -> Refused:
    made_from = f"was made from version {push.base}"
    return Refused(
        f"{push.slug} is at version {newest}, and the file {made_from}. Nothing was saved. Look at what is "
        f"new (wiggum rubric pull {push.slug} --out -), put it into your file and push with "
        f"--base {newest}; or replace it with --force."
    )


def unknown_base(push: Push, newest: int) -> Refused:
    return Refused(
        f"{push.slug} is at version {newest}, and the file does not say from which it was made. Nothing was "
        f"saved. If it stands on top of that one, push with --base {newest}; to replace whatever is there, "
        "with --force."
    )
