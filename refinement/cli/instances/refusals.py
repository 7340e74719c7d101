"""Errors that local and remote instances share."""

from refinement.cli.exits import Refused
from refinement.cli.instances.base import Push


def newer_version(push: Push, newest: int) -> Refused:
    return Refused(
        f"{push.slug} is at version {newest}, but the file was made from version {push.base}. Nothing was "
        f"saved. Merge the newest version (wiggum rubric pull {push.slug} --out -) into your file and push "
        f"with --base {newest}, or replace it with --force."
    )


def unknown_base(push: Push, newest: int) -> Refused:
    return Refused(
        f"{push.slug} is at version {newest}, but the file does not state its base version. Nothing was "
        f"saved. If it is based on version {newest}, push with --base {newest}. To replace any version, push "
        "with --force."
    )
