import pytest

pytest.register_assert_rewrite("tests.interchange.simmer.expected")
