"""Label sets of a remote instance, through its API."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from refinement.cli.exits import BadInput, Refused
from refinement.cli.instances.labels import LabelImportWanted, LabelSetLine
from refinement.cli.instances.remote import IMPORT_SECONDS, RemoteInstance, if_missing

MOST_CHARS = 11_000_000  # of both files; the server takes no larger request
MOST_LOOKED_AT = 2_000


class RemoteLabelSets:
    """One project of a server."""

    def __init__(self, instance: RemoteInstance) -> None:
        self.wire, self.project = instance.wire, instance.project

    def label_sets(self, *, archived: bool) -> list[LabelSetLine]:
        params = {"archived": "true"} if archived else {}
        return [set_line(entry) for entry in self.wire.pages(self.at("label-sets"), params)]

    def imported(self, wanted: LabelImportWanted) -> dict[str, Any]:
        items = wanted.items.text if wanted.items else ""
        if len(wanted.ratings.text) + len(items) > MOST_CHARS:
            raise BadInput(
                f"the files have more than {MOST_CHARS:,} characters together, the limit of the API. Split "
                "them, or run the command on the server."
            )
        self.look_up(wanted.rubric)
        body = {
            "name": wanted.name,
            "rubric": wanted.rubric,
            "ratings": wanted.ratings.text,
            "items": items,
            "judges": dict(wanted.judges),
            "dry_run": wanted.dry_run,
        }
        result: dict[str, Any] = self.wire.json(
            "POST", self.at("label-sets/import"), json=body, timeout=IMPORT_SECONDS
        )
        return result

    def look_up(self, rubric: str) -> None:
        """Raises NotThere if there is no such rubric or version."""
        slug, _, number = rubric.partition("@")
        path = f"rubrics/{quote(slug, safe='')}"
        if number:
            path += f"/versions/{quote(number.removeprefix('v'), safe='')}"
        with if_missing(f"there is no rubric {rubric!r} in the project {self.project}."):
            self.wire.ask("GET", self.at(path))

    def exported(self, name: str, what: str, form: str) -> Iterator[str]:
        for archived in ({}, {"archived": "true"}):
            for entry in self.wire.pages(self.at("label-sets"), archived, most=MOST_LOOKED_AT):
                if entry["name"] == name:
                    return self.wire.pieces(self.at(f"label-sets/{entry['id']}/export/{what}/{form}"))
        raise Refused(f"there is no label set {name!r} in the project {self.project}.")

    def at(self, path: str) -> str:
        return f"projects/{quote(self.project, safe='')}/{path}"


def set_line(entry: dict[str, Any]) -> LabelSetLine:
    return LabelSetLine(
        id=entry["id"],
        name=entry["name"],
        rubric=entry["rubric"],
        texts=entry["texts"],
        labels=entry["labels"],
        people=entry["people"],
        raters_wanted=entry["raters_wanted"],
        archived=entry["archived_at"] is not None,
    )
