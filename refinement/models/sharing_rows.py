"""Rows as models, where all that lead to the same related row share one instance of it.

A hundred runs of one rubric by one person are a hundred and two instances, not three hundred: for pages and
answers, which only read them.
"""

from typing import Any

from django.db.models import query

ORM: Any = query  # its parts have no public names


class SharingPopulator(ORM.RelatedPopulator):  # type: ignore[misc]
    """Fills a row's relation in, with an instance that an earlier row made where there is one."""

    seen: dict[Any, Any]

    def populate(self, row: Any, from_obj: Any) -> None:
        key = row[self.cols_start + self.pk_idx]
        found = self.seen.get(key)
        if found is None and key is not None:
            found = self.model_cls.from_db(self.db, self.init_list, row[self.cols_start : self.cols_end])
            for further in self.related_populators:
                further.populate(row, found)
            self.seen[key] = found
        self.local_setter(from_obj, found)
        if found is not None:
            self.remote_setter(found, from_obj)


def models_of(compiler: Any, using: str) -> list[Any]:
    """What the ORM's own iterable of models gives."""
    columns, info = compiler.select, compiler.klass_info
    start, end = info["select_fields"][0], info["select_fields"][-1] + 1
    names = [column[0].target.attname for column in columns[start:end]]
    populators = ORM.get_related_populators(info, columns, using)
    share(populators)
    annotated = list((compiler.annotation_col_map or {}).items())
    found = []
    for row in compiler.results_iter(compiler.execute_sql()):
        made = info["model"].from_db(using, names, row[start:end])
        for populator in populators:
            populator.populate(row, made)
        for name, place in annotated:
            setattr(made, name, row[place])
        found.append(made)
    return found


def share(populators: list[Any]) -> None:
    for populator in populators:
        if populator.reorder_for_init is None:  # a model whose columns stand in one place
            populator.__class__, populator.seen = SharingPopulator, {}
        share(populator.related_populators)
