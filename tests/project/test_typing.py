"""What a type checker says of users' programs: yes to those that are right, and no to slips."""

import re
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY

DATA = REPOSITORY / "tests" / "data"


def mypy(name):
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary", str(DATA / name)]
    return subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=False).stdout


@pytest.mark.slow
def test_a_program_that_uses_the_package_as_described_is_clean_under_mypy_strict():
    assert mypy("user_code.py") == ""


@pytest.mark.slow
def test_each_slip_is_found_where_it_is():
    text = (DATA / "user_slips.py").read_text(encoding="utf-8")
    slips = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# refused")]
    found = re.findall(r"^.*user_slips\.py:(\d+): error", mypy("user_slips.py"), re.MULTILINE)
    assert sorted(set(map(int, found))) == slips


def test_each_slip_is_refused_when_it_is_run():
    namespace: dict[str, object] = {}
    lines = (DATA / "user_slips.py").read_text(encoding="utf-8").splitlines()
    exec(next(line for line in lines if line.startswith("from")), namespace)
    for line in lines:
        if line.endswith("# refused"):
            with pytest.raises((TypeError, ValueError), match=r"^(Attempt|MemoryItem|Verdict)"):
                exec(line, namespace)


def test_fields_that_are_given_by_place_are_told_by_name():
    from reasoningbank_langgraph import Verdict

    with pytest.raises(TypeError, match=r"Verdict takes its fields by name, as in Verdict\(status=\.\.\.\)"):
        Verdict("success")
