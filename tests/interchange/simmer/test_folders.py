"""Simmer folders as people have them: every value of the run is stated and compared."""

import pytest

from tests.interchange.simmer.expected import Case, check
from tests.interchange.simmer.irregular import IRREGULAR
from tests.interchange.simmer.real import REAL
from tests.interchange.simmer.sections import SECTIONS

CASES = REAL | IRREGULAR | SECTIONS


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_value_is_right(case: Case):
    check(case)
