"""Judges of the local database; their figures are computed in this process."""

from refinement.cli.exits import Refused
from refinement.cli.instances.local import LocalInstance
from refinement.cli.instances.trust import JudgeTrust, unscored
from refinement.models import JudgeRecord, LabelSet, RubricVersion
from refinement.selectors.rubrics.definitions import RubricNotFound, version_named
from refinement.selectors.trust.judges import judge_named, judge_names


class LocalJudges:
    """One project of the local database."""

    def __init__(self, instance: LocalInstance) -> None:
        self.project = instance.project

    def trust(self, rubric: str, judge: str, label_set: str) -> JudgeTrust:
        """A judge without a score still has a report: how much people agree with each other."""
        from refinement.execution.trust.computing import trust_of

        try:
            version = version_named(self.project, rubric)
        except RubricNotFound as error:
            raise Refused(str(error)) from None
        row = self.label_set(version, label_set)
        name, note = f"{version.rubric.slug}@{version.number}", ""
        record = judge_named(version, judge)
        if record is None:
            note = unscored(judge, name, judge_names(version))
            record = JudgeRecord(
                project=self.project, rubric_version=version, key=judge, name=judge, model=judge
            )
        return JudgeTrust(name, record.key, trust_of(record, row), note)

    def label_set(self, version: RubricVersion, name: str) -> LabelSet | None:
        if not name:
            return None
        sets = LabelSet.objects.filter(project=self.project, rubric=version.rubric_id)
        found = sets.filter(name=name).first()
        if found is None:
            known = ", ".join(sets.order_by("name").values_list("name", flat=True)[:20]) or "none"
            raise Refused(f"there is no label set {name!r} for {version.rubric.slug}; available: {known}.")
        return found
