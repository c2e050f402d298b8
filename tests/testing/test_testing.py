"""What a user's own tests rely on: fakes without pytest, and a store contract that takes a class and no plugin."""

import os
import subprocess
import sys

import pytest

from reasoningbank_langgraph import testing
from reasoningbank_langgraph.testing import StoreContract

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("testing")]
SUITE = """
import pytest
from langgraph.store.memory import InMemoryStore
from reasoningbank_langgraph.testing import HashEmbeddings, StoreContract

class TestBare(StoreContract):
    clock = 0.01

    @pytest.fixture
    def plain_store(self):
        return InMemoryStore()

class TestSaid(TestBare):
    supports_ttl = False
    known_failures = {"test_the_last_written*[plain]": "why", "test_an_empty_value*": "why"}

class TestIndexed(TestSaid):
    @pytest.fixture
    def indexed_store(self):
        return InMemoryStore(index={"dims": 64, "embed": HashEmbeddings(), "fields": ["text", "more"]})
"""
CASES = "several_loops or nearest or last_written or empty_value or times_to_live or has_expired"


def python(program):
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What pytest says of three classes of a backend's author, run without a plugin: a line a case."""
    folder = tmp_path_factory.mktemp("backend")
    (folder / "test_mine.py").write_text(SUITE, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:asyncio", "-p", "no:cacheprovider", "-q", "-rA", "-k", CASES]
    wide = {**os.environ, "COLUMNS": "300", "PYTEST_ADDOPTS": ""}
    return subprocess.run(command, cwd=folder, env=wide, capture_output=True, text=True, check=False).stdout


def outcomes(said, store):
    """Return how each case of a class ended, by its name and parameters."""
    lines = [line.split("::") for line in said.splitlines() if f"::{store}::" in line]
    return {case.split(" - ")[0].removeprefix("test_"): how.split()[0] for how, _, case in lines}


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


def test_a_backend_runs_the_contract_with_one_fixture_and_no_plugin(said):
    ended = outcomes(said, "TestBare")
    assert ended["one_store_serves_several_loops[plain]"] == "PASSED"
    assert ended["a_store_without_times_to_live_refuses_them[put]"] == "PASSED"
    assert "1 skipped" in said.splitlines()[-1], "a store that may support times to live is asked during the case"


def test_cases_that_cannot_apply_are_not_collected(said):
    assert not [case for case in outcomes(said, "TestSaid") if "[indexed" in case or "nearest" in case]
    assert not [case for case in outcomes(said, "TestSaid") if "expired" in case]


def test_a_class_with_an_index_has_the_cases_that_its_base_without_one_left_out(said):
    ended = outcomes(said, "TestIndexed")
    assert ended["the_nearest_comes_first_with_scores_between_0_and_1"] == "PASSED"
    assert ended["one_store_serves_several_loops[indexed]"] == "PASSED"


def test_a_failure_shows_the_values_it_is_about(said):
    assert outcomes(said, "TestBare")["the_last_written_comes_first[plain]"] == "FAILED"
    assert "assert ['rain', 'snow', 'wind'] == ['rain', 'wind', 'snow']" in said


def test_a_known_failure_is_expected_and_once_it_passes_that_is_said(said):
    assert outcomes(said, "TestSaid")["the_last_written_comes_first[plain]"] == "XFAIL"
    assert "TestSaid::test_an_empty_value_is_a_value[plain] - [XPASS(strict)] why" in said


def test_a_known_failure_that_names_no_case_is_refused():
    with pytest.raises(TypeError, match="no case 'test_renamed'"):
        type("Mine", (StoreContract,), {"known_failures": {"test_renamed": "why"}})
