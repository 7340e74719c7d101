"""Whether scores compare: they do only if the same judge measured them by the same rubric.

A judge, a board or a rubric version is a ruler. Two rulers give two scores for one text, so a difference
between configurations with different rulers may come from the judge instead of the text. A writer whose
judge is of its own family is measured too kindly, which is a doubt of the same kind.
"""

from collections.abc import Iterable, Mapping, Sequence

from django.db.models import Exists, OuterRef, QuerySet

from refinement.engine.safeguards import Kinship, kinship
from refinement.models import Configuration, Criterion
from refinement.providers.embedded import is_demo
from refinement.selectors.experiments.identity import RELATED, settings_of

JUDGE, BOARD, RUBRIC = "judge", "board", "rubric version"
BOARD_SETTINGS = "set.judges."
JUDGE_PROMPT = "set.templates.judge"
ORDER = (JUDGE, BOARD, RUBRIC)
NO_COMPARISON = {
    JUDGE: "The judges differ, so the scores do not compare.",
    BOARD: "The boards of judges differ, so the scores do not compare.",
    RUBRIC: "The rubric versions differ, so the scores do not compare.",
}
OWN_FAMILY = "Models rate their own family about 0.9 of 10 points too high."
KIN_WORDS = {
    Kinship.SAME_MODEL: "writer and judge are the same model",
    Kinship.SAME_FAMILY: "writer and judge are of the same family",
}


def with_criteria(rows: QuerySet[Configuration]) -> QuerySet[Configuration]:
    """The configurations with what rulers need. Without criteria only checks decide, and no judge scores."""
    criteria = Criterion.objects.filter(version=OuterRef("rubric_version"))
    return rows.select_related(*RELATED).annotate(has_criteria=Exists(criteria))


def is_judged(configuration: Configuration) -> bool:
    return bool(getattr(configuration, "has_criteria", True))


def ruler_of(configuration: Configuration) -> dict[str, str]:
    """What measures its texts. Needs `with_criteria`."""
    return ruler_in(settings_of(configuration), judged=is_judged(configuration))


def ruler_in(settings: Mapping[str, str], *, judged: bool) -> dict[str, str]:
    """The ruler in settings by name, as `settings_of` has them."""
    ruler = {RUBRIC: settings["rubric"]}
    if judged:
        own = {
            name: text for name, text in settings.items() if name.startswith((BOARD_SETTINGS, JUDGE_PROMPT))
        }
        ruler[JUDGE] = settings["judge"]
        ruler[BOARD] = ", ".join(f"{name.removeprefix('set.')} {text}" for name, text in sorted(own.items()))
    return ruler


def rulers_differ(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """The names of what differs: judge, board or rubric version. A judge counts only if both have one."""
    both = [name for name in ORDER if name in first and name in second]
    return [name for name in both if first[name] != second[name]]


def comparable(configurations: Sequence[Configuration]) -> set[int]:
    """The configurations that have the baseline's ruler; all of them without a baseline."""
    base = next((entry for entry in configurations if entry.baseline), None)
    if base is None:
        return {entry.pk for entry in configurations}
    ruler = ruler_of(base)
    return {entry.pk for entry in configurations if not rulers_differ(ruler, ruler_of(entry))}


def ruler_warnings(rulers: Sequence[tuple[str, Mapping[str, str]]]) -> list[str]:
    """A warning for each kind of ruler in which these named configurations differ, with who has which."""
    found = []
    for name in ORDER:
        users: dict[str, list[str]] = {}
        for letter, ruler in rulers:
            if name in ruler:
                users.setdefault(ruler[name] or "as in the rubric", []).append(letter)
        if len(users) > 1:
            which = "; ".join(f"{', '.join(letters)}: {value}" for value, letters in users.items())
            found.append(f"{NO_COMPARISON[name]} {which}.")
    return found


def kin_of(configuration: Configuration) -> Kinship | None:
    """How its writer and its judge are related. The demo model's scores mean nothing in any case."""
    entry = configuration
    if not is_judged(entry) or is_demo(entry.judge_endpoint, entry.judge_model):
        return None
    return kinship(entry.producer_model, entry.judge_model)


def kin_warnings(kin: Iterable[tuple[str, Kinship | None]]) -> list[str]:
    """A warning for each kind of kinship, with the letters of the configurations."""
    letters: dict[Kinship, list[str]] = {}
    for letter, how in kin:
        if how is not None:
            letters.setdefault(how, []).append(letter)
    return [f"{', '.join(letters[how])}: {KIN_WORDS[how]}. {OWN_FAMILY}" for how in Kinship if how in letters]


def doubts_about(configurations: Sequence[Configuration]) -> list[str]:
    """Why the scores of an experiment may mislead."""
    return [
        *ruler_warnings([(entry.letter, ruler_of(entry)) for entry in configurations]),
        *kin_warnings((entry.letter, kin_of(entry)) for entry in configurations),
    ]
