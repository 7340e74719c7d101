"""Label sets of the local database."""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ValidationError

from refinement.cli.exits import BadInput, Refused
from refinement.cli.instances.labels import LabelImportWanted, LabelSetLine
from refinement.cli.instances.local import LocalInstance
from refinement.interchange.labels.types import BadLabels
from refinement.selectors.rubrics.definitions import RubricNotFound
from refinement.selectors.trust.labels import EXPORTS, label_sets_of, set_lines
from refinement.services.trust.label_importing import FileText, WrongSet, label_files_import


class LocalLabelSets:
    """One project of the local database. Nobody is signed in, so nothing is hidden."""

    def __init__(self, instance: LocalInstance) -> None:
        self.project = instance.project

    def label_sets(self, *, archived: bool) -> list[LabelSetLine]:
        rows = list(label_sets_of(self.project, archived=archived))
        return [
            LabelSetLine(
                id=line.row.pk,
                name=line.row.name,
                rubric=f"{line.row.rubric.slug}@{line.row.rubric_version.number}",
                texts=line.items,
                labels=line.labels,
                people=line.people,
                raters_wanted=line.row.raters_wanted,
                archived=archived,
            )
            for line in set_lines(rows, None)
        ]

    def imported(self, wanted: LabelImportWanted) -> dict[str, Any]:
        items = wanted.items
        try:
            result = label_files_import(
                project=self.project,
                rubric=wanted.rubric,
                name=wanted.name,
                ratings=FileText(wanted.ratings.text, wanted.ratings.path),
                items=FileText(items.text, items.path) if items else None,
                judges=wanted.judges,
                dry_run=wanted.dry_run,
            )
        except RubricNotFound as unknown:
            raise Refused(str(unknown)) from None
        except BadLabels as bad:
            raise refused(wanted, bad) from None
        except WrongSet as wrong:
            raise BadInput(str(wrong)) from None
        except ValidationError as wrong:
            raise BadInput(" ".join(wrong.messages)) from None
        return result.as_dict()

    def exported(self, name: str, what: str, form: str) -> Iterator[str]:
        row = self.project.label_sets.filter(name=name).first()
        if row is None:
            known = ", ".join(self.project.label_sets.order_by("name").values_list("name", flat=True)[:20])
            raise Refused(f"there is no label set {name!r}; available: {known or 'none'}.")
        return EXPORTS[what, form](row)


def refused(wanted: LabelImportWanted, bad: BadLabels) -> BadInput:
    """All problems of both files as FILE:LINE."""
    lines = [f"{wanted.ratings.path}:{problem.line}: {problem.message}" for problem in bad.ratings]
    if wanted.items:
        lines += [f"{wanted.items.path}:{problem.line}: {problem.message}" for problem in bad.items]
    count = "1 problem" if len(lines) == 1 else f"{len(lines)} problems"
    return BadInput("\n".join([f"{count}; nothing was imported.", *lines]))
