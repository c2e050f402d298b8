"""What a user's own tests rely on: fakes without pytest, and a store contract that takes a class and no plugin."""

import subprocess
import sys

import pytest

from reasoningbank_langgraph import testing
from reasoningbank_langgraph.testing import StoreContract

SUITE = """
import pytest
from langgraph.store.memory import InMemoryStore
from reasoningbank_langgraph.testing import StoreContract

class TestMine(StoreContract):
    clock = 0.01
    known_failures = {failures}

    @pytest.fixture
    def plain_store(self):
        return InMemoryStore()
"""


def python(program):
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def run_suite(folder, failures, only):
    (folder / "test_mine.py").write_text(SUITE.format(failures=failures), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:asyncio", "-p", "no:cacheprovider", "-q", "-k", only]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def test_the_fakes_need_no_pytest():
    names = "HashEmbeddings, ScriptedChatModel"
    said = python(f"import sys; from reasoningbank_langgraph.testing import {names}; print('pytest' in sys.modules)")
    assert said == "False\n"


def test_the_contract_without_pytest_names_what_is_missing():
    said = python("import sys; sys.modules['pytest'] = None; from reasoningbank_langgraph.testing import StoreContract")
    assert "MissingDependencyError: pytest is not installed: pip install 'reasoningbank-langgraph[dev]'" in said


def test_the_public_names_can_be_imported_and_no_others():
    assert testing.__all__ == sorted(testing.__all__) == dir(testing)
    assert all(getattr(testing, name) for name in testing.__all__)
    with pytest.raises(AttributeError, match="Nothing"):
        testing.Nothing  # noqa: B018 - looking is the point


def test_a_backend_runs_the_contract_with_one_fixture_and_no_plugin(tmp_path):
    said = run_suite(tmp_path, {}, "any_text or serves_several_loops or nearest")
    assert "passed" in said
    assert "failed" not in said
    assert "skipped" in said


def test_a_failure_shows_the_values_it_is_about(tmp_path):
    said = run_suite(tmp_path, {}, "last_written_comes_first")
    assert "1 failed" in said
    assert "assert ['rain', 'snow', 'wind'] == ['rain', 'wind', 'snow']" in said


def test_a_known_failure_is_expected_and_once_it_passes_that_is_said(tmp_path):
    assert "1 xfailed" in run_suite(tmp_path, {"test_the_last_*[plain]": "why"}, "last_written_comes_first and plain")
    assert "XPASS(strict)" in run_suite(tmp_path, {"test_an_empty_value*": "why"}, "empty_value and plain")


def test_a_known_failure_that_names_no_case_is_refused():
    with pytest.raises(TypeError, match="no case 'test_renamed'"):
        type("Mine", (StoreContract,), {"known_failures": {"test_renamed": "why"}})
