"""A table of cases in one test: all of them run, and each that fails is named."""

import pytest

from tests.conftest import check_each


def test_each_case_that_fails_is_named_with_its_error():
    seen = []

    @check_each([1, (2, 3), 4], name=str)
    def check(*arguments):
        seen.append(arguments)
        with pytest.raises(ZeroDivisionError):
            arguments[0] / (arguments[0] - 1)

    with pytest.raises(BaseExceptionGroup, match=r"^2 of 3 cases: \(2, 3\), 4") as failed:
        check()
    assert seen == [(1,), (2, 3), (4,)]
    assert ["DID NOT RAISE" in str(error) for error in failed.value.exceptions] == [True, True]


def test_a_table_without_faults_passes():
    check_each(["a", "b"])(str.upper)()
