"""What `wiggum suite list`, `show` and `push` need of an instance."""

from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypedDict

from refinement.cli.exits import Refused
from refinement.interchange.suites.types import SuiteText


class SuiteLine(TypedDict):
    """A suite in a list, with its newest version."""

    slug: str
    name: str
    version: int
    tasks: int
    description: str
    archived: bool


@dataclass(frozen=True, slots=True)
class SuiteRead:
    """One version of a suite."""

    slug: str
    version: int
    suite: SuiteText


@dataclass(frozen=True, slots=True)
class SuitePush:
    """A suite to push. `base` is the version it was made from, if known.

    `names` says whether the file sets the name and description; otherwise its name is for a new suite only.
    """

    slug: str
    suite: SuiteText
    names: bool
    base: int | None = None
    force: bool = False
    note: str = ""

    def named_like(self, name: str, description: str) -> SuiteText:
        """The suite to save over one with this name and description."""
        return self.suite if self.names else replace(self.suite, name=name, description=description)


class SuitePushed(TypedDict):
    """The result of a push. If unchanged, `version` is the equal one."""

    suite: str
    version: int
    status: Literal["created", "saved", "unchanged"]


class Suites(Protocol):
    """Failures raise the errors of `refinement.cli.exits`."""

    def suites(self, *, archived: bool) -> list[SuiteLine]: ...

    def suite(self, slug: str, version: int | None) -> SuiteRead: ...

    def push(self, push: SuitePush) -> SuitePushed: ...


def newer_version(push: SuitePush, newest: int) -> Refused:
    return Refused(
        f"{push.slug} is at version {newest}, but the file was made from version {push.base}. Nothing was "
        f"saved. Merge the newest version (wiggum suite show {push.slug} --yaml) into your file and push "
        f"with --base {newest}, or replace it with --force."
    )


def unknown_base(push: SuitePush, newest: int) -> Refused:
    return Refused(
        f"{push.slug} is at version {newest}, but the file does not state its base version. Nothing was "
        f"saved. If it is based on version {newest}, push with --base {newest}. To replace any version, push "
        "with --force."
    )
