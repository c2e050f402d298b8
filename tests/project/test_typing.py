"""What type checkers say of users' programs: yes to those that are right, and no to slips."""

import json
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY

DATA = REPOSITORY / "tests" / "data"
SLIPS = (DATA / "user_slips.py").read_text(encoding="utf-8").splitlines()
REFUSED = [number for number, line in enumerate(SLIPS, 1) if line.endswith("# refused")]


def output(module, *arguments):
    """Run a type checker over both programs and return what it prints."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=False, timeout=600)
    assert done.returncode == 1, done.stdout + done.stderr  # there are slips
    return done.stdout


def mypy(_):
    files = [str(DATA / name) for name in ("user_code.py", "user_slips.py")]
    said = output("mypy", "--output=json", *files)  # with the settings, and so the cache, of the package's own check
    found = [json.loads(line) for line in said.splitlines()]
    return [(error["file"].rpartition("/")[2], error["line"], error["message"]) for error in found]


def pyright(tmp_path):
    pytest.importorskip("basedpyright", reason="needs the extra `dev`: pip install basedpyright")
    settings = {"include": [str(DATA / "user_code.py"), str(DATA / "user_slips.py")], "typeCheckingMode": "standard"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings | {"extraPaths": [str(REPOSITORY)]}))
    said = output("basedpyright", "--outputjson", "-p", str(tmp_path), "--pythonpath", sys.executable)
    found = json.loads(said)["generalDiagnostics"]
    return [
        (error["file"].rpartition("/")[2], error["range"]["start"]["line"] + 1, error["message"]) for error in found
    ]


@pytest.mark.slow
@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_right_program_is_clean_and_each_slip_is_found_where_it_is(checker, tmp_path):
    found = checker(tmp_path)
    assert [error for error in found if error[0] == "user_code.py"] == []
    assert sorted({line for _, line, _ in found}) == REFUSED


def test_each_slip_is_refused_when_it_is_run():
    namespace: dict[str, object] = {}
    exec("\n".join(line for line in SLIPS if line.startswith("from")), namespace)
    for number in REFUSED:
        with pytest.raises(
            (TypeError, ValueError), match=r"^(Attempt|MemoryItem|Provenance|Retrieved|Scaling|Verdict|mode|k )"
        ):
            exec(SLIPS[number - 1], namespace)


def test_fields_that_are_given_by_place_are_told_by_name():
    from reasoningbank_langgraph import Verdict

    with pytest.raises(TypeError, match=r"Verdict takes its fields by name, as in Verdict\(status=\.\.\.\)"):
        Verdict("success")
